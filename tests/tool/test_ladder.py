# SPDX-License-Identifier: BSD-2-Clause
"""redtool bench ladder: its steps and tables, and what it refuses. Sizes are tiny: speed is hardly judged here."""
import math
import pathlib

import harness
from harness import LIBRARY, USAGE, ToolTest, main


class Ladder(ToolTest):
    def test_cpu(self):
        for n, places in (("2^16", ["in cache"]), ("1", ["in cache"]), ("7", ["in cache"]), ("100003", None), (str(2**22 + 5), None)):
            got = self.json("bench", "ladder", "cpu", n, "--samples", 3, "--seconds", 0.001)
            # What fits into the second-level caches, whose size is the machine's, is measured there only.
            got_places = [ladder["place"] for ladder in got["ladders"]]
            self.assertIn(got_places, [places] if places else [["in cache"], ["in cache", "in the last cache"], ["in cache", "in memory"]])
            size = 2 ** int(n[2:]) if n.startswith("2^") else int(n)
            self.assertEqual(got["ladders"][-1]["n"], size)
            self.assertEqual(len(got["ladders"]), len({ladder["n"] for ladder in got["ladders"]}))
            for ladder in got["ladders"]:
                names = [step["step"] for step in ladder["steps"]]
                self.assertEqual((len(names), names[0], names[-1]), (10, "one chain", "libred"))
                self.assertGreater(ladder["roof"], 0)
                for step in ladder["steps"]:
                    self.assertTrue(math.isclose(step["bandwidth"], 4 * ladder["n"] / step["median"], rel_tol=1e-6))

    def test_facts(self):
        """What no machine gets wrong: four chains are faster than one, and a vector's are faster still."""
        if b"__asan_init" in pathlib.Path(harness.redtool).read_bytes():
            self.skipTest("instrumented loops show other facts")
        # Other work slows steps down and speeds none up: what counts is the least time of as many runs as it takes to see it.
        time = {}
        for _ in range(6):
            got = self.json("bench", "ladder", "cpu", "2^16", "--threads", 1, "--samples", 9)
            for step in got["ladders"][0]["steps"]:
                time[step["step"]] = min(step["least"], time.get(step["step"], math.inf))
            slower = [(a, b) for a, b in (("four chains", "one chain"), ("SIMD, eight chains", "four chains"))
                      if time[a] >= 0.7 * time[b]]
            if not slower:
                return
        self.fail(f"not 1.4 times as fast in six runs: {slower}, {time}")

    def test_text(self):
        text = self.succeeds("bench", "ladder", "cpu", "1000", "--samples", 3, "--seconds", 0.001).decode()
        self.assertRegex(text, r"(?m)^ 1  one chain( +[\d.]+ [um]s +[\d.]+ GB/s +\d+ % +1.00)$")
        self.assertRegex(text, r"(?m)^10  libred ")

    def on_device(self, backend):
        available = [device["id"] for device in self.json("info")["devices"] if device["available"]]
        if not any(device.startswith(backend) for device in available):
            self.fails(LIBRARY, "bench", "ladder", backend, says=backend)
            self.skipTest(f"no device for {backend}")
        for n in ("1", "2", "1025", "2^16", "100003"):
            got = self.json("bench", "ladder", backend, n, "--samples", 3, "--seconds", 0.001, driver_may_talk=True)
            (ladder,) = got["ladders"]
            names = [step["step"] for step in ladder["steps"]]
            self.assertEqual((len(names), names[0], names[-1]), (11, "interleaved, with modulo", "libred"))
            for step in ladder["steps"]:
                self.assertEqual(step["measured"], step["reason"] == "", step)
                if step["step"] == "the same, cooperative groups":
                    self.assertEqual(step["measured"], backend == "cuda", step)
                elif step["step"] != "shuffles":
                    self.assertTrue(step["measured"], step)
            got = self.json("bench", "ladder", f"{backend}-coarsening", n, "--samples", 3, "--seconds", 0.001,
                            driver_may_talk=True)
            (ladder,) = got["ladders"]
            self.assertEqual([step["step"].split()[0] for step in ladder["steps"]],
                             ["1", "2", "4", "8", "16", "32", "64", "256"])
            self.assertTrue(all(step["measured"] for step in ladder["steps"]))

    def test_opencl(self):
        self.on_device("opencl")
        self.fails(USAGE, "bench", "ladder", "opencl", "--backend", "omp", says=("omp", "another backend"))

    def test_cuda(self):
        self.on_device("cuda")

    def test_once(self):
        """For profilers: the steps run, and nothing is printed."""
        available = {device["backend"] for device in self.json("info")["devices"] if device["available"]}
        for backend in available & {"opencl", "cuda"}:
            for ladder, n in ((backend, "1025"), (f"{backend}-coarsening", "1025"), (f"{backend}-shuffle", "2^10")):
                self.assertEqual(self.succeeds("bench", "ladder", ladder, n, "--once", driver_may_talk=True), b"")
        self.fails(USAGE, "bench", "ladder", "cpu", "--once", says="takes no --once")
        self.fails(USAGE, "bench", "--once", says="--once")

    def test_cuda_profile(self):
        """Where ncu is, what it counts is shown; where it is not, a sentence says so."""
        if not any(device["id"].startswith("cuda") and device["available"] for device in self.json("info")["devices"]):
            self.skipTest("no device for cuda")
        arguments = ("bench", "ladder", "cuda", "1025", "--samples", 3, "--seconds", 0.001)
        got = self.json(*arguments, env={"PATH": str(self.folder)})
        self.assertIn("not on PATH", got["no_profile"])
        self.assertNotIn("active_lanes", got["ladders"][0]["steps"][0])
        pathlib.Path(self.file("ncu", b"""#!/bin/sh
echo '"Kernel Name","Metric Name","Metric Value"'
echo '"strided","l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum","123"'
echo '"strided","dram__bytes_read.sum","4,096"'
echo '"reduce_anything","dram__bytes_read.sum","7"'
""")).chmod(0o700)
        got = self.json(*arguments, env={"PATH": str(self.folder)})
        steps = {step["step"]: step for step in got["ladders"][0]["steps"]}
        self.assertEqual(got["no_profile"], "")
        strided = steps["consecutive threads, strided"]
        self.assertEqual((strided["bank_conflicts"], strided["bytes_read"], strided["active_lanes"]), (123, 4096, None))
        self.assertEqual((steps["libred"]["bytes_read"], steps["unrolled"]["bytes_read"]), (7, None))
        text = self.succeeds(*arguments, env={"PATH": str(self.folder)}).decode()
        self.assertRegex(text, r"(?m)^step .* instr. +lanes +conflicts +read +written$")
        self.assertRegex(text, r"(?m)^ 2  consecutive .* - +- +123 +4.10 kB +-$")

    def shuffle(self, backend):
        available = [device["id"] for device in self.json("info")["devices"] if device["available"]]
        if not any(device.startswith(backend) for device in available):
            self.skipTest(f"no device for {backend}")
        for n in ("2^10", "2^14"):
            got = self.json("bench", "ladder", f"{backend}-shuffle", n, "--samples", 3, "--seconds", 0.001,
                            driver_may_talk=True)
            (ladder,) = got["ladders"]
            self.assertEqual(len(ladder["steps"]), 10)
            for step in ladder["steps"]:
                self.assertEqual(step["measured"], step["reason"] == "", step)
                if step["measured"]:
                    self.assertTrue(math.isclose(step["bandwidth"], 8 * ladder["n"] / step["median"], rel_tol=1e-6))
            measured = {step["step"] for step in ladder["steps"] if step["measured"]}
            self.assertLessEqual({"nothing", "sum of a block", "maximum of a block", "exclusive scan of a block"}, measured)
        self.fails(USAGE, "bench", "ladder", f"{backend}-shuffle", "1000", says="multiple of 1024")

    def test_opencl_shuffle(self):
        self.shuffle("opencl")

    def test_cuda_shuffle(self):
        self.shuffle("cuda")

    def test_mistakes(self):
        for says, arguments in (("needs a name", ()), ("unknown ladder 'x'", ("x",)), ("did you mean 'cpu'?", ("cup",)),
                                ("n is '0'", ("cpu", "0")), ("n is '2^64'", ("cpu", "2^64")), ("n is 'x'", ("cpu", "x")),
                                ("from 1 to 2^54", ("cpu", "2^62")), ("from 1 to 2^54", ("cpu", str(2**54 + 1))),
                                ("n is '7:init=1'", ("cpu", "7:init=1")), ("unexpected argument '4'", ("cpu", "3", "4")),
                                ("takes --backend", ("cpu", "--csv")), ("the CPU's is omp", ("cpu", "--backend", "opencl")),
                                ("takes no --threads", ("opencl", "--threads", "2")), ("takes --backend", ("cpu", "--cache", "cold")),
                                ("takes --backend", ("cpu", "--plot", "x.svg")), ("takes --backend", ("cpu", "--compare", "x")),
                                ("takes --backend", ("cpu", "--peer", "x")), ("takes --backend", ("cpu", "--fail-below", "0.5"))):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, "bench", "ladder", *arguments, says=says)
        self.fails(LIBRARY, "bench", "ladder", "cpu", "2^50", says=("GiB", "half"))


if __name__ == "__main__":
    main()
