/* SPDX-License-Identifier: BSD-2-Clause */
/* The README's example: the sum of an array, with the same bits on every machine. */
#include <red/red.h>
#include <stdio.h>

int main(void) {
  float data[] = {1.5f, 2.25f, 4.0f}, sum;
  if (red_reduce(NULL, RED_SUM, RED_F32, data, 3, &sum) != RED_OK) {
    fprintf(stderr, "%s\n", red_last_error());
    return 1;
  }
  printf("%.9g\n", sum);
}
