/* SPDX-License-Identifier: BSD-2-Clause */
/* Scans of the most frequent pairs, for small arrays. */
#include "scan_tile.cuh"

SCAN_TILE(scan_tile_f32, Hot<red::SumF32>)
SCAN_TILE(scan_tile_f64, Hot<red::SumF64>)
SCAN_TILE(scan_tile_i32, Hot<red::SumI32>)
SCAN_TILE(scan_tile_i32_wide, Hot<red::SumI32Wide>)
SCAN_TILE(scan_tile_i64, Hot<red::SumI64>)
