# SPDX-License-Identifier: BSD-2-Clause
"""The input language of the vector files (README.md), read into a list of element bits."""
import re

from exact import DTYPES

MASK = (1 << 64) - 1


def lcg(seed):
    """Knuth's MMIX generator, as unsigned 64-bit states."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) & MASK
        yield state


def signed(state):
    return state - (1 << 64) if state >> 63 else state


def uniform(dtype, seed, count):
    """Floats: multiples of 2^(1 - precision) in [-1, 1). Integers: all bits random."""
    states = lcg(seed)
    if not dtype.is_float:
        return [next(states) >> (64 - dtype.bits) for _ in range(count)]
    digits = dtype.precision
    return [dtype.encode(signed(next(states)) >> (64 - digits) << (1074 + 1 - digits)) for _ in range(count)]


def bits(dtype, seed, lo, span, count):
    """Bit patterns lo .. lo + span - 1, or any at all if span is 0."""
    states = lcg(seed)
    if span == 0:
        return [next(states) >> (64 - dtype.bits) for _ in range(count)]
    return [(lo + (next(states) >> 11) % span) & ((1 << dtype.bits) - 1) for _ in range(count)]


def ramp(dtype, first, step, count):
    return [(first + i * step) & ((1 << dtype.bits) - 1) for i in range(count)]


def pick(dtype, seed, count, *choices):
    states = lcg(seed)
    return [choices[(next(states) >> 33) % len(choices)] for _ in range(count)]


def squares(dtype, seed, count):
    """1 + u * u, u as of uniform, rounded after each operation."""
    one = dtype.decode(dtype.encode(1 << 1074))
    values = [dtype.decode(u) for u in uniform(dtype, seed, count)]
    return [dtype.encode(dtype.add(one, dtype.mul(u, u))) for u in values]


def harmonic(dtype, count):
    """1, -1/2, 1/3, -1/4, ...: each rounded to f64, then to the dtype."""
    f64 = DTYPES["f64"]
    terms = (f64.quotient((-1) ** i << 1074, i + 1) for i in range(count))
    return [dtype.encode(dtype.round(term)) for term in terms]


def neg(dtype, elements):
    return [e ^ dtype.sign for e in elements]


GENERATORS = {f.__name__: f for f in (uniform, bits, ramp, pick, squares, harmonic)}
TOKEN = re.compile(r"\s*([0-9A-Za-z]+|[()*,])")


class Parser:
    def __init__(self, dtype, text):
        self.dtype, self.tokens, self.at = dtype, TOKEN.findall(text), 0

    def take(self, expected=None):
        token = self.tokens[self.at] if self.at < len(self.tokens) else ""
        if expected and token != expected:
            raise ValueError(f"expected {expected}, found {token}")
        self.at += 1
        return token

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def items(self):
        out = []
        while self.peek() not in ("", ")"):
            item = self.item()
            if self.peek() == "*":
                self.take()
                item = item * int(self.take())
            out += item
        return out

    def item(self):
        if self.peek() == "(":
            return self.group()
        word = self.take()
        if self.peek() != "(":
            if len(word) != 2 * self.dtype.bytes:
                raise ValueError(f"{word} is no {self.dtype.name}")
            return [int(word, 16)]
        if word == "neg":
            return neg(self.dtype, self.group())
        return GENERATORS[word](self.dtype, *self.arguments())

    def group(self):
        self.take("(")
        out = self.items()
        self.take(")")
        return out

    def arguments(self):
        out = []
        self.take("(")
        while True:
            out.append(int(self.take(), 0))
            if self.take() == ")":
                return out


def expand(dtype, text):
    parser = Parser(dtype, text)
    out = parser.items()
    if parser.at != len(parser.tokens):
        raise ValueError(f"unexpected {parser.peek()} in {text}")
    return out
