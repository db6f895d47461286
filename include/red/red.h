/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libred: parallel reduce and scan with the same bits on every device.
 *
 * Conventions, true for every function below:
 *  - A function returns a red_status; red_last_error() then holds a sentence for the calling thread.
 *  - Outputs are written only on success. Every destroy function accepts NULL.
 *  - Sizes named `n` count elements, sizes named `bytes` count bytes, both 64-bit.
 *  - A pointer may have any alignment on the host; on a device, that of its dtype.
 *  - Contexts, plans and devices may be used from many threads at once; a queue or an accumulator by one at a time.
 *  - The library never prints, unless the environment variable RED_VERBOSE asks, and never ends the process. (GCC's
 *    OpenMP run-time does both if it cannot start a thread; one thread, by red_context_options, needs none.)
 *  - A calling thread needs 128 KB of stack.
 *  - Destroy plans, queues and accumulators before the context they were made on.
 */
#ifndef RED_RED_H
#define RED_RED_H

#include <stddef.h>
#include <stdint.h>

#include <red/version.h>

#if defined(RED_BUILD)
#define RED_API __attribute__((visibility("default")))
#else
#define RED_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------------------------------------------------ */

#define RED_STATUS_LIST(X)                                                               \
  X(OK, 0, "success")                                                                    \
  X(ERR_INVALID, 1, "an argument is invalid")                                            \
  X(ERR_UNSUPPORTED, 2, "this combination, or this device, does not support the request") \
  X(ERR_EMPTY, 3, "the operator has no result for empty input")                          \
  X(ERR_OVERLAP, 4, "input and output overlap in part")                                  \
  X(ERR_NO_MEMORY, 5, "out of memory")                                                   \
  X(ERR_NO_DEVICE, 6, "no such device is available")                                     \
  X(ERR_DRIVER, 7, "a device driver reported an error")                                  \
  X(ERR_WORKSPACE, 8, "the workspace is missing, too small or misaligned")               \
  X(ERR_MISMATCH, 9, "a result differs from the canonical bits")

typedef enum red_status {
#define RED_STATUS_ENUM(name, value, text) RED_##name = value,
  RED_STATUS_LIST(RED_STATUS_ENUM)
#undef RED_STATUS_ENUM
} red_status;

/* What a status means in general; never NULL. */
RED_API const char *red_strerror(red_status status);

/* The last failure of the calling thread in one sentence: the argument, its value, what was expected. Never NULL. */
RED_API const char *red_last_error(void);

/* The version of the library, RED_VERSION_NUMBER of its build. */
RED_API int red_version(void);

/* ---- Problems: what is to be computed ---------------------------------------------------------------------------- */

/* Element types. f16 is IEEE 754 binary16, bf16 the upper half of a binary32; both travel as uint16_t bits. */
typedef enum red_dtype {
  RED_DTYPE_DEFAULT = 0, /* as accumulator or output: what the operator's row in docs/numerics.md says */
  RED_I8, RED_I16, RED_I32, RED_I64,
  RED_U8, RED_U16, RED_U32, RED_U64,
  RED_F16, RED_BF16, RED_F32, RED_F64,
  RED_DTYPE_COUNT
} red_dtype;

/*
 * Operators. Defaults for (accumulator; output; result for n = 0):
 *   sum, prod        integers: 64 bits of the input's signedness, wrapping; f16, bf16, f32: f32; f64: f64
 *                    (output: the accumulator for integers, the input type for floats; 0 or 1)
 *   min, max         the input type; RED_ERR_EMPTY. IEEE 754-2019 minimum/maximum: NaN propagates, -0 < +0
 *   minnum, maxnum   the same, but NaNs are skipped; all NaN gives NaN
 *   argmin, argmax   u64, the index of the first NaN if any, else the smallest index among equals, -0 == +0
 *   argminnum, ...   floats only, NaNs are skipped; RED_ERR_EMPTY if n = 0 or all are NaN (then UINT64_MAX is the result
 *                    where it stays in a device's own memory)
 *   band, bor, bxor  integers only, the input type; all ones, 0, 0
 *   all, any         u8, 0 or 1, NaN counts as true; 1, 0
 *   count_nonzero    u64, NaN counts; 0
 *   dot              as sum; 0. The sum of in[i] * in2[i], each row of the canonical order a fused multiply-add
 *   asum, sumsq      as sum; 0. The sum of |x|, and dot(x, x): integers wrap
 *   nrm2             floats only; f64; the input type; 0. The square root of sumsq, without spurious overflow or underflow
 *   mean             floats only, as sum; RED_ERR_EMPTY. The sum divided by n, rounded once. Of integers: RED_STATS
 * Every NaN result is the canonical quiet NaN of its type (f16 7e00, bf16 7fc0, f32 7fc00000, f64 7ff8000000000000).
 * arg operators and those from dot on have no scan; arg operators, nrm2 and mean take no initial value.
 */
