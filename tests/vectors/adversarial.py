# SPDX-License-Identifier: BSD-2-Clause
"""Sums that defeat naive summation, with `sum-1` and `scan-1` answers that were published with the specification.

These answers were computed by another program; generate.py stops if its own differ.
"""
MAX, MAXF, INF = "7fefffffffffffff", "7f7fffff", "7ff0000000000000"
ONE, HALF_ULP, TINY = "3ff0000000000000", "3ca0000000000000", "0000000000000001"
NEGATIVE_ZERO = "8000000000000000"

# n: sum of uniform(1, n)
UNIFORM_F64 = {
    1: "3feb15dbeb10ff40", 2: "bfc14009a035b8e8", 31: "c0174ad7f43300d9", 32: "c01a2b8da30fd50b",
    33: "c0179a9fe14f1ef9", 63: "c017d0ecbf54a326", 64: "c0191612dbf687c8", 65: "c01bcfb30582d334",
    127: "c020afc559e904ae", 128: "c02109eccf260550", 129: "c02067863cf5cd83", 1023: "bff7c426462a64e0",
    1024: "bff5218a39d709b0", 1025: "bff8193e93d9f658", 2047: "c025ae97624ae079", 2048: "c02410301bdb08ac",
    2049: "c02386015f8ea6c9", 4095: "c035157790736efb", 4096: "c03450e7482d952e", 4097: "c0349e21c39d6145",
}
UNIFORM_F32 = {
    1: "3f58aede", 2: "be0a0058", 31: "c0ba56c4", 32: "c0d15c71", 33: "c0bcd504", 63: "c0be876e", 64: "c0c8b09e",
    65: "c0de7da0", 127: "c1057e33", 128: "c1084f6e", 129: "c1033c3a", 1023: "bfbe2324", 1024: "bfa90e44",
    1025: "bfc0cbec", 2047: "c12d7538", 2048: "c12081fe", 2049: "c11c3088", 4095: "c1a8ac3a", 4096: "c1a287b8",
    4097: "c1a4f18c",
}

# (id, dtype, input, canonical bits)
SUMS = [
    ("D01", "f64", f"4341c37937e08000 {ONE} c341c37937e08000", ONE),
    ("F01", "f32", "5a0e1bca 3f800000 da0e1bca", "3f800000"),
    ("D02", "f64", f"(4341c37937e08000 {ONE} c341c37937e08000)*1024", "0000000000000000"),
    ("F02", "f32", "(5a0e1bca 3f800000 da0e1bca)*1024", "422c0000"),
    ("D03", "f64", f"({ONE} 54b249ad2594c37d {ONE} d4b249ad2594c37d)*10000", "40d3880000000000"),
    ("D04a", "f64", f"{ONE} {HALF_ULP}", ONE),
    ("D04b", "f64", f"3ff0000000000001 {HALF_ULP}", "3ff0000000000002"),
    ("D04c", "f64", f"{ONE} {HALF_ULP} {TINY}", ONE),
    ("D04d", "f64", f"3ff0000000000001 {HALF_ULP} neg({TINY})", "3ff0000000000002"),
    ("D04e", "f64", f"neg({ONE} {HALF_ULP})", "bff0000000000000"),
    ("F04", "f32", "3f800000 33800000 21800000", "3f800000"),
    ("D05a", "f64", f"{MAX}*2 neg({MAX})", MAX),
    ("D05b", "f64", f"{MAX}*2 neg({MAX}*2) {ONE}", "0000000000000000"),
    ("F05", "f32", f"{MAXF}*2 neg({MAXF})", MAXF),
    ("D06a", "f64", f"{MAX} 7c90000000000000", INF),
    ("D06b", "f64", f"{MAX} 7c90000000000000 neg({TINY})", INF),
    ("D07a", "f64", f"{TINY}*4096", "0000000000001000"),
    ("D07b", "f64", f"0010000000000000 neg({TINY})", "000fffffffffffff"),
    ("F07", "f32", "00000001*1000", "000003e8"),
    ("F07b", "f32", "7f000000 00000001 ff000000", "00000001"),
    ("D08", "f64", " ".join(f"{1 << k:016x}" for k in range(52)) + " ramp(0x0010000000000000,0x0010000000000000,2045)",
     "7fe0000000000000"),
    ("D09a", "f64", f"{INF} neg({INF})", "7ff8000000000000"),
    ("D09b", "f64", f"{INF} {ONE} neg({MAX})", INF),
    ("D09c", "f64", f"{MAX}*2 neg({INF})", "fff0000000000000"),
    ("D09d", "f64", f"{ONE} 7ff0000000000001 fff8dead0000beef", "7ff8000000000000"),
    ("F09", "f32", "3f800000 ffc12345", "7fc00000"),
    ("D10-0", "f64", "", "0000000000000000"),
    *((f"D10-{n}", "f64", f"{NEGATIVE_ZERO}*{n}", NEGATIVE_ZERO) for n in (1, 2, 31, 32, 33, 1023, 1024, 1025)),
    ("D10m", "f64", f"{NEGATIVE_ZERO}*1024 0000000000000000", "0000000000000000"),
    ("D10c", "f64", f"{ONE} neg({ONE})", "0000000000000000"),
    ("D10d", "f64", f"{NEGATIVE_ZERO} {ONE} neg({ONE}) {NEGATIVE_ZERO}", "0000000000000000"),
    ("D11", "f64", "harmonic(100000)", "3fe62e3882a2e51a"),
    ("F11", "f32", "harmonic(100000)", "3f3171c4"),
    *((f"D13-{n}", "f64", f"uniform(1,{n})", bits) for n, bits in UNIFORM_F64.items()),
    *((f"F13-{n}", "f32", f"uniform(1,{n})", bits) for n, bits in UNIFORM_F32.items()),
    *((f"D17-{e}", "f64", f"squares(1,2047) neg(squares(1,2047)) 0000000000000000 {1023 - e << 52 | 1:016x}",
       "3d60000000000000") for e in (43, 85, 127, 169)),
    ("D18", "f64", "3fefffffffffffff*8192", "40bfffffffffffff"),
    ("F18", "f32", "3f7fffff*8192", "45ffffff"),
    ("D19", "f64", f"4340000000000000 {ONE}*1025", "43400000000001f8"),
    ("F19", "f32", "4b800000 3f800000*1025", "4b8001fc"),
    ("D20", "f64", f"4008000000000000 {TINY} c008000000000000", TINY),
]

