# SPDX-License-Identifier: BSD-2-Clause
"""Exact dot products, sums of magnitudes and squares, norms and means."""
from itertools import islice

import law_exact
from cases_exact import whole_range
from exact import DTYPES, FLOATS, INF, NAN, NINF, NZERO
from inputs import lcg, uniform
from kit import ONE, Case, element, elements, specials, tiny

LENGTHS = (1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 129, 511, 513, 1023, 1024, 1025, 2049, 4099)
OPS = ("dot", "asum", "sumsq", "nrm2", "mean")


def case(op, label, dtypes, text, init=None):
    return Case(f"exact-{op}-{dtypes.replace('/', '-')}-{label}", "reduce", op, dtypes, text, init, (), True)


def twice(op, x, y):
    """The input of an operator: dot has a second one."""
    return f"{x} {y}" if op == "dot" else x


def lengths():
    for op in OPS:
        for dtype in FLOATS:
            name = dtype.name
            yield case(op, 0, name, "")
            for n in LENGTHS:
                yield case(op, n, name, twice(op, f"uniform(7,{n})", f"uniform(8,{n})"))
                if n > 1:
                    yield case(op, f"range-{n}", name, twice(op, whole_range(dtype, n, n), whole_range(dtype, n + 9, n)))
            for n in (3, 300):
                yield case(op, f"subnormal-{n}", name, twice(op, tiny(dtype, 3, n), tiny(dtype, 4, n)))
                yield case(op, f"any-bits-{n}", name, twice(op, f"bits({n},0,0,{n})", f"bits({n + 1},0,0,{n})"))


def values():
    for op in OPS:
        for dtype in FLOATS:
            name, one, minus, zero = dtype.name, element(dtype, ONE), element(dtype, NZERO), element(dtype, 0)
            least, most = element(dtype, 1 << dtype.quantum), element(dtype, dtype.largest)
            for n in (1, 9, 1025, 2049):
                yield case(op, f"negative-zeros-{n}", name, twice(op, f"{minus}*{n}", f"{one}*{n}"))
                yield case(op, f"one-zero-in-{n}", name, twice(op, f"{minus}*{n - 1} {zero}", f"{one}*{n}"))
                yield case(op, f"zeros-by-minus-{n}", name, twice(op, f"{zero}*{n}", f"neg({one})*{n}"))
                yield case(op, f"largest-{n}", name, twice(op, f"{most}*{n}", f"{most}*{n}"))
                yield case(op, f"least-{n}", name, twice(op, f"{least}*{n}", f"{least}*{n}"))
                yield case(op, f"least-by-largest-{n}", name, twice(op, f"{least}*{n}", f"neg({most})*{n}"))
            choices = ",".join(f"{b:#x}" for b in specials(dtype))
            yield case(op, "specials", name, twice(op, f"pick(3,300,{choices})", f"pick(4,300,{choices})"))
            for label, x in (("inf", INF), ("-inf", NINF), ("nan", NAN)):
                for at in (0, 1024, 2047):
                    text = f"{f'uniform(8,{at})' if at else ''} {element(dtype, x)} uniform(9,{2100 - at})".strip()
                    yield case(op, f"{label}-at-{at}", name, twice(op, text, "uniform(5,2101)"))
            if op in ("dot", "asum", "sumsq"):
                for label, init in enumerate((("-0", NZERO), ("1", ONE), ("nan", NAN))):
                    for n in (0, 1, 1025):
                        text = twice(op, f"uniform(5,{n})", f"uniform(6,{n})") if n else ""
                        yield case(op, f"init{label}-{n}", name, text, init)


def power(exponent):
    return 1 << 1074 + exponent


def published_dots():
    """(label, dtype, x, y, the answer that came with the specification): products overflow, underflow or cancel."""
    f32, f64 = DTYPES["f32"], DTYPES["f64"]
    return [
        ("overflow", f64, (power(600), power(600), ONE), (power(600), -power(600), ONE), "3ff0000000000000"),
        ("underflow", f64, (power(-600), power(-600)), (power(-470), power(-480)), "0000000000000010"),
        ("underflow-tie", f64, (power(-540),) * 3, (power(-535), -power(-537), power(-537)), "0000000000000000"),
        ("cancel", f64, (ONE + (ONE >> 52), -ONE), (ONE + (ONE >> 52), ONE + (ONE >> 51)), "3970000000000000"),
        ("cancel", f32, (ONE + (ONE >> 23), -ONE), (ONE + (ONE >> 23), ONE + (ONE >> 22)), "28800000"),
        ("overflow", f32, (power(127), power(127), ONE), (power(127), -power(127), power(-149)), "00000001"),
    ]