typedef enum red_op {
  RED_SUM = 1, RED_PROD, RED_MIN, RED_MAX, RED_MINNUM, RED_MAXNUM,
  RED_ARGMIN, RED_ARGMAX, RED_ARGMINNUM, RED_ARGMAXNUM,
  RED_BAND, RED_BOR, RED_BXOR, RED_ALL, RED_ANY, RED_COUNT_NONZERO,
  RED_DOT, RED_ASUM, RED_SUMSQ, RED_NRM2, RED_MEAN,
  RED_OP_COUNT
} red_op;

typedef enum red_kind {
  RED_REDUCE = 1,      /* out: one value */
  RED_INCLUSIVE_SCAN,  /* out[i] = in[0] op .. op in[i] */
  RED_EXCLUSIVE_SCAN,  /* out[i] = in[0] op .. op in[i-1]; out[0] = init, or the identity */
  RED_STATS,           /* out: one red_stats_result; the operator is ignored */
  RED_KIND_COUNT
} red_kind;

/* Where an array lies. It is an argument, never detected. */
typedef enum red_memory { RED_HOST = 0, RED_DEVICE } red_memory;

/* One value of any dtype; f16 and bf16 as bits. Use the member named like the dtype in question. */
typedef union red_scalar {
  int8_t i8; int16_t i16; int32_t i32; int64_t i64;
  uint8_t u8; uint16_t u16; uint32_t u32; uint64_t u64;
  uint16_t f16; uint16_t bf16; float f32; double f64;
} red_scalar;

/*
 * A problem. Set it up with RED_PROBLEM_INIT (or zero it and set `size`), then change what differs from the default.
 * Integer accumulators may have any width from the input's up, and wrap. Float accumulators: f32 or f64, not narrower
 * than the input. Outputs: integers of any width (narrower ones wrap) for integers, floats of any width (narrower ones
 * round once) for floats. Mixing integers and floats is refused.
 *
 * An exact reduction (sum, dot, asum, sumsq, nrm2, mean) is the true result of its elements and `init`, rounded once to
 * the output's dtype: no order, no intermediate overflow, no accumulator to choose. Integers are exact modulo 2^64
 * anyway: there `exact` changes nothing. nrm2 of f64 is always exact.
 */
typedef struct red_problem {
  size_t size;             /* sizeof(red_problem) */
  red_kind kind;
  red_op op;
  red_dtype in;
  red_dtype acc;           /* RED_DTYPE_DEFAULT or a choice */
  red_dtype out;           /* RED_DTYPE_DEFAULT or a choice */
  red_memory in_memory;
  red_memory out_memory;   /* of the array or, for a reduction, of its result */
  uint64_t n;
  int has_init;            /* nonzero: `init` takes part as the leftmost operand */
  red_scalar init;         /* in the accumulator's dtype (min, max: the input's) */
  int exact;               /* nonzero: reduce without rounding, round once at the end (`exact-1`) */
  unsigned stats;          /* RED_STATS: what is asked for, RED_STAT_.. or'ed; 0: RED_STAT_DEFAULT. Else 0 */
  int bound;               /* nonzero: `out` is one red_bounded, which has the proven bound of the error, too */
} red_problem;

#define RED_PROBLEM_INIT(KIND, OP, DTYPE, N) \
  { sizeof(red_problem), (KIND), (OP), (DTYPE), RED_DTYPE_DEFAULT, RED_DTYPE_DEFAULT, RED_HOST, RED_HOST, (N), 0, {0}, 0, 0, 0 }

/*
 * The answer of a reduction with `bound`: of floats, sum, mean, dot, asum, sumsq or nrm2, into host memory. The value
 * has the bits that it has without; the bound is that of red_error_bound, from the same pass over the data.
 */
typedef struct red_bounded {
  red_scalar value;        /* in the output's dtype */
  double bound;            /* |value - exact| is at most this; +Inf where nothing is known */
} red_bounded;

