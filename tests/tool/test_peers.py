# SPDX-License-Identifier: BSD-2-Clause
"""redtool bench --peer: other programs in the same table, and what becomes of those that misbehave."""
import json
import os
import pathlib
import re
import shlex
import sys
import time
import xml.etree.ElementTree

import harness
from harness import LIBRARY, OK, USAGE, ToolTest, main

QUICK = ("--samples", 3, "--seconds", 0.001, "--backend", "omp")
SVG = "{http://www.w3.org/2000/svg}"


def key(row):
    return row["problem"], row["device"], row["route"], row["cache"]


class Peers(ToolTest):
    """Peers that take no time at all say what their clock shows: half a millisecond a call."""

    def bench(self, *arguments):
        return self.json("bench", *QUICK, *arguments)

    def peer(self, body="", greeting="peer 1 fake omp"):
        script = self.file(f"peer{len(os.listdir(self.folder))}.py", f"""
import sys
print({greeting!r}, flush=True)
log = open({self.path("log")!r}, "a")
for line in sys.stdin:
    log.write(line); log.flush()
    words = line.split()
    if words[0] == "case":
        answer = "ready"
    else:
        answer = f"done {{0.0005 * int(words[1])}}"
    {body}
    print(answer, flush=True)
""".encode())
        return "exec " + shlex.join([sys.executable, script])

    def test_rows(self):
        peer = self.peer()
        got = self.bench("reduce:sum:f32:1000..4000", "scan:max:i16:500", "--peer", peer, "--plot", self.path("x.svg"))
        self.assertEqual(got["peers"], [{"name": "fake", "device": "omp", "command": peer}])
        rows = {key(row): row for row in got["rows"] if row["device"] == "fake"}
        self.assertEqual(len(rows), 6, "a row for each problem and state of the caches")
        for problem, moved in (("reduce:sum:f32:1000", 4000), ("reduce:sum:f32:4000", 16000), ("scan:max:i16:500", 2000)):
            for cache in ("warm", "cold"):
                row = rows[problem, "fake", "plan", cache]
                self.assertAlmostEqual(row["median"], 5e-4)
                self.assertAlmostEqual(row["bandwidth"] / (moved / 5e-4), 1)
                ours = next(other for other in got["rows"] if key(other) == (problem, "omp", "plan", cache))
                self.assertEqual(row["roof"], ours["roof"], "the roof is that of the memory that both share")
        lines = pathlib.Path(self.path("log")).read_text().splitlines()
        self.assertEqual({line.split()[0] for line in lines}, {"case", "warm", "cold"})
        self.assertEqual({line for line in lines if line.startswith("cold")}, {"cold 1"})
        self.assertEqual(list(dict.fromkeys(line for line in lines if line.startswith("case"))),
                         ["case reduce sum f32 f32 1000", "case reduce sum f32 f32 4000", "case scan max i16 i16 500"])
        texts = {text.text for text in xml.etree.ElementTree.parse(self.path("x.svg")).getroot().iter(SVG + "text")}
        self.assertIn("reduce:sum:f32, fake, warm", texts)
        self.assertNotIn("reduce:sum:f32, fake roofline, warm", texts)

    def test_refusals(self):
        peer = self.peer('answer = "no it is Monday" if "max" in line else answer')
        got = self.bench("reduce:max:f32:9", "reduce:sum:f32:9", "reduce:sum:f32:9:init=1", "stats:f32:9", "--cache", "warm",
                         "--peer", peer)
        reasons = {row["problem"]: row["reason"] for row in got["rows"] if row["device"] == "fake"}
        nothing = "peers have no statistics, initial values or exact sums"
        self.assertEqual(reasons, {"reduce:max:f32:9": "it is Monday", "reduce:sum:f32:9": "",
                                   "reduce:sum:f32:9:init=1": nothing, "stats:f32:9": nothing})

    def test_absent(self):
        code, out, err = self.run_tool("bench", *QUICK, "reduce:sum:f32:9", "--json", "--peer", "echo no numbers today",
                                       "--peer", self.peer())
        self.assertEqual((code, err), (OK, "redtool: peer 'echo no numbers today' is left out: numbers today\n"))
        self.assertEqual([peer["name"] for peer in json.loads(out)["peers"]], ["fake"])

    def test_python(self):
        """The peers in Python: each is measured, or says why it cannot run here."""
        names = ("numpy", "cupy", "pytorch", "pyopencl")
        commands = {name: f"{sys.executable} {harness.SOURCE}/bench/peer.py {name}" for name in names}
        arguments = [word for command in commands.values() for word in ("--peer", command)]
        code, out, err = self.run_tool("bench", *QUICK, "reduce:sum:f32:5000", "--cache", "warm", "--json", *arguments)
        self.assertEqual(code, OK, err)
        medians = {row["device"]: row["median"] for row in json.loads(out)["rows"]}
        for name, command in commands.items():
            if name in medians:
                self.assertGreater(medians[name], 0)
            else:
                self.assertRegex(err, rf"(?m)^redtool: peer '{re.escape(command)}' is left out: .+$")

    def test_misunderstandings(self):
        arguments = ("bench", *QUICK, "reduce:sum:f32:9", "--peer")
        for command, says in (("true", "ended early"), ("echo hello", ("'hello'", "'peer 1 NAME DEVICE'")), ("exit 3", "ended early"),
                              ("echo peer 2 x omp", "'peer 2 x omp'"), ("echo peer 1 x", "'peer 1 x'"), ("echo peer 1 x omp y", "omp y"), ("echo peer 1 x,y omp", "x,y"),
                              ("echo peer 1 x omp", "ended early"), (self.peer('answer = "yes"'), "'ready' or 'no REASON'"),
                              (self.peer('answer = answer.replace("done", "did")'), "instead of 'done SECONDS'"),
                              (self.peer('answer = "ready" if words[0] == "case" else "done 0"'), "'done 0'"),
                              (self.peer('answer = "ready" if words[0] == "case" else "done -1"'), "'done -1'"),
                              (self.peer('answer = "ready" if words[0] == "case" else "done 1 2"'), "'done 1 2'"),
                              *((self.peer(f'answer = "ready" if words[0] == "case" else "done {time}"'), f"'done {time}'")
                                for time in ("nan", "inf", "1e999", "1e-300")),
                              (self.peer(greeting="peer 1 \x1b[31mred omp"), "NAME"), (self.peer(greeting="peer 1 x \x07"), "DEVICE"),
                              ("printf hello", "'hello'"),
                              (self.peer('if words[0] != "case": break'), "ended early")):
            with self.subTest(command=command):
                self.fails(LIBRARY, *arguments, command, says=says)
        self.fails(USAGE, "bench", *QUICK, *["--peer", "x"] * 17, says="more than 16 peers")

    def test_hanging(self):
        """Neither silence nor a program that stays is waited for."""
        for command, says, seconds in (("exec sleep 100", "said nothing for 1 seconds", "1"), ("echo hello; exec sleep 100", "'hello'", "x"),
                                       (self.peer("__import__('time').sleep(100)"), "said nothing for 1 seconds", "1")):
            with self.subTest(command=command):
                begun = time.monotonic()
                self.fails(LIBRARY, "bench", *QUICK, "reduce:sum:f32:9", "--peer", command, says=says, env={"RED_PEER_SECONDS": seconds})
                self.assertLess(time.monotonic() - begun, 60)


if __name__ == "__main__":
    main()
