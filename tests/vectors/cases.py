# SPDX-License-Identifier: BSD-2-Clause
"""Every case of the vector files: what is asked, of what input. The answers are computed by law.py."""
from collections import namedtuple

from exact import DTYPES, FLOATS, INTEGERS, INF, NAN, NINF, NZERO

# dtypes is in[/acc[/out]]; init is (text, value); at: the scan outputs that a vector spells out
Case = namedtuple("Case", "id kind op dtypes input init at", defaults=(None, ()))

ROWS = (0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025)
CHUNKS = (2047, 2048, 2049, 4095, 4096, 4097, 6145, 8191, 8192, 8193, 12289, 20481)
ONE = 1 << 1074


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


# ---- sum and prod, reduced -------------------------------------------------------------------------------------------

def sum_lengths():
    for dtype in FLOATS:
        name = dtype.name
        for n in ROWS + CHUNKS:
            yield Case(f"sum-{name}-{n}", "reduce", "sum", name, f"uniform(7,{n})" if n else "")
    for n in (1, 64, 65, 2047, 2048, 2049, 4095, 4096, 4097, 6145, 12289):
        yield Case(f"sum-f32-f64-{n}", "reduce", "sum", "f32/f64", f"uniform(7,{n})")
        yield Case(f"sum-f32-f64-f64-{n}", "reduce", "sum", "f32/f64/f64", f"uniform(7,{n})")
        yield Case(f"sum-f16-f64-f64-{n}", "reduce", "sum", "f16/f64/f64", f"uniform(7,{n})")
        yield Case(f"sum-bf16-f32-f32-{n}", "reduce", "sum", "bf16/f32/f32", f"uniform(7,{n})")
        yield Case(f"sum-f64-f64-f32-{n}", "reduce", "sum", "f64/f64/f32", f"uniform(7,{n})")


def sum_values():
    for dtype in FLOATS:
        name = dtype.name
        for n in (1, 127, 128, 129, 2049, 4097, 8192):
            zero = element(dtype, NZERO)
            yield Case(f"sum-{name}-negative-zeros-{n}", "reduce", "sum", name, f"{zero}*{n}")
            yield Case(f"sum-{name}-one-zero-in-{n}", "reduce", "sum", name, f"{zero}*{n - 1} {element(dtype, 0)}")
        for n in (3, 130, 5000):
            yield Case(f"sum-{name}-subnormal-{n}", "reduce", "sum", name, tiny(dtype, 3, n))
            yield Case(f"sum-{name}-any-bits-{n}", "reduce", "sum", name, f"bits({n},0,0,{n})")
        for at in (0, 127, 128, 4095, 4096, 4999):
            rest = f"uniform(9,{4999 - at})" if at < 4999 else ""
            head = f"uniform(8,{at})" if at else ""
            for label, value in (("nan", NAN), ("inf", INF)):
                yield Case(f"sum-{name}-{label}-at-{at}", "reduce", "sum", name,
                           f"{head} {element(dtype, value)} {rest}".strip())
        yield Case(f"sum-{name}-both-infinities", "reduce", "sum", name,
                   f"{element(dtype, INF)} uniform(1,5000) {element(dtype, NINF)}")
    yield from sum_rounding()
    yield from sum_init()


