# SPDX-License-Identifier: BSD-2-Clause
"""Exact products, squares and norms at ties, at both ends of a format's range, in any order, and among NaNs."""
from itertools import permutations
from math import isqrt

from cases_exact import POWERS, whole_range
from cases_exact_maps import LENGTHS, OPS, case, twice
from exact import DTYPES, FLOATS
from kit import ONE, Case, element, elements


def pairs(dtype, *factors):
    """The input of a dot product: all first factors, then all second ones."""
    return elements(dtype, *(a for a, _ in factors), *(b for _, b in factors))


def dot_ties():
    for dtype in FLOATS:
        p, least, largest = dtype.precision, 1 << dtype.quantum, dtype.largest
        ulp, half, bit = ONE >> p - 1, ONE >> p, (least, least)
        top = 1 << largest.bit_length() - p - 1  # half of the largest number's last place
        below = (ONE + ulp, ONE - half)  # 1 + half less half * ulp
        rows = {
            "tie-even": ((ONE, ONE), (half, ONE)), "tie-odd": ((ONE + ulp, ONE), (half, ONE)),
            "tie-up-by-least": ((ONE, ONE), (half, ONE), bit),
            "tie-down-by-least": ((ONE + ulp, ONE), (half, ONE), (least, -least)),
            "tie-negative": ((-ONE, ONE), (half, -ONE), (-least, least)),
            "below-a-tie": (below,), "tie-by-product": (below, (half, ulp)), "above-a-tie": (below, (half, ulp), bit),
            "subnormal-tie": ((least, ONE >> 1),), "subnormal-above": ((least, ONE >> 1), bit),
            "subnormal-tie-up": ((least, 3 * ONE >> 1),), "subnormal-below": ((least, 3 * ONE >> 1), (-least, least)),
            "underflow": (bit,), "underflow-negative": ((-least, least),),
            "largest-products-cancel": ((largest, largest), bit, (-largest, largest), (least, ONE)),
            "overflow-tie": ((largest, ONE), (top, ONE)), "overflow-below": ((largest, ONE), (top, ONE), (least, -least)),
            "overflow-above": ((largest, ONE), (top, ONE), bit), "overflow-negative": ((largest, -ONE), (-top, ONE)),
        }
        for label, factors in rows.items():
            for i, order in enumerate(sorted(set(permutations(factors)))[:6]):
                yield case("dot", f"{label}-{i}", dtype.name, pairs(dtype, *order))
    f64 = DTYPES["f64"]
    for out in FLOATS[:3]:  # through f64 these would be rounded twice
        half = ONE >> out.precision
        for label, factors in (("above", ((ONE, ONE), (half, ONE), (1, 1))), ("below", ((ONE, ONE), (3 * half, ONE), (1, -1))),
                               ("tie", ((ONE, ONE), (half, ONE))), ("underflow", ((1 << out.quantum - 1, ONE), (1, 1)))):
            yield case("dot", label, f"f64/f64/{out.name}", pairs(f64, *factors))


def squares_of(dtype, total, exponent):
    """Numbers of the dtype, multiples of 2^exponent, whose squares add up to total * 4^exponent."""
    parts = []
    while total:
        parts.append(min(isqrt(total), (1 << dtype.precision) - 1))
        total -= parts[-1] ** 2
    return elements(dtype, *(part * ONE << exponent if exponent >= 0 else part * ONE >> -exponent for part in parts))


def square_ties():
    for dtype in FLOATS:
        p, least, name = dtype.precision, element(dtype, 1 << dtype.quantum), dtype.name
        for label, odd in (("even", 1), ("odd", 3)):  # 1, or one place more, and half a place, as p + 1 bits
            tie = ((1 << p) + odd) << p % 2  # times 2^-(p + p % 2), an even power
            text, below = squares_of(dtype, tie, -(p + p % 2) // 2), squares_of(dtype, 4 * tie - 1, -(p + p % 2) // 2 - 1)
            yield case("sumsq", f"tie-{label}", name, text)
            yield case("sumsq", f"tie-{label}-and-least", name, f"{least} {text}")
            yield case("sumsq", f"tie-{label}-less-a-little", name, below)
        end = dtype.largest.bit_length() - 1074 - p - 1  # the largest number and half a place: (2^(p + 1) - 1) * 2^end
        tie = (1 << p + 1) - 1 << end % 2
        text, below = squares_of(dtype, tie, end // 2), squares_of(dtype, 4 * tie - 1, end // 2 - 1)
        yield case("sumsq", "overflow-tie", name, text)
        yield case("sumsq", "overflow-below", name, f"{below} {least}")
        yield case("sumsq", "overflow-above", name, f"{text} {least}")


def root_ties():
    """Roots of p + 1 bits, of which the last one is half a place."""
    for dtype in FLOATS:
        p, least, name = dtype.precision, element(dtype, 1 << dtype.quantum), dtype.name
        for tie in ((1 << p) + 1, (1 << p) + 3, (3 << p - 1) + 1, (1 << p + 1) - 1):
            text, below = squares_of(dtype, tie * tie, -p), squares_of(dtype, 4 * tie * tie - 1, -p - 1)
            for label, parts in (("tie", text), ("above", f"{text} {least}"), ("below", below)):
                yield case("nrm2", f"root-{tie:x}-{label}", name, parts)
                if dtype.bytes == 8:
                    yield Case(f"nrm2-f64-root-{tie:x}-{label}", "reduce", "nrm2", name, parts)


def payloads():
    """NaNs of any sign and payload, quiet or not, in the one or the other input."""
    for dtype in FLOATS:
        for i, nan in enumerate((dtype.nan_bits | 5, dtype.inf_bits | 1)):
            for sign in (0, dtype.sign):
                text = f"uniform(8,300) {nan | sign:0{2 * dtype.bytes}x} uniform(9,40)"
                label = f"payload-{i}{'-negative' if sign else ''}"
                yield Case(f"exact-{dtype.name}-{label}", "reduce", "sum", dtype.name, text, None, (), True)
                for op in OPS:
                    yield case(op, label, dtype.name, twice(op, text, "uniform(7,341)"))
                yield case("dot", f"{label}-second", dtype.name, f"uniform(7,341) {text}")


def lengths():
    """2^k and its neighbours that LENGTHS leaves out."""
    for op in OPS:
        for dtype in FLOATS:
            for n in POWERS:
                if 2 < n < 4100 and n not in LENGTHS:
                    yield case(op, f"range-{n}", dtype.name,
                               twice(op, whole_range(dtype, n, n), whole_range(dtype, n + 9, n)))
