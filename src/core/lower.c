/* SPDX-License-Identifier: BSD-2-Clause */
/* From a problem to what kernels compute: the rules about dtypes, identities and keys. */
#include "lower.h"

#include <stdatomic.h>
#include <string.h>

#include "status.h"
#include "tables.h"

static red_dtype default_acc(const red_op_row *row, red_dtype in) {
  switch (row->accumulator) {
  case RED_ACC_INPUT:
    return in;
  case RED_ACC_INDEX:
    return RED_U64;
  case RED_ACC_FLAG:
    return RED_U8;
  case RED_ACC_DOUBLE:
    return RED_F64;
  case RED_ACC_WIDE:
    break;
  }
  if (!red_dtype_is_float(in)) return red_dtype_is_signed(in) ? RED_I64 : RED_U64;
  return in == RED_F64 ? RED_F64 : RED_F32;
}

/* Floats come out as they went in, however wide the accumulator. */
static red_dtype default_out(const red_op_row *row, const red_problem *problem, red_dtype acc) {
  bool sums = row->accumulator == RED_ACC_WIDE || row->accumulator == RED_ACC_DOUBLE;
  return sums && red_dtype_is_float(problem->in) ? problem->in : acc;
}

static red_status check_acc(const red_op_row *row, red_dtype in, red_dtype acc) {
  if (acc == default_acc(row, in)) return RED_OK;
  const char *op = row->name, *in_name = red_type_rows[in].name, *acc_name = red_type_rows[acc].name;
  if (row->accumulator != RED_ACC_WIDE)
    return red_fail(RED_ERR_UNSUPPORTED, "acc = %s: %s of %s accumulates in %s only", acc_name, op, in_name,
                    red_type_rows[default_acc(row, in)].name);
  if (red_dtype_is_float(in) != red_dtype_is_float(acc))
    return red_fail(RED_ERR_UNSUPPORTED, "acc = %s: %s of %s cannot mix integers and floats", acc_name, op, in_name);
  if (acc == RED_F16 || acc == RED_BF16)
    return red_fail(RED_ERR_UNSUPPORTED, "acc = %s: float accumulators are f32 or f64", acc_name);
  if (red_type_rows[acc].bytes < red_type_rows[in].bytes)
    return red_fail(RED_ERR_UNSUPPORTED, "acc = %s is narrower than the input dtype %s", acc_name, in_name);
  return RED_OK;
}

static red_status resolve(const red_problem *problem, const red_op_row *row, red_dtype *acc, red_dtype *out) {
  if (row->inputs != RED_INPUTS_ALL && red_dtype_is_float(problem->in) != (row->inputs == RED_INPUTS_FLOATS))
    return red_fail(RED_ERR_UNSUPPORTED, "op = %s takes %s only, not %s%s", row->name,
                    row->inputs == RED_INPUTS_FLOATS ? "floats" : "integers", red_type_rows[problem->in].name,
                    row->finish == RED_FINISH_MEAN ? "; statistics (RED_STATS) have the mean of integers" : "");
  *acc = problem->acc != RED_DTYPE_DEFAULT ? problem->acc : default_acc(row, problem->in);
  *out = problem->out != RED_DTYPE_DEFAULT ? problem->out : default_out(row, problem, *acc);
  if (*acc != default_acc(row, problem->in)) {
    red_status status = check_acc(row, problem->in, *acc);
    if (status != RED_OK) return status;
  }
  if (red_dtype_is_float(*acc) != red_dtype_is_float(*out))
    return red_fail(RED_ERR_UNSUPPORTED, "out = %s: %s of %s gives %s; integers and floats are not converted",
                    red_type_rows[*out].name, row->name, red_type_rows[problem->in].name, red_type_rows[*acc].name);
  return RED_OK;
}

/* The end of the order that loses against everything: what exclusive[0] of min and max is. */
static uint64_t losing_bits(const red_lowered *lowered, const red_op_row *row) {
  uint64_t sign = (uint64_t)1 << (8 * lowered->in_bytes - 1);
  bool least = row->order == RED_ORDER_LEAST;
  if (lowered->in_float) {
    if (row->nan == RED_NAN_SKIP) return red_nan_bits(lowered->in);
    return least ? lowered->inf : lowered->inf | sign;
  }
  if (lowered->in_signed) return least ? sign - 1 : sign;
  return least ? red_low_bits(lowered->in_bytes) : 0;
}

