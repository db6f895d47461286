# SPDX-License-Identifier: BSD-2-Clause
"""
redtool verify, and that it notices: a build of the tool whose known answers have a wrong one must fail.

    test_verify.py REDTOOL REDTOOL_WITH_WRONG_ANSWERS
"""
import json
import signal
import sys
import time

import harness
from harness import MISMATCH, OK, Screen, ToolTest, main

wrong_tool = sys.argv.pop(2)

FILES = ("adversarial", "sum", "prod", "integer", "logic", "order", "scan", "scan_any_order", "dot", "norms", "stats", "exact",
         "exact_maps", "exact_ties", "large")
RANDOM = ("random reduce", "random scan", "random exscan", "random stats")


class Verify(ToolTest):
    def slowly(self, *arguments):
        """A run on a terminal, stopped again and again until it shows its progress: standard output and the screen."""
        screen = Screen(columns=50)
        process = self.start(*arguments, stderr=screen.slave)
        screen.begin()
        for _ in range(50):
            if process.poll() is not None or screen.text:
                break
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.4)
            process.send_signal(signal.SIGCONT)
            time.sleep(0.02)
        out, _ = process.communicate()
        shown = screen.end()
        self.assertEqual(process.returncode, OK, shown)
        return out, shown

    def test_right_answers(self):
        out, screen = self.slowly("verify", "--backend", "omp", "--json")
        self.assertRegex(screen, r"\A(\r *\d+ %  omp: [a-z_ ]+, in (one call|pieces|device memory)\x1b\[K)+\r\x1b\[K\Z")
        got = json.loads(out)
        self.assertTrue(got["ok"])
        (device,) = got["devices"]
        self.assertEqual((device["device"], device["run"]), ("omp", True))
        subjects = {subject["name"]: subject for subject in device["subjects"]}
        self.assertEqual(sorted(subjects), sorted(FILES + RANDOM))
        for name in FILES:
            text = (harness.SOURCE / "tests" / "vectors" / f"{name}.txt").read_text()
            lines = sum(1 for line in text.splitlines() if line.strip() and not line.startswith("#"))
            self.assertGreaterEqual(subjects[name]["passed"], 2 * lines, "each answer in one call and in pieces")
        for subject in subjects.values():
            self.assertEqual((subject["failed"], subject["skipped"]), (0, 0), subject)
            self.assertGreater(subject["passed"], 50)

    def test_wrong_answers(self):
        right, harness.redtool = harness.redtool, wrong_tool
        try:
            code, out, err = self.run_tool("verify", "--backend", "omp")
        finally:
            harness.redtool = right
        self.assertEqual(code, MISMATCH)
        self.assertRegex(out.decode(), r"(?m)^wrong +\d+ of \d+ FAIL")
        self.assertIn("omp: wrong, in one call: known answer: off-by-one: expected 00000004, got 3", err)
        self.assertIn("malformed", err)
        self.assertNotIn("\r", err, "progress without a terminal")
        self.assertRegex(out.decode(), r"(?m)^random scan +\d+ pass")


if __name__ == "__main__":
    main()
