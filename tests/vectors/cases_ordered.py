# SPDX-License-Identifier: BSD-2-Clause
"""Cases whose order of operations matters: sums and products of floats, reduced and scanned."""
from exact import DTYPES, FLOATS, INF, NAN, NINF, NZERO
from kit import KS, ONE, SCANS, Case, element, elements, near_one, tiny

ROWS = (0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025)
CHUNKS = (2047, 2048, 2049, 4095, 4096, 4097, 6145, 8191, 8192, 8193, 12289, 20481)


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


def scans_round_once():
    """Just beyond a tie of the narrow type, by less than an f32 can tell: every other prefix would round twice."""
    f64 = DTYPES["f64"]
    for kind in SCANS:
        for out, half in (("f16", ONE >> 11), ("bf16", ONE >> 8)):
            above, below = ONE + half + (ONE >> 40), -(ONE + 3 * half - (ONE >> 40))
            for label, value in (("above", above), ("below", below)):
                yield Case(f"{kind}-sum-f64-{out}-{label}-tie", kind, "sum", f"f64/f64/{out}",
                           f"({elements(f64, value, -value)})*21", None, (0, 1, 2, 40, 41))
                for op in ("max", "minnum"):
                    yield Case(f"{kind}-{op}-f64-{out}-{label}-tie", kind, op, f"f64/f64/{out}",
                               f"{elements(f64, value)}*43", None, (0, 1, 42))


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
