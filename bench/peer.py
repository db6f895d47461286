#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""NumPy, PyTorch, CuPy or PyOpenCL as a peer of redtool bench:

    redtool bench --peer "python3 bench/peer.py numpy"

The lines that are exchanged are described in tools/bench/peer.h. A sample is timed by the host's clock and ends when
the device has done its work, as redtool's do. The results of CuPy, PyTorch and PyOpenCL stay on the device.
"""
import os
import sys
import time

CHILL_BYTES = 256 << 20
NAMES = {"i32": "int32", "i64": "int64", "f32": "float32", "f64": "float64"}


class Refused(Exception):
    """A problem that the library does not have."""


class NumPy:
    device = "omp"
    other = None

    def __init__(self):
        import numpy
        self.library = numpy

    def array(self, n, dtype):
        """Numbers in [-1, 1); for integers, small ones."""
        numbers = self.library.arange(n, dtype="int32") * -1640531527
        if dtype[0] == "f":
            return (numbers * 2.0 ** -31).astype(dtype)
        return (numbers >> 24).astype(dtype)

    def empty(self, n, dtype):
        return self.library.empty(n, dtype=dtype)

    def call(self, kind, op, data, out):
        if kind == "scan" and op == "sum":
            return lambda: self.library.cumsum(data, out=out)
        if kind == "reduce" and op in ("sum", "min", "max", "argmin", "argmax", "prod"):
            return getattr(data, op)
        raise Refused

    def wait(self):
        """Until all calls are done."""

    def chill(self):
        """Write other memory of the device, twice its caches."""
        if self.other is None:
            self.other = self.empty(CHILL_BYTES // 4, "int32")
        getattr(self.other, "fill_" if hasattr(self.other, "fill_") else "fill")(1)
        self.wait()


class CuPy(NumPy):
    device = "cuda:0"

    def __init__(self):
        import cupy
        self.library = cupy

    def wait(self):
        self.library.cuda.get_current_stream().synchronize()


class PyTorch(NumPy):
    device = "cuda:0"

    def __init__(self):
        import torch
        self.library = torch
        if not torch.cuda.is_available():
            raise OSError("PyTorch finds no CUDA device")

    def array(self, n, dtype):
        numbers = self.library.randint(-128, 128, (n,), device="cuda", dtype=self.library.int8)
        numbers = numbers.to(getattr(self.library, dtype))
        return numbers / 128 if dtype[0] == "f" else numbers

    def empty(self, n, dtype):
        return self.library.empty(n, device="cuda", dtype=getattr(self.library, dtype))

    def call(self, kind, op, data, out):
        torch = self.library
        if kind == "scan" and op == "sum":
            return lambda: torch.cumsum(data, 0, out=out)
        if kind == "reduce" and op in ("sum", "min", "max", "argmin", "argmax", "prod"):
            return getattr(data, op)
        raise Refused

    def wait(self):
        self.library.cuda.synchronize()


class PyOpenCL(NumPy):
    """On the device that PYOPENCL_CTX names as PLATFORM:DEVICE, or on the first."""

    def __init__(self):
        import numpy
        import pyopencl
        import pyopencl.array
        import pyopencl.scan
        place = os.environ.get("PYOPENCL_CTX", "0:0")
        platform, number = (int(word) for word in place.split(":"))
        device = pyopencl.get_platforms()[platform].get_devices()[number]
        self.device = f"opencl:{platform}.{number}"
        self.library, self.numpy = pyopencl, numpy
        self.queue = pyopencl.CommandQueue(pyopencl.Context([device]))

    def array(self, n, dtype):
        numbers = (self.numpy.arange(n, dtype="int32") * -1640531527 >> 24).astype(dtype)
        return self.library.array.to_device(self.queue, numbers / 128 if dtype[0] == "f" else numbers)

    def empty(self, n, dtype):
        return self.library.array.empty(self.queue, n, dtype)

    def call(self, kind, op, data, out):
        array = self.library.array
        if kind == "reduce" and op in ("sum", "min", "max"):
            return lambda: getattr(array, op)(data, queue=self.queue)
        if op != "sum" or kind not in ("scan", "exscan"):
            raise Refused
        scan = self.library.scan
        make = scan.InclusiveScanKernel if kind == "scan" else scan.ExclusiveScanKernel
        kernel = make(self.queue.context, data.dtype, "a + b", neutral="0")
        return lambda: kernel(data, output_ary=out, queue=self.queue)

    def wait(self):
        self.queue.finish()


LIBRARIES = {"numpy": NumPy, "cupy": CuPy, "pytorch": PyTorch, "pyopencl": PyOpenCL}


def take(library, words):
    """What to call for a problem."""
    kind, op, dtype, out_dtype, n = words
    # (Sums of i32 are i64 in NumPy, too; a library that has another type for them says so by its own speed.)
    if dtype not in NAMES or out_dtype not in NAMES:
        raise Refused
    data = library.array(int(n), NAMES[dtype])
    out = None if kind == "reduce" else library.empty(int(n), NAMES[out_dtype])
    call = library.call(kind, op, data, out)
    call()
    library.wait()
    return call


def run(library, call, calls):
    begun = time.perf_counter()
    for _ in range(calls):
        call()
    library.wait()
    return time.perf_counter() - begun


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in LIBRARIES:
        sys.exit(f"usage: peer.py {'|'.join(LIBRARIES)}")
    try:
        library = LIBRARIES[sys.argv[1]]()
    except Exception as fault:  # not installed, no driver, no device: libraries have errors of their own for these
        print("no", " ".join(str(fault).split()) or type(fault).__name__)
        return
    print("peer 1", sys.argv[1], library.device, flush=True)
    call = None
    for line in sys.stdin:
        words = line.split()
        if words[0] in ("warm", "cold"):
            if words[0] == "warm":
                run(library, call, 1)
            elif library.device != "omp":
                library.chill()
            print("done", run(library, call, int(words[1])), flush=True)
            continue
        call = None  # (whose arrays are free then)
        try:
            call = take(library, words[1:])
            print("ready", flush=True)
        except Refused:
            print("no it has no such operation", flush=True)
        except MemoryError:
            print("no out of memory", flush=True)


if __name__ == "__main__":
    main()
