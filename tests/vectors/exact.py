# SPDX-License-Identifier: BSD-2-Clause
"""The twelve dtypes in exact arithmetic: Python integers only, no float of the machine.

A finite nonzero float, or +0, is the integer v * 2^1074; NZERO, INF, NINF and NAN stand for the rest. Integers
are themselves. Every operation is done without error and rounded once, to nearest, ties to even.
"""
from math import isqrt


class Special:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


NZERO, INF, NINF, NAN = Special("-0"), Special("inf"), Special("-inf"), Special("nan")
UNIT = 1074


class Float:
    """An IEEE 754 binary format of `bits` bits with `precision` significant ones (the hidden one included)."""

    is_float = True
    signed = True

    def __init__(self, name, bits, precision):
        self.name, self.bits, self.bytes, self.precision = name, bits, bits // 8, precision
        self.fraction = precision - 1
        self.exponents = (1 << (bits - precision)) - 1
        bias = self.exponents >> 1
        self.quantum = UNIT - (bias - 1 + self.fraction)  # log2 of the smallest subnormal, in units
        self.largest = ((1 << precision) - 1) << (self.exponents - 2 + self.quantum)
        self.sign = 1 << (bits - 1)
        self.inf_bits = self.exponents << self.fraction
        self.nan_bits = self.inf_bits | 1 << (self.fraction - 1)

    def decode(self, bits):
        negative, exponent = bits & self.sign, bits >> self.fraction & self.exponents
        significand = bits & ((1 << self.fraction) - 1)
        if exponent == self.exponents:
            return NAN if significand else NINF if negative else INF
        if exponent:
            significand = (significand | 1 << self.fraction) << (exponent - 1)
        value = significand << self.quantum
        if value == 0:
            return NZERO if negative else 0
        return -value if negative else value

    def encode(self, value):
        """Bits of a value that this format represents; the NaN is the canonical one."""
        if type(value) is not int:
            return {NZERO: self.sign, INF: self.inf_bits, NINF: self.sign | self.inf_bits, NAN: self.nan_bits}[value]
        magnitude = abs(value) >> self.quantum
        exponent = max(magnitude.bit_length() - self.precision, 0)
        bits = (exponent << self.fraction) + (magnitude >> exponent)
        return bits | self.sign if value < 0 else bits

    def round(self, value, extra=0):
        """The nearest number of this format to value * 2^-extra units, ties to even."""
        if type(value) is not int or value == 0:
            return value
        magnitude = abs(value)
        quantum = max(magnitude.bit_length() - self.precision, self.quantum + extra)
        if quantum > 0:
            kept = magnitude >> quantum
            rest, half = magnitude - (kept << quantum), 1 << quantum - 1
            if rest > half or rest == half and kept & 1:
                kept += 1
            magnitude = kept << quantum
        magnitude >>= extra
        if magnitude == 0:
            return NZERO if value < 0 else 0
        if magnitude > self.largest:
            return NINF if value < 0 else INF
        return -magnitude if value < 0 else magnitude

    def add(self, a, b):
        if type(a) is int and type(b) is int:
            return self.round(a + b)
        if a is NAN or b is NAN or {a, b} == {INF, NINF}:
            return NAN
        if a is NZERO:
            return b
        if b is NZERO:
            return a
        return a if type(b) is int else b

    def mul(self, a, b):
        if a is NAN or b is NAN:
            return NAN
        negative = is_negative(a) != is_negative(b)
        infinite = a in (INF, NINF) or b in (INF, NINF)
        if is_zero(a) or is_zero(b):
            return NAN if infinite else NZERO if negative else 0
        if infinite:
            return NINF if negative else INF
        return self.round(a * b, UNIT)

    def fma(self, a, b, c):
        """a * b + c, rounded once."""
        if NAN in (a, b, c):
            return NAN
        if a in (INF, NINF) or b in (INF, NINF) or is_zero(a) or is_zero(b):
            return self.add(self.mul(a, b), c)  # the product is not rounded
        if c in (INF, NINF):
            return c
        return self.round(a * b + ((0 if c is NZERO else c) << UNIT), UNIT)

    def root(self, value):
        """The square root of a number that is not negative, rounded once."""
        if type(value) is not int or value == 0:
            return value
        square = value << UNIT  # in units of 2^-2148, whose roots are units
        whole = isqrt(square)
        return self.round(whole << 1 | (whole * whole != square), 1)

    def quotient(self, numerator, denominator):
        """numerator units / denominator, rounded once."""
        if type(numerator) is not int:
            return numerator
        whole, rest = divmod(abs(numerator) << 64, denominator)
        magnitude = whole << 1 | (rest != 0)
        return self.round(-magnitude if numerator < 0 else magnitude, 65)

    def key(self, value):
        """An integer in the order of the numbers, -0 < +0."""
        if value is NZERO:
            return -1
        if value in (INF, NINF):
            return (1 if value is INF else -1) << 3000
        return 2 * value



class Int:
    is_float = False

    def __init__(self, name, bits, signed):
        self.name, self.bits, self.bytes, self.signed = name, bits, bits // 8, signed

    def decode(self, bits):
        return bits - (1 << self.bits) if self.signed and bits >> (self.bits - 1) else bits

    def encode(self, value):
        return value & ((1 << self.bits) - 1)

    def round(self, value):
        """Wraps."""
        return self.decode(self.encode(value))

    def add(self, a, b):
        return self.round(a + b)

    def mul(self, a, b):
        return self.round(a * b)

    def key(self, value):
        return value

    @property
    def least(self):
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def greatest(self):
        return (1 << (self.bits - self.signed)) - 1


def is_negative(value):
    return value in (NZERO, NINF) if type(value) is not int else value < 0


def is_zero(value):
    return value is NZERO or type(value) is int and value == 0


DTYPES = {t.name: t for t in (
    Int("i8", 8, True), Int("i16", 16, True), Int("i32", 32, True), Int("i64", 64, True),
    Int("u8", 8, False), Int("u16", 16, False), Int("u32", 32, False), Int("u64", 64, False),
    Float("f16", 16, 11), Float("bf16", 16, 8), Float("f32", 32, 24), Float("f64", 64, 53))}
FLOATS = [t for t in DTYPES.values() if t.is_float]
INTEGERS = [t for t in DTYPES.values() if not t.is_float]
