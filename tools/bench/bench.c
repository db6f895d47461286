/* SPDX-License-Identifier: BSD-2-Clause */
/* redtool bench: how fast this machine's devices are, beside what its memory gives. */
#include <stdio.h>
#include <string.h>

#include "bench/compare.h"
#include "bench/host.h"
#include "bench/ladder.h"
#include "bench/machine.h"
#include "bench/measure.h"
#include "bench/plot.h"
#include "progress.h"
#include "report.h"

enum {
  DEFAULT_SAMPLES = 15
};

static const double default_seconds = 60;

/* ---- set-up ---- */

static int check_options(const options *chosen) {
  const bool picture_here = chosen->plot && strcmp(chosen->plot, "-") == 0;
  if (picture_here) return usage_error("bench: --plot needs a file, standard output has the table");
  if (chosen->json && chosen->csv) return usage_error("bench: --json and --csv exclude each other");
  if (chosen->once) return usage_error("bench: --once is for the ladders of devices");
  if (chosen->fail_below > 0 && !chosen->compare) return usage_error("bench: --fail-below needs --compare OLD");
  return EXIT_OK;
}

static int read_cases(struct bench *bench, const options *chosen) {
  int code = EXIT_OK;
  if (chosen->operand_count == 0) return cases_add_default(&bench->cases);
  for (size_t i = 0; i < chosen->operand_count && !code; i++) code = cases_add(&bench->cases, chosen->operands[i]);
  return code;
}

/* Arrays of an OpenCL device may lie in host memory too, and peers have their own. */
static size_t copies_in_host_memory(const struct bench_devices *devices, const struct peers *peers) {
  size_t copies = 1;
  for (size_t i = 0; i < peers->count; i++)
    if (strncmp(peers->list[i].device, "cuda", 4) != 0) copies++;
  for (size_t i = 0; i < devices->count; i++)
    if (strcmp(devices->list[i].info.backend, "opencl") == 0) copies++;
  return copies;
}

static unsigned states_of(const options *chosen) {
  return chosen->cache == CACHE_BOTH ? 2 : 1;
}

static int set_up(struct bench *bench, const options *chosen) {
  int code = bench_devices_open(&bench->devices, chosen->backend, chosen->threads);
  if (!code) code = peers_open(&bench->peers, chosen->peers, chosen->peer_count, &bench->devices, &bench->arrays);
  if (code) return code;
  const struct bench_device *host = bench_devices_host(&bench->devices);
  bench->threads = host ? host->info.units : 1;
  if (bench->threads > host_threads()) bench->threads = host_threads();
  bench->samples = chosen->samples ? chosen->samples : DEFAULT_SAMPLES;
  bench->seconds =
      (chosen->seconds > 0 ? chosen->seconds : default_seconds) / (double)(bench->cases.count * states_of(chosen));
  bench->arrays.threads = bench->threads;
  const bool cold = chosen->cache != CACHE_WARM;
  code = arrays_check(&bench->cases, copies_in_host_memory(&bench->devices, &bench->peers), cold);
  return !code && cold ? arrays_make_sweep(&bench->arrays) : code;
}

/* ---- measuring ---- */

/* In arrays of a size that no cache holds. */
static int run_rooflines(struct bench *bench) {
  red_problem problem = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_U64, 0);
  uint64_t bytes = 2 * machine_caches();
  const uint64_t most = machine_free_memory() / 8;
  if (bytes > most) bytes = most;
  problem.n = bytes / 8;
  struct bench_case c = {.problem = problem, .text = "the rooflines", .bytes_in = bytes, .bytes_out = bytes};
  int code = arrays_make(&bench->arrays, &c);
  if (!code) code = measure_rooflines(bench);
  arrays_free(&bench->arrays);
  return code;
}

static int run_states(struct bench *bench, const struct bench_case *c, const options *chosen, uint64_t step) {
  int code = arrays_make(&bench->arrays, c);
  for (int cold = 0; cold < 2 && !code; cold++) {
    if (chosen->cache == (cold ? CACHE_WARM : CACHE_COLD)) continue;
    char doing[CASE_TEXT_BYTES + 16];
    snprintf(doing, sizeof doing, "%s, %s", c->text, cold ? "cold" : "warm");
    progress_step(step++, doing);
    code = measure_case(bench, c, cold);
  }
  arrays_free(&bench->arrays);
  return code;
}

