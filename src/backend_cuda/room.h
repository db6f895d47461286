/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the CUDA backend share: the device, its queues, plans, and the ways to execute. */
#ifndef RED_CUDA_ROOM_H
#define RED_CUDA_ROOM_H

#include <pthread.h>

#include "api.h"
#include "backend.h"
#include "kernels.def"
#include "kernels/args.h"
#include "order.h"
#include "tune.h"
#include "tuning.def"

/* ---- The device
 * ------------------------------------------------------------------------------------------------------ */

typedef enum red_cuda_module {
#define M(name) RED_CUDA_MODULE_##name,
  RED_CUDA_MODULES(M)
#undef M
  RED_CUDA_MODULE_COUNT
} red_cuda_module;

typedef enum red_cuda_kernel {
  RED_CUDA_NO_KERNEL,
#define K(name, module) RED_CUDA_##name,
  RED_CUDA_KERNELS(K)
#undef K
  RED_CUDA_KERNEL_COUNT
} red_cuda_kernel;

typedef struct red_cuda_function {
  CUfunction function;
  unsigned resident; /* blocks that fit on the device at a time */
  bool empty;        /* compiled for older devices, which cannot have it */
} red_cuda_function;

typedef struct red_cuda_queue red_cuda_queue;
typedef struct red_cuda_copiers red_cuda_copiers;

typedef struct red_cuda_tuning {
  RED_CUDA_TUNING(RED_TUNING_FIELD)
} red_cuda_tuning;

typedef struct red_cuda_device {
  CUdevice ordinal;
  CUcontext context;
  bool retained;                        /* the primary context, to be released */
  unsigned multiprocessors, capability; /* 90: compute capability 9.0 */
  unsigned block_shared;                /* most shared memory of a block */
  bool cooperative;
  red_cuda_tuning tuning;
  pthread_mutex_t lock; /* of what follows */
  CUmodule modules[RED_CUDA_MODULE_COUNT];
  red_cuda_function functions[RED_CUDA_KERNEL_COUNT];
  red_cuda_queue *idle; /* queues of calls that came without one */
  red_cuda_copiers *copiers;
} red_cuda_device;

/*
 * Every entry makes the device's context current and lifts the ban on "unsafe" calls that another thread's stream
 * capture imposes (ours do not touch its stream); leaving restores both.
 */
typedef struct red_cuda_scope {
  CUstreamCaptureMode mode;
} red_cuda_scope;

red_status red_cuda_enter(const red_cuda_device *device, red_cuda_scope *scope);
void red_cuda_leave(red_cuda_scope *scope);

/* module.c: load what a plan needs; NULL for a kernel that is empty, or none. Call inside a scope. */
red_status red_cuda_get_kernel(red_cuda_device *device, red_cuda_kernel kernel, const red_cuda_function **function);
void red_cuda_unload(red_cuda_device *device);

/* ---- Queues
 * ------------------------------------------------------------------------------------------------------------ */

#define RED_CUDA_ANSWERS 8

typedef struct red_cuda_staging red_cuda_staging;

typedef struct red_cuda_buffer {
  CUdeviceptr memory;
  uint64_t bytes;
  struct red_cuda_buffer *older; /* too small now, but perhaps in use */
} red_cuda_buffer;

/* A stream and what executions in it take turns to use. */
struct red_cuda_queue {
  CUstream stream;
  bool wrapped;
  red_cuda_buffer *workspace;
  uint32_t epochs;          /* used up in the workspace, at most */
  red_cuda_answer *answers; /* pinned; answers_device is what kernels call it */
  CUdeviceptr answers_device;
  uint32_t asked; /* answers so far: the next one's flag */
  red_cuda_staging *staging;
  red_cuda_queue *next;
};

/* queue.c. A queue of the device's own for a call without one: take and give back. */
red_status red_cuda_take_queue(red_cuda_device *device, red_cuda_queue **queue);
void red_cuda_give_queue(red_cuda_device *device, red_cuda_queue *queue);
/* Closing: without the driver's objects where the device's context could not be entered. */
void red_cuda_close_queues(red_cuda_device *device, bool entered);
void red_cuda_free_buffers(red_cuda_buffer *buffer, bool entered);
/* A workspace that kernels may use next in this queue: ready, in the order of the stream. */
red_status red_cuda_workspace(red_cuda_queue *queue, uint64_t bytes, CUdeviceptr *workspace);
/* The next execution is to clear it first: this one failed. */
void red_cuda_spoil_workspace(red_cuda_queue *queue);
/* The next answer: where the kernel writes it, the flag it is to raise. */
typedef struct red_cuda_question {
  red_cuda_answer *answer;
  CUdeviceptr device;
  uint32_t flag;
} red_cuda_question;
red_status red_cuda_ask(red_cuda_queue *queue, red_cuda_question *question);
/* Wait for it; a kernel that failed is reported. */
red_status red_cuda_await(red_cuda_queue *queue, const red_cuda_question *question);
/* RED_OK, or the sentence if the queue's stream is being captured into a graph. */
red_status red_cuda_refuse_capture(const red_cuda_queue *queue, const char *what);

