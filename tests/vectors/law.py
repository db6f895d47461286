# SPDX-License-Identifier: BSD-2-Clause
"""The specification, executed: canonical order (`sum-1`, `scan-1`) and the operator table (docs/numerics.md)."""
from exact import DTYPES, INF, NAN, NINF, NZERO, is_zero

EMPTY = "RED_ERR_EMPTY"
ARGS = ("argmin", "argmax", "argminnum", "argmaxnum")
FLAGS = ("all", "any")
SUMS = ("sum", "prod", "dot", "asum", "sumsq", "mean")


def accumulator(op, dtype):
    """The default accumulator."""
    if op in SUMS:
        if not dtype.is_float:
            return DTYPES["i64" if dtype.signed else "u64"]
        return DTYPES["f64" if dtype.bytes == 8 else "f32"]
    if op == "nrm2":
        return DTYPES["f64"]
    if op in ARGS or op == "count_nonzero":
        return DTYPES["u64"]
    return DTYPES["u8"] if op in FLAGS else dtype


def output(op, dtype, acc):
    """The default output."""
    return dtype if (op in SUMS or op == "nrm2") and dtype.is_float else acc


# ---- sum-1 -----------------------------------------------------------------------------------------------------------

def chunk_node(step, row_step, lanes, x):
    a = [row_step(None, value) for value in x[:lanes]]
    for start in range(lanes, len(x), lanes):
        for l, value in enumerate(x[start:start + lanes]):
            a[l] = row_step(a[l], value)
    h = lanes // 2
    while h:
        for l in range(min(h, len(a) - h)):
            a[l] = step(a[l], a[l + h])
        h //= 2
    return a[0]


def ordered_reduce(step, row_step, acc, x):
    """row_step(a, x): the lane a (None: the first row) and an element, or a pair of them; step: everything above."""
    lanes = 512 // acc.bytes
    chunk = lanes * 32
    nodes = [chunk_node(step, row_step, lanes, x[i:i + chunk]) for i in range(0, len(x), chunk)]
    while len(nodes) > 1:
        nodes = [step(*nodes[i:i + 2]) if i + 1 < len(nodes) else nodes[i] for i in range(0, len(nodes), 2)]
    return nodes[0]


# ---- scan-1 ----------------------------------------------------------------------------------------------------------

def ordered_prefixes(step, x, init):
    """P(1) .. P(n): P(k) is P(k without its lowest bit) and the node of that bit."""
    nodes = [x]
    while len(nodes[-1]) > 1:
        below = nodes[-1]
        nodes.append([step(below[i], below[i + 1]) for i in range(0, len(below) - 1, 2)])
    prefix = [init]
    for k in range(1, len(x) + 1):
        level = (k & -k).bit_length() - 1
        left, node = prefix[k & (k - 1)], nodes[level][(k >> level) - 1]
        prefix.append(node if left is None else step(left, node))
    return prefix[1:]


# ---- operators -------------------------------------------------------------------------------------------------------

def extremum(dtype, sign, skip):
    """sign 1: the least, -1: the greatest; skip: a NaN loses."""
    def step(a, b):
        if a is NAN or b is NAN:
            return (b if a is NAN else a) if skip else NAN
        return a if sign * dtype.key(a) <= sign * dtype.key(b) else b
    return step


def step_of(op, dtype, acc):
    if op in ("sum", "dot", "asum", "sumsq", "nrm2", "mean"):
        return acc.add
    if op == "prod":
        return acc.mul
    if op in ("min", "max", "minnum", "maxnum"):
        return extremum(dtype, 1 if op.startswith("min") else -1, op.endswith("num"))
    return {"band": lambda a, b: a & b, "bor": lambda a, b: a | b, "bxor": lambda a, b: a ^ b,
            "all": lambda a, b: a & b, "any": lambda a, b: a | b, "count_nonzero": lambda a, b: a + b}[op]


def operand(op, dtype):
    """What one element contributes."""
    if op in FLAGS or op == "count_nonzero":
        return lambda v: int(not is_zero(v))
    if op == "asum":
        return magnitude
    if op == "dot":
        return lambda pair: pair[0] * pair[1]
    if op == "sumsq":
        return lambda v: v * v
    return lambda v: v


