/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program must do to be a peer of `redtool bench --peer`: take problems and run them, timing itself. The lines
 * that are exchanged are described in tools/bench/peer.h.
 */
#ifndef RED_BENCH_PEER_H
#define RED_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>

#include <red/red.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  BENCH_CHILL_BYTES = 256 << 20
};

typedef struct bench_peer {
  const char *name;   /* one word */
  const char *device; /* where its arrays are, as RED_BACKEND has it */
  void *state;
  /*
   * Make arrays, fill the input, compute once. NULL if that worked, else why not. The last problem's arrays are free.
   */
  const char *(*take)(void *state, const red_problem *problem);
  /* Write other memory of the device, twice its caches; done on return. NULL where the arrays are in host memory. */
  void (*chill)(void *state);
  /* Compute `calls` times; all of it is done on return. Seconds. */
  double (*run)(void *state, unsigned calls);
} bench_peer;

/* Serve until standard input ends. An exit status. */
int bench_peer_serve(const bench_peer *peer);

/* Numbers that the peers reduce and scan: in [-1, 1), small integers for integers. */
void bench_peer_fill(red_dtype dtype, void *array, size_t n);

double bench_peer_now(void);

#ifdef __cplusplus
}
#endif

#endif
