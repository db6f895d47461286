/* SPDX-License-Identifier: BSD-2-Clause */
/* A program of somebody else: it knows the installed headers and the library, nothing of this tree. */
#include <red/red.h>
#include <stdio.h>

int main(void) {
  const int8_t data[] = {100, 100, 100, -1};
  int64_t sum = 0, running[4] = {0};
  if (red_reduce(NULL, RED_SUM, RED_I8, data, 4, &sum) != RED_OK ||
      red_inclusive_scan(NULL, RED_SUM, RED_I8, data, 4, running) != RED_OK) {
    fprintf(stderr, "%s\n", red_last_error());
    return 1;
  }
  printf("%d %lld %lld\n", red_version(), (long long)sum, (long long)running[2]);
  return red_version() == RED_VERSION_NUMBER && sum == 299 && running[2] == 300 ? 0 : 1;
}
