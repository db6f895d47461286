#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Write the vector files, or compare them with what would be written.

    generate.py                  write every file
    generate.py --check [NAME..] exit 1 if a file (all, or those named) differs
"""
import pathlib
import sys

import adversarial
import cases
import inputs
import kit
import law
import law_moments
import law_exact
from exact import DTYPES

FOLDER = pathlib.Path(__file__).resolve().parent
KINDS = {"reduce": None, "scan": False, "exscan": True}  # exclusive?


def fnv(values, size):
    """FNV-1a of the values' little-endian bytes."""
    digest = 0xCBF29CE484222325
    for value in values:
        for byte in value.to_bytes(size, "little"):
            digest = (digest ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return digest


def dtypes_of(case):
    parts = [DTYPES[name] for name in case.dtypes.split("/")]
    if len(parts) < 2:
        parts.append(law.accumulator(case.op, parts[0]))
    if len(parts) < 3:
        parts.append(law.output(case.op, *parts[:2]))
    return parts


def stats_answer(case, x):
    """What is not selected is zero."""
    if not x:
        return law.EMPTY
    dtype, selection = DTYPES[case.dtypes], case.op or "default"
    out = law.output("sum", dtype, law.accumulator("sum", dtype))
    names, sizes, values = [], [], []
    if selection in ("default", "all"):
        names += ["sum", "min", "max", "argmin", "argmax", "mean"]
        sizes += [out.bytes, dtype.bytes, dtype.bytes, 8, 8, 8]
        values += law.stats(dtype, x)
    if selection != "default":
        names += ["nan_count", "variance", "sample_variance", "squared_deviations"]
        sizes += [8] * 4
        values += law_moments.variances(dtype, x)
        if selection == "variance":
            values[0] = 0
    return " ".join(f"{name}:{bits:0{2 * size}x}" for name, bits, size in zip(names, values, sizes))


def answer(case, x):
    if case.kind == "stats":
        return stats_answer(case, x)
    dtype, acc, out = dtypes_of(case)
    init = case.init and case.init[1]
    width = 2 * out.bytes
    exact = case.exact or case.op == "nrm2" and dtype.bytes == 8
    if case.kind == "reduce":
        if exact and dtype.is_float:
            bits = law_exact.reduce(case.op, out, x, init)
        else:
            bits = law.reduce(case.op, dtype, acc, out, x, init)
        return bits if bits == law.EMPTY else f"{bits:0{width}x}"
    values = law.scan(case.op, dtype, acc, out, x, KINDS[case.kind], init)
    spelled = [f"@{i}:{values[i]:0{width}x}" for i in case.at if i < len(values)]
    return " ".join(spelled + [f"fnv:{fnv(values, out.bytes):016x}"])


def line(case):
    dtype = DTYPES[case.dtypes.split("/")[0]]
    elements = inputs.expand(dtype, case.input)
    n = len(elements) // (2 if case.op == "dot" else 1)
    op = "" if case.kind == "stats" else case.op
    problem = ":".join(p for p in (case.kind, op, case.dtypes, str(n)) if p)
    if case.kind == "stats" and case.op:
        problem += f":select={case.op}"
    if case.init:
        problem += f":init={case.init[0]}"
    if case.exact:
        problem += ":exact"
    return " | ".join((case.id, problem, case.input, answer(case, [dtype.decode(e) for e in elements])))


def published():
    """The adversarial sums and prefixes, whose answers are known beforehand."""
    lines = []
    for name, dtype, text, bits in adversarial.SUMS:
        lines.append(line(kit.Case(name, "reduce", "sum", dtype, text)))
        assert lines[-1].endswith(f" | {bits}"), f"{lines[-1]}, published: {bits}"
    for name, dtype, text, bits in adversarial.SUMS:
        bits = adversarial.EXACT.get(name, bits)
        lines.append(line(kit.Case(f"{name}-exact", "reduce", "sum", dtype, text, exact=True)))
        assert lines[-1].endswith(f" | {bits}"), f"{lines[-1]}, published: {bits}"
    ks = adversarial.PREFIXES
    for kind, shift in (("scan", -1), ("exscan", 0)):  # inclusive[k - 1] = exclusive[k] = P(k)
        lines.append(line(kit.Case(f"prefixes-{kind}", kind, "sum", "f32", f"uniform(1,{max(ks) + 1})", None,
                                     [k + shift for k in ks])))
        assert all(f"@{k + shift}:{bits} " in lines[-1] for k, bits in ks.items()), lines[-1]
    return lines


def text_of(name):
    if name == "adversarial":
        title, lines = "Sums that defeat naive summation, and prefixes, with published answers", published()
    else:
        title, generators = cases.FILES[name]
        lines = [line(case) for generator in generators for case in generator()]
    names = [l.split(" | ")[0] for l in lines]
    assert len(set(names)) == len(names), f"{name}: an id occurs twice"
    return f"# {title}. Written by generate.py; the format is in README.md.\n" + "".join(l + "\n" for l in lines)


def main(arguments):
    check = "--check" in arguments
    names = [a for a in arguments if a != "--check"] or ["adversarial", *cases.FILES]
    wrong = 0
    for name in names:
        path, text = FOLDER / f"{name}.txt", text_of(name)
        if not check:
            path.write_text(text)
        elif path.read_text() != text:
            wrong += 1
            print(f"{path} differs from what generate.py writes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