def sum_rounding():
    f16, bf16, f64 = DTYPES["f16"], DTYPES["bf16"], DTYPES["f64"]
    big = f16.largest
    rows = [
        ("f16-overflow-inside", "f16", elements(f16, big, big, -big)),  # f32 accumulator: no overflow
        ("f16-tie-to-infinity", "f16", elements(f16, big, 16 * ONE)),
        ("f16-below-the-tie", "f16", elements(f16, big, 16 * ONE, -(1 << 1050))),
        ("f16-subnormal", "f16", elements(f16, 1 << 1050, 1 << 1060)),
        ("f16-tie-even", "f16", elements(f16, 2048 * ONE, ONE)),
        ("f16-tie-odd", "f16", elements(f16, 2050 * ONE, ONE)),
        ("f16-rounds-once", "f16/f32/f16", elements(f16, 2048 * ONE, ONE, 1 << 1064)),
        ("bf16-tie-even", "bf16", elements(bf16, 256 * ONE, ONE)),
        ("bf16-tie-odd", "bf16", elements(bf16, 258 * ONE, ONE)),
        ("bf16-rounds-once", "bf16", elements(bf16, 256 * ONE, ONE, ONE >> 12)),
        ("bf16-overflow-inside", "bf16", elements(bf16, bf16.largest, bf16.largest, -bf16.largest)),
        ("bf16-half-the-last-place", "bf16", elements(bf16, bf16.largest, bf16.largest >> 9)),
        # through f32 these would round twice
        ("f64-f16-once", "f64/f64/f16", elements(f64, ONE, ONE >> 11, ONE >> 40)),
        ("f64-f16-once-down", "f64/f64/f16", elements(f64, ONE + (ONE >> 10), ONE >> 11, -(ONE >> 40))),
        ("f64-bf16-once", "f64/f64/bf16", elements(f64, ONE, ONE >> 8, ONE >> 40)),
        ("f64-f32-once", "f64/f64/f32", elements(f64, ONE, ONE >> 24, ONE >> 52)),
        ("f64-f16-subnormal-tie", "f64/f64/f16", elements(f64, 1 << 1049)),
        ("f64-f16-above-subnormal-tie", "f64/f64/f16", elements(f64, 1 << 1049, 1)),
        ("f64-f32-underflow", "f64/f64/f32", elements(f64, -(1 << 900))),
        ("f64-f32-overflow", "f64/f64/f32", elements(f64, DTYPES["f32"].largest, 1 << 1074 + 103)),
        ("f64-f32-largest", "f64/f64/f32", elements(f64, DTYPES["f32"].largest, (1 << 1074 + 103) - (1 << 1074 + 80))),
        ("f32-f64-nan", "f32/f32/f64", "ffc12345"),
        ("f64-bf16-nan", "f64/f64/bf16", "fff0000000000001"),
        ("f32-f16-negative-zero", "f32/f32/f16", "80000000*3"),
    ]
    for label, dtypes, text in rows:
        yield Case(f"sum-{label}", "reduce", "sum", dtypes, text)


def sum_init():
    inits = (("0", 0), ("-0", NZERO), ("1", ONE), ("-0x1p-20", -(ONE >> 20)), ("inf", INF), ("nan", NAN))
    for dtype in FLOATS:
        for label, init in enumerate(inits):
            for n in (0, 1, 5, 4097):
                text = f"uniform(5,{n})" if n else ""
                yield Case(f"sum-{dtype.name}-init{label}-{n}", "reduce", "sum", dtype.name, text, init)
        yield Case(f"sum-{dtype.name}-init-zeros", "reduce", "sum", dtype.name, f"{element(dtype, NZERO)}*9", inits[1])
    # the initial value comes last: 2^24 + (1 + 1), not (2^24 + 1) + 1
    yield Case("sum-f32-init-last", "reduce", "sum", "f32", "3f800000*2", ("16777216", ONE << 24))
    yield Case("sum-f32-init-last-chunks", "reduce", "sum", "f32", "3f800000*4097", ("16777216", ONE << 24))
    yield Case("sum-f64-init-last", "reduce", "sum", "f64", "3ff0000000000000*2", ("0x1p53", ONE << 53))
    yield Case("sum-f32-f64-init", "reduce", "sum", "f32/f64/f64", "3f800000*2", ("0x1p53", ONE << 53))