/* What statistics consist of. A selection costs what it needs: a minimum alone neither adds nor looks for its place. */
#define RED_STAT_COUNT     0x001u
#define RED_STAT_SUM       0x002u
#define RED_STAT_MEAN      0x004u
#define RED_STAT_VARIANCE  0x008u /* variance, sample_variance and squared_deviations */
#define RED_STAT_MIN       0x010u
#define RED_STAT_MAX       0x020u
#define RED_STAT_ARGMIN    0x040u
#define RED_STAT_ARGMAX    0x080u
#define RED_STAT_NAN_COUNT 0x100u
#define RED_STAT_ALL       0x1ffu
#define RED_STAT_DEFAULT   (RED_STAT_ALL & ~(RED_STAT_VARIANCE | RED_STAT_NAN_COUNT))

/*
 * The answer of RED_STATS. `sum` is that of a default RED_SUM, bit for bit; min, max, argmin, argmax likewise. Members
 * that were not selected are zero. `size` comes from the caller, who sets it before a result is written to host memory
 * (another size is RED_ERR_INVALID); in device memory the library writes it with the rest and never reads it.
 */
typedef struct red_stats_result {
  size_t size;             /* sizeof(red_stats_result) */
  uint64_t count;
  uint64_t nan_count;      /* 0 for integers */
  double mean;             /* the 128-bit integer sum, or the sum in its accumulator (f32, f64), divided by the count */
  double variance;         /* of the population: squared_deviations / count. NaN if an element is infinite or NaN */
  double sample_variance;  /* squared_deviations / (count - 1); NaN for one element */
  double squared_deviations; /* the sum of (x - mean)^2, by `stats-1` of docs/numerics.md */
  red_scalar sum;          /* integers: i64 or u64; floats: the input type */
  red_scalar min, max;     /* the input type */
  uint64_t argmin, argmax;
} red_stats_result;

/*
 * One string names a problem: kind:op:dtypes:n, dtypes = in[/acc[/out]], kind = reduce, scan, exscan or stats
 * (stats:f32:1000 has no op), n decimal or 2^k; optional :init=V, :exact, :bound, and for statistics :select=mean,variance
 * (names like the members', all, or default). Example: reduce:sum:f32/f64:1048576.
 * Printing gives a string that parses to the same problem (memory spaces are not part of it). `bytes` includes the
 * terminating NUL; 128 always suffice.
 */
RED_API red_status red_problem_parse(const char *text, red_problem *problem);
RED_API red_status red_problem_print(const red_problem *problem, char *text, size_t bytes);

/* Fill in default accumulator and output; say why not if the combination is impossible. */
RED_API red_status red_problem_resolve(red_problem *problem);

/* Names and sizes: red_dtype_name(RED_F32) is "f32". NULL, or 0, for an unknown value; 0 from *_from_name likewise. */
RED_API const char *red_dtype_name(red_dtype dtype);
RED_API size_t red_dtype_bytes(red_dtype dtype);
RED_API red_dtype red_dtype_from_name(const char *name);
RED_API const char *red_op_name(red_op op);
RED_API red_op red_op_from_name(const char *name);

/* ---- Devices and contexts ---------------------------------------------------------------------------------------- */

typedef struct red_context red_context;
typedef struct red_queue red_queue;
typedef struct red_plan red_plan;
typedef struct red_accumulator red_accumulator;

/* A device, or a backend without one: then `available` is 0 and `reason` says why. */
typedef struct red_device_info {
  size_t size;             /* set by the caller: sizeof(red_device_info) */
  char id[32];             /* as RED_BACKEND takes it: "omp", "cuda:0", "opencl:0.1" */
  char backend[16];
  char name[128];
  char detail[128];        /* instruction set, compute capability, kernel shape, driver */
  char reason[256];        /* why it is not available */
  int available;
  uint64_t memory;         /* bytes, 0 if unknown */
  double bandwidth;        /* theoretical peak, bytes per second, 0 if unknown */
  uint32_t units;          /* threads, multiprocessors, compute units */
} red_device_info;

/* Probe all backends (this starts GPU drivers) and fill at most `capacity` entries; *count gets how many there are. */
RED_API red_status red_devices(red_device_info *list, size_t capacity, size_t *count);

typedef struct red_context_options {
  size_t size;             /* sizeof(red_context_options) */
  const char *backend;     /* as RED_BACKEND; NULL: the environment variable, then automatic */
  unsigned threads;        /* of the CPU backend, within OpenMP's limit; 0: no more than allowed CPUs */
  void *native_context;    /* CUcontext or cl_context to share, or NULL */
  void *native_device;     /* cl_device_id that goes with it, or NULL */
} red_context_options;

