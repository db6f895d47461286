/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/ladder.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/host.h"
#include "format.h"
#include "report.h"
#include "suggest.h"

/* ---- data ---- */

enum {
  MOST_NONZERO = 1 << 22,
  GREATEST = 3
};

static uint32_t scramble(uint64_t i) {
  const uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
  return (uint32_t)((x ^ x >> 29) * 0xbf58476d1ce4e5b9u >> 32);
}

/* Large arrays are mostly zeros, but never their first and last elements. */
static float element(uint64_t i, uint64_t n) {
  const uint64_t every = (n + MOST_NONZERO - 1) / MOST_NONZERO;
  const uint32_t bits = scramble(i);
  if (i == 0 || i + 1 == n) return 1;
  return bits % every == 0 ? (float)(1 + bits / every % GREATEST) : 0;
}

struct filling {
  float *x;
  uint64_t n;
};

static void fill_share(void *argument, unsigned index, size_t first, size_t last) {
  const struct filling *filling = argument;
  (void)index;
  for (size_t i = first / sizeof(float); i < last / sizeof(float); i++) filling->x[i] = element(i, filling->n);
}

void ladder_fill(float *x, uint64_t n, double *sum) {
  struct filling filling = {x, n};
  host_share(host_threads(), n * sizeof(float), fill_share, &filling);
  *sum = 0;
  for (uint64_t i = 0; i < n; i++) *sum += (double)x[i];
}

int ladder_check(const char *step, float result, double sum) {
  if ((double)result >= sum && (double)result <= sum) return EXIT_OK;
  complain("ladder: %s: the sum is %.0f, got %.9g", step, sum, (double)result);
  return EXIT_MISMATCH;
}

/* ---- printing ---- */

enum {
  WHY_INDENT = 4
};

static double bandwidth(const struct ladder *ladder, size_t step) {
  return ladder->bytes / ladder->rungs[step].time.median;
}

static void print_time(double seconds) {
  if (seconds < 1e-3)
    printf(" %9.2f us", seconds * 1e6);
  else
    printf(" %9.3f ms", seconds * 1e3);
}

static void print_rung(const struct ladder *ladder, size_t step) {
  const struct rung *rung = &ladder->rungs[step];
  print_time(rung->time.median);
  printf(" %8.2f GB/s", bandwidth(ladder, step) * 1e-9);
  if (ladder->roof > 0)
    printf(" %4.0f %%", 100 * bandwidth(ladder, step) / ladder->roof);
  else
    printf("    - %%");
  if (ladder->rungs[0].measured)
    printf(" %8.2f", ladder->rungs[0].time.median / rung->time.median);
  else
    printf(" %8s", "-");
}

/* Bytes in the unit that suits them. */
static void print_bytes(double bytes) {
  static const char *const units[] = {"B ", "kB", "MB", "GB"};
  int unit = 0;
  for (; bytes >= 1000 && unit < 3; unit++) bytes /= 1000;
  if (isnan(bytes))
    printf(" %11s", "-");
  else
    printf(" %8.*f %s", unit ? 2 : 0, bytes, units[unit]);
}

static void print_count(int width, int digits, double number) {
  if (isnan(number))
    printf(" %*s", width, "-");
  else
    printf(" %*.*f", width, digits, number);
}

static void print_profile(const struct rung *rung, uint64_t n) {
  print_count(8, 2, rung->profile.instructions * 32 / (double)n);
  print_count(6, 1, profile_lanes(&rung->profile));
  print_count(10, 0, rung->profile.conflicts);
  print_bytes(rung->profile.read);
  print_bytes(rung->profile.written);
}

static void print_text(const struct ladder_report *report) {
  printf("%s\n%s\n", report->title, report->device);
  if (report->note) printf("%s\n", report->note);
  printf("\n%-38s", "");
  for (size_t k = 0; k < report->count; k++) {
    char heading[64];
    const struct ladder *ladder = &report->ladders[k];
    snprintf(heading, sizeof heading, "%" PRIu64 " f32 %s", ladder->n, ladder->place);
    printf("  %-41s", heading);
  }
  printf("\n%-38s", "step");
  for (size_t k = 0; k < report->count; k++) printf("  %11s %13s %6s %8s", "time", "bandwidth", "of roof", "factor");
  if (report->profiled) printf(" %8s %6s %10s %11s %11s", "instr.", "lanes", "conflicts", "read", "written");
  printf("\n");
  for (size_t step = 0; step < report->ladders[0].count; step++) {
    const struct rung *first = &report->ladders[0].rungs[step];
    printf("%2zu  %-34s", step + 1, first->name);
    if (first->measured)
      for (size_t k = 0; k < report->count; k++) printf(" "), print_rung(&report->ladders[k], step);
    else
      printf("  not here: %s", first->reason);
    if (first->measured && report->profiled) print_profile(first, report->ladders[0].n);
    printf("\n%*s%s\n", WHY_INDENT, "", first->why);
  }
  for (size_t k = 0; k < report->count; k++)
    if (report->ladders[k].roof > 0)
      printf("\nroof %s: %.2f GB/s, the fastest plain read or copy that was found", report->ladders[k].place,
             report->ladders[k].roof * 1e-9);
  printf("\n");
  if (report->profiled)
    printf("instr.: instructions of warps for 32 elements; lanes: threads of a warp, of 32, that they have an effect "
           "for, in\n"
           "the mean; conflicts: rounds of shared memory because lanes meet in a bank; read, written: the device's "
           "memory.\n"
           "From ncu, each launch with cold caches.\n");
  if (report->no_profile) printf("divergence, bank conflicts and bytes moved are not shown: %s\n", report->no_profile);
}

