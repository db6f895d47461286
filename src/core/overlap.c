/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays: how many an operator reads, where they can lie, and which may share bytes. Only a scan onto itself, element
 * by element, is well defined.
 */
#include "overlap.h"

#include "status.h"

red_status red_check_unusual_in2(const red_lowered *lowered, const void *in2) {
  bool two = lowered->map == RED_MAP_PRODUCT;
  if (two && in2 == NULL && lowered->n > 0)
    return red_fail(RED_ERR_INVALID, "in2 is NULL, n = %llu: op = %s takes two inputs", (unsigned long long)lowered->n,
                    red_op_name(lowered->op));
  if (!two && in2 != NULL)
    return red_fail(RED_ERR_INVALID, "in2 is not NULL: op = %s takes one input", red_op_name(lowered->op));
  return RED_OK;
}

red_status red_check_range(const char *name, uintptr_t begin, uint64_t bytes) {
  if (bytes == 0 || begin + bytes > begin) return RED_OK;
  return red_fail(RED_ERR_INVALID, "%s is %llu bytes at %#llx, which goes beyond the end of all addresses", name,
                  (unsigned long long)bytes, (unsigned long long)begin);
}

red_status red_check_touching(const red_lowered *lowered, uintptr_t in, uintptr_t out) {
  uint64_t in_bytes = lowered->n * lowered->in_bytes, out_bytes = red_out_extent(lowered);
  red_status status = red_check_range("in", in, in_bytes);
  if (status == RED_OK) status = red_check_range("out", out, out_bytes);
  if (status != RED_OK) return status;
  if (in_bytes == 0 || out_bytes == 0 || in + in_bytes <= out || out + out_bytes <= in) return RED_OK;
  bool scan = red_is_scan(lowered->kind);
  if (scan && in == out && lowered->in_bytes == lowered->out_bytes) return RED_OK;
  return red_fail(RED_ERR_OVERLAP, "in and out overlap: in is %llu bytes at %#llx, out is %llu bytes at %#llx%s",
                  (unsigned long long)in_bytes, (unsigned long long)in, (unsigned long long)out_bytes,
                  (unsigned long long)out, scan ? "; only a scan in place, with equal element sizes, may" : "");
}