# The correctly rounded sums, where they differ from the canonical ones.
EXACT = {
    "D02": "4090000000000000", "F02": "44800000", "D04c": "3ff0000000000001", "D04d": "3ff0000000000001",
    "F04": "3f800001", "D05b": "3ff0000000000000", "D06b": "7fefffffffffffff", "D11": "3fe62e3882a2e519",
    "D13-32": "c01a2b8da30fd50a", "D13-33": "c0179a9fe14f1ef8", "F13-33": "c0bcd503", "F13-64": "c0c8b09f",
    "D13-128": "c02109eccf26054f", "D13-129": "c02067863cf5cd82", "D13-1023": "bff7c426462a64f6",
    "F13-1023": "bfbe2333", "D13-1024": "bff5218a39d709c2", "F13-1024": "bfa90e53", "D13-1025": "bff8193e93d9f668",
    "F13-1025": "bfc0cbf6", "D13-2047": "c025ae97624ae080", "F13-2047": "c12d753b", "D13-2048": "c02410301bdb08b2",
    "F13-2048": "c1208201", "D13-2049": "c02386015f8ea6d0", "F13-2049": "c11c308b", "D13-4095": "c035157790736f00",
    "F13-4095": "c1a8ac3c", "D13-4096": "c03450e7482d9532", "F13-4096": "c1a287b9", "D13-4097": "c0349e21c39d614a",
    "F13-4097": "c1a4f18d", "D17-43": "3d40000000000001", "D17-85": "3aa0000000000001",
    "D17-127": "3800000000000001", "D17-169": "3560000000000001", "D19": "4340000000000200", "F19": "4b800200",
}

# P(k) of the f32 stream uniform(1, ...)
PREFIXES = {
    1: "3f58aede", 2: "be0a0058", 3: "bf568a54", 7: "c017d794", 8: "c00f77ec", 9: "c023fbc7", 31: "c0ba56c4",
    32: "c0d15c72", 33: "c0bcd504", 63: "c0be876d", 64: "c0c8b0a0", 65: "c0de7da2", 1023: "bfbe2343",
    1024: "bfa90e64", 1025: "bfc0cc07", 4095: "c1a8ac3f", 4096: "c1a287bd", 4097: "c1a4f191",
}
