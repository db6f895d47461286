# SPDX-License-Identifier: BSD-2-Clause
"""Full disks, broken pipes, signals and files that shrink: one sentence, an exit status, no half file."""
import os
import pathlib
import re
import resource
import signal
import subprocess
import time

from harness import IO, LIBRARY, OK, USAGE, ToolTest, main, npy, raw


class FullDisk(ToolTest):
    def test_standard_output(self):
        path = self.file("x.npy", npy("i32", [3, -1, 4]))
        with open("/dev/full", "wb") as full:
            for arguments in (("reduce", "--op", "sum", path), ("stats", path), ("stats", "--json", path), ("info",),
                              ("scan", "--op", "sum", path, "-o", "-"), ("--help",)):
                with self.subTest(arguments=arguments):
                    self.fails(IO, *arguments, stdout=full, says=("standard output", "No space left"))

    def test_device(self):
        path = self.file("x.npy", npy("i32", [3, -1, 4]))
        self.fails(IO, "scan", "--op", "sum", path, "-o", "/dev/full", says=("/dev/full", "No space left"))

    def test_file_size_limit(self):
        path = self.file("x.raw", bytes(1 << 20))
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        self.fails(IO, "scan", "--op", "sum", "--dtype", "u8", path, "-o", self.path("y.npy"), preexec_fn=limit,
                   says="File too large")
        self.only_files("x.raw")

    def test_file_system(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("a small file system cannot be mounted: " + mounted.stderr.decode().strip())
        try:
            path = self.file("x.raw", bytes(1 << 20))
            self.fails(IO, "scan", "--op", "max", "--dtype", "u8", path, "-o", disk / "y.npy", says="No space left")
            self.assertEqual(list(disk.iterdir()), [])
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_closed_standard_output(self):
        path = self.file("x.npy", npy("i32", [3, -1, 4]))
        self.fails(IO, "reduce", "--op", "sum", path, preexec_fn=lambda: os.close(1), says="standard output")
        self.fails(IO, "scan", "--op", "sum", path, "-o", "-", preexec_fn=lambda: os.close(1), says="standard output")


class BrokenPipe(ToolTest):
    def broken(self, *arguments):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            self.fails(IO, *arguments, stdout=writer, says=("standard output", "Broken pipe"))
        finally:
            os.close(writer)

    def test_result(self):
        path = self.file("x.npy", npy("i32", [3, -1, 4]))
        self.broken("reduce", "--op", "sum", path)
        self.broken("stats", path)
        self.broken("scan", "--op", "sum", path, "-o", "-")

    def test_reader_that_stops(self):
        path = self.sparse("x.raw", 1 << 23)
        with self.start("scan", "--op", "sum", "--dtype", "u8", path, "-o", "-") as process:
            process.stdout.read(1000)
            process.stdout.close()
            err = process.stderr.read().decode()
            self.assertEqual((process.wait(), err), (IO, "redtool: standard output: Broken pipe\n"))

    def test_fifo(self):
        path, fifo = self.sparse("x.raw", 1 << 23), self.path("fifo")
        os.mkfifo(fifo)
        with self.start("scan", "--op", "sum", "--dtype", "u8", path, "-o", fifo) as process:
            with open(fifo, "rb") as reader:
                reader.read(1000)
            err = process.stderr.read().decode()
            self.assertEqual((process.wait(), err), (IO, f"redtool: {fifo}: Broken pipe\n"))


ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


def heed_signals():
    """Whoever runs the tests may ignore some, as nohup does, and a program leaves that as it is."""
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_DFL)


