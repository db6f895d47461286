/* SPDX-License-Identifier: BSD-2-Clause */
/* Merging accumulators: exact ones and those of any order freely, canonical ones with their neighbour. */
#include <string.h>

#include "accumulator.h"
#include "fpenv.h"

red_status red_accumulator_check_partial(const red_accumulator *acc, const char *argument) {
  if (acc == NULL) return red_fail(RED_ERR_INVALID, "%s is NULL", argument);
  if (red_is_scan(acc->lowered.kind))
    return red_fail(RED_ERR_UNSUPPORTED, "%s is a scan: scans are neither merged nor saved", argument);
  if (acc->failed) return red_fail(RED_ERR_INVALID, "%s lost part of its input when an earlier piece failed", argument);
  return RED_OK;
}

static bool same_problem(const red_lowered *a, const red_lowered *b) {
  return a->kind == b->kind && a->op == b->op && a->in == b->in && a->acc == b->acc && a->out == b->out &&
         a->exact == b->exact && a->bounded == b->bounded && a->stats == b->stats;
}

/* Canonical order and indices depend on where an element stands. */
static bool needs_position(const red_accumulator *acc) {
  return red_accumulator_is_ordered(acc) || acc->lowered.family == RED_FAMILY_ARGMIN;
}

static red_status check_pair(const red_accumulator *into, const red_accumulator *from) {
  red_status status = red_accumulator_check_partial(into, "into");
  if (status == RED_OK) status = red_accumulator_check_partial(from, "from");
  if (status != RED_OK) return status;
  if (into == from) return red_fail(RED_ERR_INVALID, "from and into are the same accumulator");
  if (!same_problem(&into->lowered, &from->lowered))
    return red_fail(RED_ERR_INVALID,
                    "from accumulates another problem (%s of %s) than into (%s of %s), or other dtypes or parts",
                    red_op_name(from->lowered.op), red_dtype_name(from->lowered.in), red_op_name(into->lowered.op),
                    red_dtype_name(into->lowered.in));
  if (needs_position(into) && from->first != red_accumulator_end(into))
    return red_fail(RED_ERR_INVALID, "from begins at element %llu: expected %llu, where into ends",
                    (unsigned long long)from->first, (unsigned long long)red_accumulator_end(into));
  if (from->count > RED_ACCUMULATOR_MOST - red_accumulator_end(into))
    return red_fail(RED_ERR_INVALID, "from: %llu elements more than %llu are too many", (unsigned long long)from->count,
                    (unsigned long long)into->count);
  return RED_OK;
}

/* `from` begins at a chunk and where `into` ends: nothing waits in `into`. */
static void append(red_accumulator *into, const red_accumulator *from) {
  uint64_t bytes = into->lowered.in_bytes;
  red_forest_append(&into->got.forest, &into->piece, &from->got.forest);
  red_forest_append(&into->got.sizes, &into->piece, &from->got.sizes);
  red_moments_append(&into->got.moments, &from->got.moments);
  if (into->lowered.kind == RED_STATS) red_stats_merge(&into->piece, &into->got.stats, &from->got.stats);
  into->waiting = from->waiting;
  memcpy(into->buffer, from->buffer, from->waiting * bytes);
  if (into->lowered.map == RED_MAP_PRODUCT)
    memcpy(into->buffer + into->chunk * bytes, from->buffer + into->chunk * bytes, from->waiting * bytes);
}

static void combine(red_accumulator *into, const red_accumulator *from) {
  red_forest *forest = &into->got.forest;
  if (from->got.forest.count == 0) return;
  red_node node = from->got.forest.nodes[0];
  if (forest->count > 0) node.state = red_state_merge(&into->piece, forest->nodes[0].state, node.state);
  forest->nodes[0] = node;
  forest->count = 1;
}

red_status red_accumulator_merge(red_accumulator *into, const red_accumulator *from) {
  red_status status = check_pair(into, from);
  if (status != RED_OK || from->count == 0) return status;
  red_fpenv saved = red_fpenv_enter();
  if (into->lowered.exact)
    red_exact_merge(&into->exact, &from->exact);
  else if (red_accumulator_is_ordered(into))
    append(into, from);
  else
    combine(into, from);
  red_fpenv_leave(saved);
  into->count += from->count;
  return RED_OK;
}
