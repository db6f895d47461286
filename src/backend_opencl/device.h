/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this room share: an open device, its queues, its programs, a plan, and how kernels are launched. */
#ifndef RED_BACKEND_OPENCL_DEVICE_H
#define RED_BACKEND_OPENCL_DEVICE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "api.h"
#include "backend.h"
#include "tune.h"
#include "tuning.def"

/* How a kernel's lanes work together; also what RED_OPENCL_SHAPE may force. */
typedef enum red_cl_shape {
  RED_CL_WIDE,     /* one work-item a run of chunks, no barriers: CPUs */
  RED_CL_LOCAL,    /* a work-group a chunk, local memory: any GPU */
  RED_CL_SUBGROUP, /* ... with sub-group shuffles */
  RED_CL_PTX,      /* ... with NVIDIA's warp shuffles */
  RED_CL_SHAPES
} red_cl_shape;

/* What the driver tells of a device. */
typedef struct red_cl_traits {
  cl_platform_id platform;
  cl_device_id device;
  char id[32];
  char name[128];
  char platform_version[128], device_version[128], driver_version[64];
  cl_device_type type;
  uint32_t units;
  uint64_t memory, most_alloc, local_memory;
  size_t most_group;
  bool f64;
  bool unified;        /* device memory is host memory */
  bool one_pass;       /* scans: a work-group that has begun is never kept waiting */
  bool pipe;           /* scans: the pipeline of kernels/scan_pipe.cl */
  bool one_launch;     /* reductions: a work-group can wait for the words of others, kernels/once_lanes.cl */
  bool gives_binaries; /* worth keeping: the driver does not keep them itself */
  red_cl_shape shape;
  unsigned capability;    /* of NVIDIA's devices, 90 for 9.0; where kernels have no PTX, 0 */
  uint32_t subgroup_size; /* that a test demands; 0: the driver chooses */
  char detail[128];
  char reason[256]; /* why it cannot be used; empty if it can */
} red_cl_traits;

/* Fill `traits` of one device; never fails, the reason says what is missing. */
void red_cl_inspect(cl_platform_id platform, cl_device_id device, unsigned p, unsigned d, red_cl_traits *traits);

typedef struct red_cl_program red_cl_program;
typedef struct red_cl_run red_cl_run; /* one execution, see plan.c */

/* Memory that a queue's executions use one after the other. */
typedef struct red_cl_pool {
  cl_mem memory;
  uint64_t bytes;
} red_cl_pool;

#define RED_CL_BOARD_AT 16
/* What work-groups of one launch leave for each other: zeros at first, then never cleared, the host keeps count. */
typedef struct red_cl_board {
  red_cl_pool pool; /* in its first word work-groups count, values begin at word RED_CL_BOARD_AT */
  uint32_t counted; /* what the counter will have come to */
  uint32_t epoch;   /* of the last launch that wrote words */
} red_cl_board;

typedef struct red_cl_queue {
  cl_command_queue queue;
  bool in_order; /* if not, a barrier follows each command */
  red_cl_pool workspace, stage_in, stage_in2, stage_out;
  red_cl_board board;
} red_cl_queue;

typedef struct red_cl_tuning {
  RED_CL_TUNING(RED_TUNING_FIELD)
} red_cl_tuning;

typedef struct red_cl_device {
  red_cl_traits traits;
  bool has_passed; /* its known-answer test, in another process */
  cl_context context;
  const void *dispatch; /* what every object of its driver begins with, or NULL */
  red_cl_queue own;
  red_cl_tuning tuning;
  uint32_t group;         /* lanes of a work-group, a power of two; 1 for the wide shape */
  pid_t owner;            /* drivers do not survive fork() */
  pthread_mutex_t launch; /* guards the arguments of kernel objects; never held while something is awaited */
  pthread_mutex_t alone;  /* guards what `own` lends to an execution */
  pthread_mutex_t build;  /* guards `programs` */
  red_cl_program *programs;
} red_cl_device;

static inline bool red_cl_is_wide(const red_cl_device *device) {
  return device->traits.shape == RED_CL_WIDE;
}

/* ---- vet.c: try a driver aside; `*passed` stays false where that is not possible ---- */
red_status red_cl_vet(const red_cl_device *device, bool *passed);

/* RED_ERR_UNSUPPORTED in a forked child. */
red_status red_cl_check_process(const red_cl_device *device);

