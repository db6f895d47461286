/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stream compaction: keep the elements that satisfy a condition, in their order. The exclusive sum of the flags is the
 * place of each element that stays, so that every element can be moved independently of all others.
 */
#include <red/red.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  N = 1000000
};

int main(void) {
  double *readings = malloc(N * sizeof *readings), *kept = malloc(N * sizeof *kept);
  uint8_t *keep = malloc(N);
  uint64_t *place = malloc(N * sizeof *place);
  if (!readings || !kept || !keep || !place) return 1;

  for (int i = 0; i < N; i++) {
    readings[i] = i % 1000 * 7919 % 1000 - 250; /* -250 .. 749: a quarter is negative */
    keep[i] = readings[i] >= 0;
  }

  /* u8 in, u64 out: the default of a sum of unsigned integers. */
  if (red_exclusive_scan(NULL, RED_SUM, RED_U8, keep, N, place) != RED_OK) {
    fprintf(stderr, "%s\n", red_last_error());
    return 1;
  }
  for (int i = 0; i < N; i++)
    if (keep[i]) kept[place[i]] = readings[i];
  uint64_t count = place[N - 1] + keep[N - 1];

  double least;
  if (red_reduce(NULL, RED_MIN, RED_F64, kept, count, &least) != RED_OK) {
    fprintf(stderr, "%s\n", red_last_error());
    return 1;
  }
  printf("%d readings, %llu kept, the least is %g\n", N, (unsigned long long)count, least);
  free(readings);
  free(kept);
  free(keep);
  free(place);
  return count == 750000 && least == 0 ? 0 : 1;
}
