# SPDX-License-Identifier: BSD-2-Clause
"""redtool bench: what its figures mean, its files, and what it refuses. Sizes are tiny: speed is not judged here."""
import csv
import io
import json
import math
import os
import pathlib
import re
import signal
import time
import xml.etree.ElementTree

from harness import IO, LIBRARY, MISMATCH, OK, USAGE, Screen, ToolTest, main

QUICK = ("--samples", 3, "--seconds", 0.001, "--backend", "omp")
SVG = "{http://www.w3.org/2000/svg}"


def key(row):
    return row["problem"], row["device"], row["route"], row["cache"]


class BenchTest(ToolTest):
    def bench(self, *arguments):
        return self.json("bench", *QUICK, *arguments)


class Rows(BenchTest):
    def check_row(self, row, bytes_moved):
        self.assertEqual((row["bytes"], row["reason"]), (bytes_moved, ""))
        self.assertLessEqual(row["least"], row["q1"])
        self.assertLessEqual(row["q1"], row["median"])
        self.assertLessEqual(row["median"], row["q3"])
        self.assertGreater(row["least"], 0)
        self.assertTrue(math.isclose(row["bandwidth"], row["bytes"] / row["median"], rel_tol=1e-6), row)
        self.assertTrue(math.isclose(row["share_of_roof"], row["bandwidth"] / row["roof"], rel_tol=1e-6), row)

    def test_one_problem(self):
        got = self.bench("reduce:sum:f32:1000")
        self.assertEqual([device["id"] for device in got["devices"]], ["omp"])
        self.assertEqual([key(row) for row in got["rows"]],
                         [("reduce:sum:f32:1000", "omp", route, cache) for cache in ("warm", "cold") for route in ("plan", "call")])
        for row in got["rows"]:
            self.check_row(row, 4000)
            self.assertRegex(row["roof_what"], r"\Aread")
            self.assertEqual(row["samples"], 3)
            self.assertGreater(row["calls"], 1) if row["cache"] == "warm" else self.assertEqual(row["calls"], 1)

    def test_bytes(self):
        for problem, moved, roof in (("scan:sum:f32:1000", 8000, "copy"), ("scan:sum:i8:1000", 9000, "copy"),
                                     ("exscan:max:u16:1000:init=3", 4000, "copy"), ("reduce:argmin:f16:1000", 2000, "read"),
                                     ("reduce:prod:bf16:1000", 2000, "read"), ("stats:f64:1000", 8000, "read"),
                                     ("reduce:sum:f32/f64/f64:1", 4, "read"), ("scan:count_nonzero:i8:3", 27, "copy"),
                                     ("reduce:sum:f32:1000:exact", 4000, "read")):
            with self.subTest(problem=problem):
                for row in self.bench(problem, "--cache", "warm")["rows"]:
                    self.check_row(row, moved)
                    self.assertTrue(row["roof_what"].startswith(roof), row["roof_what"])

    def test_large_arrays_have_no_call(self):
        self.assertEqual({row["route"] for row in self.bench("reduce:sum:u8:1048576", "--cache", "warm")["rows"]}, {"plan", "call"})
        self.assertEqual({row["route"] for row in self.bench("reduce:sum:u8:1048577", "--cache", "warm")["rows"]}, {"plan"})

    def test_sweeps(self):
        for sweep, sizes in (("2^3..2^8", (8, 32, 128)), ("1..10:2", (1, 2, 4, 8)), ("5..5", (5,)), ("3..2^4:3", (3, 9)),
                             ("7..100:2^3:init=1", (7, 56)), ("2^62..2^63:2^63", None)):
            with self.subTest(sweep=sweep):
                if sizes is None:
                    self.fails(USAGE, "bench", *QUICK, f"reduce:sum:f32:{sweep}", says="n = 4611686018427387904")
                    continue
                rows = self.bench(f"reduce:sum:f32:{sweep}", "--cache", "cold")["rows"]
                self.assertEqual([row["n"] for row in rows if row["route"] == "plan"], list(sizes))
        rows = self.bench("reduce:sum:f32:9", "stats:i16:2..4:2", "--cache", "warm")["rows"]
        self.assertEqual([row["problem"] for row in rows if row["route"] == "plan"],
                         ["reduce:sum:f32:9", "stats:i16:2", "stats:i16:4"])

    def test_cache(self):
        for state, expected in (("warm", {"warm"}), ("cold", {"cold"}), ("both", {"warm", "cold"})):
            rows = self.bench("reduce:max:i32:99", "--cache", state)["rows"]
            self.assertEqual({row["cache"] for row in rows}, expected)
        rows = {row["cache"]: row for row in self.bench("reduce:sum:f32:4096", "--samples", 9)["rows"] if row["route"] == "plan"}
        self.assertGreater(rows["cold"]["least"], rows["warm"]["least"], "reading from memory is not slower than from L1")

    def test_samples_and_threads(self):
        got = self.json("bench", "--backend", "omp", "--threads", 1, "--samples", 7, "reduce:sum:f32:100", "--cache", "warm")
        self.assertEqual({row["samples"] for row in got["rows"]}, {7})
        self.assertEqual(got["devices"][0]["units"], 1)
        self.assertRegex(got["rows"][0]["roof_what"], r"1 thread\Z")

    def test_rooflines(self):
        rooflines = {roofline["memory"]: roofline for roofline in self.bench("reduce:sum:f32:1")["rooflines"]}
        self.assertIn("memory", rooflines)
        for roofline in rooflines.values():
            self.assertGreater(roofline["read"], 1e8)
            self.assertGreater(roofline["copy"], 1e8)

    def test_devices(self):
        got = self.json("bench", "--samples", 3, "--seconds", 0.001, "--backend", "omp,omp", "reduce:sum:f32:9")
        self.assertEqual(len(got["devices"]), 2)
        everything = self.json("bench", "--samples", 3, "--seconds", 0.001, "reduce:sum:f32:9")
        available = [device["id"] for device in self.json("info")["devices"] if device["available"]]
        self.assertEqual([device["id"] for device in everything["devices"]], available)
        for row in everything["rows"]:
            self.assertGreater(row["median"], 0, row)
        self.assertEqual({roofline["device"] for roofline in everything["rooflines"]}, set(available))

    def test_roofs_of_devices(self):
        got = self.json("bench", "--samples", 3, "--seconds", 0.001, "reduce:sum:f32:2^20", "scan:sum:f32:2^18")
        for row in got["rows"]:
            if row["route"] == "plan":
                self.assertGreater(row["roof"], 0, row)
                self.assertRegex(row["roof_what"], r"\Acopy" if row["problem"].startswith("scan") else r"\Aread")

    def test_exclusions(self):
        without = self.json("bench", "--samples", 3, "--seconds", 0.001, "--backend=-opencl,-cuda", "reduce:sum:f32:9")
        self.assertEqual([device["id"] for device in without["devices"]], ["omp"])