def prod():
    for dtype in FLOATS:
        name, one = dtype.name, element(dtype, ONE)
        for n in ROWS + CHUNKS:
            yield Case(f"prod-{name}-{n}", "reduce", "prod", name, near_one(dtype, 11, n) if n else "")
        for n in (1, 129, 4097):
            yield Case(f"prod-{name}-negative-one-{n}", "reduce", "prod", name, f"{element(dtype, -ONE)}*{n}")
            yield Case(f"prod-{name}-zeros-{n}", "reduce", "prod", name, f"{element(dtype, NZERO)}*{n}")
            yield Case(f"prod-{name}-any-bits-{n}", "reduce", "prod", name, f"bits({n + 1},0,0,{n})")
        yield Case(f"prod-{name}-zero-by-infinity", "reduce", "prod", name, f"{elements(dtype, 0, INF)} {one}*4096")
        yield Case(f"prod-{name}-subnormal", "reduce", "prod", name, elements(dtype, 1 << dtype.quantum + 3, ONE >> 2))
        yield Case(f"prod-{name}-underflow-tie", "reduce", "prod", name, elements(dtype, 3 << dtype.quantum, ONE >> 1))
        yield Case(f"prod-{name}-underflow-negative", "reduce", "prod", name,
                   elements(dtype, -(1 << dtype.quantum), ONE >> 2))
        # lane 0 and lane 1: the order decides whether this overflows
        yield Case(f"prod-{name}-overflow-inside", "reduce", "prod", name,
                   elements(dtype, dtype.largest, dtype.largest, 1 << dtype.quantum, 1 << dtype.quantum))
        for label, init in enumerate((("-1", -ONE), ("0", 0), ("0x1.8p+1", 3 * ONE))):
            for n in (0, 5, 4097):
                yield Case(f"prod-{name}-init{label}-{n}", "reduce", "prod", name,
                           near_one(dtype, 2, n) if n else "", init)
    for n in (1, 2049, 4097):
        yield Case(f"prod-f32-f64-f64-{n}", "reduce", "prod", "f32/f64/f64", near_one(DTYPES["f32"], 4, n))
        yield Case(f"prod-f64-f64-f16-{n}", "reduce", "prod", "f64/f64/f16", near_one(DTYPES["f64"], 4, n))


# ---- sum and prod, scanned -------------------------------------------------------------------------------------------

KS = (0, 1, 2, 3, 6, 7, 8, 30, 31, 32, 62, 63, 64, 126, 127, 128, 1022, 1023, 1024, 2046, 2047, 2048, 4094, 4095, 4096)
SCANS = ("scan", "exscan")


def scan_lengths():
    for kind in SCANS:
        for dtype in FLOATS:
            for n in (0, 1, 2, 3, 7, 8, 9, 31, 33, 64, 65, 127, 129, 1023, 1025, 2049, 4097, 5000):
                yield Case(f"{kind}-sum-{dtype.name}-{n}", kind, "sum", dtype.name, f"uniform(1,{n})" if n else "",
                           None, KS)
            for n in (1, 2, 3, 13, 100, 1000, 4099):
                yield Case(f"{kind}-prod-{dtype.name}-{n}", kind, "prod", dtype.name, near_one(dtype, 21, n), None, KS)
        for dtypes in ("f32/f64", "f32/f64/f64", "f16/f32/f32", "bf16/f64/f64", "f64/f64/f32", "f64/f64/f16"):
            for n in (1, 13, 2049):
                label = dtypes.replace("/", "-")
                yield Case(f"{kind}-sum-{label}-{n}", kind, "sum", dtypes, f"uniform(1,{n})", None, KS)


