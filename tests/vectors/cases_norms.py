# SPDX-License-Identifier: BSD-2-Clause
"""Dot products, sums of magnitudes and squares, norms and means."""
from math import isqrt

from cases_ordered import CHUNKS, ROWS
from exact import DTYPES, FLOATS, INF, INTEGERS, NAN, NINF, NZERO
from inputs import lcg
from kit import ONE, Case, element, elements, specials, tiny

WIDER = (("f16", "f64"), ("bf16", "f64"), ("f32", "f64"))


def case(op, label, dtypes, text, init=None):
    return Case(f"{op}-{dtypes.replace('/', '-')}-{label}", "reduce", op, dtypes, text, init)


def uniform(seed, n):
    return f"uniform({seed},{n})" if n else ""


def both(x, y):
    return f"{x} {y}".strip()


# ---- dot: lengths and values -----------------------------------------------------------------------------------------

def dot_lengths():
    for dtype in FLOATS:
        for n in ROWS + CHUNKS:
            yield case("dot", n, dtype.name, both(uniform(7, n), uniform(8, n)))
    for name, acc in WIDER:
        for n in (1, 64, 65, 2047, 2048, 2049, 4097, 6145):
            yield case("dot", n, f"{name}/{acc}", both(uniform(7, n), uniform(8, n)))
            yield case("dot", n, f"{name}/{acc}/{acc}", both(uniform(7, n), uniform(8, n)))
    for n in (1, 129, 4097):
        yield case("dot", n, "f16/f32/f32", both(uniform(7, n), uniform(8, n)))
        yield case("dot", n, "bf16/f32/f32", both(uniform(7, n), uniform(8, n)))
        yield case("dot", n, "f64/f64/f32", both(uniform(7, n), uniform(8, n)))


def dot_values():
    for dtype in FLOATS:
        name, one, zero, minus = dtype.name, element(dtype, ONE), element(dtype, 0), element(dtype, NZERO)
        for n in (1, 127, 128, 129, 2049, 4097):
            yield case("dot", f"negative-zeros-{n}", name, f"{minus}*{n} {one}*{n}")
            yield case("dot", f"one-zero-in-{n}", name, f"{minus}*{n - 1} {zero} {one}*{n}")
            yield case("dot", f"zero-products-{n}", name, f"{minus}*{n} {minus}*{n}")
            yield case("dot", f"zeros-of-two-signs-{n}", name, f"{zero}*{n} neg({one})*{n}")
        for n in (3, 130, 5000):
            yield case("dot", f"subnormal-{n}", name, both(tiny(dtype, 3, n), tiny(dtype, 4, n)))
            yield case("dot", f"subnormal-by-uniform-{n}", name, both(tiny(dtype, 3, n), uniform(4, n)))
            yield case("dot", f"any-bits-{n}", name, both(f"bits({n},0,0,{n})", f"bits({n + 1},0,0,{n})"))
        # the second input undoes the first: what is left are the products' last digits
        for n in (64, 128, 4096):
            yield case("dot", f"cancels-{2 * n}", name, f"uniform(5,{n}) neg(uniform(5,{n})) uniform(6,{n})*2")
        for at in (0, 127, 128, 4095, 4096, 4999):
            for label, x, y in (("inf-by-zero", INF, 0), ("inf-by-number", INF, -ONE), ("nan-by-zero", NAN, 0)):
                rest = [uniform(seed, count) for seed, count in ((8, at), (9, 4999 - at))]
                first = f"{rest[0]} {element(dtype, x)} {rest[1]}".strip()
                second = f"{rest[1]} {element(dtype, y)} {rest[0]}".strip() if at == 4999 - at else \
                    f"{uniform(3, at)} {element(dtype, y)} {uniform(4, 4999 - at)}".strip()
                yield case("dot", f"{label}-at-{at}", name, both(first, second))
        yield case("dot", "both-infinities", name, f"{elements(dtype, INF, NINF)} {one}*2")
        yield case("dot", "specials", name, both(*(f"pick({seed},300,{','.join(f'{b:#x}' for b in specials(dtype))})"
                                                   for seed in (3, 4))))
        for label, init in enumerate((("0", 0), ("-0", NZERO), ("1", ONE), ("inf", INF), ("nan", NAN))):
            for n in (0, 1, 4097):
                yield case("dot", f"init{label}-{n}", name, both(uniform(5, n), uniform(6, n)), init)
        yield case("dot", "init-zeros", name, f"{minus}*9 {one}*9", ("-0", NZERO))


# ---- dot: the fused row ----------------------------------------------------------------------------------------------

