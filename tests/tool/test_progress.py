# SPDX-License-Identifier: BSD-2-Clause
"""The progress line: on a terminal, after a second, and not otherwise."""
import subprocess
import time

from harness import OK, Screen, ToolTest, main, npy_header

PIECE = 1 << 22
PIECES = 6  # take a second and a half


class Progress(ToolTest):
    def slowly(self, header, pause, columns=100, terminal=True, piece=PIECE):
        """Feed pieces with pauses; (standard output, what the terminal or standard error got)."""
        screen = Screen(columns)
        process = self.start("reduce", "--op", "sum", "--dtype", "u8", "-", stdin=subprocess.PIPE,
                             stderr=screen.slave if terminal else subprocess.PIPE)
        screen.begin()
        process.stdin.write(header)
        for _ in range(PIECES):
            process.stdin.write(bytes([1]) * piece)
            process.stdin.flush()
            time.sleep(pause)
        out, err = process.communicate()
        shown = screen.end()
        self.assertEqual((process.returncode, out), (OK, b"%d\n" % (piece * PIECES)))
        return shown if terminal else err.decode()

    header = npy_header(f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({PIECE * PIECES},), }}")

    def test_known_length(self):
        screen = self.slowly(self.header, 0.25)
        self.assertRegex(screen, r"\r\[#+ *\]  ?\d+ %  [\d.]+ [kMG]B/s, \d+ s left")
        self.assertTrue(screen.endswith("\r\x1b[K"), f"the line is not taken away: {screen[-50:]!r}")
        self.assertNotIn("\n", screen)

    def test_narrow_terminal(self):
        screen = self.slowly(self.header, 0.25, columns=40)
        self.assertRegex(screen, r"\r *\d+ %  [\d.]+ [kMG]B/s, \d+ s left")
        self.assertNotIn("[#", screen)

    def test_unknown_length(self):
        screen = self.slowly(b"", 0.25)
        self.assertRegex(screen, r"\r[\d.]+ MB  [\d.]+ [kMG]B/s")
        self.assertNotIn("left", screen)

    def test_quick_work(self):
        self.assertEqual(self.slowly(b"", 0, piece=1000), "")

    def test_no_terminal(self):
        self.assertEqual(self.slowly(self.header, 0.25, terminal=False), "")


if __name__ == "__main__":
    main()
