# SPDX-License-Identifier: BSD-2-Clause
"""redtool tune and the file that it writes: how contexts read it, and that no value in it changes a bit."""
import array
import functools
import os
import pathlib
import random
import re
import unittest

from harness import IO, LIBRARY, OK, USAGE, ToolTest, main

CPU_ROWS = {"read_bytes_per_thread": (4096, 1 << 40), "scan_bytes_per_thread": (4096, 1 << 40), "scan_part_bytes": (8192, 1 << 30),
            "scan_part_bytes_in_place": (8192, 1 << 30), "stream_bytes": (1, 1 << 62), "narrow_bytes": (1, 1 << 62)}
CUDA_ROWS = ("stream_bytes", "poll_bytes", "far_bytes", "scan_pipe_bytes", "scan_pipe_bytes_narrow", "scan_places", "host_piece_bytes")
OPENCL_ROWS = ("work_items", "reduce_runs_per_unit", "scan_groups_per_unit", "scan_part_bytes", "scan_stream_bytes", "host_piece_bytes")
QUICK = ("--samples", 1, "--seconds", 0.001)
ON_CPU = ("--backend", "omp")  # where a faulty file makes the CPU unavailable, an automatic choice may take a GPU
THREADS = (*ON_CPU, "--threads", 4)
ONE_THREAD = (*ON_CPU, "--threads", 1)  # which leaves most rows out
FIRST = "libred tuning 1\n"


class TuneTest(ToolTest):
    def section_of(self, *device, **env):
        """The section of a device, as the log has it."""
        empty = self.file("empty", FIRST.encode())
        _, _, err = self.run_tool("stats", "--dtype", "u8", *device, empty, env={"RED_TUNE_FILE": empty, "RED_VERBOSE": "1", **env})
        found = re.search(r"has 0 rows for (.*)", err)
        if not found:
            raise unittest.SkipTest(f"no device {device}: {err}")
        return "[" + found.group(1) + "]"

    @functools.cached_property
    def section(self):
        """That of this machine's CPU with four threads (or as many as OpenMP allows)."""
        return self.section_of(*THREADS)

    def tuning(self, rows, section=None):
        lines = [f"{name} = {value}" for name, value in rows.items()]
        return self.file("tune", (FIRST + "\n".join([section or self.section, *lines, ""])).encode())

    def data(self, n):
        generator = random.Random(7)
        return self.file("data.raw", array.array("f", [generator.gauss(0, 1) * 10 ** generator.uniform(-8, 8) for _ in range(n)]).tobytes())