def fused_operands(dtype):
    """(label, a, b, c) where a * b + c, rounded once, is what a product rounded before or a wider sum would miss."""
    p, q = dtype.precision, dtype.quantum
    ulp, big, least = ONE >> p - 1, dtype.largest, 1 << q
    top = 1 << big.bit_length()  # the first power of two beyond
    yield "square-below-one", ONE + ulp, ONE - ulp, -ONE
    yield "square-above-one", ONE + ulp, ONE + ulp, -(ONE + 2 * ulp)
    yield "tie-and-a-little", ONE + ulp, ulp >> 1, ONE
    yield "tie-less-a-little", ONE - (ulp >> 1), ulp >> 1, ONE
    yield "tie-to-even", ONE, ulp >> 1, ONE
    yield "tie-to-even-up", ONE, ulp >> 1, ONE + ulp
    yield "tie-below-one", -ONE, ulp >> 2, ONE
    yield "tie-below-one-less", -(ONE + ulp), ulp >> 2, ONE
    yield "tie-and-the-least", least, least, ONE + (ulp >> 1) if p > 60 else ONE
    # the product is half a unit of c but for its last digit, which an f64 would lose beside c: f32 may not go that way
    yield "tie-less-the-last-digit", ONE + ulp, ONE - ulp >> p, ONE + ulp
    yield "tie-less-the-last-digit-even", ONE + ulp, ONE - ulp >> p, ONE
    yield "minus-a-tie-less-the-last-digit", -(ONE + ulp), ONE - ulp >> p, ONE + ulp
    yield "minus-a-tie-less-the-last-digit-even", -(ONE + ulp), ONE - ulp >> p, ONE + 2 * ulp
    yield "far-apart", ONE >> 40, ONE >> 40, ONE + ulp
    yield "overflows-alone", big, 2 * ONE, -big
    yield "overflows-alone-and-back", big, 2 * ONE, NINF
    yield "largest-and-less-than-half", top >> 2, ONE * 4 - ulp * 4, -(top >> 2 + p)
    yield "largest-and-half", big, ONE, top >> p + 1
    yield "largest-and-half-less-a-little", big, ONE + ulp, -(top >> p)
    yield "overflow-by-rounding", big, ONE + ulp, 0
    yield "least-half", least, ONE >> 1, NZERO
    yield "least-half-and-least", least, ONE >> 1, least
    yield "least-half-and-even", least, ONE >> 1, 2 * least
    yield "least-three-quarters", 3 * least, ONE >> 2, NZERO
    yield "least-quarter-negative", -least, ONE >> 2, NZERO
    yield "least-quarter-and-zero", -least, ONE >> 2, 0
    yield "least-squared", least, least, 3 * least
    yield "least-squared-off", -least, least, 1 << q + p
    yield "least-squared-off-power", -least, least, ONE
    yield "subnormal-sum", (ONE >> 1) + ulp, 3 * least, 5 * least
    yield "to-the-least-normal", least << p - 1, ONE - (ulp >> 1), least >> 1 if q else 0
    yield "exact-zero", ONE + ulp, ONE, -(ONE + ulp)
    yield "zero-by-negative", 0, -ONE, NZERO
    yield "zero-by-negative-and-zero", 0, -ONE, 0
    yield "zero-by-inf", 0, INF, ONE
    yield "inf-less-inf", INF, ONE, NINF


def fused_text(dtype, a, b, c):
    """c in the first row of lane 0 and a * b in its second; the other lanes are -0."""
    lanes = 512 // (8 if dtype.bytes == 8 else 4)
    one, minus = element(dtype, ONE), element(dtype, NZERO)
    return f"{c} {minus}*{lanes - 1} {a} {one}*{lanes} {b}"


def dot_fused():
    for dtype in FLOATS:
        out = f"{dtype.name}/{'f64/f64' if dtype.bytes == 8 else 'f32/f32'}"
        for label, *values in fused_operands(dtype):
            if all(type(v) is not int or dtype.decode(dtype.encode(v)) == v for v in values):
                yield case("dot", f"fused-{label}", out, fused_text(dtype, *(element(dtype, v) for v in values)))
        for i, values in enumerate(random_operands(dtype)):
            yield case("dot", f"fused-random-{i}", out, fused_text(dtype, *values))


