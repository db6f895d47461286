/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables' rows, names and constants: see tables.h. */
#include "tables.h"

#include <string.h>

#include "ops.def"
#include "types.def"

/* COUNT is also how the enum ends, so the families' names carry a prefix of their own. */
const red_op_row red_op_rows[RED_OP_COUNT] = {
#define ROW(ID, name, inputs, family, map, order, nan, accumulator, empty, finish, scannable)                          \
  [RED_##ID] = {#name,         RED_INPUTS_##inputs,   RED_FAMILY_##family, RED_MAP_##map,       RED_ORDER_##order,     \
                RED_NAN_##nan, RED_ACC_##accumulator, RED_EMPTY_##empty,   RED_FINISH_##finish, scannable},
    RED_OPS(ROW)
#undef ROW
};

const red_type_row red_type_rows[RED_DTYPE_COUNT] = {
#define ROW(ID, name, bits, class) [RED_##ID] = {#name, bits / 8, RED_CLASS_##class},
    RED_TYPES(ROW)
#undef ROW
};

bool red_op_is_known(red_op op) {
  return (unsigned)op < RED_OP_COUNT && red_op_rows[op].name != NULL;
}
bool red_dtype_is_known(red_dtype dtype) {
  return (unsigned)dtype < RED_DTYPE_COUNT && red_type_rows[dtype].name != NULL;
}

const char *red_op_name(red_op op) {
  return red_op_is_known(op) ? red_op_rows[op].name : NULL;
}
const char *red_dtype_name(red_dtype dtype) {
  return red_dtype_is_known(dtype) ? red_type_rows[dtype].name : NULL;
}
size_t red_dtype_bytes(red_dtype dtype) {
  return red_dtype_is_known(dtype) ? red_type_rows[dtype].bytes : 0;
}

red_op red_op_from_name(const char *name) {
  for (unsigned op = 1; name != NULL && op < RED_OP_COUNT; op++)
    if (strcmp(red_op_rows[op].name, name) == 0) return (red_op)op;
  return (red_op)0;
}

red_dtype red_dtype_from_name(const char *name) {
  for (unsigned dtype = 1; name != NULL && dtype < RED_DTYPE_COUNT; dtype++)
    if (strcmp(red_type_rows[dtype].name, name) == 0) return (red_dtype)dtype;
  return RED_DTYPE_DEFAULT;
}

bool red_dtype_is_float(red_dtype dtype) {
  return red_type_rows[dtype].class == RED_CLASS_FLOAT;
}
bool red_dtype_is_signed(red_dtype dtype) {
  return red_type_rows[dtype].class == RED_CLASS_SIGNED;
}

uint64_t red_infinity_bits(red_dtype dtype) {
  switch (dtype) {
  case RED_F16:
    return 0x7c00u;
  case RED_BF16:
    return 0x7f80u;
  case RED_F32:
    return 0x7f800000u;
  case RED_F64:
    return 0x7ff0000000000000u;
  default:
    return 0;
  }
}

uint64_t red_nan_bits(red_dtype dtype) {
  uint64_t infinity = red_infinity_bits(dtype);
  return infinity | (infinity & ~(infinity << 1)) >> 1; /* and the highest fraction bit */
}

uint64_t red_one_bits(red_dtype dtype) {
  switch (dtype) {
  case RED_F16:
    return 0x3c00u;
  case RED_BF16:
    return 0x3f80u;
  case RED_F32:
    return 0x3f800000u;
  case RED_F64:
    return 0x3ff0000000000000u;
  default:
    return 1;
  }
}