def scan_values():
    inits = (("-0", NZERO), ("1", ONE), ("0x1p-30", ONE >> 30), ("-inf", NINF), ("nan", NAN))
    for kind in SCANS:
        for dtype in FLOATS:
            name, zero, big = dtype.name, element(dtype, NZERO), DTYPES["f64" if dtype.bytes == 8 else "f32"].largest
            yield Case(f"{kind}-sum-{name}-negative-zeros", kind, "sum", name, f"{zero}*70", None, range(0, 70, 23))
            yield Case(f"{kind}-sum-{name}-leading-zeros", kind, "sum", name, f"{zero}*67 {element(dtype, 0)} {zero}*9",
                       None, (0, 1, 31, 32, 66, 67, 68, 75))
            yield Case(f"{kind}-sum-{name}-any-bits", kind, "sum", name, "bits(5,0,0,300)", None, range(0, 300, 37))
            yield Case(f"{kind}-prod-{name}-any-bits", kind, "prod", name, "bits(5,0,0,300)", None, range(0, 40, 7))
            yield Case(f"{kind}-sum-{name}-subnormal", kind, "sum", name, tiny(dtype, 3, 1000), None, KS)
            for label, init in enumerate(inits):
                for n in (0, 1, 13, 4097):
                    yield Case(f"{kind}-sum-{name}-init{label}-{n}", kind, "sum", name, f"uniform(1,{n})" if n else "",
                               init, KS)
            yield Case(f"{kind}-sum-{name}-init-zeros", kind, "sum", name, f"{zero}*70", inits[0], (0, 1, 33, 69))
            yield Case(f"{kind}-prod-{name}-init", kind, "prod", name, near_one(dtype, 3, 77), ("-3", -3 * ONE), KS)
            if dtype.bytes < 4:
                continue
            # a NaN is not sticky: P(7) is NaN, P(8) is -inf (and +inf - x[7] the other way round at P(15))
            text = elements(dtype, big, 0, 0, 0, big, big, NINF, 0)
            yield Case(f"{kind}-sum-{name}-nan-then-infinity", kind, "sum", name, f"{text} {text}", None, range(16))


def scans_of_integers():
    for kind in SCANS:
        for dtype in INTEGERS:
            name = dtype.name
            for op in ("sum", "prod", "min", "max", "minnum", "maxnum", "band", "bor", "bxor", "all", "any",
                       "count_nonzero"):
                yield Case(f"{kind}-{op}-{name}", kind, op, name, "uniform(3,201)", None, (0, 1, 2, 63, 64, 200))
                yield Case(f"{kind}-{op}-{name}-1", kind, op, name, "uniform(4,1)", None, (0,))
            yield Case(f"{kind}-sum-{name}-own-width", kind, "sum", f"{name}/{name}", "uniform(3,4100)", None, KS)
            yield Case(f"{kind}-sum-{name}-narrow", kind, "sum", f"{name}/{name}/i8", "uniform(3,300)", None, (0, 1, 299))
            yield Case(f"{kind}-sum-{name}-init", kind, "sum", name, "uniform(3,100)", ("100", 100), (0, 1, 99))
            yield Case(f"{kind}-min-{name}-init", kind, "min", name, "uniform(3,100)", ("5", 5), (0, 1, 99))
            yield Case(f"{kind}-count_nonzero-{name}-init", kind, "count_nonzero", name, "uniform(3,9)", ("7", 7), (0, 8))


def scans_of_order():
    for kind in SCANS:
        for dtype in FLOATS:
            name, choices = dtype.name, ",".join(f"{b:#x}" for b in specials(dtype))
            numbers = ",".join(f"{b:#x}" for b in specials(dtype) if b & ~dtype.sign <= dtype.inf_bits)
            for op in ("min", "max", "minnum", "maxnum"):
                yield Case(f"{kind}-{op}-{name}-specials", kind, op, name, f"pick(3,70,{choices})", None, range(0, 70, 9))
                yield Case(f"{kind}-{op}-{name}-numbers", kind, op, name, f"pick(4,70,{numbers})", None, range(0, 70, 9))
                yield Case(f"{kind}-{op}-{name}-nans", kind, op, name, f"{elements(dtype, NAN)}*5", None, range(5))
                yield Case(f"{kind}-{op}-{name}-uniform", kind, op, name, "uniform(2,4099)", None, KS)
                yield Case(f"{kind}-{op}-{name}-init", kind, op, name, "uniform(2,9)", ("0.5", ONE >> 1), range(9))
                yield Case(f"{kind}-{op}-{name}-init-nan", kind, op, name, "uniform(2,9)", ("nan", NAN), range(9))
            for op in ("all", "any", "count_nonzero"):
                yield Case(f"{kind}-{op}-{name}-specials", kind, op, name, f"pick(3,70,{choices})", None, range(0, 70, 9))
        for label, init in (("0", ("0", 0)), ("1", ("1", 1))):
            for op in ("all", "any"):
                yield Case(f"{kind}-{op}-init{label}", kind, op, "u8", "01 00 01", init, range(3))


