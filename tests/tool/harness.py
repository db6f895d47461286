# SPDX-License-Identifier: BSD-2-Clause
"""Run redtool and judge what it does. A test file is run as: test_X.py REDTOOL [unittest arguments]."""
import fcntl
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = SOURCE / "examples" / "data"
sys.path.insert(0, str(SOURCE / "tests" / "vectors"))

OK, MISMATCH, USAGE, IO, LIBRARY = range(5)
TIMEOUT = 240

# dtype: letter of struct, code of NumPy
TYPES = {"i8": ("b", "i1"), "i16": ("h", "i2"), "i32": ("i", "i4"), "i64": ("q", "i8"),
         "u8": ("B", "u1"), "u16": ("H", "u2"), "u32": ("I", "u4"), "u64": ("Q", "u8"),
         "f16": ("e", "f2"), "bf16": ("H", "V2"), "f32": ("f", "f4"), "f64": ("d", "f8")}
BYTES = {name: struct.calcsize("<" + letter) for name, (letter, _) in TYPES.items()}

redtool = os.environ.get("REDTOOL", "redtool")


def raw(dtype, values, order="<"):
    """Elements as bytes; bf16 as bits."""
    return struct.pack(f"{order}{len(values)}{TYPES[dtype][0]}", *values)


def values(dtype, data):
    return list(struct.unpack(f"<{len(data) // BYTES[dtype]}{TYPES[dtype][0]}", data))


def npy_header(text, version=(1, 0), length=None):
    """A .npy preamble and the text of its dictionary, padded as NumPy does."""
    text = text.encode()
    preamble = 10 if version[0] == 1 else 12
    text += b" " * (-(preamble + len(text) + 1) % 64) + b"\n"
    length = len(text) if length is None else length
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H" if preamble == 10 else "<I", length) + text


def npy(dtype, elements, shape=None, order="<", fortran=False, version=(1, 0)):
    shape = (len(elements),) if shape is None else shape
    mark = "|" if BYTES[dtype] == 1 else order
    text = f"{{'descr': '{mark}{TYPES[dtype][1]}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    return npy_header(text, version) + raw(dtype, elements, order)


def read_npy(path):
    """(descr, shape, data) of a file of version 1.0."""
    content = pathlib.Path(path).read_bytes()
    assert content[:8] == b"\x93NUMPY\x01\x00", content[:8]
    length = struct.unpack("<H", content[8:10])[0]
    assert (10 + length) % 64 == 0 and content[9 + length:10 + length] == b"\n", "header is not padded to 64 bytes"
    header = eval(content[10:10 + length].decode(), {"__builtins__": {}})
    assert header["fortran_order"] is False
    return header["descr"], header["shape"], content[10 + length:]


class Screen:
    """A terminal for a program's standard error, which keeps what was written."""

    def __init__(self, columns):
        self.text = b""
        self.master, self.slave = os.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("4H", 25, columns, 0, 0))
        self.watcher = threading.Thread(target=self.watch)

    def watch(self):
        try:
            while data := os.read(self.master, 1 << 16):
                self.text += data
        except OSError:  # EIO: nobody has the terminal open any more
            pass

    def begin(self):
        """After the program has got the terminal."""
        os.close(self.slave)
        self.watcher.start()

    def end(self):
        """After the program has ended: all that was written."""
        self.watcher.join()
        os.close(self.master)
        return self.text.decode()


class ToolTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="redtool-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return str(path)

    def sparse(self, name, size):
        path = self.folder / name
        with open(path, "wb") as file:
            file.truncate(size)
        return str(path)

    def path(self, name):
        return str(self.folder / name)

    def start(self, *arguments, env=None, **options):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("RED_")}
        environment["OMP_WAIT_POLICY"] = "passive"  # threads that spin while they wait are slow on a busy machine
        environment.update(env or {})
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen([redtool, *map(str, arguments)], env=environment, **pipes)

    def run_tool(self, *arguments, stdin=None, **options):
        """(exit status, standard output, standard error)"""
        if stdin is not None:
            options["stdin"] = subprocess.PIPE
        with self.start(*arguments, **options) as process:
            try:
                out, err = process.communicate(stdin, timeout=TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return process.returncode, out, (err or b"").decode()

    def succeeds(self, *arguments, driver_may_talk=False, **options):
        """Standard output, of a run that must end well and say nothing else, unless a driver's compiler does."""
        code, out, err = self.run_tool(*arguments, **options)
        if driver_may_talk:
            err = re.sub(r"(?m)^\d+ warnings? generated\.\n", "", err)
        self.assertEqual((code, err), (OK, ""), f"redtool {' '.join(map(str, arguments))}")
        return out

    def line(self, *arguments, **options):
        """The only line of standard output."""
        out = self.succeeds(*arguments, **options).decode()
        self.assertRegex(out, r"\A[^\n]+\n\Z", "not exactly one line")
        return out[:-1]

    def json(self, *arguments, **options):
        def refuse(word):
            raise ValueError(f"{word} is not JSON")
        return json.loads(self.line(*arguments, "--json", **options), parse_constant=refuse)

    def fails(self, code, *arguments, says=(), out=b"", **options):
        """A run that must end with `code`, one sentence that has all of `says`, and `out` on standard output."""
        got, stdout, err = self.run_tool(*arguments, **options)
        self.assertEqual(got, code, f"redtool {' '.join(map(str, arguments))}: {err}")
        if stdout is not None:
            self.assertEqual(stdout, out)
        self.assertRegex(err, r"\Aredtool: [^\n]+\n\Z", "not exactly one sentence on standard error")
        for phrase in [says] if isinstance(says, str) else says:
            self.assertIn(phrase, err)
        return err

    def wait_until(self, condition, process):
        """Poll a condition that the running process must bring about."""
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            self.assertIsNone(process.poll(), "ended early")
            self.assertLess(time.monotonic(), deadline, "takes too long")

    def wait_for_temporary(self, name, process):
        self.wait_until(lambda: any(entry.name.startswith(f".{name}.") for entry in self.folder.iterdir()), process)

    def only_files(self, *names):
        self.assertEqual(sorted(entry.name for entry in self.folder.iterdir()), sorted(names))


def main():
    global redtool
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        redtool = sys.argv.pop(1)
    unittest.main(module="__main__", verbosity=2)