/* ---- memory.c ---- */
red_status red_cl_alloc(void *device, uint64_t bytes, void **memory);
void red_cl_free(void *device, void *memory);
red_status red_cl_upload(void *device, void *queue, void *to, uint64_t offset, const void *from, uint64_t bytes);
red_status red_cl_download(void *device, void *queue, void *to, const void *from, uint64_t offset, uint64_t bytes);
red_status red_cl_queue_open(void *device, void *native, void **queue);
red_status red_cl_queue_finish(void *device, void *queue);
void red_cl_queue_close(void *device, void *queue);

/* Set up the device's own queue, and give up what a queue holds. */
red_status red_cl_queue_init(red_cl_device *device, cl_command_queue native, red_cl_queue *queue);
void red_cl_queue_release(red_cl_queue *queue);

/* At least `bytes` of memory in the pool; its contents are lost when it grows. */
red_status red_cl_pool_reserve(red_cl_device *device, red_cl_pool *pool, uint64_t bytes);

/* The same of the queue's board; what is new begins with zeros. */
red_status red_cl_board_reserve(red_cl_device *device, red_cl_queue *queue, uint64_t bytes);

/* Another number than words of earlier launches bear. */
red_status red_cl_board_epoch(red_cl_queue *queue, uint32_t *epoch);

/* Commands in order: a barrier if the queue has no order of its own. */
red_status red_cl_in_order(red_cl_queue *queue);
red_status red_cl_read(red_cl_queue *queue, cl_mem from, uint64_t offset, void *to, uint64_t bytes);
red_status red_cl_write(red_cl_queue *queue, cl_mem to, uint64_t offset, const void *from, uint64_t bytes);
/* Zeros; a multiple of 8 bytes. */
red_status red_cl_clear(red_cl_queue *queue, cl_mem memory, uint64_t offset, uint64_t bytes);
/* Wait, and see memory as the device left it, until it is unmapped. */
red_status red_cl_map(red_cl_queue *queue, cl_mem memory, uint64_t offset, uint64_t bytes, void **mapped);
red_status red_cl_unmap(red_cl_queue *queue, cl_mem memory, void *mapped);

/* ---- buffers.c ---- */

/* How to tell a cl_mem of this device; it has its context. */
void red_cl_learn_handles(red_cl_device *device);
/* Bytes that the caller names. */
typedef struct red_cl_span {
  const char *what;
  cl_mem memory;
  uint64_t offset, bytes;
} red_cl_span;

/* Is it a buffer of the device's context, and do the bytes lie inside? */
red_status red_cl_check_buffer(const red_cl_device *device, const red_cl_span *span);
/* RED_ERR_OVERLAP where input and output are parts of one buffer and share bytes that they may not. */
red_status red_cl_check_parts(const red_lowered *lowered, const red_cl_span *in, const red_cl_span *out);
/* RED_ERR_WORKSPACE where they are parts of one buffer and share bytes. */
red_status red_cl_check_apart(const red_cl_span *workspace, const red_cl_span *array);

/* ---- program.c ---- */
typedef enum red_cl_kernel {
  RED_CL_REDUCE_CHUNKS,
  RED_CL_REDUCE_NODES,
  RED_CL_REDUCE_FINISH,
  RED_CL_SCAN_TOTALS,
  RED_CL_SCAN_STARTS,      /* wide */
  RED_CL_SCAN_NODE_TOTALS, /* lanes */
  RED_CL_SCAN_NODE_TILES,  /* lanes */
  RED_CL_SCAN_TILES,
  RED_CL_SCAN_PASS, /* wide */
  RED_CL_SCAN_PIPE, /* PTX */
  RED_CL_STATS_CHUNKS,
  RED_CL_STATS_NODES,
  RED_CL_STATS_FINISH,
  RED_CL_EXACT_BINS,
  RED_CL_EXACT_MERGE,
  RED_CL_EXACT_FINISH,
  RED_CL_KERNELS
} red_cl_kernel;

/* What a program is about: elements, and so a problem's dtypes; or nodes alone, which many problems share. */
typedef enum red_cl_part {
  RED_CL_ELEMENTS,
  RED_CL_NODES
} red_cl_part;

struct red_cl_program {
  struct red_cl_program *next;
  red_cl_part part;
  char *options;
  cl_program program;
  cl_kernel kernels[RED_CL_KERNELS]; /* NULL: not of this program */
};

/* Get the program for a lowered problem, building it if need be; it lives as long as the device. */
red_status red_cl_program_get(red_cl_device *device, const red_lowered *lowered, red_cl_part part,
                              red_cl_program **program);
void red_cl_programs_release(red_cl_device *device);

