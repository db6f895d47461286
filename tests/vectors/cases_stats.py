# SPDX-License-Identifier: BSD-2-Clause
"""Statistics: everything but the variance, whose order of operations matters, and the variance."""
from exact import DTYPES, INF, NAN, NINF, NZERO
from kit import ONE, Case, element, elements, specials, tiny


def statistics():
    for dtype in DTYPES.values():
        for label, text in rows_of(dtype):
            yield Case(f"stats-{dtype.name}-{label}", "stats", "", dtype.name, text)


def rows_of(dtype):
    rows = [(f"{n}", f"uniform(2,{n})" if n else "") for n in (0, 1, 2, 3, 129, 2049, 4097, 9000)]
    if dtype.is_float:
        width, choices = 2 * dtype.bytes, ",".join(f"{b:#x}" for b in specials(dtype))
        rows += [("specials", f"pick(4,500,{choices})"), ("nan", f"{dtype.inf_bits | 1:0{width}x}"),
                 ("negative-zeros", f"{elements(dtype, NZERO)}*4097"), ("infinity", elements(dtype, INF, ONE)),
                 ("zeros", f"{elements(dtype, 0, NZERO)}*2100"), ("subnormal", tiny(dtype, 5, 300)),
                 ("thirds", f"{elements(dtype, ONE)}*2 {elements(dtype, 2 * ONE)}"),
                 ("large", f"{elements(dtype, dtype.largest)}*3")]
    else:
        rows += [("most", f"{elements(dtype, dtype.greatest)}*5001"),
                 ("least", f"{elements(dtype, dtype.least)}*5001"),
                 ("ends", f"{elements(dtype, dtype.greatest, dtype.least)}*2100"),
                 ("ties", f"{elements(dtype, 3, 1, 2)}*1500")]
    return rows


def variances():
    for dtype in DTYPES.values():
        name, full = dtype.name, 32 * (64 if dtype.bytes == 8 else 128)
        for n in (0, 1, 2, 3, 63, 64, 65, 127, 128, 129, full - 1, full, full + 1, 2 * full + 77, 5 * full):
            yield Case(f"variance-{name}-{n}", "stats", "all", name, f"uniform(12,{n})" if n else "")
        for label, text in rows_of(dtype)[8:]:
            yield Case(f"variance-{name}-{label}", "stats", "variance,nan_count", name, text)
        for label, text in float_rows(dtype, full) if dtype.is_float else integer_rows(dtype, full):
            yield Case(f"variance-{name}-{label}", "stats", "variance", name, text)
    yield from hard_cases()


def integer_rows(dtype, full):
    top = element(dtype, dtype.greatest)
    yield "constant", f"{top}*{full + 5}"
    yield "one-apart", f"{top}*{full} {element(dtype, dtype.greatest - 1)}"
    yield "ramp", f"ramp(0x1,0x3,{2 * full + 9})"


def float_rows(dtype, full):
    one, big = element(dtype, ONE), element(dtype, dtype.largest)
    next_up = f"{dtype.encode(ONE) + 1:0{2 * dtype.bytes}x}"
    yield "constant", f"{next_up}*{full + 5}"
    yield "constant-short", f"{next_up}*{full // 32 - 3}"
    yield "largest-constant", f"{big}*{2 * full + 3}"
    # a unit in the last place apart, where the first row is none of those, then all of those that differ
    yield "one-place", f"{one}*{full} {next_up}*{full // 2} {one}*7"
    yield "one-place-first", f"{next_up} {one}*{full}"
    yield "outlier-first", f"{big}*1 ({one} {next_up})*{full}"
    yield "outlier-in-second-row", f"({one} {next_up})*{full // 32} {big}*1 ({one} {next_up})*{full // 2}"
    yield "ramp", f"ramp({dtype.encode(ONE):#x},0x1,{min(2 * full + 9, 1 << dtype.fraction)})"
    yield "any-bits", f"bits(77,0,0,{full + 300})"
    for at in (0, 1, full // 32, full, full + 3):
        for label, value in (("nan", NAN), ("inf", INF), ("minus-inf", NINF)):
            head = f"uniform(5,{at}) " if at else ""
            yield f"{label}-at-{at}", f"{head}{element(dtype, value)} uniform(6,40)"


def hard_cases():
    f32, f64 = DTYPES["f32"], DTYPES["f64"]
    small = [f64.encode(10 ** 9 * ONE + k * (ONE >> 20)) for k in range(-8, 9)]
    yield Case("variance-f64-1e9-and-noise", "stats", "variance", "f64",
               f"pick(3,5000,{','.join(f'{b:#x}' for b in small)})")
    close = elements(f32, 4563 * ONE >> 1, 9125 * ONE >> 2)  # 2281.5, 2281.25
    yield Case("variance-f32-2281", "stats", "variance", "f32", close)
    yield Case("variance-f32-2281-often", "stats", "variance", "f32", f"({close})*4100")
    many = [element(f32, k * ONE) for k in (12345678, 12345679)]
    yield Case("variance-f32-one-in-a-hundred", "stats", "variance", "f32", f"({many[0]}*99 {many[1]})*100")
    tall = f32.round(10 ** 20 * ONE)  # its square is no f32
    yield Case("variance-f32-1e20", "stats", "variance", "f32", f"({elements(f32, tall, -tall)})*3000")
    for e in (500, 505, 511, 600, 1023):  # squares that just fit, sums of squares that do not, squares that do not
        yield Case(f"variance-f64-2^{e}", "stats", "variance", "f64", f"({elements(f64, ONE << e, -(ONE << e))})*2500")
    yield Case("variance-f64-far-apart", "stats", "variance", "f64", f"({elements(f64, f64.largest, -f64.largest)})*40")
    yield Case("variance-f64-tiny", "stats", "variance", "f64", f"({elements(f64, ONE >> 530, 0)})*900")
    yield Case("variance-f64-drift", "stats", "variance", "f64",
               " ".join(f"uniform({k},1100) {element(f64, k * ONE << 30)}*1100" for k in range(5)))
    # beyond 2^53 integers are rounded first
    i64 = DTYPES["i64"]
    yield Case("variance-i64-rounded", "stats", "variance", "i64",
               f"({elements(i64, 2 ** 62 + 1, 2 ** 62 - 1, -2 ** 62 - 3)})*800")
