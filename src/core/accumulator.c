/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accumulators: data that arrives in pieces. A piece is cut into complete nodes of the canonical tree (blocks of a
 * power of two leaves at a multiple of their size), each an ordinary execution on the context's device; what is left of
 * a chunk waits in a buffer. So every backend serves pieces with what it has anyway.
 */
#include "accumulator.h"

#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "fpenv.h"
#include "overlap.h"

/* A reduction that hands out its raw state; scans keep their kind and outputs. */
static void set_piece(red_accumulator *acc) {
  red_lowered *piece = &acc->piece;
  *piece = acc->lowered;
  piece->has_init = false;
  if (piece->kind != RED_REDUCE) return;
  piece->finish = RED_FINISH_VALUE;
  if (piece->family == RED_FAMILY_COUNT) {
    piece->acc = RED_U64;
    piece->acc_bytes = 8;
  }
  piece->out = piece->acc;
  piece->out_bytes = piece->acc_bytes;
}

static void clear(red_accumulator *acc) {
  red_forest_clear(&acc->got.forest);
  red_forest_clear(&acc->got.sizes);
  red_exact_clear(&acc->exact);
  red_moments_clear(&acc->got.moments);
  if (acc->lowered.kind == RED_STATS) acc->got.stats = red_stats_identity(&acc->lowered);
}

static red_status check_first(const red_lowered *lowered, uint64_t first, uint64_t chunk) {
  if (first == 0) return RED_OK;
  if (red_is_scan(lowered->kind))
    return red_fail(RED_ERR_UNSUPPORTED, "first = %llu: scans begin at element 0", (unsigned long long)first);
  if (first > RED_ACCUMULATOR_MOST)
    return red_fail(RED_ERR_INVALID, "first = %llu: expected at most 2^63 - 1", (unsigned long long)first);
  if ((lowered->canonical || lowered->kind == RED_STATS) && first % chunk != 0)
    return red_fail(RED_ERR_INVALID, "first = %llu: in canonical order expected a multiple of the chunk, %llu",
                    (unsigned long long)first, (unsigned long long)chunk);
  return RED_OK;
}

static red_status check_memory(const red_lowered *lowered) {
  if (lowered->out_memory != RED_HOST && !red_is_scan(lowered->kind))
    return red_fail(RED_ERR_UNSUPPORTED, "out_memory = RED_DEVICE: an accumulator's result is finished on the host");
  if (lowered->in_memory != RED_HOST && red_is_scan(lowered->kind))
    return red_fail(RED_ERR_UNSUPPORTED, "in_memory = RED_DEVICE: accumulators scan pieces in host memory only");
  return RED_OK;
}

red_status red_accumulator_create(red_context *context, const red_problem *problem, red_accumulator **accumulator) {
  return red_accumulator_create_at(context, problem, 0, accumulator);
}