class Device:
    """What holds for the rows of every device: the tests of the classes below."""
    backend, rows, env = "", (), {}
    costly = ()  # rows that make a driver compile everything once more
    size = 300001
    jobs = (("reduce", "--op", "sum", "--dtype", "f32"), ("stats", "--dtype", "f32"), ("scan", "--op", "sum", "--dtype", "f32"),
            ("scan", "--op", "sum", "--dtype", "f32", "--exclusive", "--acc", "f64", "--out-dtype", "f64"))

    @functools.cached_property
    def device(self):
        """One device by its own name, for another of the backend would take its place if it refused; a GPU, if there is one."""
        devices = [device for device in self.json("info")["devices"] if device["backend"] == self.backend and device["available"]]
        if not devices:
            self.skipTest(f"no device for {self.backend}")
        best = max(devices, key=lambda device: "wide-item" not in device["detail"])
        return ("--backend", best["id"], *(("--threads", 4) if self.backend == "omp" else ()))

    @functools.cached_property
    def its_section(self):
        return self.section_of(*self.device, **self.env)

    @functools.cached_property
    def bounds(self):
        """The least and the greatest value of each row that this device has use for, by the sentence that refuses another."""
        found, path = {}, self.file("one.raw", bytes(4))
        for name in self.rows:
            err = self.fails(LIBRARY, "stats", "--dtype", "f32", *self.device, path,
                             env={**self.env, "RED_TUNE_FILE": self.tuning({name: (1 << 64) - 1}, self.its_section)}, says=("line 3: ", name))
            values = re.search(rf"{name}: expected a (?:number|power of two) from (\d+) to (\d+), not '{(1 << 64) - 1}'", err)
            if values:
                found[name] = tuple(map(int, values.groups()))
            else:
                self.assertIn(f"a row that this device has no use for: '{name}'", err)
        return found

    def results(self, path, tune):
        """Everything that could depend on a row."""
        env = {**self.env, "RED_TUNE_FILE": tune}
        found, out = [], self.path("out.raw")
        for verb, *flags in self.jobs:
            result = ("-o", out, "--force") if verb == "scan" else ("--hex",)
            text = self.succeeds(verb, *flags, *self.device, path, *result, env=env, driver_may_talk=True)
            found.append(pathlib.Path(out).read_bytes() if verb == "scan" else text)
        return found

    def test_bits(self):
        """All least values, all greatest, and neighbours at opposite ends."""
        path = self.data(self.size)
        expected = self.results(path, "")
        for flip in range(4):
            rows = {name: bounds[(flip + i * (flip // 2)) % 2] for i, (name, bounds) in enumerate(self.bounds.items())}
            with self.subTest(rows=rows):
                same = [a == b for a, b in zip(self.results(path, self.tuning(rows, self.its_section)), expected)]
                self.assertEqual(same, [True] * len(self.jobs))

    def test_everything(self):
        """All known answers and the random problems of redtool verify: what is for large arrays, of the smallest."""
        if float(os.environ.get("RED_TEST_SCALE", "1")) < 0.5:
            self.skipTest("RED_TEST_SCALE asks for less")
        rows = {name: bounds[0] for name, bounds in self.bounds.items() if name not in self.costly}
        env = {**self.env, "RED_TUNE_FILE": self.tuning(rows, self.its_section), "RED_VERBOSE": "1"}
        code, out, err = self.run_tool("verify", *self.device, env=env)
        self.assertEqual(code, OK, out.decode())
        self.assertIn(f"has {len(rows)} rows for {self.its_section[1:-1]}", err)

    def test_refused(self):
        """One below the least, and one above the greatest value."""
        path = self.data(1)
        for name, bounds in self.bounds.items():
            for value in (bounds[0] - 1, bounds[1] + 1):
                self.fails(LIBRARY, "stats", "--dtype", "f32", *self.device, path,
                           env={**self.env, "RED_TUNE_FILE": self.tuning({name: value}, self.its_section)},
                           says=(name, f"from {bounds[0]} to {bounds[1]}, not '{value}'"))


class Cpu(Device, TuneTest):
    jobs = (*Device.jobs, *(("reduce", "--op", op, "--dtype", "f32") for op in ("min", "argmax", "prod")))
    backend, rows, costly = "omp", tuple(CPU_ROWS), ("scan_part_bytes", "scan_part_bytes_in_place")

    def test_bounds(self):
        self.assertEqual(self.bounds, CPU_ROWS)

    def test_together(self):
        path = self.data(self.size)
        expected = self.results(path, "")
        for rows in ({"scan_bytes_per_thread": 4096, "scan_part_bytes": 1 << 30}, {"scan_bytes_per_thread": 4096, "stream_bytes": 1},
                     {"scan_bytes_per_thread": 4096, "scan_part_bytes": 16384, "stream_bytes": 1 << 62, "narrow_bytes": 1}):
            with self.subTest(rows=rows):
                self.assertEqual(self.results(path, self.tuning(rows)), expected)


class Cuda(Device, TuneTest):
    backend, rows, size = "cuda", CUDA_ROWS, 1 << 20  # many whole pieces of the smallest
    jobs = (*Device.jobs, ("reduce", "--op", "argmax", "--dtype", "f32"), ("scan", "--op", "sum", "--dtype", "bf16"),
            ("reduce", "--op", "sum", "--dtype", "f32", "--exact"))


class OpenCl(Device, TuneTest):
    backend, rows, costly = "opencl", OPENCL_ROWS, ("work_items",)


class OpenClLocal(Device, TuneTest):
    """The kernels of GPUs, which every device can run."""
    backend, rows, costly, env = "opencl", OPENCL_ROWS, ("work_items",), {"RED_OPENCL_SHAPE": "local"}
    jobs = (*Device.jobs, ("reduce", "--op", "sum", "--dtype", "f32", "--exact"))
    test_everything = None  # what OpenCl does is enough


class Write(TuneTest):
    def test_one_thread(self):
        text = self.succeeds("tune", *QUICK, *ONE_THREAD, "-o", self.path("here")).decode()
        self.assertEqual(text.count("one thread"), 4)

    def test_all_devices(self):
        """A section for each description of a device, a line for each row; what is written is a file that contexts read."""
        path = self.path("here")
        available = [device for device in self.json("info")["devices"] if device["available"]]
        text = self.succeeds("tune", *QUICK, "-o", path, driver_may_talk=True).decode()
        self.assertIn(f"written to {path}", text)
        written = pathlib.Path(path).read_text()
        self.assertTrue(written.startswith(FIRST))
        sections = re.findall(r"(?m)^\[(.*)\]$", written)
        self.assertEqual(len(sections), len(set(sections)))
        self.assertEqual(len(text.split("row  ")), len(sections) + 1)
        for device in available:
            begin = f"{device['backend']}: {device['name']}, "
            self.assertTrue(any(section.startswith(begin) for section in sections), (begin, sections))
            for name in {"omp": CPU_ROWS, "cuda": CUDA_ROWS, "opencl": OPENCL_ROWS}[device["backend"]]:
                self.assertRegex(text, rf"(?m)^{name} +(default +1.000|one thread|not used|\d+ +[\d.]+) ")
            code, _, err = self.run_tool("stats", "--dtype", "f32", "--backend", device["id"], self.data(10), env={"RED_TUNE_FILE": path, "RED_VERBOSE": "1"})
            self.assertEqual(code, OK, err)
            rows, section = re.search(r"has (\d+) rows for (.*)", err).groups()
            self.assertIn(section, sections)
            own = written.split(f"[{section}]\n")[1].split("\n[")[0]
            self.assertEqual(len(re.findall(r"(?m)^\w+ = \d+ # [\d.]+ times as fast$", own)), int(rows), own)
        self.succeeds("tune", *QUICK, *ONE_THREAD, "--force", "-o", path)
        self.assertEqual([section[:4] for section in re.findall(r"(?m)^\[(.*)\]$", pathlib.Path(path).read_text())], ["omp:"])

    def test_default_place(self):
        self.succeeds("tune", *QUICK, *ONE_THREAD, env={"XDG_CONFIG_HOME": self.path("config")})
        self.assertTrue((self.folder / "config/libred/tune").read_text().startswith(FIRST))
        home = {"XDG_CONFIG_HOME": "relative", "HOME": self.path("home")}
        (self.folder / "home/.config/libred").mkdir(parents=True)
        old = self.file("home/.config/libred/tune", b"old")
        self.fails(IO, "tune", *QUICK, *ONE_THREAD, env=home, says=("exists", "--force"))
        self.assertEqual(pathlib.Path(old).read_text(), "old")
        self.succeeds("tune", *QUICK, *ONE_THREAD, "--force", env=home)
        self.assertTrue(pathlib.Path(old).read_text().startswith(FIRST))

    def test_mistakes(self):
        self.fails(IO, "tune", "-o", self.path("none/x"), says=("none/x", "No such file"))
        self.fails(IO, "tune", *QUICK, *ONE_THREAD, "-o", "/dev/full", says="No space left")
        self.fails(USAGE, "tune", env={"XDG_CONFIG_HOME": "", "HOME": ""}, says="HOME")
        self.fails(USAGE, "tune", "x", says="unexpected argument 'x'")
        self.fails(LIBRARY, "tune", "--backend", "nonsense", "-o", self.path("x"), says="nonsense")
        self.fails(USAGE, "tune", "--samples", "x", says="--samples")
        self.fails(IO, "tune", *QUICK, *ONE_THREAD, "-o", self.path("x"), env={"TMPDIR": self.path("none")}, says="none")
        self.only_files()


class Read(TuneTest):
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
            self.fails(LIBRARY, "stats", "--dtype", "f32", *ON_CPU, path, env={"RED_TUNE_FILE": self.path(name)}, says=says)
        for variables in ({"RED_TUNE_FILE": ""}, {"XDG_CONFIG_HOME": self.path("none")}, {"XDG_CONFIG_HOME": "", "HOME": ""}):
            code, _, err = self.run_tool("stats", "--dtype", "f32", *ON_CPU, path, env={**variables, "RED_VERBOSE": "1"})
            self.assertEqual(code, OK)
            self.assertNotIn("tuning", err)


if __name__ == "__main__":
    main()