class Signals(ToolTest):
    def start_scan(self, *options, **keywords):
        """A scan of a pipe that has begun its output and waits for more input."""
        process = self.start("scan", "--op", "sum", "--dtype", "u8", "-", "-o", self.path("y.npy"), *options,
                             stdin=subprocess.PIPE, **keywords)
        self.addCleanup(process.communicate)
        process.stdin.write(bytes(5000))
        process.stdin.flush()
        self.wait_for_temporary("y.npy", process)
        return process

    def test_ending_signals(self):
        for number in ENDING_SIGNALS:
            with self.subTest(signal=number.name):
                process = self.start_scan(preexec_fn=heed_signals)
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=60), -number)
                self.only_files()

    def test_existing_file_survives(self):
        self.file("y.npy", b"precious")
        process = self.start_scan("--force")
        process.terminate()
        self.assertEqual(process.wait(timeout=60), -signal.SIGTERM)
        self.assertEqual((self.folder / "y.npy").read_bytes(), b"precious")
        self.only_files("y.npy")

    def test_kill(self):
        """It cannot be caught: the temporary file stays, as the manual says, but never under the name of the output."""
        process = self.start_scan()
        process.kill()
        process.wait(timeout=60)
        (left,) = (entry.name for entry in self.folder.iterdir())
        self.assertRegex(left, r"\A\.y\.npy\.\w{6}\Z")

    def test_threads_that_cannot_start(self):
        """The OpenMP run-time ends the process then: GCC's by exit, with 1, which here means something else, LLVM's by abort."""
        path = self.sparse("x.raw", 1 << 24)
        code, out, _ = self.run_tool("scan", "--op", "sum", "--dtype", "u8", "--threads", "2", path, "-o",
                                     self.path("y.npy"), env={"OMP_STACKSIZE": "8000000G"})
        if code == OK:
            self.skipTest("it needs no second thread")
        self.assertIn(code, (LIBRARY, -signal.SIGABRT))
        self.assertEqual(out, b"")
        self.only_files("x.raw")

    def test_abort(self):
        process = self.start_scan()
        process.send_signal(signal.SIGABRT)
        self.assertEqual(process.wait(timeout=60), -signal.SIGABRT)
        self.only_files()

    def test_ignored_hangup(self):
        process = self.start_scan(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        self.assertIsNone(process.poll())
        process.communicate()
        self.assertEqual(process.returncode, OK)
        self.only_files("y.npy")


class Shrinking(ToolTest):
    PIECE = 1 << 22  # of scan, in elements

    def shrink(self, size, new_size, name="x.raw", shown="x.raw"):
        """Truncate the input while the tool waits for the reader of its output; it must see that."""
        path, fifo = self.sparse(name, size), self.path("fifo")
        os.mkfifo(fifo)
        with self.start("scan", "--op", "max", "--dtype", "u8", path, "-o", fifo) as process:
            with open(fifo, "rb") as reader:
                self.assertEqual(reader.read(1000), bytes(1000))
                os.truncate(path, new_size)
                while reader.read(1 << 20):
                    pass
            err = process.stderr.read()
            self.assertEqual(process.wait(), IO)
        self.check_shrunk(self.path(shown), err)

    def test_pages_vanish(self):
        self.shrink(4 * self.PIECE, 4096)

    def test_everything_vanishes(self):
        self.shrink(4 * self.PIECE, 0)

    def test_part_of_the_last_page_vanishes(self):
        self.shrink(4 * self.PIECE, 4 * self.PIECE - 100)

    def test_name_with_control_characters(self):
        self.shrink(4 * self.PIECE, 0, Names.NAME, Names.SHOWN)

    def check_shrunk(self, path, err):
        self.assertRegex(err.decode(), rf"\Aredtool: {re.escape(path)}: the file shrank while it was read[^\n]*\n\Z")

    def in_time(self, attempt):
        """Where the tool runs on meanwhile, a busy machine may be too late: a few attempts."""
        for _ in range(5):
            if attempt():
                return
        self.fail("the tool has always finished before its input could be truncated")

    def test_temporary_file_is_removed(self):
        def attempt():
            path, output = self.sparse("x.raw", 64 * self.PIECE), self.path("y.raw")
            with self.start("scan", "--op", "max", "--dtype", "u8", "--threads", "1", path, "-fo", output) as process:
                self.wait_for_temporary("y.raw", process)
                process.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                os.truncate(path, 0)
                process.send_signal(signal.SIGCONT)
                out, err = process.communicate(timeout=60)
            if process.returncode == OK:
                return False
            self.assertEqual((process.returncode, out), (IO, b""))
            self.check_shrunk(path, err)
            self.assertFalse(any(entry.name.startswith(".y.raw.") for entry in self.folder.iterdir()))
            return True
        self.in_time(attempt)

    def test_reduction(self):
        def attempt():
            path = self.sparse("x.raw", 1 << 32)
            with self.start("reduce", "--op", "sum", "--dtype", "f32", "--threads", "1", path) as process:
                maps = pathlib.Path(f"/proc/{process.pid}/maps")
                self.wait_until(lambda: path in maps.read_text(), process)
                os.truncate(path, 4096)
                out, err = process.communicate(timeout=60)
            if process.returncode == OK:
                return False
            self.assertEqual((process.returncode, out), (IO, b""))
            self.check_shrunk(path, err)
            return True
        self.in_time(attempt)


class Names(ToolTest):
    """Names of files neither break a sentence nor drive the terminal."""
    NAME = "we ird\n\r\t\x1b[31m\x7f-\u00e4\u20ac\U0001f600-\u009b-\udcff\udce2\udc82.raw"  # the last three are no UTF-8
    SHOWN = r"we ird\n\r\t\x1b[31m\x7f-" + "\u00e4\u20ac\U0001f600" + r"-\xc2\x9b-\xff\xe2\x82.raw"

    def test_input(self):
        self.fails(IO, "stats", self.path(self.NAME), says=f"/{self.SHOWN}: No such file")

    def test_output(self):
        self.fails(IO, "scan", "--op", "sum", "--dtype", "u8", self.file(self.NAME, b"123"), "-o", self.path(self.NAME),
                   says=f"/{self.SHOWN}: exists")

    def test_words(self):
        self.fails(USAGE, "red\x1b[2Juce", says=r"'red\x1b[2Juce'")

    def test_long_names(self):
        self.fails(IO, "stats", "\n" * 4000, says=r"\n" * 4000 + ": File name too long")
        self.fails(IO, "stats", "\x1b" * 100_000, says=r"\x1b" * 8000)


class Input(ToolTest):
    def test_unreadable(self):
        self.fails(IO, "reduce", "--op", "sum", "--dtype", "u8", "/proc/self/mem", says="/proc/self/mem")
        with open(self.path("out"), "wb") as write_only:
            self.fails(IO, "reduce", "--op", "sum", "--dtype", "u8", "-", stdin=None, preexec_fn=lambda: os.dup2(write_only.fileno(), 0),
                       says=("standard input", "Bad file descriptor"))

    def test_closed_standard_input(self):
        self.fails(IO, "reduce", "--op", "sum", "--dtype", "u8", "-", preexec_fn=lambda: os.close(0),
                   says=("standard input", "Bad file descriptor"))

    def test_no_rights(self):
        if os.geteuid() == 0:
            self.skipTest("the superuser may read everything")
        path = self.file("x.npy", npy("i32", [1]))
        os.chmod(path, 0)
        self.fails(IO, "reduce", "--op", "sum", path, says="Permission denied")


if __name__ == "__main__":
    main()
