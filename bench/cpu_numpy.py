#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""libred beside NumPy in one process, taking turns: medians, and how many times as fast libred is.

    python3 bench/cpu_numpy.py [PATH OF libred.so] [SAMPLES]

Both are called from Python: libred through ctypes, whose call costs about a microsecond and is counted.
"""
import ctypes
import statistics
import sys
import time

import numpy

RED_KINDS = {"reduce": 1, "scan": 2}
RED_OPS = {"sum": 1, "min": 3, "argmin": 7}
RED_DTYPES = {"i32": 3, "i64": 4, "f32": 11, "f64": 12}
NUMPY_DTYPES = {"i32": numpy.int32, "i64": numpy.int64, "f32": numpy.float32, "f64": numpy.float64}
SIZES = (100, 1000, 10_000, 1_000_000, 64_000_000)
CASES = [(kind, op, dtype) for kind, op in (("reduce", "sum"), ("reduce", "min"), ("reduce", "argmin"), ("scan", "sum"))
         for dtype in RED_DTYPES]


def libred_call(library, kind, op, dtype, data, out):
    pointers = data.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p)
    arguments = None, RED_OPS[op], RED_DTYPES[dtype], pointers[0], ctypes.c_uint64(data.size), pointers[1]
    call = library.red_reduce if kind == "reduce" else library.red_inclusive_scan

    def run():
        if call(*arguments) != 0:
            raise RuntimeError(ctypes.string_at(library.red_last_error()).decode())
    return run


def numpy_call(kind, op, data, out):
    if kind == "scan":
        return lambda: numpy.cumsum(data, out=out)
    return getattr(data, op)


def time_calls(run, calls):
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


def measure(runs, samples):
    """Medians in seconds, one for each of `runs`."""
    calls = []
    for run in runs:
        run()
        calls.append(max(1, int(5e-4 / (time_calls(run, 1) + 1e-9))))
    taken = [[time_calls(run, n) for run, n in zip(runs, calls)] for _ in range(samples)]
    return [statistics.median(column) for column in zip(*taken)]


def main():
    library = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libred.so.0.1")
    library.red_last_error.restype = ctypes.c_void_p
    samples = int(sys.argv[2]) if len(sys.argv) > 2 else 11
    random = numpy.random.default_rng(1)
    print(f"NumPy {numpy.__version__}; microseconds")
    for kind, op, dtype in CASES:
        for n in SIZES:
            data = (random.random(n, dtype=numpy.float32) * 1000).astype(NUMPY_DTYPES[dtype])
            wide = numpy.int64 if dtype[0] == "i" else NUMPY_DTYPES[dtype]
            out = numpy.empty(n if kind == "scan" else 1, dtype=wide)
            ours, theirs = measure([libred_call(library, kind, op, dtype, data, out), numpy_call(kind, op, data, out)],
                                   samples)
            print(f"{kind:6} {op:6} {dtype} {n:>10} libred {ours * 1e6:10.2f} NumPy {theirs * 1e6:10.2f}"
                  f"   {theirs / ours:7.2f} x", flush=True)


if __name__ == "__main__":
    main()
