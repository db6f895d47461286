/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/measure.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/device_roof.h"
#include "bench/entry.h"
#include "bench/roofline.h"
#include "report.h"

enum {
  MOST_CALL_BYTES = 1 << 20 /* beyond it a call takes as long as its plan or its copies */
};

#define NO_TURN SIZE_MAX

/* An entry, what its memory gives, and whose turn is whose: indices of contestants, or NO_TURN. */
struct racer {
  struct entry entry;
  struct device_roof roof;
  size_t turn, roof_turn;
};

/* A peer's turn. */
struct guest {
  struct peer *peer;
  size_t turn;
  char reason[256];
};

/* All that take turns: the racers that can run, the roofs of devices, then peers, then the roofs of the host. */
struct round {
  struct racer *racers;
  struct guest *guests;
  struct contestant *contestants;
  size_t racer_count, guest_count, turns, host_turn, host_count;
  struct roof host_roofs[MOST_ROOFS];
};

static bool has_call(const struct bench_case *c) {
  return c->bytes_in + c->bytes_out <= MOST_CALL_BYTES;
}

/* A copy moves half of what a scan does in each direction, but no more than the narrower array holds. */
static int add_device_roof(struct round *round, struct racer *racer, bool cold) {
  struct entry *e = &racer->entry;
  if (e->device->on_host || e->route != ROUTE_PLAN || !e->owns_out) return EXIT_OK;
  const bool copies = e->c->bytes_out > 0;
  const uint64_t narrower = e->c->bytes_in < e->c->bytes_out ? e->c->bytes_in : e->c->bytes_out;
  const int code =
      device_roof_prepare(&racer->roof, e->device, e->in, e->out, copies, copies ? narrower : e->c->bytes_in);
  if (code || racer->roof.bytes == 0) return code;
  racer->roof.before = entry_before(e, cold);
  racer->roof.argument = e;
  racer->roof_turn = round->turns++;
  round->contestants[racer->roof_turn] = (struct contestant){
      .run = device_roof_run, .before = device_roof_before, .single = cold, .argument = &racer->roof};
  return EXIT_OK;
}

static int add_racer(struct round *round, struct bench *bench, struct bench_device *device, const struct bench_case *c,
                     enum bench_route route, bool cold) {
  struct racer *racer = &round->racers[round->racer_count++];
  racer->entry = (struct entry){.device = device, .c = c, .arrays = &bench->arrays, .route = route};
  racer->turn = racer->roof_turn = NO_TURN;
  const int code = entry_prepare(&racer->entry);
  if (code || racer->entry.status) return code;
  racer->turn = round->turns++;
  round->contestants[racer->turn] = entry_contestant(&racer->entry, cold);
  return add_device_roof(round, racer, cold);
}

static int add_guest(struct round *round, struct peer *peer, const struct bench_case *c, bool cold) {
  struct guest *guest = &round->guests[round->guest_count++];
  bool taken;
  *guest = (struct guest){.peer = peer, .turn = NO_TURN};
  const int code = peer_take(peer, &c->problem, &taken, guest->reason, sizeof guest->reason);
  if (code || !taken) return code;
  guest->turn = round->turns++;
  round->contestants[guest->turn] = peer_contestant(peer, cold);
  return EXIT_OK;
}

static int prepare_round(struct round *round, struct bench *bench, const struct bench_case *c, bool cold) {
  const int routes = has_call(c) ? ROUTES : 1;
  int code = EXIT_OK;
  for (size_t i = 0; i < bench->devices.count; i++)
    for (int route = 0; route < routes && !code; route++)
      code = add_racer(round, bench, &bench->devices.list[i], c, (enum bench_route)route, cold);
  for (size_t i = 0; i < bench->peers.count && !code; i++) code = add_guest(round, &bench->peers.list[i], c, cold);
  round->host_turn = round->turns;
  if (code || !bench_devices_host(&bench->devices)) return code;
  const bool copies = c->bytes_out > 0;
  const uint64_t bytes = copies ? (c->bytes_in + c->bytes_out) / 2 : c->bytes_in;
  round->host_count =
      roofs_for(round->host_roofs, round->contestants + round->host_turn, &bench->arrays, copies, bytes, cold);
  round->turns += round->host_count;
  return EXIT_OK;
}

