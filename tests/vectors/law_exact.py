# SPDX-License-Identifier: BSD-2-Clause
"""`exact-1`, executed: the true value of a reduction in Python integers, rounded once (docs/numerics.md).

Terms are integers in units of 2^-2148, the smallest product of two f64, or the special values of exact.py.
"""
from math import isqrt

from exact import INF, NAN, NINF, NZERO, is_negative, is_zero

EMPTY = "RED_ERR_EMPTY"
UNIT = 1074  # binary places between the units of exact.py and ours


def term(value):
    return value << UNIT if type(value) is int else value


def product(a, b):
    negative, infinite = is_negative(a) != is_negative(b), a in (INF, NINF) or b in (INF, NINF)
    if a is NAN or b is NAN or infinite and (is_zero(a) or is_zero(b)):
        return NAN
    if infinite:
        return NINF if negative else INF
    if is_zero(a) or is_zero(b):
        return NZERO if negative else 0
    return a * b


def magnitude(value):
    if type(value) is int:
        return abs(value) << UNIT
    return {NZERO: 0, NINF: INF}.get(value, value)


def terms(op, x):
    if op == "dot":
        half = len(x) // 2
        return [product(a, b) for a, b in zip(x[:half], x[half:])]
    if op in ("sumsq", "nrm2"):
        return [product(a, a) for a in x]
    return [magnitude(a) if op == "asum" else term(a) for a in x]


def total(values):
    """-0 only if there are terms and all of them are."""
    if NAN in values or (INF in values and NINF in values):
        return NAN
    for infinity in (INF, NINF):
        if infinity in values:
            return infinity
    exact = sum(v for v in values if v is not NZERO)
    return NZERO if values and all(v is NZERO for v in values) else exact


def quotient(out, value, n):
    """A hundred places more than a term has, and one that says whether there are others."""
    whole, rest = divmod(abs(value) << 100, n)
    whole = whole << 1 | (rest != 0)
    return out.round(-whole if value < 0 else whole, UNIT + 101)


def root(out, value):
    """sqrt(value * 2^-2148) = isqrt(value * 2^200) * 2^-100 * 2^-1074"""
    whole = isqrt(value << 200)
    return out.round(whole << 1 | (whole * whole != value << 200), 101)


def reduce(op, out, x, init=None):
    """The output's bits, or EMPTY."""
    if op == "mean" and not x:
        return EMPTY
    values = terms(op, x)
    sum_ = total(values if init is None else [*values, term(init)])
    if type(sum_) is not int or sum_ == 0:
        return out.encode(sum_)
    if op == "mean":
        return out.encode(quotient(out, sum_, len(x)))
    return out.encode(root(out, sum_) if op == "nrm2" else out.round(sum_, UNIT))