static int run_all(struct bench *bench, const options *chosen) {
  const unsigned states = states_of(chosen);
  progress_begin(1 + bench->cases.count * states);
  progress_step(0, "rooflines");
  int code = run_rooflines(bench);
  for (size_t i = 0; i < bench->cases.count && !code; i++)
    code = run_states(bench, &bench->cases.list[i], chosen, 1 + i * states);
  progress_clear();
  return code;
}

/* ---- reporting ---- */

static void print(const struct bench *bench, const options *chosen) {
  if (chosen->json)
    table_print_json(&bench->table, &bench->devices, &bench->peers);
  else if (chosen->csv)
    table_print_csv(&bench->table);
  else
    table_print(&bench->table, &bench->devices, &bench->peers);
}

/* What was asked for beside the table. The table itself is printed even if a row is judged too slow. */
static int report(struct bench *bench, const options *chosen, const struct json *old, struct output *picture) {
  int code = chosen->compare ? compare_rows(&bench->table, chosen->compare, old) : EXIT_OK;
  if (!code && chosen->plot) code = plot_write(&bench->table, picture);
  if (code) return code;
  print(bench, chosen);
  return chosen->fail_below > 0 ? compare_judge(&bench->table, chosen->fail_below) : EXIT_OK;
}

/* Files are opened before anything is measured: minutes later is no time to hear that one cannot be written. */
static int run_problems(const options *chosen) {
  struct bench bench = {.table = {.rows = NULL}};
  struct output picture = {.fd = -1};
  struct json old = {.kind = JSON_NULL};
  int code = read_cases(&bench, chosen);
  if (!code && chosen->compare) code = compare_open(chosen->compare, &old);
  if (!code && chosen->plot) code = output_open(&picture, chosen->plot, chosen->force);
  if (!code) code = set_up(&bench, chosen);
  if (!code) code = run_all(&bench, chosen);
  if (!code) code = report(&bench, chosen, &old, &picture);
  output_close(&picture);
  json_free(&old);
  arrays_free_sweep(&bench.arrays);
  table_free(&bench.table);
  peers_close(&bench.peers);
  bench_devices_close(&bench.devices);
  cases_free(&bench.cases);
  return code;
}

static int run_bench(const options *chosen) {
  if (chosen->operand_count > 0 && strcmp(chosen->operands[0], "ladder") == 0) return ladder_run(chosen);
  const int code = check_options(chosen);
  return code ? code : run_problems(chosen);
}

const struct verb verb_bench = {
    .name = "bench",
    .synopsis = "[OPTION]... [PROBLEM]...\n       redtool bench [OPTION]... ladder NAME [N]",
    .summary = "Measure how fast the devices of this machine are, beside what its memory gives.",
    .details =
        "A PROBLEM is a problem string, kind:op:dtypes:n, with kind reduce, scan, exscan or stats (stats:dtype:n);\n"
        "n may be a range FIRST..LAST with :STEP, the factor from one n to the next (4 if left out). Rows are medians\n"
        "with quartiles; GB/s counts the input once and a scan's output once. \"of roof\" is relative to the fastest\n"
        "plain read or copy of as many bytes, measured in turns with the row, \"of peak\" to the theoretical "
        "bandwidth,\n"
        "where it is known. Route plan executes a plan on data in the device's memory; route call (up to 1 MiB) is "
        "one\n"
        "call on host memory. --backend LIST takes each device of LIST instead of all available ones.\n\n"
        "ladder NAME, with NAME one of cpu, opencl and cuda, runs the history of making a sum of N f32 fast, each "
        "step\n"
        "one fact about the hardware away from the last, and says why it is faster; opencl-coarsening and\n"
        "cuda-coarsening ask how many elements a work-item should take, opencl-shuffle and cuda-shuffle measure the\n"
        "primitives of the device headers.\n",
    .examples = "  redtool bench\n"
                "  redtool bench reduce:sum:f32:2^10..2^30 --json >new.json\n"
                "  redtool bench scan:sum:f64:2^20..2^28:2 --backend omp,cuda --cache warm --plot scan.svg\n"
                "  redtool bench ladder cpu\n",
    .accepts = OPTION_BIT(BACKEND) | OPTION_BIT(THREADS) | OPTION_BIT(CACHE) | OPTION_BIT(SAMPLES) |
               OPTION_BIT(SECONDS) | OPTION_BIT(JSON) | OPTION_BIT(CSV) | OPTION_BIT(COMPARE) | OPTION_BIT(FAIL_BELOW) |
               OPTION_BIT(PLOT) | OPTION_BIT(PEER) | OPTION_BIT(ONCE) | OPTION_BIT(FORCE),
    .takes_list = true,
    .run = run_bench,
};
