# SPDX-License-Identifier: BSD-2-Clause
"""What the lists of cases are written with: a case, and inputs that many of them share."""
from collections import namedtuple

from exact import NAN

# op of stats: a selection; dtypes is in[/acc[/out]]; init is (text, value); at: the scan outputs that a vector spells out; exact: `exact-1`
Case = namedtuple("Case", "id kind op dtypes input init at exact", defaults=(None, (), False))

ONE = 1 << 1074
SCANS = ("scan", "exscan")
# interesting indices of scans
KS = (0, 1, 2, 3, 6, 7, 8, 30, 31, 32, 62, 63, 64, 126, 127, 128, 1022, 1023, 1024, 2046, 2047, 2048, 4094, 4095, 4096)


def element(dtype, value):
    """Bits of a value, which must be one of the dtype's, as the files spell them."""
    bits = dtype.encode(value)
    assert dtype.decode(bits) == value or value is NAN
    return f"{bits:0{2 * dtype.bytes}x}"


def elements(dtype, *values):
    return " ".join(element(dtype, v) for v in values)


def near_one(dtype, seed, count):
    """Factors of both signs near 1, spread so that the logarithm of the product stays small at any count."""
    above = 1 << max(dtype.fraction - 6, 1)
    below = round(above * 2 ** 0.5)  # steps below 1 are half as large
    lo, span, half = dtype.encode(ONE) - below, above + below + 1, count // 2
    return f"bits({seed},{lo:#x},{span:#x},{count - half}) neg(bits({seed + 1},{lo:#x},{span:#x},{half}))"


def tiny(dtype, seed, count):
    """Subnormal numbers of both signs."""
    span = (1 << dtype.fraction) - 1
    half = count // 2
    return f"bits({seed},0x1,{span:#x},{count - half}) neg(bits({seed + 1},0x1,{span:#x},{half}))"


def specials(dtype):
    """Bits of every kind of float: zeros, subnormals, ones, largest, infinities and NaNs of all sorts."""
    quiet = dtype.nan_bits
    positive = [0, 1, dtype.encode(ONE), dtype.encode(dtype.largest), dtype.inf_bits,
                quiet, quiet | 5, dtype.inf_bits | 1]
    return positive + [dtype.sign | b for b in positive]


