# SPDX-License-Identifier: BSD-2-Clause
"""Cases whose order of operations does not matter: integers, extrema and logic."""
from exact import DTYPES, FLOATS, INTEGERS, INF, NAN, NINF, NZERO
from kit import KS, ONE, SCANS, Case, elements, specials, tiny


# ---- scans -----------------------------------------------------------------------------------------------------------

def scans_of_integers():
    for kind in SCANS:
        for dtype in INTEGERS:
            name = dtype.name
            for op in ("sum", "prod", "min", "max", "minnum", "maxnum", "band", "bor", "bxor", "all", "any",
                       "count_nonzero"):
                yield Case(f"{kind}-{op}-{name}", kind, op, name, "uniform(3,201)", None, (0, 1, 2, 63, 64, 200))
                yield Case(f"{kind}-{op}-{name}-1", kind, op, name, "uniform(4,1)", None, (0,))
            yield Case(f"{kind}-sum-{name}-own-width", kind, "sum", f"{name}/{name}", "uniform(3,4100)", None, KS)
            yield Case(f"{kind}-sum-{name}-narrow", kind, "sum", f"{name}/{name}/i8", "uniform(3,300)", None,
                       (0, 1, 299))
            yield Case(f"{kind}-sum-{name}-init", kind, "sum", name, "uniform(3,100)", ("100", 100), (0, 1, 99))
            yield Case(f"{kind}-min-{name}-init", kind, "min", name, "uniform(3,100)", ("5", 5), (0, 1, 99))
            yield Case(f"{kind}-count_nonzero-{name}-init", kind, "count_nonzero", name, "uniform(3,9)", ("7", 7),
                       (0, 8))


def scans_of_order():
    for kind in SCANS:
        for dtype in FLOATS:
            name, choices = dtype.name, ",".join(f"{b:#x}" for b in specials(dtype))
            numbers = ",".join(f"{b:#x}" for b in specials(dtype) if b & ~dtype.sign <= dtype.inf_bits)
            for op in ("min", "max", "minnum", "maxnum"):
                yield Case(f"{kind}-{op}-{name}-specials", kind, op, name, f"pick(3,70,{choices})", None,
                           range(0, 70, 9))
                yield Case(f"{kind}-{op}-{name}-numbers", kind, op, name, f"pick(4,70,{numbers})", None,
                           range(0, 70, 9))
                yield Case(f"{kind}-{op}-{name}-nans", kind, op, name, f"{elements(dtype, NAN)}*5", None, range(5))
                yield Case(f"{kind}-{op}-{name}-uniform", kind, op, name, "uniform(2,4099)", None, KS)
                yield Case(f"{kind}-{op}-{name}-init", kind, op, name, "uniform(2,9)", ("0.5", ONE >> 1), range(9))
                yield Case(f"{kind}-{op}-{name}-init-nan", kind, op, name, "uniform(2,9)", ("nan", NAN), range(9))
            for op in ("all", "any", "count_nonzero"):
                yield Case(f"{kind}-{op}-{name}-specials", kind, op, name, f"pick(3,70,{choices})", None,
                           range(0, 70, 9))
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
        yield Case(f"argmin-{name}-out-u8", "reduce", "argmin", f"{name}/u64/u8",
                   f"uniform(5,700) {elements(dtype, NINF)}")


def logic():
    for dtype in DTYPES.values():
        name, width = dtype.name, 2 * dtype.bytes
        zero = f"{0:0{width}x}"
        last = f"{1:0{width}x}"
        top = f"{1 << dtype.bits - 1:0{width}x}"  # -0, or the sign bit of an integer
        rows = [("empty", ""), ("zeros", f"{zero}*5000"), ("ones", f"{last}*5000"), ("top", f"{top}*5000"),
                ("last", f"{zero}*4999 {last}"), ("all-but-last", f"{last}*4999 {zero}"),
                ("mixed", f"({zero} {last})*999"),
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
                     ("odd", "ramp(0x1,0x2,5000)")]
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
                yield Case(f"{op}-{name}-init-{n}", "reduce", op, name, f"uniform(8,{n})" if n else "",
                           (str(init), init))
        for out in INTEGERS:
            yield Case(f"min-{name}-out-{out.name}", "reduce", "min", f"{name}/{name}/{out.name}", "uniform(8,50)")
            yield Case(f"bxor-{name}-out-{out.name}", "reduce", "bxor", f"{name}/{name}/{out.name}", "uniform(8,50)")
    yield Case("sum-i64-init-negative", "reduce", "sum", "i64", "uniform(8,5)", ("-9223372036854775808", -(1 << 63)))
    yield Case("sum-u64-init-greatest", "reduce", "sum", "u64", "uniform(8,5)", ("18446744073709551615", (1 << 64) - 1))
