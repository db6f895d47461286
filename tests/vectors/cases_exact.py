# SPDX-License-Identifier: BSD-2-Clause
"""Exact sums: whatever the order, the true sum rounded once."""
from itertools import permutations

from exact import DTYPES, FLOATS, INF, NAN, NINF, NZERO
from kit import ONE, Case, element, elements, tiny

POWERS = sorted({m for k in range(14) for m in ((1 << k) - 1, 1 << k, (1 << k) + 1)})


def case(label, dtypes, text, init=None):
    return Case(f"exact-{label}", "reduce", "sum", dtypes, text, init, (), True)


def whole_range(dtype, seed, count):
    """Finite numbers of every exponent and both signs."""
    half = count // 2
    return f"bits({seed},0,{dtype.inf_bits:#x},{count - half}) neg(bits({seed + 1},0,{dtype.inf_bits:#x},{half}))"


def exact_lengths():
    for dtype in FLOATS:
        name = dtype.name
        for n in POWERS:
            yield case(f"{name}-{n}", name, f"uniform(7,{n})" if n else "")
            if n > 1:
                yield case(f"{name}-range-{n}", name, whole_range(dtype, n, n))


def exact_values():
    for dtype in FLOATS:
        name, zero = dtype.name, element(dtype, NZERO)
        for n in (1, 127, 128, 129, 2049, 4097):
            yield case(f"{name}-negative-zeros-{n}", name, f"{zero}*{n}")
            yield case(f"{name}-one-zero-in-{n}", name, f"{zero}*{n - 1} {element(dtype, 0)}")
            yield case(f"{name}-zeros-{n}", name, f"{element(dtype, 0)}*{n}")
        yield case(f"{name}-cancelling-zeros", name, f"{zero} {elements(dtype, ONE, -ONE)} {zero}")
        for n in (3, 130, 5000):
            yield case(f"{name}-subnormal-{n}", name, tiny(dtype, 3, n))
            yield case(f"{name}-any-bits-{n}", name, f"bits({n},0,0,{n})")
        for at in (0, 127, 4095, 4999):
            rest = f"uniform(9,{4999 - at})" if at < 4999 else ""
            head = f"uniform(8,{at})" if at else ""
            for label, value in (("nan", NAN), ("inf", INF), ("-inf", NINF), ("largest", dtype.largest)):
                yield case(f"{name}-{label}-at-{at}", name, f"{head} {element(dtype, value)} {rest}".strip())
        yield case(f"{name}-both-infinities", name, f"{element(dtype, INF)} uniform(1,5000) {element(dtype, NINF)}")
        yield case(f"{name}-infinity-after-overflow", name,
                   f"{element(dtype, dtype.largest)}*5000 {element(dtype, NINF)}")


def exact_cancelling():
    """What is left after everything else has cancelled: the smallest numbers, far below the last place of the rest."""
    for dtype in FLOATS:
        name, least = dtype.name, 1 << dtype.quantum
        for n in (1, 17, 1000, 9000):
            text = f"bits({n},0,{dtype.inf_bits:#x},{n})"
            for label, left in (("nothing", ""), ("least", element(dtype, least)), ("minus-least", element(dtype, -least)),
                                ("one", element(dtype, ONE))):
                yield case(f"{name}-cancelling-{n}-{label}", name, f"{text} {left} neg({text})")
        small, huge = element(dtype, least), elements(dtype, dtype.largest)
        yield case(f"{name}-late-largest", name, f"{small}*9000 {huge} neg({huge})")
        yield case(f"{name}-large-then-small", name, f"{huge}*3000 {small}*3 neg({huge}*3000)")


