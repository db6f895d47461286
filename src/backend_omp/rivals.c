/* SPDX-License-Identifier: BSD-2-Clause */
#include "rivals.h"

/* Of so many calls one is done the other way: seldom where that takes 1.5 times as long, often where it costs little.
 */
enum {
  SELDOM = 32,
  OFTEN = 8,
  TRIAL = 2 /* which of them: not the first ones, whose pages may be new */
};

bool red_rivals_prefer_one(red_rivals *rivals) {
  const uint64_t alone = atomic_load_explicit(&rivals->alone, memory_order_relaxed);
  const uint64_t team = atomic_load_explicit(&rivals->team, memory_order_relaxed);
  const bool prefer_one = team > 0 && alone > team + team / 32;
  const uint64_t best = prefer_one ? alone : team, other = prefer_one ? team : alone;
  const unsigned period = other > best - best / 4 ? OFTEN : SELDOM;
  const bool try_other = atomic_fetch_add_explicit(&rivals->calls, 1, memory_order_relaxed) % period == TRIAL;
  return prefer_one != try_other;
}

/* Disturbances only make calls slower: faster is believed at once, slower by and by, whatever a single call took. */
void red_rivals_learn(red_rivals *rivals, bool alone, uint64_t bytes, uint64_t ns) {
  atomic_uint_fast64_t *known = alone ? &rivals->alone : &rivals->team;
  const uint64_t before = atomic_load_explicit(known, memory_order_relaxed), now = bytes * 1000 / (ns + 1);
  const uint64_t least = before - before / 16;
  atomic_store_explicit(known, now > least ? now : least, memory_order_relaxed);
}