red_status red_accumulator_create_at(red_context *context, const red_problem *problem, uint64_t first,
                                     red_accumulator **accumulator) {
  if (accumulator == NULL) return red_fail(RED_ERR_INVALID, "accumulator is NULL");
  if (problem == NULL) return red_fail(RED_ERR_INVALID, "problem is NULL");
  red_problem whole = *problem;
  whole.n = 0;
  red_lowered lowered;
  red_status status = red_lower(&whole, &lowered);
  if (status != RED_OK) return status;
  uint64_t chunk = red_is_scan(lowered.kind) ? 1 : red_chunk_elements(&lowered);
  status = check_memory(&lowered);
  if (status == RED_OK) status = check_first(&lowered, first, chunk);
  if (status == RED_OK) status = red_context_resolve(context, &context);
  if (status != RED_OK) return status;
  unsigned inputs = lowered.map == RED_MAP_PRODUCT ? 2 : 1;
  red_accumulator *made = calloc(1, sizeof *made + inputs * chunk * lowered.in_bytes);
  if (made == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for an accumulator");
  made->context = context;
  made->lowered = lowered;
  made->first = first;
  made->chunk = chunk;
  set_piece(made);
  clear(made);
  *accumulator = made;
  return RED_OK;
}

void red_accumulator_destroy(red_accumulator *acc) {
  free(acc);
}

uint64_t red_accumulator_count(const red_accumulator *acc) {
  return acc != NULL ? acc->count : 0;
}

/* Where a piece lies: `offset` bytes from there; in2 as in red_args. */
typedef struct source {
  red_memory memory;
  const void *in, *in2;
  uint64_t offset;
} source;

red_status red_accumulator_run_piece(const red_accumulator *acc, const red_lowered *piece, const red_args *args,
                                     const red_raw *raw) {
  red_plan plan = {.lowered = *piece};
  red_status status = red_plan_prepare(acc->context, &plan);
  if (status != RED_OK) return status;
  status = red_plan_run(&plan, NULL, args, raw);
  red_plan_release(&plan);
  return status;
}

/* Execute on n elements; `out` has room for any result. */
static red_status run_source(const red_accumulator *acc, const source *from, uint64_t n, void *out, red_raw raw) {
  red_lowered piece = acc->piece;
  piece.n = n;
  piece.in_memory = from->memory;
  red_args args = {.size = sizeof args,
                   .in = from->in,
                   .in_offset = from->offset,
                   .in2 = from->in2,
                   .in2_offset = from->in2 != NULL ? from->offset : 0,
                   .out = out};
  return red_accumulator_run_piece(acc, &piece, &args, &raw);
}

/* `bytes` of an array from `at` on, to the host. */
static red_status fetch(const red_accumulator *acc, const source *from, const void *array, uint64_t at, void *to,
                        uint64_t bytes) {
  if (from->memory == RED_DEVICE) return red_download(acc->context, NULL, to, array, from->offset + at, bytes);
  memcpy(to, (const char *)array + from->offset + at, bytes);
  return RED_OK;
}

/* From the index of the extreme element to its key. */
static red_status set_key(const red_accumulator *acc, const source *from, uint64_t first, uint64_t index,
                          red_state *state) {
  red_scalar element;
  red_status status = fetch(acc, from, from->in, index * acc->piece.in_bytes, &element, acc->piece.in_bytes);
  if (status != RED_OK) return status;
  *state = (red_state){.key = red_key(&acc->piece, &element), .index = first + index};
  return RED_OK;
}

/* The raw state of n elements that begin at element `first` of the whole. */
static red_status reduce_block(const red_accumulator *acc, const source *from, uint64_t first, uint64_t n,
                               red_pair *pair) {
  const red_lowered *piece = &acc->piece;
  red_bounded value = {.value = {.u64 = 0}};
  red_status status = run_source(acc, from, n, &value, (red_raw){.pair = piece->bounded ? pair : NULL});
  if (piece->bounded) return status;
  if (piece->family != RED_FAMILY_ARGMIN) {
    if (status == RED_OK) pair->sum = red_state_from_acc(piece, &value.value);
    return status;
  }
  if (status == RED_OK) return set_key(acc, from, first, value.value.u64, &pair->sum);
  if (status != RED_ERR_EMPTY) return status;
  pair->sum = red_state_identity(piece); /* nothing but NaNs here */
  pair->sum.key = piece->nan_key;
  return RED_OK;
}

static red_status gather_stats(const red_accumulator *acc, gathered *got, const source *from, uint64_t first,
                               uint64_t n, unsigned level) {
  const uint64_t index = first / acc->chunk >> level;
  red_stats_result unused;
  red_stats_state block;
  red_status status = run_source(acc, from, n, &unused, (red_raw){.stats = &block});
  if (status != RED_OK) return status;
  block.argmin.index += first;
  block.argmax.index += first;
  red_stats_merge(&acc->piece, &got->stats, &block);
  red_moments_push(&got->moments, level, index, block.moments);
  red_forest_push(&got->forest, &acc->piece, level, index, block.sum);
  return RED_OK;
}

/* Take in the block of n elements that is node (level, first / n) of the tree. */
static red_status take_block(const red_accumulator *acc, gathered *got, const source *from, uint64_t first, uint64_t n,
                             unsigned level) {
  if (acc->lowered.kind == RED_STATS) return gather_stats(acc, got, from, first, n, level);
  const uint64_t index = first / acc->chunk >> level;
  red_pair pair;
  red_status status = reduce_block(acc, from, first, n, &pair);
  if (status != RED_OK) return status;
  red_forest_push(&got->forest, &acc->piece, level, index, pair.sum);
  if (acc->piece.bounded) red_forest_push(&got->sizes, &acc->piece, level, index, pair.size);
  return RED_OK;
}

unsigned red_accumulator_block_level(uint64_t index, uint64_t most) {
  unsigned level = 63 - (unsigned)__builtin_clzll(most);
  unsigned aligned = index == 0 ? 63 : (unsigned)__builtin_ctzll(index);
  return level < aligned ? level : aligned;
}

/* Any order will do: one execution, whatever its length, pushed as the only node. */
static red_status add_unordered(red_accumulator *acc, const source *from, uint64_t n) {
  red_forest *forest = &acc->got.forest;
  red_pair pair;
  red_status status = reduce_block(acc, from, red_accumulator_end(acc), n, &pair);
  if (status != RED_OK) return status;
  if (forest->count > 0) pair.sum = red_state_merge(&acc->piece, forest->nodes[0].state, pair.sum);
  forest->nodes[0] = (red_node){.index = 0, .level = 0, .state = pair.sum};
  forest->count = 1;
  acc->count += n;
  return RED_OK;
}

static red_status add_exact(red_accumulator *acc, const source *from, uint64_t n) {
  red_exact sum;
  red_bounded unused;
  red_status status = run_source(acc, from, n, &unused, (red_raw){.exact = &sum});
  if (status != RED_OK) return status;
  red_exact_merge(&acc->exact, &sum);
  acc->count += n;
  return RED_OK;
}

/* The elements that wait; those of the second input, if there is one, lie behind them. */
static source buffer_of(const red_accumulator *acc) {
  const bool two = acc->lowered.map == RED_MAP_PRODUCT;
  return (source){
      .memory = RED_HOST, .in = acc->buffer, .in2 = two ? acc->buffer + acc->chunk * acc->lowered.in_bytes : NULL};
}

/* Let n more elements wait. */
static red_status let_wait(red_accumulator *acc, const source *from, uint64_t n) {
  const uint64_t bytes = acc->lowered.in_bytes;
  unsigned char *to = acc->buffer + acc->waiting * bytes;
  red_status status = fetch(acc, from, from->in, 0, to, n * bytes);
  if (status == RED_OK && from->in2 != NULL)
    status = fetch(acc, from, from->in2, 0, to + acc->chunk * bytes, n * bytes);
  if (status != RED_OK) return status;
  acc->waiting += n;
  acc->count += n;
  return RED_OK;
}

static red_status add_ordered(red_accumulator *acc, source *from, uint64_t n) {
  const uint64_t chunk = acc->chunk;
  red_status status = RED_OK;
  while (n > 0 && status == RED_OK) {
    uint64_t first = red_accumulator_end(acc) - acc->waiting, taken; /* `first`: a multiple of the chunk */
    if (acc->waiting > 0 || n < chunk) {
      taken = chunk - acc->waiting < n ? chunk - acc->waiting : n;
      status = let_wait(acc, from, taken);
      if (status != RED_OK || acc->waiting < chunk) break;
      const source waiting = buffer_of(acc);
      acc->waiting = 0;
      status = take_block(acc, &acc->got, &waiting, first, chunk, 0);
    } else {
      unsigned level = red_accumulator_block_level(first / chunk, n / chunk);
      taken = chunk << level;
      status = take_block(acc, &acc->got, from, first, taken, level);
      acc->count += taken;
    }
    from->offset += taken * acc->lowered.in_bytes;
    n -= taken;
  }
  return status;
}

/* Of an array in device memory only the device knows where it ends. */
static red_status check_range(const red_accumulator *acc, const char *name, const void *array, uint64_t n) {
  if (array == NULL || acc->lowered.in_memory == RED_DEVICE) return RED_OK;
  return red_check_range(name, (uintptr_t)array, n * acc->lowered.in_bytes);
}

red_status red_accumulator_check_piece(const red_accumulator *acc, const void *in, uint64_t n) {
  if (acc == NULL) return red_fail(RED_ERR_INVALID, "accumulator is NULL");
  if (acc->failed) return red_fail(RED_ERR_INVALID, "accumulator lost part of its input when an earlier piece failed");
  if (in == NULL && n > 0) return red_fail(RED_ERR_INVALID, "in is NULL, n = %llu", (unsigned long long)n);
  uint64_t most = (uint64_t)INT64_MAX /
                  (acc->lowered.in_bytes > acc->lowered.out_bytes ? acc->lowered.in_bytes : acc->lowered.out_bytes);
  if (n > most || red_accumulator_end(acc) > RED_ACCUMULATOR_MOST - n)
    return red_fail(RED_ERR_INVALID, "n = %llu elements more than %llu are too many", (unsigned long long)n,
                    (unsigned long long)acc->count);
  return check_range(acc, "in", in, n);
}

red_status red_accumulator_add2(red_accumulator *acc, const void *in, const void *in2, uint64_t n) {
  red_status status = red_accumulator_check_piece(acc, in, n);
  if (status != RED_OK) return status;
  if (red_is_scan(acc->lowered.kind))
    return red_fail(RED_ERR_INVALID, "accumulator is a scan: use red_accumulator_scan");
  red_lowered piece = acc->lowered;
  piece.n = n;
  status = red_check_in2(&piece, in2);
  if (status == RED_OK) status = check_range(acc, "in2", in2, n);
  if (status != RED_OK || n == 0) return status;
  source from = {.memory = acc->lowered.in_memory, .in = in, .in2 = in2};
  red_fpenv saved = red_fpenv_enter();
  if (acc->lowered.exact)
    status = add_exact(acc, &from, n);
  else if (red_accumulator_is_ordered(acc))
    status = add_ordered(acc, &from, n);
  else
    status = add_unordered(acc, &from, n);
  red_fpenv_leave(saved);
  acc->failed = status != RED_OK;
  return status;
}

red_status red_accumulator_add(red_accumulator *acc, const void *in, uint64_t n) {
  return red_accumulator_add2(acc, in, NULL, n);
}

static void finish_stats(const red_accumulator *acc, gathered *got, void *out) {
  if (acc->lowered.in_float) got->stats.sum = red_forest_root(&got->forest, &acc->piece);
  got->stats.moments = red_moments_root(&got->moments);
  red_stats_result finished;
  red_stats_finish(&acc->lowered, &got->stats, acc->count, &finished);
  memcpy(out, &finished, sizeof finished);
}

/* The waiting elements are the last, incomplete chunk: a node of level 0 without a right sibling. */
static red_status result(const red_accumulator *acc, void *out) {
  if (acc->lowered.exact) return red_bound_finish_exact(&acc->lowered, &acc->exact, acc->count, out);
  gathered got = acc->got;
  if (acc->waiting > 0) {
    const source waiting = buffer_of(acc);
    red_status status = take_block(acc, &got, &waiting, red_accumulator_end(acc) - acc->waiting, acc->waiting, 0);
    if (status != RED_OK) return status;
  }
  if (acc->lowered.kind == RED_STATS) {
    if (acc->count == 0) return red_fail(RED_ERR_EMPTY, "n = 0: statistics have no result for empty input");
    finish_stats(acc, &got, out);
    return RED_OK;
  }
  const red_pair pair = {.sum = red_forest_root(&got.forest, &acc->piece),
                         .size = red_forest_root(&got.sizes, &acc->piece)};
  if (acc->lowered.bounded) return red_bound_finish(&acc->lowered, &pair, acc->count, out);
  return red_state_finish(&acc->lowered, pair.sum, acc->count, out);
}

red_status red_accumulator_result(const red_accumulator *acc, void *out) {
  if (acc == NULL) return red_fail(RED_ERR_INVALID, "accumulator is NULL");
  if (out == NULL) return red_fail(RED_ERR_INVALID, "out is NULL");
  if (acc->failed) return red_fail(RED_ERR_INVALID, "accumulator lost part of its input when an earlier piece failed");
  if (red_is_scan(acc->lowered.kind))
    return red_fail(RED_ERR_INVALID, "accumulator is a scan: its outputs have been written already");
  if (red_accumulator_is_ordered(acc) && acc->first > 0)
    return red_fail(
        RED_ERR_INVALID,
        "accumulator begins at element %llu: merge it into the one before it, a canonical result begins at 0",
        (unsigned long long)acc->first);
  red_status status = acc->lowered.kind == RED_STATS ? red_stats_check_size(out) : RED_OK;
  if (status != RED_OK) return status;
  red_fpenv saved = red_fpenv_enter();
  status = result(acc, out);
  red_fpenv_leave(saved);
  return status;
}