red_status red_cuda_queue_open(void *device, void *native, void **queue);
red_status red_cuda_queue_finish(void *device, void *queue);
void red_cuda_queue_close(void *device, void *queue);

/* memory.c */
red_status red_cuda_alloc(void *device, uint64_t bytes, void **memory);
void red_cuda_free(void *device, void *memory);
red_status red_cuda_upload(void *device, void *queue, void *to, uint64_t offset, const void *from, uint64_t bytes);
red_status red_cuda_download(void *device, void *queue, void *to, const void *from, uint64_t offset, uint64_t bytes);
/* Is this host memory page-locked at both ends, so that the copy engine can reach it? */
bool red_cuda_is_pinned(const void *memory, uint64_t bytes);

/* copy.c: memcpy by several threads, for memory that the copy engine cannot reach. */
red_status red_cuda_copiers_create(red_cuda_copiers **copiers);
void red_cuda_copiers_destroy(red_cuda_copiers *copiers);
void red_cuda_copy(red_cuda_copiers *copiers, void *to, const void *from, uint64_t bytes);

/* ---- Plans
 * --------------------------------------------------------------------------------------------------------------- */

/* Workspaces of executions that were captured into graphs: kept until the plan goes. */
typedef struct red_cuda_captured {
  pthread_mutex_t lock;
  red_cuda_buffer *list;
} red_cuda_captured;

/* One shape of kernel: what a block takes. */
typedef struct red_cuda_shape {
  const red_cuda_function *function; /* NULL: none */
  uint64_t tile;                     /* elements */
  unsigned threads, shared;          /* of a block; dynamic shared memory */
  unsigned group_bits;               /* scans: tiles are grouped by 2^group_bits */
} red_cuda_shape;

typedef struct red_cuda_exact_kernel red_cuda_exact_kernel;

typedef struct red_cuda_plan {
  red_cuda_element element;
  unsigned stats;         /* the selection */
  red_cuda_shape best;    /* where in and out are aligned to `alignment` bytes */
  red_cuda_shape shifted; /* reductions: of its tiles, where they are not, by polling alone */
  red_cuda_shape small;   /* scans: as `best`, of no more than one of its tiles */
  red_cuda_shape large;   /* scans: up to `large_elements`; reductions: everywhere, beyond so many */
  red_cuda_shape any;     /* everywhere */
  unsigned alignment;
  uint64_t large_elements;
  const red_cuda_function *quick;  /* `best` without what polling alone does not need; may be all there is of it */
  const red_cuda_function *groups; /* the second of two launches; scans: the nodes of a level */
  bool as_it_is;                   /* outputs are accumulators */
  bool by_vectors;                 /* tiles count from a 16-byte boundary */
  red_cuda_combine combine;
  uint64_t streaming_bytes; /* up to here loads leave the caches alone */
  unsigned slot_words;      /* of a published result */
  uint64_t pad;             /* bits of an element that changes nothing, or: */
  bool pad_is_first;
  bool in_order;                      /* scans: three launches */
  const red_cuda_exact_kernel *exact; /* of exact reductions, whose shape is `any`; else NULL */
  red_cuda_captured *captured;
} red_cuda_plan;

/* Dynamic shared memory of the pipelined scans: a ring of tiles of 32 KB. 0: the device has none. */
#define RED_CUDA_PIPE_TILE    32768u
#define RED_CUDA_LEAST_PLACES 2u
#define RED_CUDA_MOST_PLACES  7u
unsigned red_cuda_most_places(const red_cuda_device *device);
unsigned red_cuda_pipe_shared(const red_cuda_device *device);

/* choose.c: kernels, or RED_CUDA_NO_KERNEL, and what a block of them takes. */
typedef struct red_cuda_choice {
  red_cuda_kernel best, quick, shifted, small, large, any, groups;
  uint64_t tile, large_tile, any_tile; /* elements; `tile`: of best or small */
  unsigned alignment;
  unsigned slot_words;
} red_cuda_choice;
red_cuda_choice red_cuda_choose(const red_cuda_device *device, const red_lowered *lowered);

/* plan.c */
red_status red_cuda_plan_create(void *device, const red_lowered *lowered, void **plan, uint64_t *workspace);
void red_cuda_plan_destroy(void *device, void *plan);
/* The combination that RED_CUDA_COMBINE asks for, where it can be had; what the tuning says otherwise. */
red_status red_cuda_choose_combine(const red_cuda_device *device, const red_lowered *lowered,
                                   red_cuda_combine *combine);

/* exact.c: the kernel and the shape of an exact reduction; how a block of a kernel runs, false if it is not one of
 * these */
red_status red_cuda_exact_plan(red_cuda_device *device, const red_lowered *lowered, red_cuda_plan *plan);
bool red_cuda_exact_block(const red_cuda_device *device, red_cuda_kernel kernel, unsigned *threads, unsigned *shared);

