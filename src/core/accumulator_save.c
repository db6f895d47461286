/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accumulators as bytes: a partial result that another process, or another day, goes on with. Little endian:
 *
 *   "red-acc", version (1 byte), length of the whole (8), length of the problem string (4) and the string, n = 0,
 *   first (8), count (8), then
 *     exact       flags (4), is negative (1), first digit (4), digits (4), each digit of the magnitude (4)
 *     canonical   nodes (4), each: level (1), index (8), state (8) [, state of the magnitudes (8), if bounded]
 *                 [, mean (8), its low part (8), squared deviations (8), of statistics with the variance];
 *                 elements that wait (8) and themselves; of statistics then high half of the sum (8), sum (8), keys of
 *                 minimum and maximum (8, 8), key and index of argmin and of argmax (8, 8, 8, 8), NaNs (8)
 *     any order   the state, if count > 0: value (8), index (8)
 *   FNV-1a of everything before (8)
 *
 * Equal sums have equal bytes. What is loaded is checked as if an enemy had written it.
 */
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"

enum {
  VERSION = 1,
  SUM_BYTES = 8,
  HEAD_BYTES = 20, /* up to the problem string */
  MOST_TEXT = 128,
  MOST_NODES = 129
};

static const char magic[7] = {'r', 'e', 'd', '-', 'a', 'c', 'c'};

static uint64_t fnv(const unsigned char *at, size_t bytes) {
  uint64_t digest = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; i++) digest = (digest ^ at[i]) * 0x100000001b3u;
  return digest;
}

/* ---- Writing ---- */

/* `to` NULL: only count. */
typedef struct writer {
  unsigned char *to;
  size_t size;
} writer;

static void put(writer *w, const void *bytes, size_t count) {
  if (w->to != NULL) memcpy(w->to + w->size, bytes, count);
  w->size += count;
}

/* The hosts of this library are little endian. */
static void put_number(writer *w, uint64_t value, size_t bytes) {
  put(w, &value, bytes);
}

/* Beside infinities and NaNs digits mean nothing, and beside a NaN the other flags neither. */
static uint32_t lasting_flags(const red_exact *sum, bool *digits) {
  uint32_t infinities = sum->flags & RED_EXACT_INFINITIES;
  *digits = (sum->flags & RED_EXACT_NAN) == 0 && infinities == 0;
  if (*digits) return sum->flags;
  bool nan = (sum->flags & RED_EXACT_NAN) != 0 || infinities == RED_EXACT_INFINITIES;
  return (nan ? (uint32_t)RED_EXACT_NAN : infinities) | RED_EXACT_NOT_MINUS_ZERO;
}

static void put_exact(writer *w, const red_exact *sum) {
  red_exact_magnitude m = {.first = 0};
  bool digits;
  put_number(w, lasting_flags(sum, &digits), 4);
  if (digits) red_exact_measure(sum, &m);
  put_number(w, m.last > 0 && m.negative, 1);
  put_number(w, m.first, 4);
  put_number(w, m.last - m.first, 4);
  put(w, m.digit + m.first, 4 * (m.last - m.first));
}

/* Floats of 4 bytes leave the rest of a state as it was. */
static void put_word(writer *w, const red_accumulator *acc, red_state state) {
  put_number(w, acc->piece.acc_bytes == 8 ? state.u64 : (uint32_t)state.u64, 8);
}

static bool has_moments(const red_accumulator *acc) {
  return acc->lowered.kind == RED_STATS && red_stats_need_moments(&acc->lowered);
}