/* ---- source.c: lanes of a row of a chunk, and how many work-items share them ---- */
uint32_t red_cl_reduce_lanes(const red_cl_device *device, const red_lowered *lowered);
uint32_t red_cl_reduce_group(const red_cl_device *device, const red_lowered *lowered);
/* Columns of a chunk side by side that a lane takes, 1 if they are apart. */
uint32_t red_cl_reduce_adjacent(const red_cl_device *device, const red_lowered *lowered);

/* ---- cache.c: binaries on disk ---- */
typedef struct red_cl_cache_entry {
  char *path; /* NULL: no cache */
  unsigned char key[16];
} red_cl_cache_entry;

/* Where the binary of this text on this device lies. */
void red_cl_cache_locate(const red_cl_traits *traits, const char *const *texts, size_t count, const char *options,
                         red_cl_cache_entry *entry);
void red_cl_cache_release(red_cl_cache_entry *entry);
/* The verified binary, to be freed, or NULL. */
unsigned char *red_cl_cache_load(const red_cl_cache_entry *entry, size_t *bytes);
/* Best effort: a cache that cannot be written is no error. Was it? */
bool red_cl_cache_store(const red_cl_cache_entry *entry, const unsigned char *binary, size_t bytes);

/* ---- launch.c ---- */
#define RED_CL_MOST_ARGS 20
#define RED_CL_ARG_WORDS 48
typedef struct red_cl_call {
  cl_kernel kernel;
  unsigned args;
  size_t words;
  size_t bytes[RED_CL_MOST_ARGS];
  uint64_t values[RED_CL_ARG_WORDS];
  bool too_many;
} red_cl_call;

void red_cl_arg(red_cl_call *call, size_t bytes, const void *value);
void red_cl_arg_u64(red_cl_call *call, uint64_t value);
void red_cl_arg_u32(red_cl_call *call, uint32_t value);
void red_cl_arg_mem(red_cl_call *call, cl_mem memory);
/* Enqueue `groups` work-groups of `lanes`. */
red_status red_cl_launch(const red_cl_run *run, const red_cl_call *call, uint64_t groups, uint32_t lanes);

/* As kernels/prelude.cl has it. */
typedef struct red_cl_rules {
  uint64_t key_xor, inf, nan_key, merge_zeros, nonzero_mask;
} red_cl_rules;

red_cl_rules red_cl_rules_of(const red_lowered *lowered);

/* As kernels/results.cl has it. */
typedef struct red_cl_last {
  uint64_t init, has_init, out_type, out_bytes, acc_bits, acc_signed, finish, count;
} red_cl_last;

red_cl_last red_cl_last_of(const red_lowered *lowered);
/* ... of a reduction in the canonical order. */
red_cl_last red_cl_reduce_last(const red_lowered *lowered);

/* ---- plan.c ---- */
typedef struct red_cl_plan {
  red_cl_program *elements, *nodes; /* NULL where there is no use for them */
  uint64_t piece;                   /* elements of a host array that are worked on at once */
  uint64_t workspace;               /* bytes for a piece, or for all of a device array */
} red_cl_plan;

red_status red_cl_supports(void *device, const red_lowered *lowered);
red_status red_cl_plan_create(void *device, const red_lowered *lowered, void **plan, uint64_t *workspace);
void red_cl_plan_destroy(void *device, void *plan);
red_status red_cl_execute(void *device, const void *plan, const red_lowered *lowered, void *queue,
                          const red_exec *exec);

/* What one execution works with; `workspace_at` in words of 64 bits. */
struct red_cl_run {
  red_cl_device *device;
  red_cl_queue *queue;
  const red_cl_plan *plan;
  const red_lowered *lowered;
  cl_mem workspace;
  uint64_t workspace_at;
};

/* ---- pieces.c ---- */

/* A buffer that holds elements [first, first + n) of the array, and one that holds those of the second input. */
typedef struct red_cl_piece {
  cl_mem memory, memory2;
  uint64_t offset, offset2, first, n;
} red_cl_piece;
typedef red_status red_cl_piece_worker(void *state, const red_cl_run *run, const red_cl_piece *part);

red_cl_piece red_cl_whole(const red_cl_run *run, const red_exec *exec);
/* Work on a device array, or on the pieces of a host array, from left to right. */
red_status red_cl_each_piece(const red_cl_run *run, const red_exec *exec, red_cl_piece_worker *work, void *state);

/* ---- nodes.c: from elements to nodes, and to fewer, for reductions and statistics ---- */

uint64_t red_cl_nodes_workspace(const red_cl_device *device, const red_lowered *lowered, uint64_t n);
/* Do nodes merge on the device for this problem? */
bool red_cl_nodes_merge(const red_cl_device *device, const red_lowered *lowered, uint64_t n);

