# SPDX-License-Identifier: BSD-2-Clause
"""What redtool reads: .npy of every version, order and shape, raw elements, pipes; and what it refuses."""
import struct

from harness import BYTES, IO, USAGE, ToolTest, main, npy, npy_header, raw

TEXT = "{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"


def header(descr="'<i4'", shape="(3,)", **options):
    return npy_header(TEXT.format(descr=descr, shape=shape), **options)


class Accepted(ToolTest):
    def check(self, content, expected, *options, op="sum"):
        """From a file and from a pipe."""
        path = self.file("in.npy", content)
        self.assertEqual(self.line("reduce", "--op", op, *options, path), expected)
        self.assertEqual(self.line("reduce", "--op", op, *options, "-", stdin=content), expected, "through a pipe")

    def test_every_type_in_both_byte_orders(self):
        for dtype in BYTES:
            if dtype == "bf16":
                continue
            for order in "<>":
                with self.subTest(dtype=dtype, order=order):
                    self.check(npy(dtype, [1, 2, 3, 100], order=order), "106")

    def test_versions(self):
        for version in ((1, 0), (2, 0), (3, 0)):
            with self.subTest(version=version):
                self.check(npy("i32", [5, -7], version=version), "-2")

    def test_shapes(self):
        for shape in ((), (1,), (1, 1, 1)):
            with self.subTest(shape=shape):
                self.check(npy("f64", [2.5], shape=shape), "2.5")
        for fortran in (False, True):
            self.check(npy("i16", list(range(24)), shape=(2, 3, 4), fortran=fortran), "276")

    def test_memory_order_counts(self):
        self.check(npy("i32", [3, 9, 1, 2], shape=(2, 2), fortran=True), "1", op="argmax")

    def test_empty_shapes(self):
        for shape in ((0,), (0, 3), (3, 0, 10 ** 18, 10 ** 18)):
            with self.subTest(shape=shape):
                self.check(npy("i32", [], shape=shape), "0")

    def test_native_order_mark(self):
        self.check(header("'=i4'") + raw("i32", [1, 2, 3]), "6")

    def test_booleans(self):
        self.check(header("'|b1'", "(4,)") + bytes([1, 0, 1, 1]), "3", op="count_nonzero")
        self.check(header("'|b1'", "(4,)") + bytes([1, 0, 1, 1]), "0", op="all")

    def test_other_spellings_of_the_dictionary(self):
        spellings = ["{'shape': (3,), 'fortran_order': False, 'descr': '<i4'}",
                     '{"descr":"<i4","fortran_order":False,"shape":(3,)}',
                     "{'descr': '<i4', 'fortran_order': False, 'shape': (3L,), }",
                     " { 'descr' : '<i4' , 'fortran_order' : True , 'shape' : ( 3 , ) , } "]
        for text in spellings:
            with self.subTest(text=text):
                self.check(npy_header(text) + raw("i32", [1, 2, 3]), "6")

    def test_unpadded_header(self):
        text = TEXT.format(descr="'<i4'", shape="(3,)").encode()
        self.check(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + raw("i32", [1, 2, 3]), "6")

    def test_bf16(self):
        bits = [0x3f80, 0x4000, 0xbf00]  # 1, 2, -0.5
        self.check(npy("bf16", bits), "2.5", "--dtype", "bf16")
        self.check(npy("u16", bits), "2.5", "--dtype", "bf16")
        self.check(npy("bf16", bits, order=">"), "2.5", "--dtype", "bf16")
        self.check(header("'|V2'") + raw("bf16", bits), "2.5", "--dtype", "bf16")

    def test_dtype_that_agrees(self):
        self.check(npy("f32", [1.5, 2]), "3.5", "--dtype", "f32")

    def test_raw(self):
        for dtype in BYTES:
            numbers = [0x4040, 0x4000] if dtype == "bf16" else [3, 2]
            with self.subTest(dtype=dtype):
                self.check(raw(dtype, numbers), "5", "--dtype", dtype)

    def test_raw_shorter_than_a_header(self):
        self.check(b"", "0", "--dtype", "f64")
        self.check(bytes([7]), "7", "--dtype", "u8")
        self.check(bytes([7] * 11), "77", "--dtype", "u8")

    def test_big_pipe_and_file_agree(self):
        data = struct.pack("<1000f", *(((i * 7919) % 1000 - 500) / 7 for i in range(1000))) * 9001  # two buffers and more
        path = self.file("big.raw", data)
        options = ("reduce", "--op", "sum", "--dtype", "f32", "--hex")
        self.assertEqual(self.line(*options, path), self.line(*options, "-", stdin=data))
        header_text = npy_header("{'descr': '>f4', 'fortran_order': False, 'shape': (9001000,), }")
        swapped = struct.pack(">1000f", *struct.unpack("<1000f", data[:4000])) * 9001
        swapped_path = self.file("swapped.npy", header_text + swapped)
        self.assertEqual(self.line("reduce", "--op", "sum", "--hex", swapped_path), self.line(*options, path))

    def test_device_files(self):
        self.assertEqual(self.line("reduce", "--op", "sum", "--dtype", "u8", "/dev/null"), "0")


