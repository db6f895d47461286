/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dlopen, a sum that starts a team, dlclose, three times over: what a plugin's host does. Usage: test_unload LIBRARY.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <red/red.h>

typedef red_status reduce_fn(red_context *, red_op, red_dtype, const void *, uint64_t, void *);

enum {
  N = 1 << 22
};

static int use_once(const char *path, const float *x) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), EXIT_FAILURE;
  reduce_fn *reduce;
  *(void **)&reduce = dlsym(library, "red_reduce"); /* the cast that POSIX prescribes */
  float sum = 0;
  if (reduce == NULL || reduce(NULL, RED_SUM, RED_F32, x, N, &sum) != RED_OK || sum != (float)N) {
    fprintf(stderr, "sum %g, expected %d\n", (double)sum, N);
    return EXIT_FAILURE;
  }
  if (dlclose(library) != 0) return fprintf(stderr, "%s\n", dlerror()), EXIT_FAILURE;
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* a thread that lost its code would run into it now */
  return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: %s LIBRARY\n", argv[0]), EXIT_FAILURE;
  float *x = malloc(N * sizeof *x);
  if (x == NULL) return EXIT_FAILURE;
  for (int i = 0; i < N; i++) x[i] = 1;
  int status = EXIT_SUCCESS;
  for (int round = 0; round < 3 && status == EXIT_SUCCESS; round++) status = use_once(argv[1], x);
  free(x);
  return status;
}
