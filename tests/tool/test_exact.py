# SPDX-License-Identifier: BSD-2-Clause
"""redtool reduce --exact beside Python's math.fsum, which rounds the sum of doubles once, too."""
import math
import random
import struct

from harness import ToolTest, main, npy, raw


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def uniform(source, n):
    return [source.uniform(-1, 1) for _ in range(n)]


def scattered(source, n, exponents):
    return [math.ldexp(source.uniform(-1, 1), source.randint(*exponents)) for _ in range(n)]


def cancelling(source, n, exponents):
    """All but a few numbers have their opposites somewhere."""
    x = scattered(source, n // 2, exponents)
    x += [-v for v in x] + scattered(source, 3, exponents)
    source.shuffle(x)
    return x


def subnormal(source, n):
    return [source.randint(-(1 << 52), 1 << 52) * 5e-324 for _ in range(n)]


class Fsum(ToolTest):
    LENGTHS = (1, 2, 3, 100, 1023, 1025, 4096, 30000)

    def exact(self, op, dtype, data):
        text = self.line("reduce", "--op", op, "--exact", "--dtype", dtype, "--out-dtype", "f64", "--hex", "-", stdin=data)
        return struct.unpack(">d", bytes.fromhex(text[2:]))[0]

    def compare(self, op, dtype, x, terms):
        expected = math.fsum(terms)
        self.assertEqual((self.exact(op, dtype, raw(dtype, x)), len(x)), (expected, len(x)))

    def test_sums(self):
        source = random.Random(1)
        for n in self.LENGTHS:
            for x in (uniform(source, n), scattered(source, n, (-1073, 1000)), cancelling(source, n, (-1073, 1000)),
                      cancelling(source, n, (-40, 40)), subnormal(source, n)):
                self.compare("sum", "f64", x, x)
                self.compare("asum", "f64", x, map(abs, x))

    def test_single_precision(self):
        source = random.Random(2)
        for n in self.LENGTHS:
            for x in (uniform(source, n), scattered(source, n, (-148, 127)), cancelling(source, n, (-148, 127))):
                x = [single(v) for v in x]
                self.compare("sum", "f32", x, x)
                self.compare("sumsq", "f32", x, [v * v for v in x])  # exact doubles

    def test_products(self):
        """Of f32 they are doubles; of f64 with few bits, too."""
        source = random.Random(3)
        for n in self.LENGTHS:
            for dtype, x, y in (
                    ("f32", *([single(v) for v in scattered(source, n, (-148, 127))] for _ in range(2))),
                    ("f64", *([math.ldexp(source.randint(-(1 << 26), 1 << 26), source.randint(-500, 450)) for _ in range(n)]
                              for _ in range(2)))):
                got = self.line("reduce", "--op", "dot", "--exact", "--out-dtype", "f64", "--hex",
                                self.file("x.npy", npy(dtype, x)), self.file("y.npy", npy(dtype, y)))
                self.assertEqual(struct.unpack(">d", bytes.fromhex(got[2:]))[0], math.fsum(a * b for a, b in zip(x, y)))


if __name__ == "__main__":
    main()
