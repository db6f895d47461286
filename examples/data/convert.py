#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Make the arrays in this folder from a wheel of the Python package statsmodels, which carries the tables.

    pip download --no-deps statsmodels
    convert.py statsmodels-*.whl
"""
import pathlib
import struct
import sys
import zipfile

FOLDER = pathlib.Path(__file__).resolve().parent
TABLES = "statsmodels/datasets/"


def write_npy(name, code, shape, values):
    """A .npy file of version 1.0, little endian; code is struct's letter."""
    descr = {"f": "<f4", "d": "<f8"}[code]
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    header = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
    (FOLDER / name).write_bytes(header + struct.pack(f"<{len(values)}{code}", *values))


def sunspots(table):
    """Rows of a year and its twelve months; only whole years."""
    rows = [line.split() for line in table.splitlines()]
    rows = [row for row in rows if len(row) == 13 and row[0].isdigit()]
    assert [int(row[0]) for row in rows] == list(range(1749, 2009))
    values = [float(value) for row in rows for value in row[1:]]
    write_npy("sunspots.npy", "f", (len(values),), values)


def elnino(table):
    """Comma-separated: a line of names, then a year and its twelve months."""
    rows = [line.split(",")[1:] for line in table.split()[1:]]
    write_npy("elnino.npy", "d", (len(rows), 12), [float(value) for row in rows for value in row])


def main(wheel):
    with zipfile.ZipFile(wheel) as archive:
        sunspots(archive.read(TABLES + "sunspots/src/sunspots_monthly.dat").decode())
        elnino(archive.read(TABLES + "elnino/elnino.csv").decode())


if __name__ == "__main__":
    main(*sys.argv[1:])
