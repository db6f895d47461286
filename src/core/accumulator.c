/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accumulators: data that arrives in pieces. A piece is cut into complete nodes of the canonical tree (blocks of a
 * power of two leaves at a multiple of their size), each an ordinary execution on the context's device; what is left of
 * a chunk waits in a buffer. So every backend serves pieces with what it has anyway.
 */
#include "accumulator.h"

#include <stdlib.h>
#include <string.h>

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
  red_forest_clear(&acc->forest);
  red_exact_clear(&acc->exact);
  red_moments_clear(&acc->stats.moments);
  if (acc->lowered.kind == RED_STATS) acc->stats.state = red_stats_identity(&acc->lowered);
}

static red_status check_first(const red_lowered *lowered, uint64_t first, uint64_t chunk) {
  if (first == 0) return RED_OK;
  if (lowered->kind != RED_REDUCE)
    return red_fail(RED_ERR_UNSUPPORTED, "first = %llu: only reductions can begin after element 0",
                    (unsigned long long)first);
  if (first > RED_ACCUMULATOR_MOST)
    return red_fail(RED_ERR_INVALID, "first = %llu: expected at most 2^63 - 1", (unsigned long long)first);
  if (lowered->canonical && first % chunk != 0)
    return red_fail(RED_ERR_INVALID, "first = %llu: in canonical order expected a multiple of the chunk, %llu",
                    (unsigned long long)first, (unsigned long long)chunk);
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
  if (lowered.in_memory != RED_HOST || lowered.out_memory != RED_HOST)
    return red_fail(RED_ERR_UNSUPPORTED, "accumulators take host memory only");
  uint64_t chunk = red_is_scan(lowered.kind) ? 1 : red_chunk_elements(&lowered);
  status = check_first(&lowered, first, chunk);
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

static red_status run_piece(const red_accumulator *acc, const red_lowered *piece, const red_args *args,
                            const red_raw *raw) {
  red_plan plan = {.lowered = *piece};
  red_status status = red_plan_prepare(acc->context, &plan);
  if (status != RED_OK) return status;
  status = red_plan_run(&plan, NULL, args, raw);
  red_plan_release(&plan);
  return status;
}

/* The raw state of n elements that begin at element `first`; in2 as in red_args. */
static red_status reduce_block(const red_accumulator *acc, const void *in, const void *in2, uint64_t first, uint64_t n,
                               red_state *state) {
  red_lowered piece = acc->piece;
  piece.n = n;
  red_scalar value = {.u64 = 0};
  red_args args = {.size = sizeof args, .in = in, .out = &value, .in2 = in2};
  red_status status = run_piece(acc, &piece, &args, NULL);
  if (piece.family != RED_FAMILY_ARGMIN) {
    if (status == RED_OK) *state = red_state_from_acc(&piece, &value);
    return status;
  }
  if (status == RED_OK) {
    state->key = red_key(&piece, (const unsigned char *)in + value.u64 * piece.in_bytes);
    state->index = first + value.u64;
  } else if (status == RED_ERR_EMPTY) { /* nothing but NaNs here */
    *state = red_state_identity(&piece);
    state->key = piece.nan_key;
    status = RED_OK;
  }
  return status;
}

/* Take in the block of n elements that is node (level, first / n) of the tree. */
static red_status take_block(red_accumulator *acc, red_forest *forest, gathered *stats, const void *in, const void *in2,
                             uint64_t first, uint64_t n, unsigned level) {
  uint64_t index = first / acc->chunk >> level;
  red_state state = {.u64 = 0};
  if (acc->lowered.kind == RED_STATS) {
    red_lowered piece = acc->piece;
    red_stats_state block;
    piece.n = n;
    red_args args = {.size = sizeof args, .in = in, .out = &block};
    red_status status = run_piece(acc, &piece, &args, &(red_raw){.stats = &block});
    if (status != RED_OK) return status;
    block.argmin.index += first;
    block.argmax.index += first;
    red_stats_merge(&piece, &stats->state, &block);
    red_moments_push(&stats->moments, level, index, block.moments);
    state = block.sum;
  } else {
    red_status status = reduce_block(acc, in, in2, first, n, &state);
    if (status != RED_OK) return status;
  }
  red_forest_push(forest, &acc->piece, level, index, state);
  return RED_OK;
}

/* The largest power of two (as an exponent) that divides `index` and is not above `most`. */
static unsigned block_level(uint64_t index, uint64_t most) {
  unsigned level = 63 - (unsigned)__builtin_clzll(most);
  unsigned aligned = index == 0 ? 63 : (unsigned)__builtin_ctzll(index);
  return level < aligned ? level : aligned;
}

/* Any order will do: one execution, whatever its length, pushed as the only node. */
static red_status add_unordered(red_accumulator *acc, const void *in, const void *in2, uint64_t n) {
  red_state state;
  red_status status = reduce_block(acc, in, in2, red_accumulator_end(acc), n, &state);
  if (status != RED_OK) return status;
  if (acc->forest.count > 0) state = red_state_merge(&acc->piece, acc->forest.nodes[0].state, state);
  acc->forest.nodes[0] = (red_node){.index = 0, .level = 0, .state = state};
  acc->forest.count = 1;
  acc->count += n;
  return RED_OK;
}

static red_status add_exact(red_accumulator *acc, const void *in, const void *in2, uint64_t n) {
  red_lowered piece = acc->piece;
  red_exact sum;
  red_scalar unused;
  piece.n = n;
  red_args args = {.size = sizeof args, .in = in, .out = &unused, .in2 = in2};
  red_status status = run_piece(acc, &piece, &args, &(red_raw){.exact = &sum});
  if (status != RED_OK) return status;
  red_exact_merge(&acc->exact, &sum);
  acc->count += n;
  return RED_OK;
}

/* The buffer of the second input, if there is one. */
static unsigned char *second_buffer(red_accumulator *acc) {
  return acc->lowered.map == RED_MAP_PRODUCT ? acc->buffer + acc->chunk * acc->lowered.in_bytes : NULL;
}

static red_status add_ordered(red_accumulator *acc, const unsigned char *in, const unsigned char *in2, uint64_t n) {
  uint64_t bytes = acc->lowered.in_bytes, chunk = acc->chunk;
  unsigned char *buffer2 = second_buffer(acc);
  red_status status = RED_OK;
  while (n > 0 && status == RED_OK) {
    uint64_t first = red_accumulator_end(acc) - acc->waiting, taken; /* `first`: a multiple of the chunk */
    if (acc->waiting > 0 || n < chunk) {
      taken = chunk - acc->waiting < n ? chunk - acc->waiting : n;
      memcpy(acc->buffer + acc->waiting * bytes, in, taken * bytes);
      if (in2 != NULL) memcpy(buffer2 + acc->waiting * bytes, in2, taken * bytes);
      acc->waiting += taken;
      acc->count += taken;
      if (acc->waiting < chunk) break;
      acc->waiting = 0;
      status = take_block(acc, &acc->forest, &acc->stats, acc->buffer, buffer2, first, chunk, 0);
    } else {
      unsigned level = block_level(first / chunk, n / chunk);
      taken = chunk << level;
      status = take_block(acc, &acc->forest, &acc->stats, in, in2, first, taken, level);
      acc->count += taken;
    }
    in += taken * bytes;
    if (in2 != NULL) in2 += taken * bytes;
    n -= taken;
  }
  return status;
}

static red_status check_piece(const red_accumulator *acc, const void *in, uint64_t n) {
  if (acc == NULL) return red_fail(RED_ERR_INVALID, "accumulator is NULL");
  if (acc->failed) return red_fail(RED_ERR_INVALID, "accumulator lost part of its input when an earlier piece failed");
  if (in == NULL && n > 0) return red_fail(RED_ERR_INVALID, "in is NULL, n = %llu", (unsigned long long)n);
  uint64_t most = (uint64_t)INT64_MAX /
                  (acc->lowered.in_bytes > acc->lowered.out_bytes ? acc->lowered.in_bytes : acc->lowered.out_bytes);
  if (n > most || red_accumulator_end(acc) > RED_ACCUMULATOR_MOST - n)
    return red_fail(RED_ERR_INVALID, "n = %llu elements more than %llu are too many", (unsigned long long)n,
                    (unsigned long long)acc->count);
  return red_check_range("in", (uintptr_t)in, n * acc->lowered.in_bytes);
}

red_status red_accumulator_add2(red_accumulator *acc, const void *in, const void *in2, uint64_t n) {
  red_status status = check_piece(acc, in, n);
  if (status != RED_OK) return status;
  if (red_is_scan(acc->lowered.kind))
    return red_fail(RED_ERR_INVALID, "accumulator is a scan: use red_accumulator_scan");
  red_lowered piece = acc->lowered;
  piece.n = n;
  status = red_check_in2(&piece, in2);
  if (status == RED_OK && in2 != NULL) status = red_check_range("in2", (uintptr_t)in2, n * piece.in_bytes);
  if (status != RED_OK || n == 0) return status;
  red_fpenv saved = red_fpenv_enter();
  if (acc->lowered.exact)
    status = add_exact(acc, in, in2, n);
  else if (acc->lowered.canonical || acc->lowered.kind == RED_STATS)
    status = add_ordered(acc, in, in2, n);
  else
    status = add_unordered(acc, in, in2, n);
  red_fpenv_leave(saved);
  acc->failed = status != RED_OK;
  return status;
}

red_status red_accumulator_add(red_accumulator *acc, const void *in, uint64_t n) {
  return red_accumulator_add2(acc, in, NULL, n);
}

/* P(count), the initial value included; there is one if anything was appended or the caller gave one. */
static red_state prefix(const red_accumulator *acc) {
  const red_lowered *lowered = &acc->lowered;
  if (!lowered->has_init) return red_forest_prefix(&acc->forest, lowered, NULL);
  red_state init = red_state_from_acc(lowered, &lowered->init);
  return red_forest_prefix(&acc->forest, lowered, &init);
}

/* P(count) as the initial value of the next piece: the outputs come out as if there had been no cut ... */
static void set_carry(const red_accumulator *acc, red_lowered *piece) {
  piece->has_init = acc->count > 0 || acc->lowered.has_init;
  if (!piece->has_init) return;
  red_lowered store = acc->lowered;
  store.out = store.acc;
  store.out_bytes = store.acc_bytes;
  red_state_store(&store, prefix(acc), acc->count, &piece->init);
}

/* ... but for the last inclusive one, P of the piece's end: there the carry ripples through the nodes before it. */
static void store_end(const red_accumulator *acc, unsigned char *out) {
  if (acc->lowered.kind == RED_INCLUSIVE_SCAN) red_state_store(&acc->lowered, prefix(acc), acc->count, out);
}

static red_status scan_pieces(red_accumulator *acc, const unsigned char *in, uint64_t n, unsigned char *out) {
  while (n > 0) {
    unsigned level = block_level(acc->count, n);
    uint64_t taken = (uint64_t)1 << level;
    red_lowered piece = acc->piece;
    red_state total;
    piece.n = taken;
    set_carry(acc, &piece);
    red_args args = {.size = sizeof args, .in = in, .out = out};
    red_status status = run_piece(acc, &piece, &args, &(red_raw){.total = &total});
    if (status != RED_OK) return status;
    red_forest_push(&acc->forest, &acc->lowered, level, acc->count >> level, total);
    acc->count += taken;
    in += taken * piece.in_bytes;
    out += taken * piece.out_bytes;
    n -= taken;
    store_end(acc, out - piece.out_bytes);
  }
  return RED_OK;
}

red_status red_accumulator_scan(red_accumulator *acc, const void *in, uint64_t n, void *out) {
  red_status status = check_piece(acc, in, n);
  if (status != RED_OK) return status;
  if (!red_is_scan(acc->lowered.kind))
    return red_fail(RED_ERR_INVALID, "accumulator is not a scan: use red_accumulator_add");
  if (n == 0) return RED_OK;
  if (out == NULL) return red_fail(RED_ERR_INVALID, "out is NULL, n = %llu", (unsigned long long)n);
  red_lowered whole = acc->lowered;
  whole.n = n;
  status = red_check_overlap(&whole, (uintptr_t)in, (uintptr_t)out);
  if (status != RED_OK) return status;
  red_fpenv saved = red_fpenv_enter();
  status = scan_pieces(acc, in, n, out);
  red_fpenv_leave(saved);
  acc->failed = status != RED_OK;
  return status;
}

/* The waiting elements are the last, incomplete chunk: a node of level 0 without a right sibling. */
static red_status result(red_accumulator *acc, void *out) {
  red_forest forest = acc->forest;
  gathered stats = acc->stats;
  if (acc->waiting > 0) {
    red_status status = take_block(acc, &forest, &stats, acc->buffer, second_buffer(acc),
                                   red_accumulator_end(acc) - acc->waiting, acc->waiting, 0);
    if (status != RED_OK) return status;
  }
  if (acc->lowered.exact) return red_exact_finish(&acc->lowered, &acc->exact, acc->count, out);
  if (acc->lowered.kind == RED_REDUCE)
    return red_state_finish(&acc->lowered, red_forest_root(&forest, &acc->piece), acc->count, out);
  if (acc->count == 0) return red_fail(RED_ERR_EMPTY, "n = 0: statistics have no result for empty input");
  if (acc->lowered.in_float) stats.state.sum = red_forest_root(&forest, &acc->piece);
  stats.state.moments = red_moments_root(&stats.moments);
  red_stats_result finished;
  red_stats_finish(&acc->lowered, &stats.state, acc->count, &finished);
  memcpy(out, &finished, sizeof finished);
  return RED_OK;
}

red_status red_accumulator_result(const red_accumulator *acc, void *out) {
  if (acc == NULL) return red_fail(RED_ERR_INVALID, "accumulator is NULL");
  if (out == NULL) return red_fail(RED_ERR_INVALID, "out is NULL");
  if (acc->failed) return red_fail(RED_ERR_INVALID, "accumulator lost part of its input when an earlier piece failed");
  if (red_is_scan(acc->lowered.kind))
    return red_fail(RED_ERR_INVALID, "accumulator is a scan: its outputs have been written already");
  if (acc->lowered.canonical && acc->first > 0)
    return red_fail(
        RED_ERR_INVALID,
        "accumulator begins at element %llu: merge it into the one before it, a canonical result begins at 0",
        (unsigned long long)acc->first);
  red_status status = acc->lowered.kind == RED_STATS ? red_stats_check_size(out) : RED_OK;
  if (status != RED_OK) return status;
  red_fpenv saved = red_fpenv_enter();
  status = result((red_accumulator *)acc, out);
  red_fpenv_leave(saved);
  return status;
}
