/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "report.h"

const char *const route_names[ROUTES] = {"plan", "call"};

struct row *table_add(struct table *table) {
  if (table->count == table->capacity) {
    const size_t capacity = table->capacity ? 2 * table->capacity : 64;
    struct row *rows = realloc(table->rows, capacity * sizeof *rows);
    if (!rows) {
      complain("out of memory for a table of %zu rows", capacity);
      return NULL;
    }
    table->rows = rows;
    table->capacity = capacity;
  }
  struct row *row = &table->rows[table->count++];
  memset(row, 0, sizeof *row);
  return row;
}

void table_free(struct table *table) {
  free(table->rows);
  table->rows = NULL;
  table->count = table->capacity = 0;
}

double row_bytes(const struct row *row) {
  return (double)(row->c->bytes_in + row->c->bytes_out);
}

double row_bandwidth(const struct row *row) {
  return row_bytes(row) / row->time.median;
}

static const char *cache_name(const struct row *row) {
  return row->cold ? "cold" : "warm";
}

/* ---- text ---- */

enum {
  CELL_BYTES = 32
};

static const char *time_text(double seconds, char text[CELL_BYTES]) {
  if (seconds < 1e-6)
    snprintf(text, CELL_BYTES, "%.1f ns", seconds * 1e9);
  else if (seconds < 1e-3)
    snprintf(text, CELL_BYTES, "%.2f us", seconds * 1e6);
  else if (seconds < 1)
    snprintf(text, CELL_BYTES, "%.3f ms", seconds * 1e3);
  else
    snprintf(text, CELL_BYTES, "%.3f s", seconds);
  return text;
}

static const char *share_text(double value, double of, char text[CELL_BYTES]) {
  if (of > 0)
    snprintf(text, CELL_BYTES, "%.0f %%", 100 * value / of);
  else
    snprintf(text, CELL_BYTES, "-");
  return text;
}

static void print_devices(const struct bench_devices *devices, const struct peers *peers) {
  for (size_t i = 0; i < devices->count; i++) {
    const red_device_info *info = &devices->list[i].info;
    printf("%s: %s, %s", info->id, info->name, info->detail);
    if (info->bandwidth > 0) printf(", %.0f GB/s theoretical peak", info->bandwidth * 1e-9);
    printf("\n");
  }
  for (size_t i = 0; i < peers->count; i++)
    printf("%s: a peer on %s, %s\n", peers->list[i].info.id, peers->list[i].device, peers->list[i].command);
}

static void print_rooflines(const struct table *table) {
  if (table->roofline_count == 0) return;
  printf("\n%-12s %-10s %12s %12s %12s\n", "device", "memory", "bytes", "read GB/s", "copy GB/s");
  for (size_t i = 0; i < table->roofline_count; i++) {
    const struct roofline *r = &table->rooflines[i];
    printf("%-12s %-10s %12" PRIu64 " %12.1f %12.1f\n", r->device, r->memory, r->bytes, r->read * 1e-9, r->copy * 1e-9);
  }
}

static void print_row(const struct table *table, const struct row *row) {
  char median[CELL_BYTES], q1[CELL_BYTES], q3[CELL_BYTES], roof[CELL_BYTES], peak[CELL_BYTES];
  printf("%-32s %-16s %-5s %-5s", row->c->text, row->device->id, route_names[row->route], cache_name(row));
  if (!row->measured) {
    printf(" %s\n", row->reason);
    return;
  }
  const double bandwidth = row_bandwidth(row);
  printf(" %11s %11s %11s %9.2f %7s %7s", time_text(row->time.median, median), time_text(row->time.q1, q1),
         time_text(row->time.q3, q3), bandwidth * 1e-9, share_text(bandwidth, row->roof, roof),
         share_text(bandwidth, row->device->bandwidth, peak));
  if (table->compared) {
    if (row->before > 0)
      printf(" %7.3f", row->before / row->time.median);
    else
      printf(" %7s", "-");
  }
  printf("\n");
}

void table_print(const struct table *table, const struct bench_devices *devices, const struct peers *peers) {
  print_devices(devices, peers);
  print_rooflines(table);
  printf("\n%-32s %-16s %-5s %-5s %11s %11s %11s %9s %7s %7s", "problem", "device", "route", "cache", "median",
         "quartile 1", "quartile 3", "GB/s", "of roof", "of peak");
  printf("%s\n", table->compared ? " old/new" : "");
  for (size_t i = 0; i < table->count; i++) print_row(table, &table->rows[i]);
}

/* ---- CSV ---- */

/* RFC 4180: in quotes, and quotes doubled. */
static void print_csv_string(const char *text) {
  putchar('"');
  for (; *text; text++) {
    if (*text == '"') putchar('"');
    putchar(*text);
  }
  putchar('"');
}

static void print_csv_number(double value, bool known) {
  putchar(',');
  if (known) printf("%.9g", value);
}

