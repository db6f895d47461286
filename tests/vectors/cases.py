# SPDX-License-Identifier: BSD-2-Clause
"""The vector files, and the lists of cases that go into each. The answers are computed by law.py."""
from cases_any_order import integers, logic, order_of_floats, scans_of_integers, scans_of_order
import cases_exact_maps
import cases_exact_ties
from cases_exact import (exact_cancelling, exact_init, exact_integers, exact_lengths, exact_rooms, exact_rounding,
                         exact_values)
from cases_norms import (dot_fused, dot_integers, dot_lengths, dot_values, magnitudes_and_squares, mean_rounding,
                         means, norms)
from cases_ordered import large, prod, scan_lengths, scan_values, scans_round_once, sum_lengths, sum_values
from cases_stats import statistics, variances

FILES = {
    "sum": ("Sums of floats", (sum_lengths, sum_values)),
    "prod": ("Products of floats", (prod,)),
    "scan": ("Scans of sums and products of floats", (scan_lengths, scan_values, scans_round_once)),
    "scan_any_order": ("Scans whose order does not matter", (scans_of_integers, scans_of_order)),
    "order": ("Extrema and their indices, floats", (order_of_floats,)),
    "logic": ("all, any and count_nonzero", (logic,)),
    "integer": ("Integers: sums, products, bits, extrema", (integers,)),
    "stats": ("Statistics", (statistics, variances)),
    "exact": ("Exact sums", (exact_lengths, exact_values, exact_cancelling, exact_rooms, exact_rounding, exact_init,
                             exact_integers)),
    "dot": ("Dot products", (dot_lengths, dot_values, dot_fused, dot_integers)),
    "norms": ("Sums of magnitudes and squares, norms and means", (magnitudes_and_squares, norms, means, mean_rounding)),
    "exact_ties": ("Exact results at ties and at the ends of the range", (
        cases_exact_ties.dot_ties, cases_exact_ties.square_ties, cases_exact_ties.root_ties, cases_exact_ties.payloads,
        cases_exact_ties.lengths)),
    "exact_maps": ("Exact dot products, norms and means", (
        cases_exact_maps.lengths, cases_exact_maps.values, cases_exact_maps.dots, cases_exact_maps.roots,
        cases_exact_maps.means)),
    "large": ("Many elements", (large,)),
}
