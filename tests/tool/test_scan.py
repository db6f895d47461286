# SPDX-License-Identifier: BSD-2-Clause
"""redtool scan: what it writes, where, and under which name."""
import os
import pathlib
import stat
import struct
import threading

from harness import EXAMPLES, IO, LIBRARY, OK, USAGE, ToolTest, main, npy, raw, read_npy, values
import law  # on the path that harness adds
from exact import DTYPES


def by_law(op, dtype, data, exclusive=False):
    kind = DTYPES[dtype]
    acc = law.accumulator(op, kind)
    out = law.output(op, kind, acc)
    x = [kind.decode(int.from_bytes(data[i:i + kind.bytes], "little")) for i in range(0, len(data), kind.bytes)]
    return b"".join(bits.to_bytes(out.bytes, "little") for bits in law.scan(op, kind, acc, out, x, exclusive, None))


class Values(ToolTest):
    def test_integers(self):
        path = self.file("x.npy", npy("i32", [3, -1, 4]))
        for options, expected in (((), [3, 2, 6]), (("--exclusive",), [0, 3, 2]), (("--init", "10"), [13, 12, 16]),
                                  (("--exclusive", "--init", "10"), [10, 13, 12])):
            with self.subTest(options=options):
                self.succeeds("scan", "--op", "sum", *options, path, "-o", self.path("y.npy"), "--force")
                descr, shape, data = read_npy(self.path("y.npy"))
                self.assertEqual((descr, shape, values("i64", data)), ("<i8", (3,), expected))

    def test_example_data(self):
        for name, dtype in (("sunspots.npy", "f32"), ("elnino.npy", "f64")):
            data = (EXAMPLES / name).read_bytes()[128:]
            for exclusive in (False, True):
                options = ["--exclusive"] if exclusive else []
                self.succeeds("scan", "--op", "sum", *options, EXAMPLES / name, "--force", "-o", self.path("y.npy"))
                descr, shape, got = read_npy(self.path("y.npy"))
                self.assertEqual((descr, shape), ("<" + dtype[0] + str(int(dtype[1:]) // 8), (len(data) // DTYPES[dtype].bytes,)))
                self.assertEqual(got, by_law("sum", dtype, data, exclusive))

    def test_types_of_outputs(self):
        for op, dtype, numbers, options, descr, expected in (
                ("max", "i8", [1, 5, 2], (), "|i1", [1, 5, 5]), ("all", "i32", [1, 0, 2], (), "|u1", [1, 0, 0]),
                ("count_nonzero", "f32", [1, 0, 2], (), "<u8", [1, 1, 2]),
                ("sum", "f32", [1, 2], ("--out-dtype", "f64"), "<f8", [1, 3]),
                ("sum", "f16", [1, 2], (), "<f2", [1, 3]), ("sum", "bf16", [0x3f80, 0x4000], (), "<V2", [0x3f80, 0x4040])):
            with self.subTest(op=op, dtype=dtype):
                self.succeeds("scan", "--op", op, "--dtype", dtype, *options, "-", "-fo", self.path("y.npy"),
                              stdin=raw(dtype, numbers))
                got_descr, shape, data = read_npy(self.path("y.npy"))
                letter = {"|i1": "b", "|u1": "B", "<u8": "Q", "<f8": "d", "<f2": "e", "<V2": "H"}[descr]
                self.assertEqual((got_descr, shape, list(struct.unpack(f"<{len(expected)}{letter}", data))),
                                 (descr, (len(expected),), expected))

    def test_pieces(self):
        """Three buffers: from a file and a pipe the same bits; exclusive[i + 1] is inclusive[i]."""
        count = 9_000_001
        data = raw("f32", [((i * 7919) % 1000 - 500) / 7 for i in range(1000)]) * 9000 + raw("f32", [1])
        self.succeeds("scan", "--op", "sum", "--dtype", "f32", self.file("x.raw", data), "-o", self.path("y.raw"))
        got = pathlib.Path(self.path("y.raw")).read_bytes()
        self.assertEqual(len(got), 4 * count)
        self.assertEqual(got[:4 * 5000], by_law("sum", "f32", data[:4 * 5000]))
        piped = self.succeeds("scan", "--op", "sum", "--dtype", "f32", "-", "-o", "-", stdin=data)
        self.assertTrue(piped == got, "a pipe gives other bits than the file")
        exclusive = self.succeeds("scan", "--op", "sum", "--exclusive", "--dtype", "f32", self.path("x.raw"), "-o", "-")
        self.assertTrue(exclusive[4:] == got[:-4], "exclusive[i + 1] and inclusive[i] differ")

    def test_empty(self):
        self.succeeds("scan", "--op", "sum", self.file("x.npy", npy("f32", [])), "-o", self.path("y.npy"))
        self.assertEqual(read_npy(self.path("y.npy")), ("<f4", (0,), b""))
        self.succeeds("scan", "--op", "min", "--dtype", "f32", "-", "-o", self.path("z.npy"), stdin=b"")
        self.assertEqual(read_npy(self.path("z.npy")), ("<f4", (0,), b""))

    def test_refused(self):
        path = self.file("x.npy", npy("i32", [3, -1, 4]))
        self.fails(LIBRARY, "scan", "--op", "argmin", path, "-o", self.path("y.npy"), says="argmin")
        self.fails(USAGE, "scan", "--op", "sum", path, says="--output")
        self.fails(USAGE, "scan", path, "-o", self.path("y.npy"), says="--op")
        self.only_files("x.npy")


class Files(ToolTest):
    def setUp(self):
        super().setUp()
        self.x = self.file("x.npy", npy("i32", [3, -1, 4]))
        self.sums = raw("i64", [3, 2, 6])

    def scan(self, *options):
        self.succeeds("scan", "--op", "sum", self.x, *options)

    def test_format_follows_the_name(self):
        self.scan("-o", self.path("y.npy"))
        self.scan("--output", self.path("y.raw"))
        self.scan("-o", self.path("npy"))
        self.assertEqual(read_npy(self.path("y.npy"))[2], self.sums)
        self.assertEqual((self.folder / "y.raw").read_bytes(), self.sums)
        self.assertEqual((self.folder / "npy").read_bytes(), self.sums)

    def test_standard_output_has_the_format_of_the_input(self):
        out = self.succeeds("scan", "--op", "sum", self.x, "-o", "-")
        self.assertEqual(out, npy("i64", [3, 2, 6]).ljust(0)[:10] + out[10:])
        self.assertTrue(out.endswith(self.sums) and out.startswith(b"\x93NUMPY"))
        self.assertEqual(self.line("reduce", "--op", "sum", "-", stdin=out), "11")
        out = self.succeeds("scan", "--op", "sum", "--dtype", "i32", "-", "-o", "-", stdin=raw("i32", [3, -1, 4]))
        self.assertEqual(out, self.sums)

    def test_existing_file(self):
        y = self.file("y.npy", b"precious")
        self.fails(IO, "scan", "--op", "sum", self.x, "-o", y, says=("exists", "--force"))
        self.assertEqual((self.folder / "y.npy").read_bytes(), b"precious")
        self.scan("-o", y, "--force")
        self.assertEqual(read_npy(y)[2], self.sums)
        self.only_files("x.npy", "y.npy")

    def test_failure_keeps_the_existing_file(self):
        y = self.file("y.npy", b"precious")
        bad = npy("i32", [1, 2, 3])[:-1]
        self.fails(IO, "scan", "--op", "sum", "-", "-o", y, "--force", stdin=bad, says="ends after")
        self.fails(IO, "scan", "--op", "sum", "-", "-o", self.path("z.npy"), stdin=bad, says="ends after")
        self.assertEqual((self.folder / "y.npy").read_bytes(), b"precious")
        self.only_files("x.npy", "y.npy")

    def test_closed_streams(self):
        """Files that the tool opens do not take the place of standard streams; nothing else gets into them."""
        for closed in ((0,), (1,), (0, 1), (2,), (0, 1, 2)):
            with self.subTest(closed=closed):
                y = self.path(f"y{len(closed)}{closed[0]}.npy")
                code, out, err = self.run_tool("scan", "--op", "sum", self.x, "-o", y, env={"RED_VERBOSE": "1"},
                                               preexec_fn=lambda: [os.close(fd) for fd in closed])
                self.assertEqual((code, out), (OK, b""))
                self.assertEqual("libred" in err, 2 not in closed)
                self.assertEqual(read_npy(y), ("<i8", (3,), self.sums))

    def test_in_place(self):
        self.scan("-o", self.x, "-f")
        self.assertEqual(read_npy(self.x)[2], self.sums)

    def test_file_that_appears_meanwhile(self):
        y = self.folder / "y.raw"
        process = self.start("scan", "--op", "sum", "--dtype", "u8", "-", "-o", y, stdin=-1)
        process.stdin.write(bytes(5000))
        process.stdin.flush()
        self.wait_for_temporary("y.raw", process)
        y.write_bytes(b"precious")
        out, err = process.communicate()
        self.assertEqual((process.returncode, out), (IO, b""), err)
        self.assertIn(b"created meanwhile", err)
        self.assertEqual(y.read_bytes(), b"precious")
        self.only_files("x.npy", "y.raw")

    def test_mode(self):
        mask = os.umask(0o027)
        try:
            self.scan("-o", self.path("y.npy"))
        finally:
            os.umask(mask)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("y.npy")).st_mode), 0o640)
        os.chmod(self.path("y.npy"), 0o604)
        self.scan("-o", self.path("y.npy"), "--force")
        self.assertEqual(stat.S_IMODE(os.stat(self.path("y.npy")).st_mode), 0o604)

    def test_link(self):
        self.file("target.npy", b"old")
        os.symlink("target.npy", self.path("link.npy"))
        self.fails(IO, "scan", "--op", "sum", self.x, "-o", self.path("link.npy"), says="exists")
        self.scan("-o", self.path("link.npy"), "--force")
        self.assertTrue(os.path.islink(self.path("link.npy")))
        self.assertEqual(read_npy(self.path("target.npy"))[2], self.sums)

    def test_dangling_link(self):
        os.symlink("none.npy", self.path("link.npy"))
        for options in ((), ("--force",)):
            with self.subTest(options=options):
                self.fails(IO, "scan", "--op", "sum", self.x, "-o", self.path("link.npy"), *options, says="dangling link")
        self.assertEqual(os.readlink(self.path("link.npy")), "none.npy")
        self.only_files("link.npy", "x.npy")

    def test_places_that_cannot_be_written(self):
        self.fails(IO, "scan", "--op", "sum", self.x, "-o", self.folder, "--force", says="is a directory")
        self.fails(IO, "scan", "--op", "sum", self.x, "-o", self.path("none/y.npy"), says="No such file")
        self.fails(IO, "scan", "--op", "sum", self.x, "-o", self.path("x.npy/y.npy"), says="Not a directory")
        self.only_files("x.npy")

    def test_device_and_fifo(self):
        self.scan("-o", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        got = []
        reader = threading.Thread(target=lambda: got.append(pathlib.Path(fifo).read_bytes()))
        reader.start()
        self.scan("-o", fifo)
        reader.join()
        self.assertEqual(got, [self.sums])

    def test_npy_of_unknown_length(self):
        """Through a pipe the header is completed at the end; where that cannot be, it is an error."""
        data = raw("i32", [3, -1, 4])
        self.succeeds("scan", "--op", "sum", "--dtype", "i32", "-", "-o", self.path("y.npy"), stdin=data)
        self.assertEqual(read_npy(self.path("y.npy")), ("<i8", (3,), self.sums))
        os.symlink("/dev/null", self.path("null.npy"))
        self.fails(USAGE, "scan", "--op", "sum", "--dtype", "i32", "-", "-o", self.path("null.npy"), stdin=data,
                   says="not known yet")

    def test_terminal(self):
        master, slave = os.openpty()
        self.fails(USAGE, "scan", "--op", "sum", self.x, "-o", "-", stdout=slave, says="terminal")
        os.close(slave)
        os.close(master)


if __name__ == "__main__":
    main()