class Text(BenchTest):
    def test_table(self):
        text = self.succeeds("bench", *QUICK, "reduce:sum:f32:1000", "--cache", "cold").decode()
        self.assertRegex(text, r"\Aomp: ")
        self.assertRegex(text, r"(?m)^omp +memory +\d+ +[\d.]+ +[\d.]+$")
        self.assertRegex(text, r"(?m)^problem +device +route +cache +median +quartile 1 +quartile 3 +GB/s +of roof +of peak$")
        self.assertRegex(text, r"(?m)^reduce:sum:f32:1000 +omp +call +cold +[\d.]+ [nu]s +[\d.]+ [nu]s +[\d.]+ [nu]s +[\d.]+ +\d+ % +-$")

    def test_csv(self):
        text = self.succeeds("bench", *QUICK, "reduce:sum:f32:1..4", "--csv").decode()
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(len(rows), 8)
        for row in rows:
            self.assertNotIn(None, row)
            self.assertEqual((row["problem"], row["device"]), (f"reduce:sum:f32:{row['n']}", "omp"))
            self.assertTrue(math.isclose(float(row["gb_per_s"]), float(row["bytes"]) / float(row["median_s"]) / 1e9, rel_tol=1e-6))
            self.assertEqual(row["share_of_peak"], "")

    def test_progress(self):
        """The line appears after a second and is taken away."""
        screen = Screen(columns=60)
        process = self.start("bench", "--backend", "omp", "--samples", 1000, "--seconds", 1.5, "reduce:sum:f32:2^10..2^16:2",
                             stderr=screen.slave)
        screen.begin()
        process.communicate()
        shown = screen.end()
        self.assertEqual(process.returncode, OK, shown)
        self.assertRegex(shown, r"\A(\r *\d+ %  reduce:sum:f32:\d+, (warm|cold)\x1b\[K)+\r\x1b\[K\Z")


