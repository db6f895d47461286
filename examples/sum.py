#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A sum and a running sum from Python through ctypes. The loader finds libred.so as any library (LD_LIBRARY_PATH)."""
import array
import ctypes

SUM, F32 = 1, 11  # red_op and red_dtype of red.h
red = ctypes.CDLL('libred.so.0.1')
red.red_last_error.restype = ctypes.c_char_p


def call(function, data, out):
    """function(context, op, dtype, in, n, out) on arrays; failures become exceptions."""
    if function(None, SUM, F32, ctypes.c_void_p(data.buffer_info()[0]), ctypes.c_uint64(len(data)),
                ctypes.c_void_p(out.buffer_info()[0])) != 0:
        raise RuntimeError(red.red_last_error().decode())
    return out


data = array.array('f', [0.1] * 100000)
total = call(red.red_reduce, data, array.array('f', [0]))
running = call(red.red_inclusive_scan, data, array.array('f', data))
print(f'sum {total[0]:.9g}, running sums end with {running[-1]:.9g}')
assert abs(total[0] - 10000) < 0.01 and abs(running[-1] - 10000) < 0.01
