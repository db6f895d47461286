# SPDX-License-Identifier: BSD-2-Clause
"""The variance of `stats-1` (docs/numerics.md), executed, and how far it may be from the true one."""
from fractions import Fraction

from exact import DTYPES, INF, NAN, NINF, NZERO

F64 = DTYPES["f64"]
UNIT = 1 << 1074  # one, in the units of exact.py


def negative(a):
    return {0: NZERO, NZERO: 0, INF: NINF, NINF: INF, NAN: NAN}[a] if type(a) is not int or a == 0 else -a


def subtract(a, b):
    return F64.add(a, negative(b))


def fold(lanes, width):
    h = width // 2
    while h:
        for l in range(max(min(h, len(lanes) - h), 0)):
            lanes[l] = F64.add(lanes[l], lanes[l + h])
        h //= 2
    return lanes[0]


def two_sum(a, b):
    """a + b as a double and what it lacks."""
    total = F64.add(a, b)
    b_part = subtract(total, a)
    a_part = subtract(total, b_part)
    return total, F64.add(subtract(a, a_part), subtract(b, b_part))


def chunk_moments(x, lanes):
    origin, row = x[0], min(len(x), lanes)
    start = fold([subtract(value, origin) for value in x[:row]], lanes)
    shift = F64.add(origin, F64.quotient(start, row))
    sums, squares = [], []
    for i, value in enumerate(x):
        d = subtract(value, shift)
        square = F64.mul(d, d)
        if i < lanes:
            sums.append(d)
            squares.append(square)
        else:
            sums[i % lanes] = F64.add(sums[i % lanes], d)
            squares[i % lanes] = F64.add(squares[i % lanes], square)
    total = fold(sums, lanes)
    offset = F64.quotient(total, len(x))
    rest = subtract(fold(squares, lanes), F64.mul(total, offset))
    if rest is NINF or type(rest) is int and rest < 0:
        rest = 0
    return (len(x), *two_sum(shift, offset), rest)


def merge(a, b):
    (na, ha, la, ma), (nb, hb, lb, mb) = a, b
    share = F64.quotient(nb * UNIT, na + nb)
    delta = F64.add(subtract(hb, ha), subtract(lb, la))
    mean = two_sum(ha, F64.add(la, F64.mul(delta, share)))
    between = F64.mul(F64.mul(delta, delta), F64.mul(na * UNIT, share))
    return (na + nb, *mean, F64.add(F64.add(ma, mb), between))


def moments(dtype, x):
    """The root of the tree, and its height above the chunks."""
    chunk = 2048 if dtype.bytes == 8 else 4096
    real = x if dtype.is_float else [F64.round(value * UNIT) for value in x]
    nodes = [chunk_moments(real[i:i + chunk], chunk // 32) for i in range(0, len(real), chunk)]
    height = 0
    while len(nodes) > 1:
        nodes = [merge(*nodes[i:i + 2]) if i + 1 < len(nodes) else nodes[i] for i in range(0, len(nodes), 2)]
        height += 1
    check(real, nodes[0][3], height)
    return nodes[0]


def check(x, squares, height):
    """Within the bound that docs/numerics.md proves, if nothing overflows."""
    if any(type(value) is not int and value is not NZERO for value in x):
        assert squares is NAN
        return
    values = [0 if value is NZERO else value for value in x]
    total, n = sum(values), len(values)
    exact = Fraction(n * sum(v * v for v in values) - total * total, n * UNIT * UNIT)
    if type(squares) is not int:
        assert exact > 2 ** 1020, "only an overflow is no number"
        return
    bound = Fraction(16500 + 1000 * height, 2 ** 53) * exact + Fraction(4 * n, UNIT)
    assert abs(Fraction(squares, UNIT) - exact) <= bound
    assert exact != 0 or squares == 0


def variances(dtype, x):
    """(nan_count, variance, sample_variance, squared_deviations) as bits."""
    count, _, _, squares = moments(dtype, x)
    nans = sum(value is NAN for value in x)
    sample = F64.quotient(squares, count - 1) if count > 1 else NAN
    return [nans] + [F64.encode(v) for v in (F64.quotient(squares, count), sample, squares)]
