/* SPDX-License-Identifier: BSD-2-Clause */
/* What was measured: rooflines and rows, and how they are printed. */
#ifndef REDTOOL_BENCH_ROWS_H
#define REDTOOL_BENCH_ROWS_H

#include "bench/cases.h"
#include "bench/device.h"
#include "bench/peer.h"
#include "bench/sampling.h"

enum bench_route {
  ROUTE_PLAN, /* a plan made before, executed on arrays in the device's memory */
  ROUTE_CALL, /* one call on arrays in host memory: plan, copy, execute, copy back */
  ROUTES
};

struct row {
  const struct bench_case *c;
  const red_device_info *device; /* or a peer */
  enum bench_route route;
  bool cold;
  bool measured, is_peer;
  char reason[256]; /* why not */
  struct quartiles time;
  double roof; /* bytes per second; 0: unknown */
  char roof_what[48];
  double before; /* the old median, of --compare; 0: none */
};

/* Bytes per second of a memory: the best of all ways to read, and to copy (bytes read and written). */
struct roofline {
  char memory[32]; /* "L1", "memory" */
  char device[32];
  uint64_t bytes; /* that were read */
  double read, copy;
};

enum {
  MOST_ROOFLINES = 32
};

struct table {
  struct row *rows;
  size_t count, capacity;
  struct roofline rooflines[MOST_ROOFLINES];
  size_t roofline_count;
  const char *compared; /* the file of --compare; NULL: none */
};

extern const char *const route_names[ROUTES];

/* The next row, zeroed; NULL (and the sentence) if there is no memory. Moves the others. */
struct row *table_add(struct table *table);
void table_free(struct table *table);

/* Bytes that must move: the input, and for a scan the output. */
double row_bytes(const struct row *row);
/* Bytes per second. */
double row_bandwidth(const struct row *row);

/* Peers are listed like devices. */
void table_print(const struct table *table, const struct bench_devices *devices, const struct peers *peers);
void table_print_csv(const struct table *table);
void table_print_json(const struct table *table, const struct bench_devices *devices, const struct peers *peers);

#endif