void table_print_csv(const struct table *table) {
  printf("problem,n,device,route,cache,bytes,samples,calls,least_s,q1_s,median_s,q3_s,gb_per_s,roof_gb_per_s,"
         "share_of_roof,share_of_peak,old_over_new,reason\n");
  for (size_t i = 0; i < table->count; i++) {
    const struct row *row = &table->rows[i];
    const struct quartiles *time = &row->time;
    const bool known = row->measured, roof = known && row->roof > 0, peak = known && row->device->bandwidth > 0;
    const double bandwidth = known ? row_bandwidth(row) : 0;
    print_csv_string(row->c->text);
    printf(",%" PRIu64 ",%s,%s,%s,%.0f,%u,%u", row->c->problem.n, row->device->id, route_names[row->route],
           cache_name(row), row_bytes(row), time->samples, time->calls);
    print_csv_number(time->least, known);
    print_csv_number(time->q1, known);
    print_csv_number(time->median, known);
    print_csv_number(time->q3, known);
    print_csv_number(bandwidth * 1e-9, known);
    print_csv_number(row->roof * 1e-9, roof);
    print_csv_number(roof ? bandwidth / row->roof : 0, roof);
    print_csv_number(peak ? bandwidth / row->device->bandwidth : 0, peak);
    print_csv_number(row->before > 0 ? row->before / time->median : 0, known && row->before > 0);
    putchar(',');
    print_csv_string(row->reason);
    putchar('\n');
  }
}

/* ---- JSON ---- */

static void print_field(const char *name, const char *text) {
  printf("\"%s\": ", name);
  print_json_string(stdout, text);
  printf(", ");
}

static void print_number(const char *name, double value, bool known) {
  if (known)
    printf("\"%s\": %.9g, ", name, value);
  else
    printf("\"%s\": null, ", name);
}

static void print_json_device(const red_device_info *info) {
  printf("{");
  print_field("id", info->id);
  print_field("name", info->name);
  print_field("detail", info->detail);
  print_number("peak", info->bandwidth, info->bandwidth > 0);
  printf("\"units\": %" PRIu32 "}", info->units);
}

static void print_json_roofline(const struct roofline *r) {
  printf("{");
  print_field("device", r->device);
  print_field("memory", r->memory);
  print_number("read", r->read, true);
  print_number("copy", r->copy, true);
  printf("\"bytes\": %" PRIu64 "}", r->bytes);
}

static void print_json_row(const struct row *row) {
  const struct quartiles *time = &row->time;
  const bool known = row->measured, roof = known && row->roof > 0, peak = known && row->device->bandwidth > 0;
  const double bandwidth = known ? row_bandwidth(row) : 0;
  printf("{");
  print_field("problem", row->c->text);
  print_field("device", row->device->id);
  print_field("route", route_names[row->route]);
  print_field("cache", cache_name(row));
  printf("\"n\": %" PRIu64 ", \"bytes\": %.0f, \"samples\": %u, \"calls\": %u, ", row->c->problem.n, row_bytes(row),
         time->samples, time->calls);
  print_number("least", time->least, known);
  print_number("q1", time->q1, known);
  print_number("median", time->median, known);
  print_number("q3", time->q3, known);
  print_number("bandwidth", bandwidth, known);
  print_number("roof", row->roof, roof);
  print_field("roof_what", row->roof_what);
  print_number("share_of_roof", roof ? bandwidth / row->roof : 0, roof);
  print_number("share_of_peak", peak ? bandwidth / row->device->bandwidth : 0, peak);
  print_number("old_over_new", known && row->before > 0 ? row->before / time->median : 0, known && row->before > 0);
  printf("\"reason\": ");
  print_json_string(stdout, row->reason);
  printf("}");
}

static void print_json_peer(const struct peer *peer) {
  printf("{");
  print_field("name", peer->info.id);
  print_field("device", peer->device);
  printf("\"command\": ");
  print_json_string(stdout, peer->command);
  printf("}");
}

void table_print_json(const struct table *table, const struct bench_devices *devices, const struct peers *peers) {
  printf("{\"benchmark\": \"redtool bench\", \"format\": 1, \"version\": \"%s\", \"devices\": [", RED_VERSION_STRING);
  for (size_t i = 0; i < devices->count; i++) {
    if (i) printf(", ");
    print_json_device(&devices->list[i].info);
  }
  printf("], \"peers\": [");
  for (size_t i = 0; i < peers->count; i++) {
    if (i) printf(", ");
    print_json_peer(&peers->list[i]);
  }
  printf("], \"rooflines\": [");
  for (size_t i = 0; i < table->roofline_count; i++) {
    if (i) printf(", ");
    print_json_roofline(&table->rooflines[i]);
  }
  printf("], \"rows\": [");
  for (size_t i = 0; i < table->count; i++) {
    if (i) printf(", ");
    print_json_row(&table->rows[i]);
  }
  printf("]}\n");
}
