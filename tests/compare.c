/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

buffer buffer_new(size_t bytes, size_t shift) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), body = (bytes + shift + 64 + page - 1) / page * page;
  unsigned char *map = mmap(NULL, body + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_msg(map != MAP_FAILED, "no memory for a buffer of %zu bytes", bytes);
  ck_assert_int_eq(mprotect(map + body, page, PROT_NONE), 0);
  buffer b = {.data = map + body - shift - bytes, .bytes = bytes, .map = map, .map_bytes = body + page};
  memset(b.data - 64, MARK, 64);
  memset(b.data + bytes, MARK, shift);
  return b;
}

void buffer_check(const buffer *b, const char *what) {
  const unsigned char *end = (const unsigned char *)b->map + b->map_bytes - (size_t)sysconf(_SC_PAGESIZE);
  for (const unsigned char *at = b->data - 64; at < b->data; at++)
    ck_assert_msg(*at == MARK, "%s: a byte before the output was written%s", what, suite_seed_text());
  for (const unsigned char *at = b->data + b->bytes; at < end; at++)
    ck_assert_msg(*at == MARK, "%s: a byte after the output was written%s", what, suite_seed_text());
}

void buffer_free(buffer *b) {
  munmap(b->map, b->map_bytes);
}

/* ---- Outputs ----------------------------------------------------------------------------------------------------- */

size_t output_bytes(const red_problem *problem) {
  red_problem resolved = *problem;
  if (problem->kind == RED_STATS) return sizeof(red_stats_result);
  if (problem->bound) return sizeof(red_bounded);
  ck_red(red_problem_resolve(&resolved));
  return red_dtype_bytes(resolved.out) * (problem->kind == RED_REDUCE ? 1 : problem->n);
}

void prepare_output(const red_problem *problem, void *out) {
  const size_t size = sizeof(red_stats_result);
  if (problem->kind == RED_STATS) memcpy(out, &size, sizeof size);
}

static const char *name_of(const red_problem *problem) {
  static char text[128];
  if (red_problem_print(problem, text, sizeof text) != RED_OK) return red_last_error();
  return text;
}

/* Field by field: the unused bytes of a scalar may hold anything. The doubles lie together. */
static int same_stats(const red_stats_result *a, const red_stats_result *b, red_dtype in) {
  size_t bytes = red_dtype_bytes(in), sum_bytes = in >= RED_F16 ? bytes : 8;
  return a->size == b->size && a->count == b->count && a->nan_count == b->nan_count &&
         memcmp(&a->mean, &b->mean, 4 * sizeof a->mean) == 0 && memcmp(&a->sum, &b->sum, sum_bytes) == 0 &&
         memcmp(&a->min, &b->min, bytes) == 0 && memcmp(&a->max, &b->max, bytes) == 0 && a->argmin == b->argmin &&
         a->argmax == b->argmax;
}

static void describe_stats(const red_stats_result *s, char *text, size_t bytes) {
  snprintf(text, bytes,
           "count %llu, NaNs %llu, mean %a, variance %a, of a sample %a, squares %a, sum %llx, min %llx, max %llx, "
           "argmin %llu, argmax %llu",
           (unsigned long long)s->count, (unsigned long long)s->nan_count, s->mean, s->variance, s->sample_variance,
           s->squared_deviations, (unsigned long long)s->sum.u64, (unsigned long long)s->min.u64,
           (unsigned long long)s->max.u64, (unsigned long long)s->argmin, (unsigned long long)s->argmax);
}

static void compare_stats(const red_problem *problem, const char *how, const void *expected, const void *actual) {
  red_stats_result e, a; /* copies: the originals may be misaligned */
  char want[512], got[512];
  memcpy(&e, expected, sizeof e);
  memcpy(&a, actual, sizeof a);
  if (same_stats(&e, &a, problem->in)) return;
  describe_stats(&e, want, sizeof want);
  describe_stats(&a, got, sizeof got);
  ck_abort_msg("%s, %s: expected %s; got %s%s", name_of(problem), how, want, got, suite_seed_text());
}

static void compare_bounded(const red_problem *problem, const char *how, const void *expected, const void *actual) {
  red_bounded e, a;
  memcpy(&e, expected, sizeof e);
  memcpy(&a, actual, sizeof a);
  ck_assert_msg(memcmp(&e, &a, sizeof e) == 0, "%s, %s: expected %llx within %a, got %llx within %a%s",
                name_of(problem), how, (unsigned long long)e.value.u64, e.bound, (unsigned long long)a.value.u64,
                a.bound, suite_seed_text());
}

