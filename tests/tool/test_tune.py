# SPDX-License-Identifier: BSD-2-Clause
"""redtool tune and the file that it writes: how contexts read it, and that no value in it changes a bit."""
import array
import functools
import os
import pathlib
import random
import re

from harness import IO, LIBRARY, OK, USAGE, ToolTest, main

ROWS = {"read_bytes_per_thread": (4096, 1 << 40), "scan_bytes_per_thread": (4096, 1 << 40), "scan_part_bytes": (8192, 1 << 30),
        "scan_part_bytes_in_place": (8192, 1 << 30), "stream_bytes": (1, 1 << 62), "narrow_bytes": (1, 1 << 62)}
QUICK = ("--samples", 1, "--seconds", 0.001)
CPU = ("--backend", "omp")  # where a faulty file makes the CPU unavailable, an automatic choice may take a GPU
THREADS = (*CPU, "--threads", 4)
FIRST = "libred tuning 1\n"


class TuneTest(ToolTest):
    @functools.cached_property
    def section(self):
        """The section of this machine's CPU with four threads (or as many as OpenMP allows), as the log has it."""
        empty = self.file("empty", FIRST.encode())
        _, _, err = self.run_tool("stats", "--dtype", "u8", *THREADS, empty, env={"RED_TUNE_FILE": empty, "RED_VERBOSE": "1"})
        return "[" + re.search(r"has 0 rows for (.*)", err).group(1) + "]"

    def tuning(self, rows, section=None):
        lines = [f"{name} = {value}" for name, value in rows.items()]
        return self.file("tune", (FIRST + "\n".join([section or self.section, *lines, ""])).encode())

    def data(self, n):
        generator = random.Random(7)
        return self.file("data.raw", array.array("f", [generator.gauss(0, 1) * 10 ** generator.uniform(-8, 8) for _ in range(n)]).tobytes())


class Write(TuneTest):
    def test_file(self):
        path = self.path("here")
        text = self.succeeds("tune", *QUICK, "-o", path).decode()
        for name in ROWS:
            self.assertRegex(text, rf"(?m)^{name} +(default|one thread|\d+) +")
        self.assertIn(f"written to {path}", text)
        written = pathlib.Path(path).read_text()
        self.assertTrue(written.startswith(FIRST))
        for name, value in re.findall(r"(?m)^(\w+) = (\d+) # [\d.]+ times as fast$", written):
            low, high = ROWS[name]
            self.assertTrue(low <= int(value) <= high, (name, value))
            self.assertRegex(text, rf"(?m)^{name} +{value} +[\d.]+ ")
        code, out, err = self.run_tool("stats", "--dtype", "f32", *CPU, self.data(10), env={"RED_TUNE_FILE": path, "RED_VERBOSE": "1"})
        self.assertEqual(code, OK)
        self.assertRegex(err, rf"the tuning file {re.escape(path)} has {written.count(' = ')} rows for omp: ")

    def test_one_thread(self):
        text = self.succeeds("tune", *QUICK, "--threads", 1, "-o", self.path("here")).decode()
        self.assertEqual(text.count("one thread"), 4)

    def test_default_place(self):
        self.succeeds("tune", *QUICK, env={"XDG_CONFIG_HOME": self.path("config")})
        self.assertTrue((self.folder / "config/libred/tune").read_text().startswith(FIRST))
        home = {"XDG_CONFIG_HOME": "relative", "HOME": self.path("home")}
        (self.folder / "home/.config/libred").mkdir(parents=True)
        old = self.file("home/.config/libred/tune", b"old")
        self.fails(IO, "tune", *QUICK, env=home, says=("exists", "--force"))
        self.assertEqual(pathlib.Path(old).read_text(), "old")
        self.succeeds("tune", *QUICK, "--force", env=home)
        self.assertTrue(pathlib.Path(old).read_text().startswith(FIRST))

    def test_mistakes(self):
        self.fails(IO, "tune", "-o", self.path("none/x"), says=("none/x", "No such file"))
        self.fails(IO, "tune", *QUICK, "-o", "/dev/full", says="No space left")
        self.fails(USAGE, "tune", env={"XDG_CONFIG_HOME": "", "HOME": ""}, says="HOME")
        self.fails(USAGE, "tune", "x", says="unexpected argument 'x'")
        self.fails(USAGE, "tune", "--samples", "x", says="--samples")
        self.fails(IO, "tune", *QUICK, "-o", self.path("x"), env={"TMPDIR": self.path("none")}, says="none")
        self.only_files()


