# SPDX-License-Identifier: BSD-2-Clause
"""redtool reduce --bound and verify --against-exact: errors and bounds beside exact rational sums."""
import struct
from fractions import Fraction

from harness import LIBRARY, USAGE, ToolTest, main, npy, raw

U = {"f32": Fraction(1, 2 ** 24), "f64": Fraction(1, 2 ** 53)}


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def mixed(count, dtype):
    """Numbers of both signs over eight decades, those of the dtype."""
    state, numbers = 7, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        x = ((state >> 20) - 2 ** 43) / 2 ** 43 * 10.0 ** (state % 9 - 4)
        numbers.append(single(x) if dtype == "f32" else x)
    return numbers


def depth(n, dtype):
    lanes = 128 if dtype == "f32" else 64
    chunk = 32 * lanes
    rows = -(-min(n, chunk) // lanes)
    return rows - 1 + (min(n, lanes) - 1).bit_length() + (-(-n // chunk) - 1).bit_length()


class Bound(ToolTest):
    def test_sums_of_absolute_values(self):
        for dtype in ("f32", "f64"):
            for n in (1, 2, 129, 5000, 20000):
                with self.subTest(dtype=dtype, n=n):
                    x = [Fraction(v) for v in mixed(n, dtype)]
                    got = self.json("reduce", "--op", "sum", "--bound", "--dtype", dtype, "-",
                                    stdin=raw(dtype, mixed(n, dtype)))
                    value = single(got["value"]) if dtype == "f32" else got["value"]
                    bound, error = Fraction(got["bound"]), abs(Fraction(value) - sum(x))
                    proven = depth(n, dtype) * U[dtype] * sum(map(abs, x))
                    self.assertLessEqual(error, bound)
                    self.assertTrue(proven <= bound <= proven * Fraction(1001, 1000), (float(proven), float(bound)))

    def test_two_lines(self):
        path = self.file("x.npy", npy("f32", [1, -2.5, 4]))
        plain = self.succeeds("reduce", "--op", "sum", path)
        value, bound = self.succeeds("reduce", "--op", "sum", "--bound", path).decode().splitlines(keepends=True)
        self.assertEqual(value.encode(), plain)
        self.assertTrue(15 * 2.0 ** -24 <= float(bound) < 16 * 2.0 ** -24)  # two additions, 7.5 in all
        hexadecimal = self.succeeds("reduce", "--op", "sum", "--bound", "--hex", path).decode().split()
        self.assertEqual(struct.unpack(">d", bytes.fromhex(hexadecimal[1][2:])), (float(bound),))

    def test_initial_value_and_narrow_output(self):
        got = self.json("reduce", "--op", "sum", "--bound", "--dtype", "f32", "--init", "-1000", "--out-dtype", "f16", "-",
                        stdin=raw("f32", [1.0, 2.0]))
        self.assertEqual(got["value"], -997)
        self.assertGreaterEqual(got["bound"], 997 * 2.0 ** -11)
        self.assertLess(got["bound"], 1100 * 2.0 ** -11)

    def test_magnitudes_and_squares(self):
        x = mixed(3000, "f32")
        for op, exact in (("asum", sum(abs(Fraction(v)) for v in x)), ("sumsq", sum(Fraction(v) ** 2 for v in x))):
            got = self.json("reduce", "--op", op, "--bound", "--dtype", "f32", "-", stdin=raw("f32", x))
            self.assertLessEqual(abs(Fraction(single(got["value"])) - exact), Fraction(got["bound"]))
            self.assertLess(got["bound"], 60 * 2.0 ** -24 * float(exact))

    def test_products(self):
        for dtype in ("f32", "f64"):
            x, y = mixed(7001, dtype), mixed(9000, dtype)[1999:]
            terms = [Fraction(a) * Fraction(b) for a, b in zip(x, y)]
            got = self.json("reduce", "--op", "dot", "--bound", self.file("x.npy", npy(dtype, x)),
                            self.file("y.npy", npy(dtype, y)))
            proven = (depth(7001, dtype) + 1) * U[dtype] * sum(map(abs, terms))
            self.assertLessEqual(abs(Fraction(got["value"]) - sum(terms)), Fraction(got["bound"]))
            self.assertTrue(proven <= Fraction(got["bound"]) <= proven * Fraction(1001, 1000))

    def test_means(self):
        for dtype, n in (("f32", 1), ("f32", 5001), ("f64", 5001)):
            x = mixed(n, dtype)
            got = self.json("reduce", "--op", "mean", "--bound", "--dtype", dtype, "-", stdin=raw(dtype, x))
            value, exact = Fraction(got["value"]), sum(map(Fraction, x)) / n
            proven = depth(n, dtype) * U[dtype] * sum(abs(Fraction(v)) for v in x) / n
            self.assertLessEqual(abs(value - exact), Fraction(got["bound"]))
            self.assertLessEqual(Fraction(got["bound"]), (proven + U[dtype] * sum(abs(Fraction(v)) for v in x) / n) * 2)

    def test_norms(self):
        for dtype in ("f32", "f64"):
            x = mixed(5001, dtype)
            got = self.json("reduce", "--op", "nrm2", "--bound", "--dtype", dtype, "-", stdin=raw(dtype, x))
            value, bound, squares = Fraction(got["value"]), Fraction(got["bound"]), sum(Fraction(v) ** 2 for v in x)
            self.assertTrue((value - bound) ** 2 <= squares <= (value + bound) ** 2)
            self.assertTrue(U[dtype] * value <= bound <= U[dtype] * value * Fraction(1001, 1000))

    def test_exact_results_are_rounded_once(self):
        for op in ("sum", "mean", "nrm2"):
            got = self.json("reduce", "--op", op, "--exact", "--bound", "--dtype", "f32", "-",
                            stdin=raw("f32", [2.0 ** 24, 1.0, 2.0 ** -60]))
            value = got["value"]
            self.assertTrue(value * 2.0 ** -24 <= got["bound"] <= value * 2.0 ** -23.99)

    def test_unknown(self):
        for numbers in ([float("inf"), 1.0], [float("nan")], [3e38, 3e38]):
            got = self.json("reduce", "--op", "sum", "--bound", "--dtype", "f32", "-", stdin=raw("f32", numbers))
            self.assertEqual(got["bound"], "inf")

    def test_refusals(self):
        self.fails(LIBRARY, "reduce", "--op", "max", "--bound", "--dtype", "f32", "-", stdin=b"", says="bounds exist for")
        self.fails(LIBRARY, "reduce", "--op", "sum", "--bound", "--dtype", "i32", "-", stdin=b"", says="bounds exist for")


class AgainstExact(ToolTest):
    METHODS = ["canonical", "serial", "pairwise", "Kahan", "Neumaier", "exact, rounded"]

    def compare(self, dtype, data):
        got = self.json("verify", "--against-exact", "-", "--dtype", dtype, stdin=data)
        self.assertEqual([row["name"] for row in got["methods"]], self.METHODS)
        return got, {row["name"]: row for row in got["methods"]}

    def test_errors_are_exact(self):
        for dtype in ("f32", "f64"):
            x = mixed(9000, dtype)
            exact = sum(map(Fraction, x))
            got, methods = self.compare(dtype, raw(dtype, x))
            self.assertEqual((got["n"], got["exact"], got["ok"]), (9000, float(exact), True))
            for row in got["methods"]:
                self.assertEqual(row["error"], float(abs(Fraction(row["sum"]) - exact)), row)
            self.assertLessEqual(methods["canonical"]["error"], got["bound"])
            self.assertLessEqual(methods["exact, rounded"]["error"], min(row["error"] for row in got["methods"]))
            serial = 0.0
            for value in x:
                serial = single(serial + value) if dtype == "f32" else serial + value
            self.assertEqual(methods["serial"]["sum"], serial)

    def test_who_loses_what(self):
        """Kahan loses 1 here, since the next number is larger than the sum so far; Neumaier does not."""
        _, methods = self.compare("f64", raw("f64", [1.0, 1e100, 1.0, -1e100]))
        self.assertEqual([methods[name]["sum"] for name in ("serial", "Kahan", "Neumaier")], [0, 0, 2])
        self.assertEqual([methods[name]["error"] for name in ("serial", "Kahan", "Neumaier")], [2, 2, 0])
        _, methods = self.compare("f32", raw("f32", [2.0 ** 24] + [1.0] * 7))
        self.assertEqual([methods[name]["sum"] for name in ("serial", "pairwise", "Kahan")],
                         [2 ** 24, 2 ** 24 + 6, 2 ** 24 + 8])

    def test_halves_accumulate_in_f32(self):
        got, methods = self.compare("f16", raw("f16", [1024.0] + [0.5] * 2000))
        self.assertEqual((got["dtype"], got["exact"], methods["serial"]["sum"]), ("f16", 2024, 2024))

    def test_not_finite(self):
        got, methods = self.compare("f64", raw("f64", [float("inf"), 1.0]))
        self.assertEqual((got["exact"], got["bound"], methods["canonical"]["error"]), ("inf", "inf", "nan"))
        got, methods = self.compare("f32", raw("f32", [3e38, 3e38, -3e38]))
        self.assertEqual((methods["serial"]["error"], methods["exact, rounded"]["error"]), ("inf", 0))

    def test_text(self):
        path = self.file("x.npy", npy("f32", [1, 2, 4]))
        lines = self.succeeds("verify", "--against-exact", path).decode().splitlines()
        self.assertEqual(lines[:2], ["n     3", "exact 7"])
        self.assertEqual([line[:14].strip() for line in lines[4:]], self.METHODS)

    def test_refusals(self):
        self.fails(LIBRARY, "verify", "--against-exact", self.file("x.npy", npy("i32", [1])), says="sums of floats")
        self.fails(USAGE, "verify", "--dtype", "f32", says="--against-exact")


if __name__ == "__main__":
    main()