class Refused(ToolTest):
    def check(self, content, *says, options=()):
        path = self.file("bad.npy", content)
        self.fails(IO, "reduce", "--op", "sum", *options, path, says=(path, *says))
        self.fails(IO, "reduce", "--op", "sum", *options, "-", stdin=content, says=("standard input", *says))

    def test_types(self):
        three = raw("i32", [1, 2, 3])
        for descr, says in (("'|O'", "object dtype"), ("[('a', '<i4'), ('b', '<f8')]", "structured"),
                            ("[]", "structured"), ("'|V8'", "structured or opaque"), ("'<V2'", "--dtype bf16"),
                            ("'<c8'", "complex"), ("'<U3'", "strings"), ("'|S4'", "strings"), ("'<M8[ns]'", "dates"),
                            ("'<m8[s]'", "dates"), ("'<f16'", "'<f16' is not supported"), ("'<i3'", "not supported"),
                            ("'i4'", "unknown"), ("'|i4'", "no byte order"), ("''", "unknown"), ("'<'", "unknown"),
                            ("17", "no string"), ("'<i4\x07'", "plain text"), ("'" + "x" * 99 + "'", "long")):
            with self.subTest(descr=descr):
                self.check(header(descr) + three, says)

    def test_dtype_that_disagrees(self):
        self.check(npy("f32", [1]), "'<f4'", "--dtype says f64", options=("--dtype", "f64"))
        self.check(npy("u32", [1]), "'<u4'", "--dtype says i32", options=("--dtype", "i32"))

    def test_lying_shapes(self):
        data = raw("i32", [1, 2, 3])
        for shape, says in (("(-3,)", "negative"), ("(2, -1)", "negative"), ("(3)", "not a tuple"), ("3", "'('"),
                            ("(3.0,)", "no ','"), ("(,)", "no integer"), ("(3,,)", "no integer"), ("(3 4)", "no ','"),
                            ("(99999999999999999999,)", "2^63"), ("(9223372036854775808,)", "2^63"),
                            ("(4294967296, 4294967296)", "2^63 - 1 elements"),
                            ("(3037000500, 3037000500)", "2^63 - 1 elements"),
                            ("(9223372036854775807,)", "2^63 - 1 bytes"), ("(2305843009213693952,)", "2^63 - 1 bytes")):
            with self.subTest(shape=shape):
                self.check(header(shape=shape) + data, says)

    def test_shape_that_the_file_does_not_hold(self):
        for shape in ("(4,)", "(1000000000000,)", "(2305843009213693951,)"):
            content = header(shape=shape) + raw("i32", [1, 2, 3])
            path = self.file("bad.npy", content)
            with self.subTest(shape=shape):
                self.fails(IO, "reduce", "--op", "sum", path, says="the file holds 12 bytes")
                self.fails(IO, "reduce", "--op", "sum", "-", stdin=content, says="ends after 3 of the")

    def test_more_than_the_header_says(self):
        content = npy("i32", [1, 2, 3]) + b"\0"
        path = self.file("bad.npy", content)
        self.fails(IO, "reduce", "--op", "sum", path, says="holds 13 bytes")
        self.fails(IO, "reduce", "--op", "sum", "-", stdin=content, says="more bytes follow")

    def test_headers_that_are_cut(self):
        whole = npy("i32", [1, 2, 3])
        for length in (6, 7, 9, 10, 11, 12, 50, 127):
            with self.subTest(length=length):
                self.check(whole[:length], "truncated")

    def test_dictionaries_that_are_none(self):
        for text, says in (("", "'{'"), ("{", "key"), ("{}", "no key 'descr'"), ("{'descr': '<i4'}", "'fortran_order'"),
                           ("{'descr': '<i4', 'fortran_order': False}", "'shape'"),
                           ("{'descr': '<i4', 'descr': '<i4'}", "twice"), ("{'color': 1}", "unknown key 'color'"),
                           ("{'descr' '<i4'}", "':'"), ("{'descr': '<i4' 'shape': (3,)}", "','"),
                           ("{'descr': '<i4', 'fortran_order': 0, 'shape': (3,)}", "neither True nor False"),
                           ("{'descr': '<i4', 'fortran_order': False, 'shape': (3,)} x", "after the closing brace"),
                           ("{'descr': '<i4', 'fortran_order': False, 'shape': (3,", "extent"),
                           ("{'descr': '<i4", "closing quote")):
            with self.subTest(text=text):
                self.check(npy_header(text) + raw("i32", [1, 2, 3]), says)

    def test_versions(self):
        for version in ((0, 0), (1, 1), (4, 0), (255, 255)):
            with self.subTest(version=version):
                self.check(npy("i32", [1], version=version), f"{version[0]}.{version[1]}")

    def test_absurd_header_length(self):
        self.check(header(version=(2, 0), length=0xffffffff) + raw("i32", [1, 2, 3]), "4294967295 bytes")
        self.check(b"\x93NUMPY\x01\x00\x00\x00" + bytes(10), "empty")

    def test_not_npy_at_all(self):
        self.check(b"hello, world\n", "--dtype")

    def test_raw_of_broken_length(self):
        self.check(bytes(10), "10 bytes", "f32", options=("--dtype", "f32"))
        self.check(bytes(13), "13 bytes", "f64", options=("--dtype", "f64"))

    def test_missing_empty_and_directory(self):
        self.fails(IO, "reduce", "--op", "sum", self.path("none.npy"), says="No such file")
        self.fails(IO, "reduce", "--op", "sum", self.folder, says="is a directory")
        self.fails(IO, "reduce", "--op", "sum", "--dtype", "f32", self.folder, says="is a directory")
        self.fails(IO, "reduce", "--op", "sum", self.file("empty.npy", b""), says=("empty", "--dtype"))
        self.fails(IO, "reduce", "--op", "sum", "-", stdin=b"", says="--dtype")
        self.fails(IO, "stats", self.path("none/none.npy"), says="No such file")

    def test_unknown_dtype(self):
        self.fails(USAGE, "reduce", "--op", "sum", "--dtype", "float32", "-", says="unknown dtype 'float32'")


if __name__ == "__main__":
    main()