# ---- order, logic, integers, reduced ---------------------------------------------------------------------------------

ORDER = ("min", "max", "minnum", "maxnum", "argmin", "argmax", "argminnum", "argmaxnum")


def order_of_floats():
    for dtype in FLOATS:
        name, width = dtype.name, 2 * dtype.bytes
        two = {f"{a:0{width}x} {b:0{width}x}" for a in specials(dtype) for b in specials(dtype)}
        pairs = sorted(two)[::5 if name == "f32" else 23]
        choices = ",".join(f"{b:#x}" for b in specials(dtype))
        numbers = ",".join(f"{b:#x}" for b in specials(dtype) if b & ~dtype.sign <= dtype.inf_bits)
        nan, inf = elements(dtype, NAN), elements(dtype, INF)
        for op in ORDER:
            for i, pair in enumerate(pairs):
                yield Case(f"{op}-{name}-pair{i}", "reduce", op, name, pair)
            rows = [("empty", ""), ("infinities", f"{inf}*10"), ("negative-infinities", f"neg({inf}*10)"),
                    ("nans", f"{nan} neg({nan}*400)"), ("last-number", f"{nan}*4999 {inf}"),
                    ("first-number", f"neg({inf}) {nan}*4999"), ("last-nan", f"uniform(6,5000) {nan}"),
                    ("ties", f"{elements(dtype, ONE, 0, ONE, NZERO, -ONE)}*1000"),
                    ("zeros", f"{elements(dtype, 0, NZERO)}*2100"), ("zeros-back", f"{elements(dtype, NZERO, 0)}*2100"),
                    ("one-zero", f"{elements(dtype, 0)}*4500 {elements(dtype, NZERO)} {elements(dtype, 0)}*99"),
                    ("subnormal", tiny(dtype, 13, 300)), ("specials", f"pick(9,9001,{choices})"),
                    ("numbers", f"pick(10,9001,{numbers})"), ("any-bits", "bits(3,0,0,33)"),
                    ("least-late", f"uniform(4,5000) {elements(dtype, NINF, INF, NINF, INF)} uniform(5,300)")]
            for n in (1, 31, 129, 4097, 9000):
                rows.append((f"uniform-{n}", f"uniform({n},{n})"))
            for label, text in rows:
                yield Case(f"{op}-{name}-{label}", "reduce", op, name, text)
        for op in ORDER[:4]:
            for label, init in enumerate((("nan", NAN), ("-inf", NINF), ("0", 0), ("0.25", ONE >> 2))):
                for n in (0, 1, 200):
                    yield Case(f"{op}-{name}-init{label}-{n}", "reduce", op, name, f"uniform(5,{n})" if n else "", init)
        for op, out in (("min", "f16"), ("max", "bf16"), ("minnum", "f32"), ("maxnum", "f64")):
            yield Case(f"{op}-{name}-out-{out}", "reduce", op, f"{name}/{name}/{out}", "uniform(77,500)")
        yield Case(f"argmin-{name}-out-u8", "reduce", "argmin", f"{name}/u64/u8", f"uniform(5,700) {elements(dtype, NINF)}")