static void set_identity(red_lowered *lowered, const red_op_row *row) {
  uint64_t bits = 0;
  switch (row->empty) {
  case RED_EMPTY_ZERO:
    break;
  case RED_EMPTY_ONE:
    bits = red_one_bits(lowered->acc);
    break;
  case RED_EMPTY_ONES:
    bits = red_low_bits(lowered->acc_bytes);
    break;
  case RED_EMPTY_ERROR:
    bits = losing_bits(lowered, row);
    break;
  }
  memset(&lowered->identity, 0, sizeof lowered->identity);
  memcpy(&lowered->identity, &bits, lowered->acc_bytes); /* little endian: the low bytes come first */
}

static void set_operator(red_lowered *lowered, const red_op_row *row) {
  uint64_t all = red_low_bits(lowered->in_bytes);
  uint64_t sign = (all >> 1) + 1;
  bool flip = row->order == RED_ORDER_GREATEST;
  lowered->op = (red_op)(row - red_op_rows);
  lowered->family = row->family;
  lowered->map = row->map;
  lowered->finish = row->finish;
  lowered->canonical = (row->family == RED_FAMILY_ADD || row->family == RED_FAMILY_MUL) &&
                       red_dtype_is_float(lowered->acc) && !lowered->exact;
  lowered->merge_zeros = row->family == RED_FAMILY_ARGMIN && lowered->in_float;
  lowered->nan_skip = row->nan == RED_NAN_SKIP;
  lowered->empty_is_error =
      row->empty == RED_EMPTY_ERROR && (lowered->kind == RED_REDUCE || lowered->kind == RED_STATS);
  lowered->key_xor = flip ? all : 0;
  if (!lowered->in_float && !lowered->in_signed) lowered->key_xor ^= sign;
  lowered->inf = red_infinity_bits(lowered->in);
  int64_t greatest = (int64_t)(all >> 1);
  lowered->nan_key = lowered->nan_skip ? greatest : -greatest - 1;
  lowered->nonzero_mask = lowered->in_float ? all >> 1 : all;
  set_identity(lowered, row);
}

static void set_dtypes(red_lowered *lowered, red_dtype in, red_dtype acc, red_dtype out) {
  lowered->in = in;
  lowered->acc = acc;
  lowered->out = out;
  lowered->in_bytes = red_type_rows[in].bytes;
  lowered->acc_bytes = red_type_rows[acc].bytes;
  lowered->out_bytes = red_type_rows[out].bytes;
  lowered->in_float = red_dtype_is_float(in);
  lowered->in_signed = red_dtype_is_signed(in);
}

static red_status check_problem(const red_problem *problem) {
  if (problem == NULL) return red_fail(RED_ERR_INVALID, "problem is NULL");
  if (problem->size != sizeof *problem)
    return red_fail(RED_ERR_INVALID, "problem.size is %zu, this library expects %zu: set it with RED_PROBLEM_INIT",
                    problem->size, sizeof *problem);
  if (problem->kind < RED_REDUCE || problem->kind >= RED_KIND_COUNT)
    return red_fail(RED_ERR_INVALID, "problem.kind = %d is not a red_kind", (int)problem->kind);
  if (problem->kind != RED_STATS && !red_op_is_known(problem->op))
    return red_fail(RED_ERR_INVALID, "op = %d is not a red_op", (int)problem->op);
  if (!red_dtype_is_known(problem->in))
    return red_fail(RED_ERR_INVALID, "dtype = %d is not a red_dtype", (int)problem->in);
  if (problem->acc != RED_DTYPE_DEFAULT && !red_dtype_is_known(problem->acc))
    return red_fail(RED_ERR_INVALID, "problem.acc = %d is not a red_dtype", (int)problem->acc);
  if (problem->out != RED_DTYPE_DEFAULT && !red_dtype_is_known(problem->out))
    return red_fail(RED_ERR_INVALID, "problem.out = %d is not a red_dtype", (int)problem->out);
  if (problem->stats != 0 && problem->kind != RED_STATS)
    return red_fail(RED_ERR_INVALID, "problem.stats = %#x: only statistics are selected from", problem->stats);
  if ((problem->stats & ~RED_STAT_ALL) != 0)
    return red_fail(RED_ERR_INVALID, "problem.stats = %#x has bits beyond RED_STAT_ALL, %#x", problem->stats,
                    RED_STAT_ALL);
  if ((unsigned)problem->in_memory > RED_DEVICE || (unsigned)problem->out_memory > RED_DEVICE)
    return red_fail(RED_ERR_INVALID, "in_memory = %d, out_memory = %d: expected RED_HOST or RED_DEVICE",
                    (int)problem->in_memory, (int)problem->out_memory);
  return RED_OK;
}

