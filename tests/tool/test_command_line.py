# SPDX-License-Identifier: BSD-2-Clause
"""Help, versions, mistakes, and the choice of devices."""
import re
import shutil
import subprocess

from harness import LIBRARY, OK, SOURCE, USAGE, ToolTest, main, npy

VERBS = ("info", "reduce", "scan", "stats", "verify", "bench", "tune")


class Help(ToolTest):
    def test_verbs(self):
        for flag in ("--help", "-h"):
            text = self.succeeds(flag).decode()
            for verb in VERBS:
                self.assertRegex(text, rf"\n  {verb} ")
            self.assertIn("Exit status:", text)

    def test_each_verb(self):
        manual = (SOURCE / "tools" / "redtool.1").read_text()
        for verb in VERBS:
            for flag in ("--help", "-h"):
                text = self.succeeds(verb, flag).decode()
                self.assertTrue(text.startswith(f"Usage: redtool {verb} "))
                for part in ("Options:", "Examples:\n  ", f"redtool {verb}", "Exit status:\n  0  success"):
                    self.assertIn(part, text)
                self.assertLessEqual(max(map(len, text.splitlines())), 110)
                for option in re.findall(r"^ +(?:-., )?--.*", text, re.M):
                    self.assertRegex(option, "^ {2}(-., | {4})--[a-z-]+( [A-Z]+)?$|^.{24} [^ ]")
            for option in re.findall(r"--([a-z-]+)", text):
                self.assertIn(f"Fl Fl {option}", manual, f"the manual lacks --{option}")

    def test_help_wins(self):
        self.assertIn(b"Usage", self.succeeds("reduce", "--op", "sum", "--help", "a", "b"))

    def test_version(self):
        version = re.search(r"version: '([^']+)'", (SOURCE / "meson.build").read_text()).group(1)
        for flag in ("--version", "-V"):
            self.assertEqual(self.line(flag), f"redtool {version} (library {version})")

    def test_manual(self):
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is not installed")
        lint = subprocess.run(["mandoc", "-Tlint", "-Wwarning", SOURCE / "tools" / "redtool.1"], capture_output=True, text=True)
        self.assertEqual((lint.returncode, lint.stdout), (0, ""))


class Mistakes(ToolTest):
    def check(self, says, *arguments):
        with self.subTest(arguments=arguments):
            self.fails(USAGE, *arguments, says=says)

    def test_verbs(self):
        self.check("a verb is missing")
        self.check("did you mean 'reduce'?", "redcue")
        self.check("did you mean 'verify'?", "verfy")
        self.check("unknown verb 'xyzzy'; see", "xyzzy")
        self.check("unknown option '--frob'", "--frob")

    def test_options(self):
        self.check("did you mean '--backend'?", "reduce", "--backed", "omp", "--op", "sum", "-")
        self.check("did you mean '--threads'?", "stats", "--thraeds=3", "-")
        self.check("did you mean '--hex'?", "stats", "--hxe", "-")
        self.check("unknown option '--frobnicate'; see", "stats", "--frobnicate", "-")
        self.check("unknown option '-x'", "stats", "-x", "-")
        self.check("takes no option '--op'", "stats", "--op", "sum", "-")
        self.check("takes no option '--hex'", "scan", "--hex", "-")
        self.check("needs an argument", "reduce", "-", "--op")
        self.check("needs an argument", "scan", "-", "-o")
        self.check("--json takes no argument", "stats", "--json=yes", "-")

    def test_operators_and_types(self):
        self.check("did you mean 'sum'?", "reduce", "--op", "sun", "-")
        self.check("did you mean 'argmax'?", "reduce", "--op", "agrmax", "-")
        self.check("unknown operator ''", "reduce", "--op", "", "-")
        self.check("did you mean 'f32'?", "reduce", "--op", "sum", "--dtype", "f3", "-")
        self.check("unknown dtype 'quaternion'", "reduce", "--op", "sum", "--acc", "quaternion", "-")

    def test_operands(self):
        self.check("needs a file", "reduce", "--op", "sum")
        self.check("needs a file", "stats")
        self.check("needs --op", "reduce", "-")
        self.check("unexpected argument 'b'", "reduce", "--op", "sum", "a", "b")
        self.check("unexpected argument 'a'", "info", "a")

    def test_threads(self):
        for text in ("0", "-1", "x", "", "1.5", "99999999999999999999", "3x"):
            self.check("--threads", "stats", "--threads", text, "-")


class Devices(ToolTest):
    def test_info(self):
        text = self.succeeds("info").decode()
        self.assertRegex(text, r"\Alibred \d+\.\d+\.\d+\n")
        self.assertRegex(text, r"(?m)^omp +\S")
        self.assertRegex(text, r"(?m)^host   memory: omp, \w+, \d+ threads?\b")
        for backend in ("cuda", "opencl"):
            self.assertRegex(text, rf"(?m)^{backend}(:[\d.]+)? +\S", "every backend is named, with a device or a reason")

    def test_info_json(self):
        got = self.json("info")
        devices = {device["id"] or device["backend"]: device for device in got["devices"]}
        self.assertTrue(devices["omp"]["available"])
        self.assertGreater(devices["omp"]["units"], 0)
        self.assertEqual(got["chosen"]["host"], "omp")
        self.assertRegex(self.json("info", env={"RED_CPU": "generic"})["chosen"]["host_detail"], r"\Ageneric, ")
        for device in devices.values():
            self.assertEqual(device["available"], device["reason"] == "", device)

    def test_choice(self):
        path = self.file("x.npy", npy("i32", [1, 2]))
        for arguments, env in ((("--backend", "omp"), {}), ((), {"RED_BACKEND": "omp"}), ((), {"RED_BACKEND": "auto"}),
                               (("--backend", "omp"), {"RED_BACKEND": "nonsense"})):
            with self.subTest(arguments=arguments, env=env):
                self.assertEqual(self.json("reduce", "--op", "sum", *arguments, path, env=env)["device"], "omp")

    def test_no_such_device(self):
        path = self.file("x.npy", npy("i32", [1, 2]))
        for arguments in (("reduce", "--op", "sum", path), ("scan", "--op", "sum", path, "-o", self.path("y.npy")),
                          ("stats", path), ("verify",)):
            with self.subTest(arguments=arguments):
                self.fails(LIBRARY, *arguments, "--backend", "omp:77", says="omp:77")
                self.fails(LIBRARY, *arguments, "--backend", "nonsense", says="nonsense")
        self.fails(LIBRARY, "reduce", "--op", "sum", path, env={"RED_BACKEND": "nonsense"}, says="nonsense")
        self.only_files("x.npy")

    def test_reasons(self):
        """RED_VERBOSE tells about the choice, on standard error only."""
        path = self.file("x.npy", npy("i32", [1, 2]))
        code, out, err = self.run_tool("reduce", "--op", "sum", path, env={"RED_VERBOSE": "1"})
        self.assertEqual((code, out), (OK, b"3\n"))
        self.assertRegex(err, r"libred: .*omp")


if __name__ == "__main__":
    main()