def magnitude(v):
    return {NZERO: 0, NINF: INF}.get(v, v) if type(v) is not int else abs(v)


def row_step_of(op, dtype, acc):
    """A lane and the next row: floats only."""
    if op == "dot":
        return lambda a, pair: acc.fma(*pair, NZERO if a is None else a)
    if op in ("sumsq", "nrm2"):
        return lambda a, v: acc.fma(v, v, NZERO if a is None else a)
    step, lift = step_of(op, dtype, acc), operand(op, dtype)
    return lambda a, v: lift(v) if a is None else step(a, lift(v))


def identity(op, dtype):
    """exclusive[0] without init."""
    if op in ("minnum", "maxnum") and dtype.is_float:
        return NAN
    if op in ("min", "max", "minnum", "maxnum"):
        least = op.startswith("min")
        if dtype.is_float:
            return INF if least else NINF
        return dtype.greatest if least else dtype.least
    if op == "band":
        return dtype.decode((1 << dtype.bits) - 1)
    return int(op == "all") if op != "prod" else 1 << 1074 if dtype.is_float else 1


def arg_extremum(op, dtype, x):
    sign, skip = 1 if op.startswith("argmin") else -1, op.endswith("num")
    nans = [i for i, v in enumerate(x) if v is NAN]
    if skip:
        candidates = [i for i, v in enumerate(x) if v is not NAN]
    else:
        candidates = nans[:1] or range(len(x))
    if not candidates:
        return EMPTY
    return min(candidates, key=lambda i: (sign * dtype.key(0 if x[i] is NZERO else x[i]) if x[i] is not NAN else 0, i))


def reduce(op, dtype, acc, out, x, init=None):
    """The output's bits, or EMPTY. x and init are values; dot: the first input's, then the second's."""
    if op in ARGS:
        index = arg_extremum(op, dtype, x) if x else EMPTY
        return index if index == EMPTY else out.encode(index)
    if op == "dot":
        x = list(zip(x[:len(x) // 2], x[len(x) // 2:]))
    if not x and init is None:
        if op in ("min", "max", "minnum", "maxnum", "mean"):
            return EMPTY
        return out.encode(out.round(identity(op, acc)))
    step = step_of(op, dtype, acc)
    if (op in SUMS or op == "nrm2") and acc.is_float:
        result = ordered_reduce(step, row_step_of(op, dtype, acc), acc, x) if x else None
        if init is not None:
            result = init if result is None else step(init, result)
        if op == "mean":
            return out.encode(out.quotient(result, len(x)))
        if op == "nrm2":
            return out.encode(out.root(result))
    else:
        x = [operand(op, dtype)(v) for v in x]
        x = x if init is None else [init] + x
        result = x[0]
        for value in x[1:]:
            result = step(result, value)
    return out.encode(out.round(acc.round(result)))


def scan(op, dtype, acc, out, x, exclusive, init=None):
    """The outputs' bits."""
    step = step_of(op, dtype, acc)
    operands = [operand(op, dtype)(v) for v in x]
    if op in ("sum", "prod") and acc.is_float:
        values = ordered_prefixes(step, operands, init)
    else:
        values, last = [], init
        for value in operands:
            last = value if last is None else step(last, value)
            values.append(last)
    if exclusive and values:
        values = [identity(op, acc) if init is None else init] + values[:-1]
    return [out.encode(out.round(acc.round(v))) for v in values]


def stats(dtype, x):
    """(sum, min, max, argmin, argmax, mean) as bits."""
    acc, f64 = accumulator("sum", dtype), DTYPES["f64"]
    total = reduce("sum", dtype, acc, output("sum", dtype, acc), x)
    if dtype.is_float:  # the mean divides the accumulator, before it is rounded to a narrower input type
        mean = f64.quotient(acc.decode(reduce("sum", dtype, acc, acc, x)), len(x))
    else:
        mean = f64.quotient(sum(x) << 1074, len(x))
    parts = [reduce(op, dtype, dtype, dtype, x) for op in ("min", "max")]
    args = [reduce(op, dtype, DTYPES["u64"], DTYPES["u64"], x) for op in ("argmin", "argmax")]
    return [total, *parts, *args, f64.encode(mean)]