def logic():
    for dtype in DTYPES.values():
        name, width = dtype.name, 2 * dtype.bytes
        zero = f"{0:0{width}x}"
        last = f"{1:0{width}x}"
        top = f"{1 << dtype.bits - 1:0{width}x}"  # -0, or the sign bit of an integer
        rows = [("empty", ""), ("zeros", f"{zero}*5000"), ("ones", f"{last}*5000"), ("top", f"{top}*5000"),
                ("last", f"{zero}*4999 {last}"), ("all-but-last", f"{last}*4999 {zero}"), ("mixed", f"({zero} {last})*999"),
                ("uniform", "uniform(3,5001)")]
        if dtype.is_float:
            choices = ",".join(f"{b:#x}" for b in specials(dtype))
            rows += [("nan", f"{elements(dtype, NAN)}"), ("signalling", f"{dtype.inf_bits | 1:0{width}x}*3"),
                     ("specials", f"pick(5,6000,{choices})")]
        for op in ("all", "any", "count_nonzero"):
            for label, text in rows:
                yield Case(f"{op}-{name}-{label}", "reduce", op, name, text)
        yield Case(f"count_nonzero-{name}-u8", "reduce", "count_nonzero", f"{name}/u64/u8", f"{last}*300")
        yield Case(f"count_nonzero-{name}-init", "reduce", "count_nonzero", name, f"{last}*300", ("1000", 1000))
    for op in ("all", "any"):
        for init in (("0", 0), ("1", 1)):
            for label, text in (("empty", ""), ("true", "01 ff"), ("false", "00"), ("mixed", "01 00")):
                yield Case(f"{op}-init{init[0]}-{label}", "reduce", op, "u8", text, init)


def integers():
    for dtype in INTEGERS:
        name, bits = dtype.name, dtype.bits
        least, most = elements(dtype, dtype.least), elements(dtype, dtype.greatest)
        for op in ("sum", "prod", "min", "max", "minnum", "maxnum", "argmin", "argmax", "band", "bor", "bxor"):
            rows = [(f"{n}", f"uniform(2,{n})" if n else "") for n in (0, 1, 3, 129, 4097, 9000)]
            rows += [("ends", f"{most} {least} {most} {least}"), ("most", f"{most}*5001"), ("least", f"{least}*5001"),
                     ("odd", f"ramp(0x1,0x2,5000)")]
            for label, text in rows:
                yield Case(f"{op}-{name}-{label}", "reduce", op, name, text)
        for op in ("sum", "prod"):
            for acc in INTEGERS:
                if acc.bits >= bits and acc.signed == dtype.signed:
                    yield Case(f"{op}-{name}-{acc.name}", "reduce", op, f"{name}/{acc.name}", "ramp(0x3,0x2,2001)")
                    for out in INTEGERS:
                        yield Case(f"{op}-{name}-{acc.name}-{out.name}", "reduce", op, f"{name}/{acc.name}/{out.name}",
                                   "ramp(0x3,0x2,99)")
        for op, init in (("sum", 100), ("prod", 3), ("min", 1), ("max", 1), ("band", 15), ("bor", 64), ("bxor", 85)):
            for n in (0, 77):
                yield Case(f"{op}-{name}-init-{n}", "reduce", op, name, f"uniform(8,{n})" if n else "", (str(init), init))
        for out in INTEGERS:
            yield Case(f"min-{name}-out-{out.name}", "reduce", "min", f"{name}/{name}/{out.name}", "uniform(8,50)")
            yield Case(f"bxor-{name}-out-{out.name}", "reduce", "bxor", f"{name}/{name}/{out.name}", "uniform(8,50)")
    yield Case("sum-i64-init-negative", "reduce", "sum", "i64", "uniform(8,5)", ("-9223372036854775808", -(1 << 63)))
    yield Case("sum-u64-init-greatest", "reduce", "sum", "u64", "uniform(8,5)", ("18446744073709551615", (1 << 64) - 1))


# ---- statistics ------------------------------------------------------------------------------------------------------