static void set_roof(struct row *row, const struct round *round, const struct racer *racer) {
  if (racer->entry.device->on_host) {
    row->roof = roofs_best(round->host_roofs, round->contestants + round->host_turn, round->host_count, row->roof_what,
                           sizeof row->roof_what);
  } else if (racer->roof_turn != NO_TURN) {
    row->roof = device_roof_rate(&racer->roof, &round->contestants[racer->roof_turn].result);
    snprintf(row->roof_what, sizeof row->roof_what, "%s on the device", racer->roof.copies ? "copy" : "read");
  }
}

/* A peer is held against what the same memory gives to the device that it shares. */
static const struct racer *find_neighbour(const struct round *round, const struct peer *peer) {
  for (size_t i = 0; i < round->racer_count; i++) {
    const struct racer *racer = &round->racers[i];
    if (racer->entry.device == peer->home && racer->entry.route == ROUTE_PLAN) return racer;
  }
  return NULL;
}

static int add_guest_rows(struct bench *bench, const struct round *round, const struct bench_case *c, bool cold) {
  for (size_t i = 0; i < round->guest_count; i++) {
    const struct guest *guest = &round->guests[i];
    const struct racer *neighbour = find_neighbour(round, guest->peer);
    struct row *row = table_add(&bench->table);
    if (!row) return EXIT_LIBRARY;
    *row = (struct row){.c = c,
                        .device = &guest->peer->info,
                        .route = ROUTE_PLAN,
                        .cold = cold,
                        .measured = guest->turn != NO_TURN,
                        .is_peer = true};
    snprintf(row->reason, sizeof row->reason, "%s", guest->reason);
    if (!row->measured) continue;
    row->time = round->contestants[guest->turn].result;
    if (neighbour) set_roof(row, round, neighbour);
  }
  return EXIT_OK;
}

static int add_rows(struct bench *bench, const struct round *round, bool cold) {
  for (size_t i = 0; i < round->racer_count; i++) {
    const struct racer *racer = &round->racers[i];
    const struct entry *e = &racer->entry;
    struct row *row = table_add(&bench->table);
    if (!row) return EXIT_LIBRARY;
    *row = (struct row){.c = e->c, .device = &e->device->info, .route = e->route, .cold = cold, .measured = !e->status};
    snprintf(row->reason, sizeof row->reason, "%s", e->reason);
    if (!row->measured) continue;
    row->time = round->contestants[racer->turn].result;
    set_roof(row, round, racer);
  }
  return EXIT_OK;
}

int measure_case(struct bench *bench, const struct bench_case *c, bool cold) {
  const size_t most = bench->devices.count * ROUTES;
  const size_t peers = bench->peers.count;
  const struct sampling sampling = {bench->samples, bench->seconds};
  struct round round = {.racers = calloc(most, sizeof *round.racers),
                        .guests = calloc(peers + 1, sizeof *round.guests),
                        .contestants = calloc(2 * most + peers + MOST_ROOFS, sizeof *round.contestants)};
  int code = EXIT_OK;
  if (!round.racers || !round.guests || !round.contestants) {
    complain("out of memory for %zu measurements", most);
    code = EXIT_LIBRARY;
  }
  if (!code) code = prepare_round(&round, bench, c, cold);
  for (size_t i = 0; i < round.turns; i++) round.contestants[i].warms_up = peers > 0 && !round.contestants[i].told;
  if (!code) code = sampling_measure(round.contestants, round.turns, &sampling);
  if (!code) code = add_rows(bench, &round, cold);
  if (!code) code = add_guest_rows(bench, &round, c, cold);
  for (size_t i = 0; i < round.racer_count; i++) entry_release(&round.racers[i].entry);
  free(round.racers);
  free(round.guests);
  free(round.contestants);
  return code;
}