class Read(TuneTest):
    def results(self, path, **variables):
        """Everything that could depend on a row, by four threads."""
        out = self.path("out.raw")
        found = [self.line("reduce", "--op", op, "--dtype", "f32", "--hex", *THREADS, path, env=variables)
                 for op in ("sum", "min", "argmax", "prod")]
        found.append(self.succeeds("stats", "--dtype", "f32", "--hex", *THREADS, path, env=variables))
        for flags in ((), ("--exclusive",), ("--acc", "f64", "--out-dtype", "f64")):
            self.succeeds("scan", "--op", "sum", "--dtype", "f32", *flags, *THREADS, path, "-o", out, "--force", env=variables)
            found.append(pathlib.Path(out).read_bytes())
        return found

    def test_bits(self):
        path = self.data(300001)
        expected = self.results(path, RED_TUNE_FILE="")
        self.assertEqual(len(expected), 8)
        extremes = [{name: bounds[side] for name, bounds in ROWS.items()} for side in (0, 1)]
        extremes += [{"scan_bytes_per_thread": 4096, "scan_part_bytes": 1 << 30}, {"scan_bytes_per_thread": 4096, "stream_bytes": 1},
                     {"scan_bytes_per_thread": 4096, "scan_part_bytes": 16384, "stream_bytes": 1 << 62, "narrow_bytes": 1}]
        for rows in extremes:
            with self.subTest(rows=rows):
                same = [a == b for a, b in zip(self.results(path, RED_TUNE_FILE=self.tuning(rows)), expected)]
                self.assertEqual(same, [True] * 8)

    def test_everything(self):
        """All known answers and the random problems of redtool verify: teams for the smallest of arrays."""
        rows = {name: bounds[0] for name, bounds in ROWS.items() if not name.startswith("scan_part")}
        env = {"RED_TUNE_FILE": self.tuning(rows), "RED_VERBOSE": "1"}
        code, out, err = self.run_tool("verify", *THREADS, env=env)
        self.assertEqual(code, OK, out.decode())
        self.assertIn(f"has {len(rows)} rows for omp: ", err)

    def test_sections(self):
        """Only the section of this very device applies; comments and blank lines are nothing."""
        path = self.data(100)
        ours = self.section
        for text, rows in ((f"{ours}\nstream_bytes=7\n", 1), (f"[cuda: H200, x]\nanything = 3\n{ours}\nstream_bytes = 7\n", 1),
                           (f"{ours}\n[else]\nstream_bytes = 7\n", 0), ("[omp: another, avx512]\nstream_bytes = 0\n", 0), ("", 0),
                           (f"\n  # a comment\n\t{ours}  # here\n  stream_bytes\t=  9 # and there\r\n\n", 1)):
            with self.subTest(text=text):
                tune = self.file("tune", (FIRST + text).encode())
                code, out, err = self.run_tool("stats", "--dtype", "f32", *THREADS, path, env={"RED_TUNE_FILE": tune, "RED_VERBOSE": "1"})
                self.assertEqual(code, OK, err)
                self.assertIn(f" has {rows} rows for omp: ", err)

    def malformed(self):
        ours = self.section + "\n"
        yield b"", "empty"
        for text, line, says in (("libred tuning 2\n", 1, "not begin with 'libred tuning 1'"), ("{}\n", 1, "no tuning file"), (FIRST + "stream\n", 2, "neither"),
                                 (FIRST + "stream_bytes = 7\n" + ours, 2, "before any section: 'stream_bytes'"),
                                 (FIRST + ours + "frob = 3\n", 3, "unknown row 'frob'"), (FIRST + "[x\n", 2, "section"),
                                 (FIRST + ours + "stream_bytes = 0\n", 3, "from 1 to"), (FIRST + ours + "stream_bytes = -1\n", 3, "'-1'"),
                                 (FIRST + ours + "stream_bytes = \n", 3, "''"), (FIRST + ours + "stream_bytes = 1e3\n", 3, "'1e3'"),
                                 (FIRST + ours + "stream_bytes = 99999999999999999999\n", 3, "from 1 to"),
                                 (FIRST + ours + "scan_part_bytes = 12288\n", 3, "a power of two from 8192 to 1073741824, not"),
                                 (FIRST + ours + "scan_part_bytes = 4096\n", 3, "a power of two from 8192 to 1073741824, not"),
                                 (FIRST + ours + "stream_bytes = 1\nstream_bytes = 1\n", 4, "second row 'stream_bytes'"),
                                 (FIRST + "[cuda: x]\nanything = x\n", 3, "not a number"), (FIRST + "x" * 1000 + "\n", 2, "longer"),
                                 (FIRST + ours + "stream_bytes = 7\n[y\n", 4, "section")):
            yield text.encode(), f"line {line}: "
            yield text.encode(), says
        yield os.urandom(4096), "no tuning file"

    def test_malformed(self):
        """A named file must be right; the default one is left alone as a whole, and the log says why."""
        path = self.data(100)
        home = self.folder / "config"
        (home / "libred").mkdir(parents=True)
        expected = self.succeeds("stats", "--dtype", "f32", *THREADS, path)
        for content, says in self.malformed():
            with self.subTest(content=content[:80], says=says):
                tune = self.file("config/libred/tune", content)
                self.fails(LIBRARY, "stats", "--dtype", "f32", *THREADS, path, env={"RED_TUNE_FILE": tune}, says=(f"RED_TUNE_FILE={tune}", says))
                code, out, err = self.run_tool("stats", "--dtype", "f32", *THREADS, path, env={"XDG_CONFIG_HOME": str(home), "RED_VERBOSE": "1"})
                self.assertEqual((code, out), (OK, expected), err)
                self.assertIn(f"{tune} is ignored: ", err)
                self.assertIn(says, err)
                self.assertNotIn("rows for", err)

    def test_missing(self):
        path = self.data(100)
        for name, says in (("none", "No such file"), (".", "Is a directory")):
            self.fails(LIBRARY, "stats", "--dtype", "f32", *CPU, path, env={"RED_TUNE_FILE": self.path(name)}, says=says)
        for variables in ({"RED_TUNE_FILE": ""}, {"XDG_CONFIG_HOME": self.path("none")}, {"XDG_CONFIG_HOME": "", "HOME": ""}):
            code, _, err = self.run_tool("stats", "--dtype", "f32", *CPU, path, env={**variables, "RED_VERBOSE": "1"})
            self.assertEqual(code, OK)
            self.assertNotIn("tuning", err)


if __name__ == "__main__":
    main()