static unsigned long long element_at(const unsigned char *data, size_t bytes, size_t i) {
  unsigned long long bits = 0;
  memcpy(&bits, data + i * bytes, bytes);
  return bits;
}

void compare_outputs(const red_problem *problem, const char *how, const void *expected, const void *actual) {
  if (problem->kind == RED_STATS) {
    compare_stats(problem, how, expected, actual);
    return;
  }
  if (problem->bound) {
    compare_bounded(problem, how, expected, actual);
    return;
  }
  size_t total = output_bytes(problem);
  if (total == 0 || memcmp(expected, actual, total) == 0) return;
  size_t bytes = problem->kind == RED_REDUCE ? total : total / problem->n, i = 0;
  while (element_at(expected, bytes, i) == element_at(actual, bytes, i)) i++;
  ck_abort_msg("%s, %s: output %zu: expected %llx, got %llx%s", name_of(problem), how, i,
               element_at(expected, bytes, i), element_at(actual, bytes, i), suite_seed_text());
}

int takes_two(const red_problem *problem) {
  return problem->kind != RED_STATS && problem->op == RED_DOT;
}

int takes_init(const red_problem *problem) {
  if (problem->kind == RED_STATS) return 0;
  int index = problem->op >= RED_ARGMIN && problem->op <= RED_ARGMAXNUM;
  return !index && problem->op != RED_NRM2 && problem->op != RED_MEAN;
}

int may_refuse(const red_problem *problem, red_status status) {
  if (status != RED_ERR_UNSUPPORTED) return 0;
  red_problem resolved = *problem;
  ck_red(red_problem_resolve(&resolved));
  int on_opencl = strncmp(suite_backend(), "opencl", 6) == 0;
  int wide = resolved.kind == RED_STATS || resolved.in == RED_F64 || resolved.acc == RED_F64 || resolved.out == RED_F64;
  int expected = on_opencl && wide;
  ck_assert_msg(expected, "%s was refused: %s%s", name_of(problem), red_last_error(), suite_seed_text());
  return 1;
}

/* ---- Against the reference --------------------------------------------------------------------------------------- */

int may_be_in_place(const red_problem *problem) {
  return (problem->kind == RED_INCLUSIVE_SCAN || problem->kind == RED_EXCLUSIVE_SCAN) && problem->n > 0 &&
         output_bytes(problem) == problem->n * red_dtype_bytes(problem->in);
}

void check_untouched(const red_problem *problem, const buffer *out) {
  for (size_t i = problem->kind == RED_STATS ? sizeof(size_t) : 0; i < out->bytes; i++)
    ck_assert_msg(out->data[i] == MARK, "%s failed and wrote its output%s", name_of(problem), suite_seed_text());
}

void compare_with_reference(red_context *context, const red_problem *problem, random_state *random) {
  size_t size = red_dtype_bytes(problem->in), bytes = output_bytes(problem);
  buffer in = buffer_new(problem->n * size, random_below(random, 3) == 0 ? random_below(random, 64) : 0);
  buffer in2 = buffer_new(problem->n * size, random_below(random, 64));
  buffer out = buffer_new(bytes, random_below(random, 64));
  unsigned char *expected = malloc(bytes + 1);
  random_elements(random, problem->in, in.data, problem->n);
  const unsigned char *second = NULL;
  if (takes_two(problem)) second = random_below(random, 8) == 0 ? in.data : in2.data;
  if (second == in2.data) random_elements(random, problem->in, in2.data, problem->n);
  prepare_output(problem, expected);
  red_status want = red_reference2(problem, in.data, second, expected);
  int in_place = may_be_in_place(problem) && random_below(random, 3) == 0;
  memset(out.data, MARK, bytes);
  prepare_output(problem, out.data);
  if (in_place) memcpy(out.data, in.data, bytes);
  red_status got = red_run2(context, problem, in_place ? out.data : in.data, second, out.data);
  if (!may_refuse(problem, got)) {
    ck_assert_msg(got == want, "%s: status %d, the reference has %d%s", name_of(problem), got, want, suite_seed_text());
    if (got == RED_OK)
      compare_outputs(problem, in_place ? "in place" : "red_run", expected, out.data);
    else
      check_untouched(problem, &out);
    buffer_check(&out, name_of(problem));
  }
  buffer_free(&in);
  buffer_free(&in2);
  buffer_free(&out);
  free(expected);
}
