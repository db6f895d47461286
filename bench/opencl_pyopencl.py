#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""libred beside PyOpenCL's ReductionKernel and GenericScanKernel: the same buffers, queue and process, taking turns.

    pip install pyopencl mako
    python3 bench/opencl_pyopencl.py [PATH OF libred.so] [PLATFORM.DEVICE] [MEBIBYTES] [SAMPLES]

Medians from submission to the queue's end, and how many times as fast libred is. Results stay on the device. Both are
called from Python, whose microseconds are counted.
"""
import ctypes
import statistics
import sys
import time

import numpy
import pyopencl
import pyopencl.array
import pyopencl.reduction
import pyopencl.scan

RED_REDUCE, RED_INCLUSIVE_SCAN, RED_EXCLUSIVE_SCAN, RED_DEVICE = 1, 2, 3, 1
RED_OPS = {"sum": 1, "max": 4}
RED_DTYPES = {"i32": 3, "f32": 11, "f64": 12}
NUMPY_DTYPES = {"i32": numpy.int32, "f32": numpy.float32, "f64": numpy.float64}
C_TYPES = {"i32": "int", "f32": "float", "f64": "double"}
CASES = [("reduce", "sum", "f32"), ("reduce", "max", "f32"), ("reduce", "sum", "i32"), ("scan", "sum", "f32"),
         ("exscan", "sum", "f32"), ("scan", "sum", "i32")]
SMALL = 4096  # elements, beside the size asked for


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("backend", ctypes.c_char_p), ("threads", ctypes.c_uint),
                ("native_context", ctypes.c_void_p), ("native_device", ctypes.c_void_p)]


class Problem(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [(name, ctypes.c_int) for name in (
        "kind", "op", "dtype_in", "dtype_acc", "dtype_out", "in_memory", "out_memory")] + [
            ("n", ctypes.c_uint64), ("has_init", ctypes.c_int), ("init", ctypes.c_uint64), ("exact", ctypes.c_int),
            ("stats", ctypes.c_uint)]


class Libred:
    def __init__(self, path, context, device, queue):
        self.library = ctypes.CDLL(path)
        self.library.red_last_error.restype = ctypes.c_char_p
        options = Options(ctypes.sizeof(Options), b"opencl", 0, context.int_ptr, device.int_ptr)
        self.context, self.queue = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.library.red_context_create(ctypes.byref(options), ctypes.byref(self.context)))
        self.check(self.library.red_queue_wrap(self.context, ctypes.c_void_p(queue.int_ptr), ctypes.byref(self.queue)))

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.library.red_last_error().decode())

    def call(self, kind, op, dtype, data, out):
        kinds = {"reduce": RED_REDUCE, "scan": RED_INCLUSIVE_SCAN, "exscan": RED_EXCLUSIVE_SCAN}
        problem = Problem(ctypes.sizeof(Problem), kinds[kind], RED_OPS[op], RED_DTYPES[dtype], 0, RED_DTYPES[dtype],
                          RED_DEVICE, RED_DEVICE, data.size)
        plan = ctypes.c_void_p()
        self.check(self.library.red_plan_create(self.context, ctypes.byref(problem), ctypes.byref(plan)))
        buffers = ctypes.c_void_p(data.data.int_ptr), ctypes.c_void_p(out.data.int_ptr)
        return lambda: self.check(self.library.red_plan_execute(plan, self.queue, *buffers))


def pyopencl_call(context, kind, op, dtype, data, out):
    number = NUMPY_DTYPES[dtype]
    c_type = C_TYPES[dtype]
    if kind == "reduce":
        neutral = "0" if op == "sum" else "-INFINITY"
        expression = "a+b" if op == "sum" else "max(a,b)"
        kernel = pyopencl.reduction.ReductionKernel(context, number, neutral, expression, map_expr="x[i]",
                                                    arguments=f"__global const {c_type} *x")
        return lambda: kernel(data, out=out, queue=data.queue)
    statement = "y[i] = item" if kind == "scan" else "y[i] = prev_item"
    kernel = pyopencl.scan.GenericScanKernel(context, number, f"__global {c_type} *x, __global {c_type} *y", "x[i]", "a+b",
                                             "0", statement)
    return lambda: kernel(data, out, queue=data.queue)


def measure(runs, queue, samples):
    """Medians in seconds, one for each of `runs`."""
    taken = [[] for _ in runs]
    for _ in range(samples + 2):
        for run, times in zip(runs, taken):
            start = time.perf_counter()
            run()
            queue.finish()
            times.append(time.perf_counter() - start)
    return [statistics.median(times[2:]) for times in taken]


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "libred.so.0.1"
    platform, device = map(int, (sys.argv[2] if len(sys.argv) > 2 else "0.0").split("."))
    mebibytes = int(sys.argv[3]) if len(sys.argv) > 3 else 256
    samples = int(sys.argv[4]) if len(sys.argv) > 4 else 9
    device = pyopencl.get_platforms()[platform].get_devices()[device]
    context = pyopencl.Context([device])
    queue = pyopencl.CommandQueue(context)
    libred = Libred(path, context, device, queue)
    print(f"PyOpenCL {pyopencl.VERSION_TEXT}, {device.name}; microseconds")
    for kind, op, dtype in CASES:
        for n in (SMALL, (mebibytes << 20) // NUMPY_DTYPES[dtype]().itemsize):
            values = (numpy.arange(n) * 2654435761 % 100 - 50).astype(NUMPY_DTYPES[dtype])
            data = pyopencl.array.to_device(queue, values)
            outs = [pyopencl.array.empty(queue, 1 if kind == "reduce" else n, NUMPY_DTYPES[dtype]) for _ in range(2)]
            runs = [libred.call(kind, op, dtype, data, outs[0]),
                    pyopencl_call(context, kind, op, dtype, data, outs[1])]
            ours, theirs = measure(runs, queue, samples)
            print(f"{kind:6} {op:4} {dtype} {n:>10} libred {ours * 1e6:10.2f} PyOpenCL {theirs * 1e6:10.2f}"
                  f"   {theirs / ours:7.2f} x", flush=True)


if __name__ == "__main__":
    main()