/*
 * A context chooses devices. `backend` is a comma-separated list in order of preference: omp, cuda, cuda:1, opencl,
 * opencl:0.1, auto; -opencl excludes. The first available entry is taken; a list that runs out is RED_ERR_NO_DEVICE with
 * the reasons (RED_ERR_MISMATCH if a device failed its self-test): a named device never falls back to an unnamed one.
 * auto follows the data: host memory is worked on by the CPU, device memory by the best GPU or, where there is none, the
 * CPU; a driver is started only when device memory is asked for.
 * Wherever a context is taken, NULL means the default one, made on first use from RED_BACKEND.
 */
RED_API red_status red_context_create(const red_context_options *options, red_context **context);
RED_API void red_context_destroy(red_context *context);

/* The device that works on data in `memory`. May start its driver. */
RED_API red_status red_context_device(red_context *context, red_memory memory, red_device_info *info);

/* ---- One call on host memory ------------------------------------------------------------------------------------- */

/* *out gets one value of the default output dtype (argmin ..: uint64_t). */
RED_API red_status red_reduce(red_context *context, red_op op, red_dtype dtype, const void *in, uint64_t n, void *out);

/* out[0 .. n-1] in the default output dtype; out == in is allowed where the sizes agree, other overlaps are an error. */
RED_API red_status red_inclusive_scan(red_context *context, red_op op, red_dtype dtype, const void *in, uint64_t n,
                                      void *out);
RED_API red_status red_exclusive_scan(red_context *context, red_op op, red_dtype dtype, const void *in, uint64_t n,
                                      void *out);

/* RED_STAT_DEFAULT in one pass over the data, out->size being set; n = 0 is RED_ERR_EMPTY. */
RED_API red_status red_stats(red_context *context, red_dtype dtype, const void *in, uint64_t n, red_stats_result *out);

/* *out gets the sum of x[i] * y[i], i < n, in the default output dtype. x and y may be the same array or overlap. */
RED_API red_status red_dot(red_context *context, red_dtype dtype, const void *x, const void *y, uint64_t n, void *out);

/* Any problem: plan, execute and wait. red_run2 is for operators of two inputs (dot). */
RED_API red_status red_run(red_context *context, const red_problem *problem, const void *in, void *out);
RED_API red_status red_run2(red_context *context, const red_problem *problem, const void *x, const void *y, void *out);

/* The answer by the slow, obvious implementation of the specification, in host memory on one thread. */
RED_API red_status red_reference(const red_problem *problem, const void *in, void *out);
RED_API red_status red_reference2(const red_problem *problem, const void *x, const void *y, void *out);

/*
 * The proven bound of |computed - exact| for a float sum (RED_REDUCE, or the last output of a scan) of n elements whose
 * absolute values add up to `abs_sum`, itself computed as a canonical sum in the same accumulator: gamma_k abs_sum with k
 * the depth of the tree (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2), rounded up, plus
 * the final rounding where the output is narrower. |init| counts in abs_sum. +Inf if the sum may overflow. asum is such a
 * sum; for dot and sumsq, abs_sum is the canonical dot of the absolute values, and the bound counts their rounding too.
 * mean: the canonical asum, not yet divided. nrm2 and exact problems, whose results tell enough: the result's magnitude.
 * A reduction gives its bound itself, in the same pass, if `problem.bound` asks for it.
 */
RED_API red_status red_error_bound(const red_problem *problem, double abs_sum, double *bound);

/*
 * Known-answer tests of every operator family on the device for `memory`, in host memory and, where it has any, in its
 * own; RED_ERR_MISMATCH if it gives other bits. Those of float arithmetic and order run by themselves when a device opens,
 * an exact sum before its first exact reduction.
 */
RED_API red_status red_self_test(red_context *context, red_memory memory);

/* ---- Plans: prepare once, execute often -------------------------------------------------------------------------- */

/* Arguments of an execution. Offsets are bytes added to the handle: needed for cl_mem, 0 elsewhere if you like. */
typedef struct red_args {
  size_t size;             /* sizeof(red_args) */
  const void *in;
  uint64_t in_offset;
  void *out;
  uint64_t out_offset;
  void *workspace;         /* device memory, aligned to 256 bytes, apart from the arrays; NULL: the queue's own */
  uint64_t workspace_offset;
  uint64_t workspace_bytes;
  const void *in2;         /* dot: the second input, of the same dtype and memory as `in`; else NULL */
  uint64_t in2_offset;
} red_args;

/* Planning may compile, probe and allocate. The plan keeps what it needs of the context; destroy it first. */
RED_API red_status red_plan_create(red_context *context, const red_problem *problem, red_plan **plan);
RED_API void red_plan_destroy(red_plan *plan);

