/* SPDX-License-Identifier: BSD-2-Clause */
/* What the host hands to the kernels: read by C11 and by CUDA C++. Sizes and offsets are the same on both sides. */
#ifndef RED_CUDA_ARGS_H
#define RED_CUDA_ARGS_H

#include <stdint.h>

/*
 * A workspace begins with the head, then the counters of RED_CUDA_LAST: words that must be zero between executions, so
 * no layout puts anything else there. Slots follow; they carry epochs and may hold anything older.
 */
#define RED_CUDA_COUNTERS_AT 256u
#define RED_CUDA_COUNTERS    16384u
#define RED_CUDA_SLOTS_AT    (RED_CUDA_COUNTERS_AT + 4u * RED_CUDA_COUNTERS)

/* How blocks combine their partial results; every way gives the same bits. */
typedef enum red_cuda_combine {
  RED_CUDA_POLL,   /* one launch: the block of a group's last tile polls for the others */
  RED_CUDA_LAST,   /* one launch: the block that arrives last finishes */
  RED_CUDA_TWO,    /* two launches */
  RED_CUDA_PDL,    /* two launches, the second starting early (programmatic dependent launch) */
  RED_CUDA_COOP,   /* one cooperative launch with a barrier of the grid */
  RED_CUDA_ATOMIC, /* atomics on one word: where the order does not matter */
  RED_CUDA_COMBINES
} red_cuda_combine;

/*
 * The head of a workspace. All zeros at first; every execution leaves it ready for the next one, on the device, so that
 * replayed graphs work. A published word carries `epoch + 1`: older contents are never taken for new ones.
 */
typedef struct red_cuda_head {
  uint32_t epoch;
  uint32_t ticket;
  uint32_t arrived; /* grid barrier, atomic mode */
  uint32_t barrier; /* the epoch whose barrier is open */
  uint64_t atomic;  /* 0, whatever the operator: see reduce.cuh */
  uint64_t unused[5];
} red_cuda_head;

/* A raw result in pinned host memory; `flag` is written last. */
typedef struct red_cuda_answer {
  uint64_t word[12];
  uint32_t flag;
  uint32_t unused[7];
  uint32_t digit[136]; /* exact reductions: of the magnitude */
} red_cuda_answer;

/* Elements, states and outputs, as in core/lower.h. */
typedef struct red_cuda_element {
  uint64_t key_xor;
  uint64_t inf;
  int64_t nan_key;
  uint64_t nonzero_mask;
  uint64_t sign;        /* the sign bit of signed integers, else 0: value = (bits ^ sign) - sign */
  uint64_t identity;    /* a state */
  uint64_t init;        /* a state */
  uint8_t in, acc, out; /* red_dtype */
  uint8_t in_bytes, acc_bytes, out_bytes;
  uint8_t family, finish; /* red_family, red_finish */
  uint8_t in_float, acc_signed, merge_zeros, nan_skip, has_init, canonical;
  uint8_t map; /* red_map */
  uint8_t unused;
} red_cuda_element;

/* Slots of published results: level 0 one for each tile, above one for each group of the level below. */
#define RED_CUDA_LEVELS 4

/* What every block looks at comes first: the fewer lines of parameters, the sooner it loads. */
typedef struct red_cuda_reduce {
  const void *in;
  uint64_t n;
  uint64_t tiles;
  void *out;               /* the finished result in device memory, or NULL: */
  red_cuda_answer *answer; /* the raw one in host memory */
  red_cuda_head *head;
  uint64_t *slots[RED_CUDA_LEVELS];
  uint32_t answer_flag;
  uint32_t streaming;     /* loads leave the caches alone */
  uint32_t as_it_is;      /* the output is the accumulator: no init, no conversion */
  uint32_t combine;       /* red_cuda_combine */
  uint32_t ordered;       /* tile indices come from a ticket */
  uint32_t head_elements; /* elements between the 16-byte boundary before `in` and `in` */
  uint32_t pad_is_first;  /* pad with in[0], else with `pad` */
  uint32_t stats;         /* the selection */
  uint32_t group;         /* statistics: tiles of a group */
  uint32_t unused;
  uint64_t pad;       /* bits of an element */
  const void *in2;    /* RED_MAP_PRODUCT */
  uint32_t *counters; /* arrivals of each group, level after level */
  red_cuda_element element;
} red_cuda_reduce;