def random_operands(dtype):
    """(a, b, c), spelled: c next to -a * b, or a * b near half a unit in the last place of c."""
    width, exponents, fraction = 2 * dtype.bytes, dtype.exponents, dtype.fraction
    states = lcg(dtype.bits + dtype.precision)
    random = lambda lo, hi: lo + (next(states) >> 11) % (hi - lo + 1)
    for i in range(120):
        ea, eb = random(1, exponents - 2), random(1, exponents - 2)
        a, b = ea << fraction | next(states) >> 64 - fraction, eb << fraction | next(states) >> 64 - fraction
        if i % 3 == 0:
            c = dtype.encode(dtype.mul(dtype.decode(a), dtype.decode(b))) ^ dtype.sign
        else:
            if i % 3 == 1:  # (1 + k u) (1 - k u) is 1 but for the square of k u
                k = random(1, 1 << fraction // 6)
                a, b = ea << fraction | k, ((eb + 1 << fraction) - 2 * k)
            ec = ea + eb + 1 - (exponents >> 1) + (dtype.precision if i % 3 == 1 else random(-2, dtype.precision + 2))
            ec = min(max(ec, 0), exponents - 1)
            c = ec << fraction | next(states) >> 64 - fraction | (next(states) >> 63) * dtype.sign
        yield [f"{v:0{width}x}" for v in (a, b, c)]


def dot_integers():
    for dtype in INTEGERS:
        name = dtype.name
        least, most = elements(dtype, dtype.least), elements(dtype, dtype.greatest)
        for op in ("dot", "sumsq", "asum"):
            second = (lambda text: f" {text}") if op == "dot" else (lambda text: "")
            for n in (0, 1, 3, 15, 16, 17, 63, 64, 65, 129, 4097, 9000):
                yield case(op, n, name, (uniform(2, n) + (second(uniform(3, n)) if n else "")).strip())
            yield case(op, "ends", name, f"({most} {least})*500{second(f'({least} {most})*500')}")
            yield case(op, "most", name, f"{most}*70001{second(f'{most}*70001')}")
            yield case(op, "least", name, f"{least}*70001{second(f'{least}*70001')}")
            yield case(op, "least-by-most", name, f"{least}*5001{second(f'{most}*5001')}")
            for n in (0, 77):
                yield case(op, f"init-{n}", name, (uniform(8, n) + (second(uniform(9, n)) if n else "")).strip(),
                           ("100", 100))
            for acc in INTEGERS:
                if acc.bits >= dtype.bits and acc.signed == dtype.signed:
                    yield case(op, "ramp", f"{name}/{acc.name}", f"ramp(0x3,0x2,201){second('ramp(0x7,0x3,201)')}")
                    yield case(op, "ramp", f"{name}/{acc.name}/i16", f"ramp(0x3,0x2,99){second('ramp(0x7,0x3,99)')}")


# ---- asum, sumsq -----------------------------------------------------------------------------------------------------

def magnitudes_and_squares():
    for dtype in FLOATS:
        name, width = dtype.name, 2 * dtype.bytes
        zero, minus, big = element(dtype, 0), element(dtype, NZERO), element(dtype, dtype.largest)
        choices = ",".join(f"{b:#x}" for b in specials(dtype))
        for op in ("asum", "sumsq"):
            for n in ROWS + CHUNKS[:8]:
                yield case(op, n, name, uniform(7, n))
            rows = [("negative-zeros", f"{minus}*4097"), ("negative-zero", minus), ("zeros", f"({zero} {minus})*70"),
                    ("subnormal", tiny(dtype, 3, 5000)), ("least", f"neg({1:0{width}x}*300)"), ("largest", big),
                    ("two-largest", f"{big} neg({big})"), ("any-bits", "bits(3,0,0,3)"), ("specials", f"pick(9,30,{choices})"),
                    ("infinities", elements(dtype, INF, NINF)), ("nan", f"neg({element(dtype, NAN)})"),
                    ("signalling", f"{dtype.inf_bits | 1:0{width}x} uniform(1,500)")]
            for label, text in rows:
                yield case(op, label, name, text)
            for label, init in enumerate((("-0", NZERO), ("-1", -ONE), ("-inf", NINF))):
                for n in (0, 1, 300):
                    yield case(op, f"init{label}-{n}", name, uniform(5, n), init)
    for name, acc in WIDER:
        for op in ("asum", "sumsq"):
            for n in (1, 64, 65, 2048, 2049):
                yield case(op, n, f"{name}/{acc}/{acc}", uniform(7, n))
                yield case(op, n, f"{name}/{acc}", uniform(7, n))


# ---- nrm2 ------------------------------------------------------------------------------------------------------------

def norms():
    for dtype in FLOATS[:3]:
        name, width = dtype.name, 2 * dtype.bytes
        big, least = element(dtype, dtype.largest), f"{1:0{width}x}"
        choices = ",".join(f"{b:#x}" for b in specials(dtype))
        for n in (0, 1, 2, 3, 63, 64, 65, 127, 128, 129, 1025, 2047, 2048, 2049, 4097, 6145):
            yield case("nrm2", n, name, uniform(7, n))
            yield case("nrm2", n, f"{name}/f64/f64", uniform(7, n))
            yield case("nrm2", n, f"{name}/f64/f16", uniform(7, n))
        rows = [("negative-zeros", f"{element(dtype, NZERO)}*300"), ("three-four", elements(dtype, 3 * ONE, -4 * ONE)),
                ("largest", big), ("two-largest", f"{big}*2"), ("least", least), ("two-least", f"{least}*2"),
                ("many-least", f"{least}*5000"), ("subnormal", tiny(dtype, 3, 5000)),
                ("largest-and-least", f"{big} {least}*500"), ("any-bits", "bits(3,0,0,2)"),
                ("infinities", elements(dtype, INF, NINF)), ("inf-nan", elements(dtype, INF, NAN)),
                ("nan", f"neg({element(dtype, NAN)})"), ("specials", f"pick(9,30,{choices})")]
        for label, text in rows:
            yield case("nrm2", label, name, text)
    yield from roots_round_once()


def roots_round_once():
    """The f64 beside the square of a tie of f32: rounded to f64 first, its root would be the tie itself."""
    f32, quarter = DTYPES["f32"], ONE >> 2
    for i, state in zip(range(40), lcg(5)):
        tie = 1 << 24 | (state >> 42) % (6 << 20) | 1  # 25 bits and odd; its square is below 2^49, whose last place is 1/16
        above = [part * ONE for part in squares_of(tie * tie)] + [quarter]
        below = [part * ONE for part in squares_of(tie * tie - 1)] + [3 * quarter, 2 * quarter, quarter, quarter]
        for side, parts in (("above", above), ("below", below)):
            yield case("nrm2", f"beside-a-tie-{i}-{side}", "f32", elements(f32, *parts))


def squares_of(total):
    """Integers below 2^24 whose squares add up to it, greedily."""
    parts = []
    while total:
        parts.append(min(isqrt(total), (1 << 24) - 1))
        total -= parts[-1] ** 2
    return parts


# ---- mean ------------------------------------------------------------------------------------------------------------

def means():
    for dtype in FLOATS:
        name = dtype.name
        choices = ",".join(f"{b:#x}" for b in specials(dtype))
        for n in (0, 1, 2, 3, 7, 49, 127, 128, 129, 1025, 2049, 4097, 6145):
            yield case("mean", n, name, uniform(7, n))
        rows = [("negative-zeros", f"{element(dtype, NZERO)}*300"), ("zeros", f"{elements(dtype, 0, NZERO)}*30"),
                ("thirds", f"{elements(dtype, ONE)}*2 {elements(dtype, 2 * ONE)}"),
                ("largest", f"{element(dtype, dtype.largest)}*3"), ("subnormal", tiny(dtype, 5, 300)),
                ("least-by-two", f"{1:0{2 * dtype.bytes}x} {element(dtype, 0)}"),
                ("three-least-by-two", f"{3:0{2 * dtype.bytes}x} {element(dtype, 0)}"),
                ("least-by-three", f"{1:0{2 * dtype.bytes}x} {element(dtype, 0)}*2"),
                ("two-least-by-three", f"{2:0{2 * dtype.bytes}x} {element(dtype, 0)}*2"),
                ("infinity", elements(dtype, INF, ONE)), ("both-infinities", elements(dtype, INF, NINF)),
                ("nan", f"{dtype.inf_bits | 1:0{2 * dtype.bytes}x} uniform(1,300)"), ("specials", f"pick(9,30,{choices})")]
        for label, text in rows:
            yield case("mean", label, name, text)
        for out in ("f16", "bf16", "f32", "f64"):
            acc = "f64" if dtype.bytes == 8 else "f32"
            for n in (3, 300, 4099):
                yield case("mean", n, f"{name}/{acc}/{out}", uniform(9, n))
    for name, acc in WIDER:
        for n in (1, 3, 2049):
            yield case("mean", n, f"{name}/{acc}/{acc}", uniform(7, n))


def mean_rounding():
    """Quotients as near a tie of the output as an f64 sum comes: n ties and one unit in the last place of their sum."""
    f64 = DTYPES["f64"]
    for out, precision in (("f16", 11), ("bf16", 8), ("f32", 24)):
        tie = ONE + (ONE >> precision)
        for n in (3, 5, 7, 4095, 4097):
            for label, unit in (("above", 1), ("below", -1)):
                beside = tie + (unit * ONE >> 53 - (n * tie >> 1074).bit_length())
                text = f"{element(f64, beside)} {element(f64, tie)}*{n - 1}"
                yield case("mean", f"beside-a-tie-{n}-{label}", f"f64/f64/{out}", text)
                yield case("mean", f"beside-a-tie-{n}-{label}-negative", f"f64/f64/{out}", f"neg({text})")