class Compare(BenchTest):
    def old(self, factor=1.0, **changes):
        """A file of an earlier run whose medians are `factor` times what they were."""
        got = self.bench("reduce:sum:f32:100..400", "--cache", "warm")
        for row in got["rows"]:
            row["median"] *= factor
        got.update(changes)
        return self.file("old.json", json.dumps(got).encode()), {key(row): row["median"] for row in got["rows"]}

    def test_ratios(self):
        path, before = self.old(3)
        got = self.bench("reduce:sum:f32:100..400", "reduce:max:f32:100", "--cache", "warm", "--compare", path)
        compared = 0
        for row in got["rows"]:
            if key(row) not in before:
                self.assertIsNone(row["old_over_new"])
                continue
            self.assertTrue(math.isclose(row["old_over_new"], before[key(row)] / row["median"], rel_tol=1e-6))
            compared += 1
        self.assertEqual(compared, 4)
        text = self.succeeds("bench", *QUICK, "reduce:sum:f32:100", "--cache", "warm", "--compare", path).decode()
        self.assertRegex(text, r"(?m) old/new$")

    def test_fail_below(self):
        arguments = ("bench", *QUICK, "reduce:sum:f32:100..400", "--cache", "warm", "--compare")
        path, _ = self.old(1e6)
        self.succeeds(*arguments, path, "--fail-below", 0.9)
        path, _ = self.old(1e-6)
        self.succeeds(*arguments, path)
        code, out, err = self.run_tool(*arguments, path, "--fail-below", 0.9)
        self.assertEqual(code, MISMATCH)
        self.assertIn(b"old/new", out, "the table is missing")
        self.assertRegex(err, r"\Aredtool: 4 of 4 rows are below 0.9: the worst is reduce:sum:f32:[14]00 on omp, (plan|call), warm, at 0.000\n\Z")

    def test_foreign_files(self):
        arguments = ("bench", *QUICK, "reduce:sum:f32:100", "--compare")
        for content, says in ((b"", "byte 0"), (b"no json", "byte 0"), (b"{}", "not what"), (b"[1, 2]", "not what"), (b"null", "not what"),
                              (b'{"benchmark": "redtool bench"}', "not what"), (b'{"benchmark": 3, "rows": []}', "not what"),
                              (b'{"benchmark": "redtool bench", "format": 1, "rows": []}', "none of its rows"),
                              (b'{"benchmark": "redtool bench", "format": 1, "rows": [1, {"problem": 7}, {}]}', "none of its rows"),
                              (b'{"benchmark": "redtool bench", "format": 1, "rows": [{"problem": "reduce:sum:f32:100", "device": "omp", '
                               b'"route": "plan", "cache": "warm", "median": 1e999}]}', "none of its rows"),
                              (b'{"benchmark": "redtool bench", "format": 2, "rows": []}', "another version"),
                              (b'{"a": 1,}', "byte 8"), (b'{"a" 1}', "colon"), (b'[1 2]', "comma"), (b'"\\ud800"', "surrogate"),
                              (b'"\\x"', "backslash"), (b'["a', "does not end"), (b"01", "value"), (b"1.", "point"), (b"1e", "exponent"),
                              (b"nan", "value"), (b"0x10", "follows"), (b"{} {}", "follows"), (b"[" * 1000, "nested"), (b"\0", "NUL"),
                              (b'"\\u0000"', "NUL"), (b"\xff\xfe", "byte 0"), (b'"\\u12', "hexadecimal")):
            with self.subTest(content=content[:40]):
                self.fails(IO, *arguments, self.file("x.json", content), says=("x.json", says))
        self.fails(IO, *arguments, self.path("missing.json"), says=("missing.json", "No such file"))
        self.fails(IO, *arguments, self.path("."), says="Is a directory")
        path, _ = self.old()
        cut = self.file("cut.json", pathlib.Path(path).read_bytes()[:-3])
        self.fails(IO, *arguments, cut, says="cut.json")

    def test_unusual_but_valid(self):
        """White space, escapes and members that nobody asked for."""
        path, before = self.old()
        got = json.loads(pathlib.Path(path).read_text())
        got["comment"] = "\u00e9\u20ac\U0001f600\"\\\n\t"
        for row in got["rows"]:
            row["more"] = [None, True, False, {"x": -1.5e-3}, []]
        spaced = self.file("spaced.json", json.dumps(got, indent=3, sort_keys=True).encode())
        again = self.bench("reduce:sum:f32:100", "--cache", "warm", "--compare", spaced)
        for row in again["rows"]:
            self.assertTrue(math.isclose(row["old_over_new"], before[key(row)] / row["median"], rel_tol=1e-6))