/* Is it one launch that leaves the result of a reduction, or its root? */
bool red_cl_nodes_at_once(const red_cl_device *device, const red_lowered *lowered);
/* How many work-groups' nodes one of them merges then; kernels/once_lanes.cl. */
uint32_t red_cl_once_members(const red_cl_device *device, const red_lowered *lowered);
/*
 * Enqueue all launches for a device array of n > 0 elements; the root's node will lie at word *root of the workspace,
 * or, where it is one launch, the result where it belongs.
 */
red_status red_cl_enqueue_root(const red_cl_run *run, const red_exec *exec, uint64_t *root);

/* Node (level, index) of the chunks' tree, or, last of all, what there is of it; its places count from `first`. */
typedef struct red_cl_node {
  const uint64_t *words;
  unsigned level;
  uint64_t index, first;
} red_cl_node;
typedef void red_cl_visitor(void *state, const red_lowered *lowered, const red_cl_node *node);

/* Compute the nodes of a host or device array of n > 0 elements and show them to the visitor, from left to right. */
red_status red_cl_visit_nodes(const red_cl_run *run, const red_exec *exec, red_cl_visitor *visit, void *state);

/* ---- pipe.c: bytes of a stage, stages of a ring and of a tile, warps that write and warps that add ---- */
#define RED_CL_PIPE_STAGE   4096
#define RED_CL_PIPE_STAGES  11
#define RED_CL_PIPE_SPLIT   2
#define RED_CL_PIPE_APPLIES 2
#define RED_CL_PIPE_SUMS    2
#define RED_CL_PIPE_TILE    (RED_CL_PIPE_STAGE * RED_CL_PIPE_SPLIT)
#define RED_CL_PIPE_THREADS (32 * (RED_CL_PIPE_APPLIES + RED_CL_PIPE_SUMS + 4))
bool red_cl_has_pipe(const red_cl_device *device, const red_lowered *lowered);
/* Does it take this array? Else it is reduce-then-scan. */
bool red_cl_pipe_takes(const red_cl_run *run, const red_exec *exec);
red_status red_cl_pipe_launch(const red_cl_run *run, const red_exec *exec, uint64_t start, bool begins,
                              uint64_t beginning);

/* ---- reduce.c, exact.c, scan.c, stats.c ---- */
red_status red_cl_reduce(const red_cl_run *run, const red_exec *exec);
/* A known value into host memory, or into device memory without waiting. */
red_status red_cl_store_value(const red_cl_run *run, const red_exec *exec, const red_scalar *value);
uint64_t red_cl_exact_workspace(const red_cl_device *device, const red_lowered *lowered, uint64_t n);
red_status red_cl_exact(const red_cl_run *run, const red_exec *exec);
bool red_cl_scans_in_pass(const red_cl_device *device);
uint64_t red_cl_scan_workspace(const red_cl_device *device, const red_lowered *lowered, uint64_t n);
red_status red_cl_scan(const red_cl_run *run, const red_exec *exec);
/* What a node of statistics takes, as kernels/stats.cl has it. */
#define RED_CL_SUMMARY_WORDS 13
red_status red_cl_stats(const red_cl_run *run, const red_exec *exec);

/* A piece of a host array as a buffer: the array itself where the device can work on it, else a copy. */
typedef struct red_cl_stage {
  cl_mem memory;
  bool owned; /* made for this piece: release it */
} red_cl_stage;

bool red_cl_works_in_place(const red_cl_device *device);
/* Would stage_in and stage_out of this array be the array itself? */
bool red_cl_stage_shared(const red_cl_run *run, const void *host, unsigned align);
red_status red_cl_stage_in(const red_cl_run *run, const void *host, uint64_t bytes, unsigned align,
                           red_cl_stage *stage);
/* The same of the second input. */
red_status red_cl_stage_in2(const red_cl_run *run, const void *host, uint64_t bytes, unsigned align,
                            red_cl_stage *stage);
red_status red_cl_stage_out(const red_cl_run *run, void *host, uint64_t bytes, unsigned align, red_cl_stage *stage);
/* Wait, and see to it that the host's array holds what the device wrote. */
red_status red_cl_stage_fetch(const red_cl_run *run, const red_cl_stage *stage, void *host, uint64_t bytes);
/* Pass on the status of what was done with it, or that of ending it. */
red_status red_cl_stage_end(const red_cl_run *run, red_cl_stage *stage, red_status status);

#endif