static red_status check_request(const red_problem *problem, const red_op_row *row) {
  bool scan = red_is_scan(problem->kind);
  if (scan && !row->scannable) return red_fail(RED_ERR_UNSUPPORTED, "op = %s has no scan", row->name);
  if (problem->has_init && row->family == RED_FAMILY_ARGMIN)
    return red_fail(RED_ERR_UNSUPPORTED, "op = %s takes no initial value: an index has none", row->name);
  bool finished = row->finish == RED_FINISH_ROOT || row->finish == RED_FINISH_MEAN;
  if (problem->kind != RED_STATS && problem->has_init && finished)
    return red_fail(RED_ERR_UNSUPPORTED, "op = %s takes no initial value: its result is no sum", row->name);
  if (problem->kind == RED_STATS && (problem->has_init || problem->acc || problem->out))
    return red_fail(RED_ERR_UNSUPPORTED, "stats takes no initial value and no choice of acc or out");
  if (problem->kind == RED_STATS && problem->in_memory == RED_HOST && problem->out_memory == RED_DEVICE)
    return red_fail(RED_ERR_UNSUPPORTED, "out_memory = RED_DEVICE: statistics of host memory are finished on the host");
  if (scan && problem->in_memory != problem->out_memory)
    return red_fail(RED_ERR_UNSUPPORTED, "a scan's in_memory and out_memory must be the same");
  return RED_OK;
}

static red_status check_bound(const red_problem *problem, const red_op_row *row) {
  if (problem->bound == 0) return RED_OK;
  if (problem->kind != RED_REDUCE)
    return red_fail(RED_ERR_UNSUPPORTED, "bound: only reductions give theirs; of a scan's last output red_error_bound "
                                         "tells it from the asum of the input");
  if (row->family != RED_FAMILY_ADD || !red_dtype_is_float(problem->in))
    return red_fail(RED_ERR_UNSUPPORTED,
                    "bound: op = %s of %s: bounds exist for sums of floats only, sum, dot, asum, sumsq, nrm2 and mean",
                    row->name, red_type_rows[problem->in].name);
  if (problem->out_memory != RED_HOST)
    return red_fail(RED_ERR_UNSUPPORTED, "out_memory = RED_DEVICE: a result with its bound is finished on the host");
  return RED_OK;
}

/* Integers need no mode to be exact: theirs changes nothing. */
static red_status check_exact(const red_problem *problem, const red_op_row *row) {
  if (problem->exact == 0) return RED_OK;
  if (problem->kind != RED_REDUCE) return red_fail(RED_ERR_UNSUPPORTED, "exact: only reductions have an exact mode");
  if (row->family != RED_FAMILY_ADD)
    return red_fail(RED_ERR_UNSUPPORTED, "exact: op = %s has no exact mode, only sums have", row->name);
  if (red_dtype_is_float(problem->in) && problem->acc != RED_DTYPE_DEFAULT &&
      problem->acc != default_acc(row, problem->in))
    return red_fail(RED_ERR_UNSUPPORTED, "acc = %s: an exact sum has no accumulator to choose, leave it at the default",
                    red_type_rows[problem->acc].name);
  return RED_OK;
}

/* The squares of f64 exceed f64: their norm is exact without being asked. */
static bool is_exact(const red_problem *problem, const red_op_row *row) {
  bool wide_norm = problem->kind == RED_REDUCE && row->finish == RED_FINISH_ROOT && problem->in == RED_F64;
  return wide_norm || (problem->exact != 0 && red_dtype_is_float(problem->in));
}

/* User space ends at 2^56 on x86-64 with five levels of page tables, and before on AArch64. */
#define MOST_BYTES ((uint64_t)1 << 56)

static red_status check_extent(const red_lowered *lowered) {
  unsigned bytes = lowered->in_bytes > lowered->out_bytes ? lowered->in_bytes : lowered->out_bytes;
  if (lowered->n <= MOST_BYTES / 8 || lowered->n <= MOST_BYTES / bytes) return RED_OK;
  return red_fail(RED_ERR_INVALID, "n = %llu elements of %u bytes exceed the address space",
                  (unsigned long long)lowered->n, bytes);
}