def exact_rooms():
    """Significands of all ones at every exponent: what is closest to overflowing an accumulator's head-room."""
    for dtype in FLOATS:
        name, ones = dtype.name, (1 << dtype.fraction) - 1
        step, count = 1 << dtype.fraction, dtype.exponents
        ramp = f"ramp({ones:#x},{step:#x},{count})"
        yield case(f"{name}-all-ones", name, f"({ramp})*4" if count > 300 else f"({ramp})*33")
        yield case(f"{name}-all-ones-negative", name, f"neg(({ramp})*2)")
        for exponent in sorted({1, 15, 16, 17, min(31, count - 1), min(32, count - 1), count // 2, count - 1}):
            bits = exponent << dtype.fraction | ones
            yield case(f"{name}-all-ones-at-{exponent}", name, f"{bits:0{2 * dtype.bytes}x}*9001")
            yield case(f"{name}-all-ones-cancel-at-{exponent}", name,
                       f"{bits:0{2 * dtype.bytes}x}*5000 {element(dtype, 1 << dtype.quantum)} "
                       f"neg({bits:0{2 * dtype.bytes}x}*5000)")


def exact_rounding():
    for dtype in FLOATS:
        name, p, least = dtype.name, dtype.precision, 1 << dtype.quantum
        ulp = ONE >> p - 1
        rows = {
            "tie-even": (ONE, ulp // 2), "tie-odd": (ONE + ulp, ulp // 2),
            "tie-up-by-least": (ONE, ulp // 2, least), "tie-down-by-least": (ONE + ulp, ulp // 2, -least),
            "tie-negative": (-ONE, -ulp // 2, -least), "below-one": (ONE, -least), "power-tie": (ONE, -ulp // 4),
            "power-tie-down": (ONE, -ulp // 4, -least), "carry": (2 * ONE - ulp, ulp // 2),
            "subnormal-to-normal": (1 << dtype.quantum + p - 1, -least), "least": (least, least, -least),
            "to-zero": (least, -least), "minus-least": (-least,),
        }
        top = dtype.largest.bit_length() - p  # of the largest number's last place
        rows.update({
            "overflow-tie": (dtype.largest, 1 << top - 1), "overflow-below": (dtype.largest, 1 << top - 1, -least),
            "overflow-above": (dtype.largest, 1 << top - 1, least), "overflow-inside": (dtype.largest,) * 3 +
            (-dtype.largest,) * 2, "overflow-negative": (-dtype.largest, -(1 << top - 1)),
        })
        for label, values in rows.items():
            for i, order in enumerate(sorted(set(permutations(values)))[:6]):
                yield case(f"{name}-{label}-{i}", name, elements(dtype, *order))
    yield from exact_narrow()


def exact_narrow():
    """Straight from the digits: through f64 or f32 these would be rounded twice."""
    f16, f32, f64 = DTYPES["f16"], DTYPES["f32"], DTYPES["f64"]
    for out in FLOATS[:3]:
        ulp = ONE >> out.precision - 1
        rows = {"above": (ONE, ulp // 2, 1), "below": (ONE + ulp, ulp // 2, -1), "tie": (ONE, ulp // 2),
                "subnormal-above": (1 << out.quantum - 1, 1), "subnormal-tie": (1 << out.quantum - 1,),
                "subnormal-three": (3 << out.quantum - 1, -1), "underflow": (-(1 << out.quantum - 2),),
                "underflow-far": (-1,), "overflow": (out.largest, 1 << out.largest.bit_length() - out.precision - 1),
                "largest": (out.largest, 1 << out.largest.bit_length() - out.precision - 1, -1), "far": (f64.largest,)}
        for label, values in rows.items():
            yield case(f"f64-{out.name}-{label}", f"f64/f64/{out.name}", elements(f64, *values))
        for n in (33, 4097):
            yield case(f"f64-{out.name}-{n}", f"f64/f64/{out.name}", f"uniform(7,{n})")
    yield case("f32-twice", "f32", elements(f32, ONE, ONE >> 24, ONE >> 60))
    yield case("f32-f64", "f32/f32/f64", elements(f32, ONE, ONE >> 24, ONE >> 60))
    yield case("f32-f64-large", "f32/f32/f64", f"{elements(f32, f32.largest)}*4097")
    yield case("f32-f64-range", "f32/f32/f64", whole_range(f32, 5, 4097))
    yield case("f16-f64-range", "f16/f32/f64", whole_range(f16, 5, 4097))
    yield case("bf16-f32-range", "bf16/f32/f32", whole_range(DTYPES["bf16"], 5, 4097))
    yield case("f16-f32-large", "f16/f32/f32", f"{elements(f16, f16.largest)}*4097")


def exact_init():
    inits = (("0", 0), ("-0", NZERO), ("1", ONE), ("-0x1p-20", -(ONE >> 20)), ("inf", INF), ("nan", NAN))
    for dtype in FLOATS:
        for label, init in enumerate(inits):
            for n in (0, 1, 5, 4097):
                yield case(f"{dtype.name}-init{label}-{n}", dtype.name, f"uniform(5,{n})" if n else "", init)
        yield case(f"{dtype.name}-init-zeros", dtype.name, f"{element(dtype, NZERO)}*9", inits[1])
    yield case("f32-init-counts", "f32", "3f800000*3", ("16777216", ONE << 24))


def exact_integers():
    """Integers wrap as ever."""
    for name in ("i8", "u16", "i64", "u64"):
        yield case(f"{name}-1000", name, "uniform(3,1000)")
