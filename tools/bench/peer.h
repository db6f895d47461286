/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that compute the same problems by other libraries. Each is a process of its own that takes its turns like
 * the devices do, and times itself. Lines are exchanged through its standard input and output:
 *
 *   the peer says, first          peer 1 NAME DEVICE     DEVICE is where its arrays are: omp, cuda:0, opencl:1.0
 *                             or  no REASON              it cannot run here: redtool says so and goes on without it
 *   redtool says                  case KIND OP IN OUT N  as in problem strings: case scan sum f32 f32 1048576
 *   the peer answers              ready                  it has the arrays, and has computed the problem once
 *                             or  no REASON
 *   redtool says                  warm CALLS             it calls once, then CALLS times
 *                             or  cold CALLS             on a GPU it writes 256 MiB of other memory, then calls
 *   the peer answers              done SECONDS           for these CALLS, when all of their work is done
 *
 * On a CPU it is redtool that makes caches cold. What precedes the calls is part of the message, since a process that
 * was just woken begins slowly. The end of its input ends it; one that does not end, or is silent for long, is not
 * waited for. What it writes on standard error is shown.
 */
#ifndef REDTOOL_BENCH_PEER_H
#define REDTOOL_BENCH_PEER_H

#include <stdio.h>
#include <sys/types.h>

#include "bench/arrays.h"
#include "bench/device.h"
#include "bench/sampling.h"

struct peer {
  const char *command;
  red_device_info info; /* id: its name; detail: the command */
  char device[64];      /* where its arrays are */
  bool absent, on_host, cold;
  pid_t process; /* 0: not started */
  FILE *to;
  int from;
  struct bench_device *home;   /* that device, if it is measured too */
  const struct arrays *arrays; /* what drives data out of the CPU's caches */
  double seconds;              /* of the last turn, by its own clock */
};

struct peers {
  struct peer *list;
  size_t count;
};

/* Start the commands, by the shell, and hear what they are. Those that cannot run here are left out. */
int peers_open(struct peers *peers, const char *const *commands, size_t count, const struct bench_devices *devices,
               const struct arrays *arrays);
void peers_close(struct peers *peers);

/* Whether the peer takes the problem; a refusal is no error, and then `reason` says why. */
int peer_take(struct peer *peer, const red_problem *problem, bool *taken, char *reason, size_t reason_bytes);

/* How it takes its turns with the problem that it took last. */
struct contestant peer_contestant(struct peer *peer, bool cold);

#endif