static void print_json_count(const char *name, double number) {
  if (isnan(number))
    printf(", \"%s\": null", name);
  else
    printf(", \"%s\": %.17g", name, number);
}

static void print_json_rung(const struct ladder *ladder, size_t step, bool profiled) {
  const struct rung *rung = &ladder->rungs[step];
  printf("{\"step\": ");
  print_json_string(stdout, rung->name);
  printf(", \"why\": ");
  print_json_string(stdout, rung->why);
  if (rung->measured)
    printf(", \"least\": %.9g, \"q1\": %.9g, \"median\": %.9g, \"q3\": %.9g, \"bandwidth\": %.9g", rung->time.least,
           rung->time.q1, rung->time.median, rung->time.q3, bandwidth(ladder, step));
  if (rung->measured && profiled) {
    print_json_count("instructions", rung->profile.instructions);
    print_json_count("active_lanes", profile_lanes(&rung->profile));
    print_json_count("bank_conflicts", rung->profile.conflicts);
    print_json_count("bytes_read", rung->profile.read);
    print_json_count("bytes_written", rung->profile.written);
  }
  printf(", \"measured\": %s, \"reason\": ", rung->measured ? "true" : "false");
  print_json_string(stdout, rung->reason);
  printf("}");
}

static void print_json(const struct ladder_report *report) {
  printf("{\"benchmark\": \"redtool bench ladder\", \"title\": ");
  print_json_string(stdout, report->title);
  printf(", \"device\": ");
  print_json_string(stdout, report->device);
  printf(", \"ladders\": [");
  for (size_t k = 0; k < report->count; k++) {
    const struct ladder *ladder = &report->ladders[k];
    printf("%s{\"place\": ", k ? ", " : "");
    print_json_string(stdout, ladder->place);
    printf(", \"n\": %" PRIu64 ", \"roof\": %.9g, \"steps\": [", ladder->n, ladder->roof);
    for (size_t step = 0; step < ladder->count; step++) {
      if (step) printf(", ");
      print_json_rung(ladder, step, report->profiled);
    }
    printf("]}");
  }
  printf("], \"no_profile\": ");
  print_json_string(stdout, report->no_profile ? report->no_profile : "");
  printf("}\n");
}

void ladder_print(const struct ladder_report *report, bool json) {
  if (json)
    print_json(report);
  else
    print_text(report);
}

/* ---- the command line ---- */

static const struct {
  const char *name;
  int (*run)(const options *chosen, uint64_t n);
} ladders[] = {{"cpu", ladder_cpu},
               {"opencl", ladder_opencl},
               {"cuda", ladder_cuda},
               {"opencl-coarsening", coarsening_opencl},
               {"cuda-coarsening", coarsening_cuda},
               {"opencl-shuffle", shuffle_opencl},
               {"cuda-shuffle", shuffle_cuda}};
enum {
  LADDERS = sizeof ladders / sizeof *ladders
};

static int check_options(const options *chosen) {
  if (chosen->compare || chosen->plot || chosen->csv || chosen->cache != CACHE_BOTH || chosen->force ||
      chosen->peer_count > 0 || chosen->fail_below > 0)
    return usage_error("bench ladder takes --backend, --threads, --samples, --seconds, --once and --json only");
  if (chosen->operand_count < 2)
    return usage_error(
        "bench ladder needs a name: cpu, opencl, cuda, opencl-coarsening, cuda-coarsening, opencl-shuffle or "
        "cuda-shuffle");
  if (chosen->operand_count > 3) return usage_error("bench ladder: unexpected argument '%s'", chosen->operands[3]);
  return EXIT_OK;
}

/* As in problem strings. */
static int parse_n(const char *text, uint64_t *n) {
  char problem[64];
  red_problem parsed;
  snprintf(problem, sizeof problem, "reduce:sum:f32:%.40s", text);
  if (red_problem_parse(problem, &parsed) != RED_OK || parsed.n == 0 || parsed.has_init || parsed.exact)
    return usage_error("bench ladder: n is '%s', it takes a number from 1 to 2^54, or 2^k up to that", text);
  *n = parsed.n;
  return EXIT_OK;
}

int ladder_run(const options *chosen) {
  char hint[64];
  suggestion nearest;
  uint64_t n = 0;
  int code = check_options(chosen);
  if (!code && chosen->operand_count == 3) code = parse_n(chosen->operands[2], &n);
  if (code) return code;
  const char *name = chosen->operands[1];
  for (int i = 0; i < LADDERS; i++)
    if (strcmp(ladders[i].name, name) == 0) return ladders[i].run(chosen, n);
  suggest_begin(&nearest, name);
  for (int i = 0; i < LADDERS; i++) suggest_consider(&nearest, ladders[i].name);
  return usage_error("unknown ladder '%s'%s", name, suggest_text(&nearest, "", hint, sizeof hint));
}