class Plot(BenchTest):
    def test_picture(self):
        """Each measured point lies where the labels of the axes say."""
        path = self.path("out.svg")
        got = self.bench("reduce:sum:f32:2^4..2^12", "scan:sum:f32:2^6..2^8:2", "--plot", path)
        root = xml.etree.ElementTree.parse(path).getroot()
        self.assertEqual(root.tag, SVG + "svg")
        texts = {text.text: (float(text.get("x")), float(text.get("y"))) for text in root.iter(SVG + "text")}
        n_axis = {int(text[2:]): x for text, (x, _) in texts.items() if re.fullmatch(r"2\^\d+", text)}
        y_axis = {float(text): y - 4 for text, (x, y) in texts.items() if re.fullmatch(r"[\d.e+-]+", text)}

        def place(row):
            low, high = min(n_axis), max(n_axis)
            x = n_axis[low] + (n_axis[high] - n_axis[low]) * (math.log2(row["n"]) - low) / (high - low)
            low, high = min(y_axis), max(y_axis)
            share = (math.log10(row["bandwidth"] / 1e9) - math.log10(low)) / (math.log10(high) - math.log10(low))
            return x, y_axis[low] + (y_axis[high] - y_axis[low]) * share
        drawn = [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(SVG + "circle")]
        plans = [row for row in got["rows"] if row["route"] == "plan"]
        self.assertEqual(len(drawn), len(plans))
        for row in plans:
            x, y = place(row)
            self.assertTrue(any(abs(x - cx) < 0.2 and abs(y - cy) < 0.2 for cx, cy in drawn), row)
        curves = [line for line in root.iter(SVG + "polyline")]
        self.assertEqual(len(curves), 8, "two problems, two cache states, each with its roofline")
        for legend in ("reduce:sum:f32, omp, warm", "scan:sum:f32, omp roofline, cold"):
            self.assertIn(legend, texts)

    def test_force(self):
        path = self.file("out.svg", b"old")
        self.fails(IO, "bench", *QUICK, "reduce:sum:f32:1", "--plot", path, says=("out.svg", "--force"))
        self.assertEqual(pathlib.Path(path).read_text(), "old")
        self.succeeds("bench", *QUICK, "reduce:sum:f32:1", "--plot", path, "--force")
        xml.etree.ElementTree.parse(path)
        self.only_files("out.svg")

    def test_unwritable(self):
        begun = time.monotonic()
        self.fails(IO, "bench", "--seconds", 100, "--plot", self.path("none/x.svg"), says=("x.svg", "No such file"))
        self.assertLess(time.monotonic() - begun, 10, "told after the measurement")
        self.fails(IO, "bench", *QUICK, "reduce:sum:f32:1", "--plot", "/dev/full", says=("/dev/full", "No space left"))
        self.fails(USAGE, "bench", "--plot", "-", says="--plot")
        self.only_files()

    def test_interrupted(self):
        path = self.path("out.svg")
        process = self.start("bench", "--backend", "omp", "--samples", 1000, "--seconds", 100, "reduce:sum:f32:2^10..2^16", "--plot", path)
        self.wait_for_temporary("out.svg", process)
        process.send_signal(signal.SIGINT)
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.only_files()


