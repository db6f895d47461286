# SPDX-License-Identifier: BSD-2-Clause
"""`exact-1`, executed: the true value of a reduction in Python integers, rounded once (docs/numerics.md)."""
from exact import INF, NAN, NINF, NZERO


def total(values):
    """The sum of values, as exact.py has them; -0 only if there are elements and all of them are."""
    if NAN in values or (INF in values and NINF in values):
        return NAN
    for infinity in (INF, NINF):
        if infinity in values:
            return infinity
    exact = sum(v for v in values if v is not NZERO)
    return NZERO if values and all(v is NZERO for v in values) else exact


def reduce(out, x, init=None):
    """The output's bits."""
    return out.encode(out.round(total(x if init is None else [*x, init])))