static void put_forest(writer *w, const red_accumulator *acc) {
  const gathered *got = &acc->got;
  put_number(w, got->forest.count, 4);
  for (unsigned i = 0; i < got->forest.count; i++) {
    const red_node *node = &got->forest.nodes[i];
    put_number(w, node->level, 1);
    put_number(w, node->index, 8);
    put_word(w, acc, node->state);
    if (acc->lowered.bounded) put_word(w, acc, got->sizes.nodes[i].state);
    if (!has_moments(acc)) continue;
    put(w, &got->moments.nodes[i].moments.mean, 8);
    put(w, &got->moments.nodes[i].moments.mean_low, 8);
    put(w, &got->moments.nodes[i].moments.squares, 8);
  }
  uint64_t bytes = acc->lowered.in_bytes;
  put_number(w, acc->waiting, 8);
  put(w, acc->buffer, acc->waiting * bytes);
  if (acc->lowered.map == RED_MAP_PRODUCT) put(w, acc->buffer + acc->chunk * bytes, acc->waiting * bytes);
}

static void put_stats(writer *w, const red_stats_state *stats) {
  const uint64_t words[] = {(uint64_t)stats->sum_high, stats->sum.u64,      stats->least.u64,
                            stats->greatest.u64,       stats->argmin.u64,   stats->argmin.index,
                            stats->argmax.u64,         stats->argmax.index, stats->nan_count};
  put(w, words, sizeof words);
}

static void put_state(writer *w, const red_forest *forest) {
  if (forest->count == 0) return;
  put_number(w, forest->nodes[0].state.u64, 8);
  put_number(w, forest->nodes[0].state.index, 8);
}

static red_status problem_text(const red_lowered *lowered, char text[MOST_TEXT]) {
  red_problem problem = RED_PROBLEM_INIT(lowered->kind, lowered->op, lowered->in, 0);
  problem.stats = lowered->stats;
  problem.bound = lowered->bounded;
  if (lowered->kind == RED_REDUCE) {
    problem.acc = lowered->acc;
    problem.out = lowered->out;
  }
  problem.has_init = lowered->has_init;
  problem.init = lowered->init;
  problem.exact = lowered->exact;
  return red_problem_print(&problem, text, MOST_TEXT);
}

static void put_all(writer *w, const red_accumulator *acc, const char *text, uint64_t size) {
  put(w, magic, sizeof magic);
  put_number(w, VERSION, 1);
  put_number(w, size, 8);
  put_number(w, strlen(text), 4);
  put(w, text, strlen(text));
  put_number(w, acc->first, 8);
  put_number(w, acc->count, 8);
  if (acc->lowered.exact)
    put_exact(w, &acc->exact);
  else if (red_accumulator_is_ordered(acc))
    put_forest(w, acc);
  else
    put_state(w, &acc->got.forest);
  if (acc->lowered.kind == RED_STATS) put_stats(w, &acc->got.stats);
}

red_status red_accumulator_save(const red_accumulator *acc, void *buffer, size_t capacity, size_t *size) {
  char text[MOST_TEXT];
  red_status status = red_accumulator_check_partial(acc, "accumulator");
  if (status != RED_OK) return status;
  if (size == NULL) return red_fail(RED_ERR_INVALID, "size is NULL");
  status = problem_text(&acc->lowered, text);
  if (status != RED_OK) return status;
  writer counting = {NULL, 0};
  put_all(&counting, acc, text, 0);
  size_t needed = counting.size + SUM_BYTES;
  if (buffer != NULL && capacity < needed)
    return red_fail(RED_ERR_INVALID, "capacity = %zu: this accumulator takes %zu bytes", capacity, needed);
  if (buffer != NULL) {
    writer writing = {buffer, 0};
    put_all(&writing, acc, text, needed);
    put_number(&writing, fnv(buffer, writing.size), SUM_BYTES);
  }
  *size = needed;
  return RED_OK;
}

/* ---- Reading ---- */

typedef struct reader {
  const unsigned char *at;
  size_t left;
  bool short_of; /* something was asked for beyond the end */
} reader;

static void get(reader *r, void *to, size_t count) {
  if (count > r->left) r->short_of = true;
  if (r->short_of) {
    memset(to, 0, count);
    return;
  }
  memcpy(to, r->at, count);
  r->at += count;
  r->left -= count;
}

static uint64_t get_number(reader *r, size_t bytes) {
  uint64_t value = 0;
  get(r, &value, bytes);
  return value;
}