/*
 * Exact reductions. Blocks add their digits to words in the place of the counters, each on a line of its own: two words
 * a digit and one for the flags.
 */
#define RED_CUDA_EXACT_STRIDE 16u   /* words of 8 bytes */
#define RED_CUDA_EXACT_WORDS  256u  /* at most */
#define RED_CUDA_EXACT_BLOCKS 1023u /* at most: what a word can count */

/* Vectors of an input that a thread has in flight. */
#define RED_CUDA_EXACT_BATCH(two_inputs) ((two_inputs) ? 2 : 4)

/* Where an exact answer keeps what is not digits. */
enum {
  RED_CUDA_EXACT_FLAGS,
  RED_CUDA_EXACT_NEGATIVE,
  RED_CUDA_EXACT_FIRST,
  RED_CUDA_EXACT_LAST
};

typedef struct red_cuda_exact {
  const void *in, *in2;
  uint64_t n;
  uint64_t vectors; /* of 16 bytes, whole and aligned ones of `in` */
  uint64_t steps;   /* in which every thread of the grid takes as many as it can hold */
  uint64_t share;   /* vectors that a block takes after these */
  uint64_t *words;
  void *out;               /* the finished result in device memory, or NULL: */
  red_cuda_answer *answer; /* the magnitude in host memory */
  uint32_t answer_flag;
  uint32_t head;     /* elements before the vectors */
  uint32_t aligned2; /* `in2` can be loaded in vectors, too */
  uint32_t streaming;
  uint32_t few;     /* a block has so few elements that a warp's share of a bin is one exact double */
  uint32_t workers; /* blocks that add; one more may collect what they have added */
  red_cuda_element element;
} red_cuda_exact;

/* Tiles of a scan are grouped by 2^5 or 2^7, those groups by 2^5, and so on: the digits of their indices. */
#define RED_CUDA_SCAN_SMALL_GROUPS 5
#define RED_CUDA_SCAN_LARGE_GROUPS 7
#define RED_CUDA_SCAN_HIGH_BITS    5
#define RED_CUDA_SCAN_LEVELS       8

typedef enum red_cuda_scan_phase {
  RED_CUDA_SCAN_ONCE,   /* one pass: tiles look back */
  RED_CUDA_SCAN_TOTALS, /* three launches: totals of the tiles, ... */
  RED_CUDA_SCAN_APPLY   /* ... [scan of the totals,] outputs */
} red_cuda_scan_phase;

typedef struct red_cuda_scan {
  const void *in;
  void *out;
  uint64_t n;
  uint64_t tiles;
  red_cuda_head *head;
  red_cuda_answer *total; /* the ordered total without init, or NULL */
  uint32_t levels;        /* digits of tiles - 1, at least one */
  uint32_t inclusive;
  uint32_t ordered;
  uint32_t phase;
  uint64_t *slots[RED_CUDA_SCAN_LEVELS]; /* level 0: tiles; above: groups of the level below */
  uint64_t first;                        /* exclusive[0] in bits of the output, if has_first */
  uint32_t has_first;
  uint32_t total_flag;
  uint32_t in_aligned, out_aligned; /* vector loads and stores are possible */
  uint32_t places;                  /* pipeline: tiles that a block holds at a time */
  uint32_t unused;
  red_cuda_element element;
} red_cuda_scan;

/*
 * Statistics: how many tiles form a group, as few as can be, and the words of a slot, which summaries of elements of 4
 * bytes or fewer, or of 8, fill, without the variance or with it.
 */
#define RED_CUDA_STATS_LEAST                       256u
#define RED_CUDA_STATS_MOST                        8192u
#define RED_CUDA_STATS_SLOT_WORDS(bytes, variance) ((variance) ? 16u : (bytes) == 8 ? 10u : 8u)

/* Order of the words of a raw statistics result. */
enum {
  RED_CUDA_RAW_SUM,
  RED_CUDA_RAW_SUM_HIGH,
  RED_CUDA_RAW_LEAST,
  RED_CUDA_RAW_GREATEST,
  RED_CUDA_RAW_ARGMIN,
  RED_CUDA_RAW_ARGMAX,
  RED_CUDA_RAW_NANS,
  RED_CUDA_RAW_MEAN, /* of the moments; their count is that of the elements */
  RED_CUDA_RAW_MEAN_LOW,
  RED_CUDA_RAW_SQUARES,
  RED_CUDA_RAW_WORDS
};

#endif