def check_published(label, dtype, terms, bits):
    made = law_exact.reduce("dot", dtype, terms)
    assert f"{made:0{2 * dtype.bytes}x}" == bits, f"{label}: {made:x}, published: {bits}"


def dots():
    for label, dtype, x, y, bits in published_dots():
        check_published(label, dtype, [*x, *y], bits)
        yield case("dot", label, dtype.name, elements(dtype, *x, *y))
    f64, later = DTYPES["f64"], next(islice(lcg(1), 1023, None))  # y goes on where x ends
    terms = [f64.decode(u) for seed in (1, later) for u in uniform(f64, seed, 1024)]
    check_published("uniform", f64, terms, "40103af5658e8e0f")
    yield case("dot", "uniform", "f64", f"uniform(1,1024) uniform({later},1024)")
    for dtype in FLOATS:
        for n in (64, 1024, 5000):
            yield case("dot", f"cancels-{n}", dtype.name,
                       f"uniform(5,{n}) neg(uniform(5,{n})) {element(dtype, ONE)} uniform(6,{n})*2 {1:0{2 * dtype.bytes}x}")


def roots():
    """Squares and their neighbours, whose roots are numbers, ties and what is beside them; and every scale."""
    for dtype in FLOATS:
        p, name, least = dtype.precision, dtype.name, 1 << dtype.quantum
        ulp = ONE >> p - 1
        for label, parts in (("number", (3 * ONE, 4 * ONE)), ("beside", (3 * ONE, 4 * ONE, least)),
                             ("largest", (dtype.largest,)), ("largest-and-least", (dtype.largest, least)),
                             ("overflow", (dtype.largest, dtype.largest)), ("least", (least,)), ("least-two", (least, least)),
                             ("least-four", (least,) * 4), ("least-five", (least,) * 5), ("odd", (ONE + ulp, ulp)),
                             ("pythagoras", (8 * ONE, 15 * ONE, 2 * ulp)), ("negative", (-3 * ONE, -4 * ONE))):
            yield case("nrm2", label, name, elements(dtype, *parts))
            if dtype.bytes == 8:
                yield Case(f"nrm2-f64-{label}", "reduce", "nrm2", name, elements(dtype, *parts))
        for out in FLOATS:
            acc = "f64"
            yield case("nrm2", f"into-{out.name}", f"{name}/{acc}/{out.name}", "uniform(3,100)")
    for n in (0, 1, 1000, 4097):
        yield Case(f"nrm2-f64-{n}", "reduce", "nrm2", "f64", f"uniform(3,{n})" if n else "")
        yield Case(f"nrm2-f64-range-{n}", "reduce", "nrm2", "f64", whole_range(DTYPES["f64"], 3, n) if n > 1 else "")


def means():
    for dtype in FLOATS:
        name, least, p = dtype.name, 1 << dtype.quantum, dtype.precision
        ulp = ONE >> p - 1
        for label, parts in (("third", (ONE, 0, 0)), ("tie", (ONE + ulp, ONE)), ("tie-up", (ONE + 2 * ulp, ONE + ulp)),
                             ("above-tie", (ONE + ulp, ONE, least, -least, least)), ("least-half", (least, 0)),
                             ("least-three-halves", (least,) * 3 + (0,)), ("least-third", (least, 0, 0)),
                             ("two-thirds-least", (least, least, 0)), ("largest", (dtype.largest,) * 3),
                             ("negative", (-ONE, 0, 0)), ("minus-least-third", (-least, NZERO, NZERO))):
            yield case("mean", label, name, elements(dtype, *parts))
        for out in FLOATS:
            acc = "f64" if dtype.bytes == 8 else "f32"
            for n in (3, 7, 2049):
                yield case("mean", f"{n}-into-{out.name}", f"{name}/{acc}/{out.name}", f"uniform(3,{n})")