static red_status lower_fresh(const red_problem *problem, red_lowered *lowered) {
  const red_op_row *row = &red_op_rows[problem->kind == RED_STATS ? RED_SUM : problem->op];
  red_dtype acc = RED_DTYPE_DEFAULT, out = RED_DTYPE_DEFAULT;
  red_status status = check_request(problem, row);
  if (status == RED_OK) status = check_exact(problem, row);
  if (status == RED_OK) status = check_bound(problem, row);
  if (status == RED_OK) status = resolve(problem, row, &acc, &out);
  if (status != RED_OK) return status;
  lowered->kind = problem->kind;
  lowered->in_memory = problem->in_memory;
  lowered->out_memory = problem->out_memory;
  lowered->n = problem->n;
  lowered->has_init = problem->has_init != 0;
  lowered->init = problem->init;
  lowered->exact = is_exact(problem, row);
  lowered->bounded = problem->bound != 0;
  set_dtypes(lowered, problem->in, acc, out);
  set_operator(lowered, row);
  lowered->stats = 0;
  if (problem->kind == RED_STATS) {
    lowered->stats = problem->stats != 0 ? problem->stats : RED_STAT_DEFAULT;
    red_lowered least;
    red_lower_part(lowered, RED_MIN, &least);
    lowered->key_xor = least.key_xor;
    lowered->nan_key = least.nan_key;
    lowered->empty_is_error = true;
  }
  return check_extent(lowered);
}

/*
 * Problems with nothing but defaults are checked and lowered once: a call on a hundred elements has no time to spend
 * here. A slot is filled by whoever comes first; others do without it until it is ready, so nobody ever waits.
 */
enum {
  SLOT_EMPTY,
  SLOT_FILLING,
  SLOT_READY
};

typedef struct default_slot {
  atomic_uchar state;
  red_lowered lowered;
} default_slot;

static default_slot default_slots[2][RED_KIND_COUNT][RED_OP_COUNT][RED_DTYPE_COUNT]; /* first: exact? */

static void fill_slot(default_slot *slot, const red_lowered *lowered) {
  unsigned char expected = SLOT_EMPTY;
  if (!atomic_compare_exchange_strong(&slot->state, &expected, SLOT_FILLING)) return;
  slot->lowered = *lowered;
  atomic_store_explicit(&slot->state, SLOT_READY, memory_order_release);
}

static bool is_ready(default_slot *slot) {
  return atomic_load_explicit(&slot->state, memory_order_acquire) == SLOT_READY;
}

/* The slot of a problem that may be valid and has nothing but defaults, else NULL. */
static default_slot *find_slot(const red_problem *problem) {
  if (problem == NULL || problem->size != sizeof *problem) return NULL;
  red_op op = problem->kind == RED_STATS ? RED_SUM : problem->op;
  if ((unsigned)problem->kind >= RED_KIND_COUNT || (unsigned)op >= RED_OP_COUNT ||
      (unsigned)problem->in >= RED_DTYPE_COUNT)
    return NULL;
  unsigned chosen = (unsigned)problem->acc | (unsigned)problem->out | (unsigned)problem->has_init |
                    (unsigned)problem->in_memory | (unsigned)problem->out_memory | problem->stats |
                    (unsigned)problem->bound;
  return chosen == 0 ? &default_slots[problem->exact != 0][problem->kind][op][problem->in] : NULL;
}

const red_lowered *red_lower_known(const red_problem *problem) {
  default_slot *slot = find_slot(problem);
  return slot != NULL && is_ready(slot) ? &slot->lowered : NULL;
}

red_status red_lower(const red_problem *problem, red_lowered *lowered) {
  default_slot *slot = find_slot(problem);
  if (slot != NULL && is_ready(slot)) {
    *lowered = slot->lowered;
    lowered->n = problem->n;
    return check_extent(lowered);
  }
  red_status status = check_problem(problem);
  if (status == RED_OK) status = lower_fresh(problem, lowered);
  if (status == RED_OK && slot != NULL) fill_slot(slot, lowered);
  return status;
}

void red_lower_part(const red_lowered *stats, red_op op, red_lowered *part) {
  const red_op_row *row = &red_op_rows[op];
  *part = *stats;
  part->kind = RED_REDUCE;
  part->exact = false;
  part->stats = 0;
  part->has_init = false;
  red_dtype acc = default_acc(row, stats->in);
  set_dtypes(part, stats->in, acc, row->accumulator == RED_ACC_WIDE && stats->in_float ? stats->in : acc);
  set_operator(part, row);
}

red_status red_problem_resolve(red_problem *problem) {
  red_lowered lowered;
  red_status status = red_lower(problem, &lowered);
  if (status != RED_OK || problem->kind == RED_STATS) return status;
  problem->acc = lowered.acc;
  problem->out = lowered.out;
  return RED_OK;
}
