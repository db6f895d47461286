/* SPDX-License-Identifier: BSD-2-Clause */
/* Scans of every family, dtype and alignment: the state decides the kernel, everything else is looked at at run time.
 */
#include "scan_any.cuh"
#include "scan_tile.cuh"

SCAN_TILE(scan_any_f32, ManyTile, Any<float>)
SCAN_TILE(scan_any_f64, ManyTile, Any<double>)
SCAN_TILE(scan_any_word, ManyTile, Any<uint64_t>)
SCAN_LEVEL(scan_level_f32, Any<float>)
SCAN_LEVEL(scan_level_f64, Any<double>)
SCAN_LEVEL(scan_level_word, Any<uint64_t>)