/* Bytes of workspace an execution needs; known without touching the device. */
RED_API uint64_t red_plan_workspace(const red_plan *plan);

/*
 * Execute. With a queue, work on device memory is only enqueued, and in, out and workspace must live until it is done;
 * host memory is consumed before the call returns. With queue NULL the call returns when the result is there.
 * If an execution fails, arrays may hold anything; a scalar result on the host is unchanged.
 */
RED_API red_status red_plan_execute(const red_plan *plan, red_queue *queue, const void *in, void *out);
RED_API red_status red_plan_execute_args(const red_plan *plan, red_queue *queue, const red_args *args);

/* ---- Queues and device memory ------------------------------------------------------------------------------------ */

/* A queue is an in-order stream of the context's device for RED_DEVICE memory. */
RED_API red_status red_queue_create(red_context *context, red_queue **queue);
/* Use the application's CUstream/cudaStream_t or cl_command_queue as it is; it stays the application's. */
RED_API red_status red_queue_wrap(red_context *context, void *native, red_queue **queue);
RED_API red_status red_queue_finish(red_queue *queue);
RED_API void red_queue_destroy(red_queue *queue);

/* Memory of the context's device (OpenCL: *memory is a cl_mem). Aligned to 256 bytes. */
RED_API red_status red_alloc(red_context *context, uint64_t bytes, void **memory);
RED_API void red_free(red_context *context, void *memory);
/* Blocking copies, in order after the work in `queue` (which may be NULL). Offsets count bytes in device memory. */
RED_API red_status red_upload(red_context *context, red_queue *queue, void *device, uint64_t offset, const void *host,
                              uint64_t bytes);
RED_API red_status red_download(red_context *context, red_queue *queue, void *host, const void *device, uint64_t offset,
                                uint64_t bytes);

/* ---- Accumulators: data that arrives in pieces ------------------------------------------------------------------- */

/*
 * Pieces of any length, appended in order, give the bits of one call on the whole: a reduction, a scan or statistics of
 * data larger than memory. `problem->n` is ignored. Results and scans are in host memory; other pieces may lie in device
 * memory (problem->in_memory): each from the beginning of its cl_mem, when the work that fills it is done.
 */
RED_API red_status red_accumulator_create(red_context *context, const red_problem *problem, red_accumulator **accumulator);
/*
 * A part of a larger reduction or of statistics, to be merged: it begins at element `first` of the whole. In canonical
 * order `first` is a multiple of the chunk: 2048 elements for f64 accumulators, 4096 for f32; of statistics 2048 for
 * elements of 8 bytes, 4096 for others.
 */
RED_API red_status red_accumulator_create_at(red_context *context, const red_problem *problem, uint64_t first,
                                             red_accumulator **accumulator);
RED_API void red_accumulator_destroy(red_accumulator *accumulator);
/* Reductions and statistics: append n elements, or n pairs (dot). */
RED_API red_status red_accumulator_add(red_accumulator *accumulator, const void *in, uint64_t n);
RED_API red_status red_accumulator_add2(red_accumulator *accumulator, const void *x, const void *y, uint64_t n);
/* Scans: append n elements and write their n outputs. */
RED_API red_status red_accumulator_scan(red_accumulator *accumulator, const void *in, uint64_t n, void *out);
/* The result so far, as red_run would write it; more may be added afterwards. */
RED_API red_status red_accumulator_result(const red_accumulator *accumulator, void *out);
/* How many elements have been appended. */
RED_API uint64_t red_accumulator_count(const red_accumulator *accumulator);

/*
 * Reductions and statistics: take in another accumulator of the same problem, which stays as it is; its initial value
 * does not count. Exact ones, and operators whose order does not matter, merge in any order. In canonical order, for arg
 * operators and statistics, `from` must begin where `into` ends. However a whole is cut and merged, the bits are those
 * of one call.
 */
RED_API red_status red_accumulator_merge(red_accumulator *into, const red_accumulator *from);

/*
 * Reductions and statistics: the accumulator as bytes, for a file or another process, and back. *size gets how many there are; buffer
 * NULL only asks. Loading refuses what is damaged or of another version, and makes a new accumulator on `context`.
 */
RED_API red_status red_accumulator_save(const red_accumulator *accumulator, void *buffer, size_t capacity, size_t *size);
RED_API red_status red_accumulator_load(red_context *context, const void *bytes, size_t size,
                                        red_accumulator **accumulator);

#ifdef __cplusplus
}
#endif

#endif
