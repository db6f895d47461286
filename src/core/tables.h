/* SPDX-License-Identifier: BSD-2-Clause */
/* The operator and dtype tables (ops.def, types.def) as C arrays, and what follows from a row alone. */
#ifndef RED_CORE_TABLES_H
#define RED_CORE_TABLES_H

#include "lower.h"

typedef enum red_op_inputs {
  RED_INPUTS_ALL,
  RED_INPUTS_INTEGERS,
  RED_INPUTS_FLOATS
} red_op_inputs;
typedef enum red_op_order {
  RED_ORDER_LEAST,
  RED_ORDER_GREATEST
} red_op_order;
typedef enum red_op_nan {
  RED_NAN_PROPAGATE,
  RED_NAN_SKIP
} red_op_nan;
typedef enum red_op_accumulator {
  RED_ACC_WIDE,
  RED_ACC_INPUT,
  RED_ACC_INDEX,
  RED_ACC_FLAG,
  RED_ACC_DOUBLE
} red_op_accumulator;
typedef enum red_op_empty {
  RED_EMPTY_ZERO,
  RED_EMPTY_ONE,
  RED_EMPTY_ONES,
  RED_EMPTY_ERROR
} red_op_empty;

typedef struct red_op_row {
  const char *name;
  red_op_inputs inputs;
  red_family family;
  red_map map;
  red_op_order order;
  red_op_nan nan;
  red_op_accumulator accumulator;
  red_op_empty empty;
  red_finish finish;
  bool scannable;
} red_op_row;

typedef enum red_type_class {
  RED_CLASS_SIGNED,
  RED_CLASS_UNSIGNED,
  RED_CLASS_FLOAT
} red_type_class;

typedef struct red_type_row {
  const char *name;
  uint8_t bytes;
  red_type_class class;
} red_type_row;

extern const red_op_row red_op_rows[RED_OP_COUNT];
extern const red_type_row red_type_rows[RED_DTYPE_COUNT];

bool red_op_is_known(red_op op);
bool red_dtype_is_known(red_dtype dtype);

/* Of a known dtype. */
bool red_dtype_is_float(red_dtype dtype);
bool red_dtype_is_signed(red_dtype dtype);

/* The bits of +Inf, the canonical quiet NaN and 1 of a dtype (integers: 0, 0 and 1). */
uint64_t red_infinity_bits(red_dtype dtype);
uint64_t red_nan_bits(red_dtype dtype);
uint64_t red_one_bits(red_dtype dtype);

/* As many low bits as an element of `bytes` bytes has. */
static inline uint64_t red_low_bits(unsigned bytes) {
  return bytes == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * bytes)) - 1;
}

#endif
