/* SPDX-License-Identifier: BSD-2-Clause */
#include "crossover.h"

#include <stdbool.h>

static unsigned size_of(unsigned threads) {
  unsigned size = 0;
  while (size + 1 < RED_TEAM_SIZES && 2u << size < threads) size++;
  return size;
}

/* Bytes that each thread should have where starting costs so much. */
static uint64_t share_of(const red_crossover *known, uint64_t cost) {
  const uint64_t most_ns = 1000000000, speed = atomic_load_explicit(&known->speed, memory_order_relaxed);
  const uint64_t worth = RED_WORTH_STARTING * (cost < most_ns ? cost : most_ns) * speed / 1000;
  return worth < RED_MOST_SHARE - RED_LEAST_SHARE ? RED_LEAST_SHARE + worth : RED_MOST_SHARE;
}

static bool is_turn(unsigned before) {
  return before < RED_TEAM_TRIES && (before & (before + 1)) == 0;
}

/*
 * Is this the 1st, 2nd, 4th, ... call? So are the next ones, until one of them gets its team and measures. Calls that
 * come at once may be one too few or too many.
 */
static bool is_due(atomic_uint *calls) {
  const unsigned before = atomic_load_explicit(calls, memory_order_relaxed);
  if (before < RED_TEAM_TRIES && !is_turn(before)) atomic_store_explicit(calls, before + 1, memory_order_relaxed);
  return is_turn(before);
}

static void count_turn(atomic_uint *calls) {
  const unsigned before = atomic_load_explicit(calls, memory_order_relaxed);
  if (is_turn(before)) atomic_store_explicit(calls, before + 1, memory_order_relaxed);
}

unsigned red_crossover_threads(red_crossover *known, uint64_t bytes, unsigned most, unsigned *untried) {
  unsigned threads = 1;
  *untried = 0;
  if (bytes / 2 < RED_LEAST_SHARE) return 1;
  for (unsigned size = 0; size < RED_TEAM_SIZES && threads < most; size++) {
    const unsigned team = 2u << size < most ? 2u << size : most;
    const uint64_t cost = atomic_load_explicit(&known->cost[size], memory_order_acquire);
    if (cost == 0 || is_due(&known->calls[size])) *untried = team;
    const uint64_t deserved = cost > 0 ? bytes / share_of(known, cost) : 0;
    if (deserved > threads) threads = deserved < team ? (unsigned)deserved : team;
    if (deserved <= team) break;
  }
  return threads;
}

void red_crossover_learn(red_crossover *known, uint64_t speed, unsigned threads, uint64_t ns) {
  const unsigned size = size_of(threads);
  atomic_uint_fast64_t *cost = &known->cost[size];
  const uint64_t before = atomic_load_explicit(cost, memory_order_relaxed);
  if (speed > atomic_load_explicit(&known->speed, memory_order_relaxed))
    atomic_store_explicit(&known->speed, speed, memory_order_relaxed);
  if (before != 0) count_turn(&known->calls[size]);
  if (before == 0 || ns < before) atomic_store_explicit(cost, ns > 0 ? ns : 1, memory_order_release);
}
