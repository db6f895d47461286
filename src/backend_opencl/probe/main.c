/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * red-opencl-probe VERSION DEVICE: open the device, which runs its known-answer test in this process, and say on
 * standard output what came of it. If the driver hangs or aborts, it is this process that does: see ../vet.c.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <red/red.h>

static bool is_here(const char *id) {
  red_device_info list[64];
  size_t count = 0;
  for (size_t i = 0; i < 64; i++) list[i].size = sizeof list[i];
  if (red_devices(list, 64, &count) != RED_OK) return false;
  for (size_t i = 0; i < count && i < 64; i++)
    if (strcmp(list[i].id, id) == 0) return true;
  return false;
}

/* An exact plan is tested first. */
static bool is_exact(red_context *context) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, 1);
  red_plan *plan = NULL;
  problem.exact = 1;
  bool made = red_plan_create(context, &problem, &plan) == RED_OK;
  red_plan_destroy(plan);
  return made;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "%s is started by libred, as: red-opencl-probe VERSION DEVICE\n", argc > 0 ? argv[0] : "this");
    return 2;
  }
  if (strcmp(argv[1], RED_VERSION_STRING) != 0 || red_version() != RED_VERSION_NUMBER) {
    puts("other version");
    return 0;
  }
  red_context *context;
  red_device_info info = {.size = sizeof info};
  red_context_options options = {.size = sizeof options, .backend = argv[2]};
  red_status status = red_context_create(&options, &context);
  if (status == RED_OK) status = red_context_device(context, RED_DEVICE, &info); /* opens it, if that is still to do */
  if (status == RED_OK)
    puts(is_exact(context) ? "passed" : "not exact");
  else if (status == RED_ERR_NO_DEVICE && !is_here(argv[2]))
    puts("no such device"); /* the loader shows this process others */
  else
    printf("failed %d %s\n", (int)status, red_last_error());
  fflush(stdout);
  _exit(0); /* not through what the driver has registered */
}
