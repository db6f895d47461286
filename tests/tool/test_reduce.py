# SPDX-License-Identifier: BSD-2-Clause
"""redtool reduce and redtool stats: what they print."""
import pathlib
import resource
import struct

import harness
from harness import EXAMPLES, IO, LIBRARY, OK, TYPES, USAGE, ToolTest, main, npy, raw
import law  # on the path that harness adds
import law_exact
from exact import DTYPES

OPS = ("sum", "prod", "min", "max", "minnum", "maxnum", "argmin", "argmax", "argminnum", "argmaxnum", "band", "bor", "bxor",
       "all", "any", "count_nonzero", "asum", "sumsq", "nrm2", "mean")
FLOATS_ONLY = ("argminnum", "argmaxnum", "nrm2", "mean")


def elements(dtype, data):
    """Element bits of raw bytes."""
    size = DTYPES[dtype].bytes
    return [int.from_bytes(data[i:i + size], "little") for i in range(0, len(data), size)]


def by_law(op, dtype, data, acc=None, out=None, init=None):
    """0x and the digits that the specification demands."""
    kind = DTYPES[dtype]
    accumulator = DTYPES[acc] if acc else law.accumulator(op, kind)
    output = DTYPES[out] if out else law.output(op, kind, accumulator)
    x = [kind.decode(bits) for bits in elements(dtype, data)]
    bits = law.reduce(op, kind, accumulator, output, x, init)
    return f"0x{bits:0{2 * output.bytes}x}"