class Mistakes(BenchTest):
    def check(self, says, *arguments, code=USAGE):
        with self.subTest(arguments=arguments):
            self.fails(code, "bench", *QUICK, *arguments, says=says)

    def test_problems(self):
        self.check("nonsense:1", "nonsense:1")
        self.check("unknown operator 'sun'", "reduce:sun:f32:9")
        self.check("unknown dtype 'f33'", "reduce:sum:f33:1..9")
        self.check("too short", "reduce:sum:f32")
        self.check("integers only", "reduce:band:f32:7")
        self.check("n is 0", "reduce:sum:f32:0")
        self.check("", "")
        self.check("characters", "reduce:sum:f32:" + "1" * 300)

    def test_sweeps(self):
        for sweep in ("9..3", "0..4"):
            self.check(("does not end before", f"'reduce:sum:f32:{sweep}'"), f"reduce:sum:f32:{sweep}")
        for sweep in ("..", "1..", "..8", "a..b", "1..2..3", "-1..5", "1..2^64", "2^..4", "1.5..3", "1..99999999999999999999", "+1..4"):
            self.check("from one number to another", f"reduce:sum:f32:{sweep}")
        for step in ("0", "1", "2x", "2^64"):
            self.check("factor of 2 or more", f"reduce:sum:f32:1..8:{step}")
        self.check("unexpected 'x'", "reduce:sum:f32:1..8:x")
        self.check("too long", "reduce:sum:f32:1..2" + ":3" * 200)
        self.check("more than 1000 problems", *["reduce:sum:f32:1..2^40:2"] * 25)

    def test_sizes(self):
        self.check(("reduce:sum:f32:1099511627776", "GiB", "half"), "reduce:sum:f32:2^40", code=LIBRARY)
        self.check("GiB", "scan:sum:i8:2^10..2^50:2^20", code=LIBRARY)
        self.check("2^63", "reduce:sum:f32:2^63..2^64")
        self.check("address space", "reduce:sum:f32:2^63")

    def test_options(self):
        for text in ("0", "-1", "x", "", "1001", "1.5"):
            self.check("--samples", "--samples", text)
        for text in ("0", "-1", "x", "", "nan", "inf", "1e99"):
            self.check("--seconds", "--seconds", text)
            self.check("--fail-below", "--compare", "x", "--fail-below", text)
        for text in ("hot", "", "WARM"):
            self.check("--cache", "--cache", text)
        self.check("exclude", "--json", "--csv")
        self.check("needs --compare", "--fail-below", "0.5")
        self.check("did you mean '--samples'?", "--smaples", "3")
        self.check("takes no option '--op'", "--op", "sum")

    def test_devices(self):
        for backend, says in (("nonsense", "nonsense"), ("omp:77", "omp:77"), ("-omp,-opencl,-cuda", "leaves no device")):
            self.fails(LIBRARY, "bench", "--samples", 3, "--backend", backend, "reduce:sum:f32:1", says=says)

        for backend in ("", "omp,", ",omp", "omp,,omp", ","):
            self.check("empty", "--backend", backend)

    def test_standard_output(self):
        for arguments in (("--json",), ("--csv",), ()):
            with self.subTest(arguments=arguments):
                with open("/dev/full", "wb") as full:
                    self.fails(IO, "bench", *QUICK, "reduce:sum:f32:9", *arguments, stdout=full, says=("standard output", "No space left"), out=None)
                reader, writer = os.pipe()
                os.close(reader)
                with open(writer, "wb") as pipe:
                    self.fails(IO, "bench", *QUICK, "reduce:sum:f32:9", *arguments, stdout=pipe, says=("standard output", "Broken pipe"), out=None)


if __name__ == "__main__":
    main()