static red_status refuse(const char *what) {
  return red_fail(RED_ERR_INVALID, "bytes are no saved accumulator: %s", what);
}

/* Elements are below 2^2048 either way; so what is loaded, and what is merged of that, does not outgrow the digits. */
static bool can_be_sum(const red_exact *sum, uint64_t count) {
  enum {
    BEYOND = 2048 - RED_EXACT_UNIT
  };
  red_exact_magnitude m;
  red_exact_measure(sum, &m);
  if (m.last == 0) return true;
  const int top = (int)(32 * m.last) - 1 - __builtin_clz(m.digit[m.last - 1]);
  return count > 0 && top < BEYOND + 64 - __builtin_clzll(count);
}

static red_status get_exact(reader *r, red_accumulator *acc) {
  red_exact *sum = &acc->exact;
  sum->flags = (uint32_t)get_number(r, 4);
  bool negative = get_number(r, 1) != 0;
  uint64_t first = get_number(r, 4), digits = get_number(r, 4);
  if ((sum->flags & ~(uint32_t)RED_EXACT_ALL_FLAGS) != 0 || first >= RED_EXACT_DIGITS ||
      digits > RED_EXACT_DIGITS - first)
    return refuse("its digits are out of range");
  if (acc->count == 0 && (sum->flags != 0 || digits != 0)) return refuse("it has digits, but no elements");
  sum->first = (uint32_t)first;
  sum->last = (uint32_t)(first + digits);
  sum->additions = 1;
  for (uint32_t i = sum->first; i < sum->last; i++) {
    int64_t digit = (int64_t)get_number(r, 4);
    sum->digit[i] = negative ? -digit : digit;
  }
  if (!can_be_sum(sum, acc->count)) return refuse("its digits are more than its elements can have come to");
  return RED_OK;
}

/* What a node has beside its state. */
static void get_beside(reader *r, red_accumulator *acc, unsigned level, uint64_t index) {
  if (acc->lowered.bounded)
    red_forest_push(&acc->got.sizes, &acc->piece, level, index, (red_state){.u64 = get_number(r, 8)});
  if (acc->lowered.kind != RED_STATS) return;
  red_moments moments = {.count = acc->chunk << level};
  if (has_moments(acc)) {
    get(r, &moments.mean, 8);
    get(r, &moments.mean_low, 8);
    get(r, &moments.squares, 8);
  }
  red_moments_push(&acc->got.moments, level, index, moments);
}

/* The nodes must be those of the whole chunks, in order, complete siblings merged. */
static red_status get_forest(reader *r, red_accumulator *acc) {
  uint64_t at = acc->first / acc->chunk, nodes = get_number(r, 4), bytes = acc->lowered.in_bytes;
  if (nodes > MOST_NODES) return refuse("it has too many nodes");
  for (uint64_t i = 0; i < nodes; i++) {
    unsigned level = (unsigned)get_number(r, 1);
    uint64_t index = get_number(r, 8), most = RED_ACCUMULATOR_MOST / acc->chunk;
    red_state state = {.u64 = get_number(r, 8)};
    if (level > 62 || index > most >> level || index << level != at) return refuse("its nodes are not in order");
    red_forest_push(&acc->got.forest, &acc->piece, level, index, state);
    if (acc->got.forest.count != i + 1) return refuse("its nodes are not merged");
    get_beside(r, acc, level, index);
    at += (uint64_t)1 << level;
  }
  acc->waiting = get_number(r, 8);
  if (acc->waiting >= acc->chunk || at > RED_ACCUMULATOR_MOST / acc->chunk ||
      at * acc->chunk + acc->waiting != red_accumulator_end(acc))
    return refuse("its nodes do not add up to its elements");
  get(r, acc->buffer, acc->waiting * bytes);
  if (acc->lowered.map == RED_MAP_PRODUCT) get(r, acc->buffer + acc->chunk * bytes, acc->waiting * bytes);
  return RED_OK;
}