class Reduce(ToolTest):
    def value(self, op, dtype, numbers, *options):
        return self.line("reduce", "--op", op, "--dtype", dtype, *options, "-", stdin=raw(dtype, numbers))

    def test_every_operator_on_every_type(self):
        for dtype in TYPES:
            numbers = [0x3f80, 0x4040, 0xc000, 0x4110] if dtype == "bf16" else [1, 3, 2, 9]
            for op in OPS:
                if op in ("band", "bor", "bxor") and "f" in dtype or op in FLOATS_ONLY and "f" not in dtype:
                    continue
                if op == "nrm2" and dtype == "f64":
                    continue  # exact: see test_norm_of_f64
                with self.subTest(dtype=dtype, op=op):
                    self.assertEqual(self.value(op, dtype, numbers, "--hex"), by_law(op, dtype, raw(dtype, numbers)))

    def test_exact(self):
        for dtype in ("f32", "f64"):
            numbers = [1e16, 1, -1e16] * 50000  # many pieces of a stream
            self.assertEqual(float(self.value("sum", dtype, numbers, "--exact")), 50000.0)
            for op in ("sum", "asum", "sumsq", "nrm2", "mean"):
                with self.subTest(dtype=dtype, op=op):
                    data = raw(dtype, numbers[:3000])
                    x = [DTYPES[dtype].decode(bits) for bits in elements(dtype, data)]
                    bits = law_exact.reduce(op, DTYPES["f16" if op == "mean" else dtype], x)
                    out = ("--out-dtype", "f16") if op == "mean" else ()
                    got = self.line("reduce", "--op", op, "--exact", "--hex", "--dtype", dtype, *out, "-", stdin=data)
                    self.assertEqual(int(got, 16), bits)
        self.fails(LIBRARY, "reduce", "--op", "max", "--exact", "--dtype", "f32", "-", stdin=b"", says="max")

    def test_norm_of_f64(self):
        for scale in (2.0 ** 700, 2.0 ** -700):
            norm = self.value("nrm2", "f64", [3 * scale, 4 * scale], "--hex")
            self.assertEqual(norm, self.value("sum", "f64", [5 * scale], "--hex"))

    def test_two_files(self):
        for dtype in TYPES:
            x = [0x3f80, 0x4040, 0xc000, 0x4110] if dtype == "bf16" else [1, 3, 2, 9]
            pair = raw(dtype, x), raw(dtype, x[::-1])
            first, second = self.file("x", pair[0]), self.file("y", pair[1])
            with self.subTest(dtype=dtype):
                expected = by_law("dot", dtype, pair[0] + pair[1])
                options = ("reduce", "--op", "dot", "--hex", "--dtype", dtype)
                self.assertEqual(self.line(*options, first, second), expected)
                self.assertEqual(self.line(*options, "-", second, stdin=pair[0]), expected)
                self.assertEqual(self.line(*options, first, "-", stdin=pair[1]), expected)
        name = EXAMPLES / "elnino.npy"
        self.assertEqual(self.line("reduce", "--op", "dot", name, name), self.line("reduce", "--op", "sumsq", name))

    def test_two_files_that_do_not_fit(self):
        data = raw("f32", range(100))
        long, short = self.file("long", data), self.file("short", data[:-4])
        floats, doubles = self.file("f.npy", npy("f32", [1, 2])), self.file("d.npy", npy("f64", [1, 2]))
        options = ("reduce", "--op", "dot", "--dtype", "f32")
        self.fails(IO, *options, long, short, says="more than the 99 elements")
        self.fails(IO, *options, short, long, says="more than the 99 elements")
        self.fails(IO, *options, "-", long, stdin=data[:-4], says="more than the 99 elements")
        self.fails(IO, "reduce", "--op", "dot", floats, doubles, says="same type")
        self.fails(USAGE, *options, long, says="two files")
        self.fails(USAGE, *options, long, long, long, says="unexpected argument")
        self.fails(USAGE, "reduce", "--op", "sum", floats, floats, says="unexpected argument")
        self.fails(USAGE, *options, "-", "-", stdin=data, says="standard input")

    def test_example_data(self):
        for name, dtype in (("sunspots.npy", "f32"), ("elnino.npy", "f64")):
            data = (EXAMPLES / name).read_bytes()[128:]
            for op in ("sum", "min", "max", "argmax", "count_nonzero"):
                with self.subTest(name=name, op=op):
                    self.assertEqual(self.line("reduce", "--op", op, "--hex", EXAMPLES / name), by_law(op, dtype, data))

    def test_decimals_read_back_to_the_same_bits(self):
        cases = {"f64": [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, 2.0 ** 53 + 2, -123456.789, 1e23, 9007199254740993.0],
                 "f32": [0.1, 1 / 3, 1e-45, 3.4028234663852886e38, 16777217, 1.1754944e-38],
                 "f16": [0.1, 1 / 3, 6e-8, 65504, 2049, 6.1e-5]}
        for dtype, numbers in cases.items():
            letter = TYPES[dtype][0]
            for number in numbers:
                with self.subTest(dtype=dtype, number=number):
                    text = self.value("max", dtype, [number])
                    self.assertEqual(struct.pack("<" + letter, float(text)), struct.pack("<" + letter, number))
        for bits in (0x3dcd, 0x3eab, 0x0001, 0x7f7f, 0xc2f7):
            text = float(self.value("max", "bf16", [bits]))
            # Rounding to the nearest bf16, of a number that is no tie.
            self.assertEqual((struct.unpack("<I", struct.pack("<f", text))[0] + 0x8000) >> 16, bits, text)

    def test_short_decimals(self):
        self.assertEqual(self.value("max", "f64", [0.1]), "0.1")
        self.assertEqual(self.value("max", "f32", [0.1]), "0.1")
        self.assertEqual(self.value("max", "f16", [0.1]), "0.1")

    def test_special_values(self):
        inf, nan = float("inf"), float("nan")
        for dtype in ("f16", "f32", "f64"):
            self.assertEqual(self.value("max", dtype, [1, inf]), "inf")
            self.assertEqual(self.value("min", dtype, [1, -inf]), "-inf")
            self.assertEqual(self.value("min", dtype, [1, nan]), "nan")
            self.assertEqual(self.value("minnum", dtype, [1, nan]), "1")
            self.assertEqual(self.value("sum", dtype, [-0.0, -0.0]), "-0")
            self.assertEqual(self.value("argmin", dtype, [1, nan, -inf]), "1")

    def test_integers_are_exact(self):
        self.assertEqual(self.value("sum", "i64", [2 ** 62, 2 ** 62 - 1]), str(2 ** 63 - 1))
        self.assertEqual(self.value("sum", "i64", [2 ** 63 - 1, 1]), str(-2 ** 63))
        self.assertEqual(self.value("max", "u64", [2 ** 64 - 1]), str(2 ** 64 - 1))
        self.assertEqual(self.value("sum", "i8", [-128] * 3), "-384")
        self.assertEqual(self.value("min", "i8", [-128]), "-128")

    def test_hex_has_two_digits_a_byte(self):
        self.assertEqual(self.value("min", "i8", [-1], "--hex"), "0xff")
        self.assertEqual(self.value("max", "f16", [1], "--hex"), "0x3c00")
        self.assertEqual(self.value("max", "f32", [1], "--hex"), "0x3f800000")
        self.assertEqual(self.value("sum", "i8", [-1], "--hex"), "0xffffffffffffffff")
        self.assertEqual(self.value("argmax", "i8", [1, 5], "--hex"), "0x0000000000000001")
        self.assertEqual(self.value("any", "i8", [1], "--hex"), "0x01")
        self.assertEqual(self.value("min", "f64", [float("nan")], "--hex"), "0x7ff8000000000000")

    def test_empty_input(self):
        self.assertEqual(self.value("sum", "f32", []), "0")
        self.assertEqual(self.value("prod", "i32", []), "1")
        self.assertEqual(self.value("band", "u8", []), "255")
        self.assertEqual(self.value("min", "f32", [], "--init", "3.5"), "3.5")
        for op in ("min", "argmax", "maxnum"):
            self.fails(LIBRARY, "reduce", "--op", op, "--dtype", "f32", "-", stdin=b"", says="empty")

    def test_init(self):
        self.assertEqual(self.value("sum", "i32", [1, 2], "--init", "-10"), "-7")
        self.assertEqual(self.value("sum", "f32", [1, 2], "--init", "0.5"), "3.5")
        self.assertEqual(self.value("min", "f64", [1, 2], "--init", "-inf"), "-inf")
        self.assertEqual(self.value("max", "u8", [1, 2], "--init", "0xff"), "255")
        self.assertEqual(self.value("max", "u8", [1, 2], "--init", "010"), "10")
        self.assertEqual(self.value("max", "f16", [1, 2], "--init", "2.5"), "2.5")
        for bad, dtype in (("abc", "f32"), ("1.5", "i32"), ("", "f32"), ("1:2", "f32"), ("1 ", "i32"), (" 1", "i32"), (" 1", "f32"), ("1" * 300, "f64"),
                           ("99999999999999999999", "i32")):
            with self.subTest(init=bad, dtype=dtype):
                self.fails(USAGE, "reduce", "--op", "sum", "--dtype", dtype, "--init", bad, "-", stdin=b"", says="--init")

    def test_init_that_the_operator_does_not_take(self):
        for op in ("argmin", "argmax", "argminnum", "argmaxnum"):
            for init in ("1", "abc"):
                self.fails(LIBRARY, "reduce", "--op", op, "--dtype", "f32", "--init", init, "-", stdin=b"",
                           says=f"op = {op} takes no initial value")

    def test_accumulator_and_output(self):
        data = raw("f32", [1e8, 1, -1e8, 1.5])
        stdin = ("reduce", "--op", "sum", "--dtype", "f32", "--hex")
        self.assertEqual(self.line(*stdin, "--acc", "f64", "-", stdin=data), by_law("sum", "f32", data, acc="f64"))
        self.assertEqual(self.line(*stdin, "--acc", "f64", "--out-dtype", "f64", "-", stdin=data),
                         by_law("sum", "f32", data, acc="f64", out="f64"))
        self.assertEqual(self.value("sum", "i8", [127, 1], "--acc", "i8", "--out-dtype", "i8"), "-128")

    def test_impossible_combinations(self):
        for options in (("--op", "band", "--dtype", "f32"), ("--op", "argminnum", "--dtype", "i32"),
                        ("--op", "sum", "--dtype", "f32", "--acc", "i32"), ("--op", "sum", "--dtype", "f64", "--acc", "f32"),
                        ("--op", "sum", "--dtype", "i32", "--out-dtype", "f64"),
                        ("--op", "sum", "--dtype", "i64", "--acc", "i8")):
            with self.subTest(options=options):
                self.fails(LIBRARY, "reduce", *options, "-", stdin=bytes(16))

    def test_json(self):
        path = self.file("x.npy", npy("f32", [1, 2.25]))
        self.assertEqual(self.json("reduce", "--op", "sum", "--backend", "omp", path),
                         {"op": "sum", "n": 2, "in": "f32", "acc": "f32", "out": "f32", "value": 3.25,
                          "bits": "0x40500000", "device": "omp"})
        nan = self.json("reduce", "--op", "min", "--dtype", "f64", "-", stdin=raw("f64", [float("nan")]))
        self.assertEqual((nan["value"], nan["bits"]), ("nan", "0x7ff8000000000000"))
        low = self.json("reduce", "--op", "min", "--dtype", "f64", "-", stdin=raw("f64", [float("-inf")]))
        self.assertEqual(low["value"], "-inf")
        big = self.json("reduce", "--op", "max", "--dtype", "u64", "-", stdin=raw("u64", [2 ** 64 - 1]))
        self.assertEqual(big["value"], 2 ** 64 - 1)

    def test_threads_do_not_matter(self):
        data = raw("f32", [((i * 7919) % 1000 - 500) / 7 for i in range(100003)])
        options = ("reduce", "--op", "sum", "--dtype", "f32", "--hex")
        expected = by_law("sum", "f32", data)
        for threads in (1, 2, 3, 7):
            self.assertEqual(self.line(*options, "--threads", threads, "-", stdin=data), expected)

    def test_many_pieces_of_a_mapped_file(self):
        path = self.sparse("zeros.raw", 40_000_003)
        with open(path, "r+b") as file:
            for place in (5, 16_777_215, 16_777_216, 39_999_999):
                file.seek(place)
                file.write(b"\x02")
        self.assertEqual(self.line("reduce", "--op", "sum", "--dtype", "u8", path), "8")
        self.assertEqual(self.line("reduce", "--op", "argmax", "--dtype", "u8", path), "5")
        self.assertEqual(self.line("reduce", "--op", "count_nonzero", "--dtype", "u8", path), "4")

    def test_larger_than_the_address_space(self):
        if b"__asan_init" in pathlib.Path(harness.redtool).read_bytes():
            self.skipTest("the address sanitizer needs more address space than the test allows")
        limit = 1 << 28
        path = self.sparse("huge.raw", 2 * limit + 8)
        with open(path, "r+b") as file:
            file.seek(2 * limit)
            file.write(raw("i64", [42]))
        code, out, err = self.run_tool("reduce", "--op", "sum", "--dtype", "i64", "--threads", 2, path,
                                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertEqual((code, out, err), (OK, b"42\n", ""))


class Stats(ToolTest):
    def test_text(self):
        path = self.file("x.npy", npy("f32", [3, -1.5, 8, 8]))
        self.assertEqual(self.succeeds("stats", path).decode(),
                         "count  4\nsum    17.5\nmean   4.375\nmin    -1.5\nmax    8\nargmin 1\nargmax 2\n")

    def test_hex(self):
        path = self.file("x.npy", npy("f32", [3, -1.5, 8, 8]))
        self.assertEqual(self.succeeds("stats", "--hex", path).decode(),
                         "count  4\nsum    0x418c0000\nmean   0x4011800000000000\nmin    0xbfc00000\nmax    0x41000000\n"
                         "argmin 1\nargmax 2\n")

    def test_json(self):
        got = self.json("stats", "--dtype", "i8", "--backend", "omp", "-", stdin=raw("i8", [-128, 127, 127]))
        self.assertEqual(got, {"count": 3, "sum": 126, "mean": 42, "min": -128, "max": 127, "argmin": 0, "argmax": 1,
                               "bits": {"sum": "0x000000000000007e", "mean": "0x4045000000000000", "min": "0x80",
                                        "max": "0x7f"}, "dtype": "i8", "device": "omp"})

    def test_nan(self):
        got = self.json("stats", "--dtype", "f64", "-", stdin=raw("f64", [1, float("nan"), 2]))
        self.assertEqual([got[key] for key in ("sum", "mean", "min", "max", "argmin", "argmax")],
                         ["nan"] * 4 + [1, 1])

    def test_every_type(self):
        for dtype in TYPES:
            numbers = [0x3f80, 0x4000, 0x4040] if dtype == "bf16" else [1, 2, 3]
            with self.subTest(dtype=dtype):
                got = self.json("stats", "--dtype", dtype, "-", stdin=raw(dtype, numbers))
                self.assertEqual([got[key] for key in ("count", "sum", "mean", "min", "max", "argmin", "argmax")],
                                 [3, 6, 2, 1, 3, 0, 2])

    def test_agrees_with_reduce(self):
        for name in ("sunspots.npy", "elnino.npy"):
            got = self.json("stats", EXAMPLES / name)
            for op in ("sum", "min", "max"):
                self.assertEqual(got["bits"][op], self.line("reduce", "--op", op, "--hex", EXAMPLES / name))
            for op in ("argmin", "argmax"):
                self.assertEqual(str(got[op]), self.line("reduce", "--op", op, EXAMPLES / name))

    def test_selection(self):
        path = self.file("x.npy", npy("f32", [2281.5, 2281.25]))
        self.assertEqual(self.succeeds("stats", "--select", "mean,variance", path).decode(),
                         "mean               2281.375\nvariance           0.015625\nsample_variance    0.03125\n"
                         "squared_deviations 0.03125\n")
        got = self.json("stats", "--select", "nan_count,max", "--dtype", "f64", "-",
                        stdin=raw("f64", [float("nan"), 1, float("nan")]))
        self.assertEqual(list(got), ["nan_count", "max", "bits", "dtype", "device"])
        self.assertEqual((got["nan_count"], got["max"]), (2, "nan"))
        self.assertEqual(len(self.succeeds("stats", "--select=all", path).decode().splitlines()), 11)
        self.assertEqual(self.succeeds("stats", "--select=default", path), self.succeeds("stats", path))

    def test_bad_selection(self):
        for names in ("", "median", "mean,", "mean:sum", "mean variance"):
            with self.subTest(names=names):
                self.fails(USAGE, "stats", "--select", names, "--dtype", "f32", "-", stdin=b"", says="--select is ")

    def test_empty(self):
        self.fails(LIBRARY, "stats", "--dtype", "f32", "-", stdin=b"", says="empty")


if __name__ == "__main__":
    main()