/* layout.c: where the parts of a workspace lie; bytes is its size. */
typedef struct red_cuda_layout {
  uint64_t bytes;
  uint64_t slots[RED_CUDA_SCAN_LEVELS];
  unsigned levels;
} red_cuda_layout;
uint64_t red_cuda_counters(uint64_t tiles, uint64_t group);
/* How many tiles form a group, and groups a group of the next level. */
uint64_t red_cuda_group_tiles(const red_cuda_plan *plan, uint64_t tiles, uint64_t resident);
red_cuda_layout red_cuda_reduce_layout(const red_cuda_plan *plan, uint64_t tiles);
red_cuda_layout red_cuda_scan_layout(const red_cuda_plan *plan, uint64_t tiles, unsigned group_bits);

/* ---- Executing: inside a scope, device memory
 * ---------------------------------------------------------------------------- */

/* One launch (or two) on n elements; where the result goes: device memory at `out`, or the question's answer. */
typedef struct red_cuda_job {
  red_cuda_device *device;
  const red_cuda_plan *plan;
  red_cuda_queue *queue;
  CUdeviceptr in, in2, out; /* in2: RED_MAP_PRODUCT, else 0 */
  uint64_t n;
  const red_cuda_question *question; /* reductions, statistics: instead of out; scans: the total, too */
  CUdeviceptr workspace;             /* the caller's, not yet cleared; 0: the queue's */
  const red_cuda_element *element;   /* NULL: the plan's; scans in pieces change init */
  bool first_known;                  /* exclusive scans without init: out[0] is `first` */
  uint64_t first;
  bool inclusive;
} red_cuda_job;

red_status red_cuda_reduce_launch(const red_cuda_job *job);
red_status red_cuda_scan_launch(const red_cuda_job *job);
red_status red_cuda_exact_launch(const red_cuda_job *job);
red_status red_cuda_launch(const red_cuda_function *function, uint64_t grid, const red_cuda_shape *shape,
                           CUstream stream, void **arguments);
/* A workspace for a job: the caller's, cleared, or the queue's; one of the plan's own while a graph is captured. */
red_status red_cuda_job_workspace(const red_cuda_job *job, uint64_t bytes, CUdeviceptr *workspace);

/* From a raw answer to core states; statistics of n elements. */
red_state red_cuda_answer_state(const red_cuda_answer *answer);
red_pair red_cuda_answer_pair(const red_cuda_answer *answer, const red_lowered *lowered);
void red_cuda_answer_stats(const red_cuda_answer *answer, const red_lowered *lowered, uint64_t n,
                           red_stats_state *state);
void red_cuda_answer_exact(const red_cuda_answer *answer, red_exact *sum);

/* stage.c: host memory, in pieces. Reductions give a state, statistics *stats, exact reductions *exact; scans write
 * their outputs. */
red_status red_cuda_stage_reduce(const red_cuda_job *job, const red_lowered *lowered, const void *in, const void *in2,
                                 red_state *state, red_stats_state *stats, red_exact *exact, red_pair *pair);
red_status red_cuda_stage_scan(const red_cuda_job *job, const red_lowered *lowered, const void *in, void *out,
                               red_state *total);

/* staging.c: buffers on both sides, and the copies between them. */
#define RED_CUDA_STAGES 3u

typedef struct red_cuda_stage {
  CUdeviceptr in, in2, out; /* in2: RED_MAP_PRODUCT, else 0 */
  void *pinned_in, *pinned_out;
  CUevent uploaded, computed, downloaded;
} red_cuda_stage;

struct red_cuda_staging {
  CUstream up, down;
  uint64_t in_bytes, out_bytes; /* of a stage's buffers */
  unsigned count;               /* stages that have buffers */
  red_cuda_copiers *copiers;    /* the device's */
  red_cuda_stage stage[RED_CUDA_STAGES];
};

/* Buffers of at least these sizes in `count` stages; out_bytes 0: none. The queue is idle. */
red_status red_cuda_staging_get(red_cuda_device *device, red_cuda_queue *queue, uint64_t in_bytes, uint64_t out_bytes,
                                unsigned count, red_cuda_staging **staging);
/* What is to be uploaded, and where in a stage's buffers it goes. */
typedef struct red_cuda_source {
  const void *from;
  uint64_t at, bytes;
  bool pinned;
} red_cuda_source;
/* Into a stage, beside the queue's kernels; the queue then waits for it. */
red_status red_cuda_stage_upload(red_cuda_staging *staging, red_cuda_queue *queue, unsigned stage,
                                 const red_cuda_source *sources, unsigned count);
/* Out of a stage, after the queue's kernels so far: begin, and see it through. */
red_status red_cuda_stage_download(red_cuda_staging *staging, red_cuda_queue *queue, unsigned stage, void *to,
                                   uint64_t bytes, bool pinned);
red_status red_cuda_stage_arrive(red_cuda_staging *staging, unsigned stage, void *to, uint64_t bytes, bool pinned);
void red_cuda_staging_destroy(red_cuda_staging *staging, bool entered);

/* execute.c */
red_status red_cuda_execute(void *device, const void *plan, const red_lowered *lowered, void *queue,
                            const red_exec *exec);

#endif