static red_status get_stats(reader *r, red_accumulator *acc) {
  uint64_t words[9];
  get(r, words, sizeof words);
  red_stats_state *stats = &acc->got.stats;
  stats->sum_high = (int64_t)words[0];
  stats->sum.u64 = words[1];
  stats->least.u64 = words[2];
  stats->greatest.u64 = words[3];
  stats->argmin = (red_state){.u64 = words[4], .index = words[5]};
  stats->argmax = (red_state){.u64 = words[6], .index = words[7]};
  stats->nan_count = words[8];
  return stats->nan_count <= acc->count ? RED_OK : refuse("it has more NaNs than elements");
}

static red_status get_state(reader *r, red_accumulator *acc) {
  if (acc->count == 0) return RED_OK;
  red_state state = {.u64 = get_number(r, 8)};
  state.index = get_number(r, 8);
  if (acc->lowered.family == RED_FAMILY_ARGMIN && state.index >= red_accumulator_end(acc) &&
      state.key != acc->lowered.nan_key)
    return refuse("its index lies beyond its elements");
  acc->got.forest.nodes[0] = (red_node){.state = state};
  acc->got.forest.count = 1;
  return RED_OK;
}

static red_status get_body(reader *r, red_accumulator *acc) {
  red_status status = RED_OK;
  acc->count = get_number(r, 8);
  if (acc->count > RED_ACCUMULATOR_MOST - acc->first) return refuse("it has too many elements");
  if (acc->lowered.exact)
    status = get_exact(r, acc);
  else if (red_accumulator_is_ordered(acc))
    status = get_forest(r, acc);
  else
    status = get_state(r, acc);
  if (status == RED_OK && acc->lowered.kind == RED_STATS) status = get_stats(r, acc);
  if (status == RED_OK && (r->short_of || r->left != SUM_BYTES)) status = refuse("its length is wrong");
  return status;
}

static red_status get_problem(reader *r, red_problem *problem) {
  char text[MOST_TEXT];
  uint64_t length = get_number(r, 4);
  if (length >= sizeof text) return refuse("its problem is too long");
  get(r, text, length);
  text[length] = '\0';
  if (strlen(text) != length || red_problem_parse(text, problem) != RED_OK) return refuse("its problem is none");
  if (red_is_scan(problem->kind) || problem->n != 0) return refuse("its problem is a scan, or has a length");
  return RED_OK;
}

static red_status check_envelope(const unsigned char *bytes, size_t size) {
  uint64_t length, sum;
  if (size < HEAD_BYTES + SUM_BYTES || memcmp(bytes, magic, sizeof magic) != 0)
    return refuse("it begins with other bytes");
  if (bytes[7] != VERSION)
    return red_fail(RED_ERR_INVALID, "the saved accumulator has version %u, this library reads version %d", bytes[7],
                    VERSION);
  memcpy(&length, bytes + 8, sizeof length);
  if (length != size) return refuse("its length is wrong");
  memcpy(&sum, bytes + size - SUM_BYTES, sizeof sum);
  if (sum != fnv(bytes, size - SUM_BYTES)) return refuse("its checksum is wrong");
  return RED_OK;
}

red_status red_accumulator_load(red_context *context, const void *bytes, size_t size, red_accumulator **accumulator) {
  if (accumulator == NULL) return red_fail(RED_ERR_INVALID, "accumulator is NULL");
  if (bytes == NULL) return red_fail(RED_ERR_INVALID, "bytes is NULL");
  red_status status = check_envelope(bytes, size);
  if (status != RED_OK) return status;
  reader r = {.at = (const unsigned char *)bytes + 16, .left = size - 16};
  red_problem problem;
  status = get_problem(&r, &problem);
  if (status != RED_OK) return status;
  red_accumulator *made;
  status = red_accumulator_create_at(context, &problem, get_number(&r, 8), &made);
  if (status != RED_OK) return status;
  status = get_body(&r, made);
  if (status != RED_OK) {
    red_accumulator_destroy(made);
    return status;
  }
  *accumulator = made;
  return RED_OK;
}
