/* SPDX-License-Identifier: BSD-2-Clause */
#include "rivals.h"

enum {
  FIRST = 5,  /* the first call done the other way; the very first tells nothing either, for its pages may be new */
  OFTEN = 16, /* calls from such ones to the next where both ways are as fast */
  /* or calls that move so many bytes: data in a cache has to come from another core's afterwards, which costs more */
  OFTEN_BYTES = 1 << 28,
  AT_ONCE = 2 /* done the other way: the first of them fetches what is in another core's cache and tells nothing */
};

/*
 * How many calls to the next ones that are done the other way. A call that takes r times as long costs r - 1 calls: one
 * in 64 (r - 1) costs 1.6 % of the time, whatever r is.
 */
static uint64_t period(uint64_t best, uint64_t other, uint64_t bytes) {
  if (other == 0) return FIRST;
  const uint64_t slower = best > other ? AT_ONCE * 64 * (best - other) / other : 0;
  return OFTEN + OFTEN_BYTES / (bytes + 1) + slower;
}

static bool is_one_better(uint64_t alone, uint64_t team) {
  return team > 0 && alone > team + team / 32;
}

bool red_rivals_prefer_one(red_rivals *rivals, uint64_t bytes) {
  const uint64_t alone = atomic_load_explicit(&rivals->alone, memory_order_relaxed);
  const uint64_t team = atomic_load_explicit(&rivals->team, memory_order_relaxed);
  const bool prefer_one = is_one_better(alone, team);
  const uint64_t wait = prefer_one ? period(alone, team, bytes) : period(team, alone, bytes);
  const uint64_t call = atomic_fetch_add_explicit(&rivals->calls, 1, memory_order_relaxed) + 1;
  if (call + 1 >= wait + AT_ONCE) atomic_store_explicit(&rivals->calls, 0, memory_order_relaxed);
  return prefer_one != (call >= wait);
}

/*
 * Disturbances only make calls slower: slower is believed by and by, and faster at once of the way that is seldom gone.
 * The usual one is as good as its usual call: where the cores share no cache a team's calls differ by a tenth.
 */
void red_rivals_learn(red_rivals *rivals, bool alone, uint64_t bytes, uint64_t ns) {
  const unsigned way = alone ? RED_RIVALS_ALONE : RED_RIVALS_TEAM;
  if (atomic_exchange_explicit(&rivals->last, way, memory_order_relaxed) != way) return;
  const uint64_t one = atomic_load_explicit(&rivals->alone, memory_order_relaxed);
  const uint64_t several = atomic_load_explicit(&rivals->team, memory_order_relaxed);
  const uint64_t before = alone ? one : several, least = before - before / 16;
  const bool is_usual = before > 0 && is_one_better(one, several) == alone;
  uint64_t now = bytes * 1000 / (ns + 1);
  if (now < least) now = least;
  if (now > before && is_usual) now = before + (now - before) / 2;
  atomic_store_explicit(alone ? &rivals->alone : &rivals->team, now, memory_order_relaxed);
}