def statistics():
    for dtype in DTYPES.values():
        name = dtype.name
        rows = [(f"{n}", f"uniform(2,{n})" if n else "") for n in (0, 1, 2, 3, 129, 2049, 4097, 9000)]
        if dtype.is_float:
            width, choices = 2 * dtype.bytes, ",".join(f"{b:#x}" for b in specials(dtype))
            rows += [("specials", f"pick(4,500,{choices})"), ("nan", f"{dtype.inf_bits | 1:0{width}x}"),
                     ("negative-zeros", f"{elements(dtype, NZERO)}*4097"), ("infinity", elements(dtype, INF, ONE)),
                     ("zeros", f"{elements(dtype, 0, NZERO)}*2100"), ("subnormal", tiny(dtype, 5, 300)),
                     ("thirds", f"{elements(dtype, ONE)}*2 {elements(dtype, 2 * ONE)}"),
                     ("large", f"{elements(dtype, dtype.largest)}*3")]
        else:
            rows += [("most", f"{elements(dtype, dtype.greatest)}*5001"), ("least", f"{elements(dtype, dtype.least)}*5001"),
                     ("ends", f"{elements(dtype, dtype.greatest, dtype.least)}*2100"),
                     ("ties", f"{elements(dtype, 3, 1, 2)}*1500")]
        for label, text in rows:
            yield Case(f"stats-{name}-{label}", "stats", "", name, text)


# ---- many elements ---------------------------------------------------------------------------------------------------

def large():
    at = (0, 4095, 4096, 65534, 65535, 65536)
    for n in ((1 << 16) - 1, 1 << 16, (1 << 16) + 1):
        for dtype in FLOATS:
            name = dtype.name
            yield Case(f"sum-{name}-{n}", "reduce", "sum", name, f"uniform(1,{n})")
            yield Case(f"prod-{name}-{n}", "reduce", "prod", name, near_one(dtype, 1, n))
            yield Case(f"scan-sum-{name}-{n}", "scan", "sum", name, f"uniform(1,{n})", None, at)
            yield Case(f"exscan-sum-{name}-{n}", "exscan", "sum", name, f"uniform(1,{n})", None, at)
        yield Case(f"scan-max-f32-{n}", "scan", "max", "f32", f"uniform(1,{n})", None, at)
        yield Case(f"exscan-sum-i32-{n}", "exscan", "sum", "i32", f"uniform(1,{n})", None, at)
        yield Case(f"argmin-f32-{n}", "reduce", "argmin", "f32", f"uniform(1,{n})")
        yield Case(f"argmax-i8-{n}", "reduce", "argmax", "i8", f"uniform(1,{n})")
        yield Case(f"count_nonzero-u8-{n}", "reduce", "count_nonzero", "u8", f"uniform(1,{n})")
        yield Case(f"stats-f32-{n}", "stats", "", "f32", f"uniform(1,{n})")
    n = (1 << 20) + 3
    at = (0, 65536, n - 3, n - 1)
    for dtype in FLOATS[2:]:
        name = dtype.name
        yield Case(f"sum-{name}-{n}", "reduce", "sum", name, f"uniform(1,{n})")
        yield Case(f"scan-sum-{name}-{n}", "scan", "sum", name, f"uniform(1,{n})", None, at)
        yield Case(f"exscan-sum-{name}-{n}", "exscan", "sum", name, f"uniform(1,{n})", None, at)
    yield Case(f"sum-f32-f64-f64-{n}", "reduce", "sum", "f32/f64/f64", f"uniform(1,{n})")
    yield Case(f"argmin-f32-{n}", "reduce", "argmin", "f32", f"uniform(1,{n})")
    yield Case(f"stats-i16-{n}", "stats", "", "i16", f"uniform(1,{n})")


FILES = {
    "sum": ("Sums of floats", (sum_lengths, sum_values)),
    "prod": ("Products of floats", (prod,)),
    "scan": ("Scans of sums and products of floats", (scan_lengths, scan_values)),
    "scan_any_order": ("Scans whose order does not matter", (scans_of_integers, scans_of_order)),
    "order": ("Extrema and their indices, floats", (order_of_floats,)),
    "logic": ("all, any and count_nonzero", (logic,)),
    "integer": ("Integers: sums, products, bits, extrema", (integers,)),
    "stats": ("Statistics", (statistics,)),
    "large": ("Many elements", (large,)),
}
