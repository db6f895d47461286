/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernels' texts, embedded by embed.py. */
#ifndef RED_BACKEND_OPENCL_TEXTS_H
#define RED_BACKEND_OPENCL_TEXTS_H

extern const char red_cl_texts_digest[]; /* of all that follow */

extern const char red_cl_text_types_def[];
extern const char red_cl_text_prelude_cl[];
extern const char red_cl_text_elements_cl[];
extern const char red_cl_text_convert_cl[];
extern const char red_cl_text_nodes_cl[];
extern const char red_cl_text_lanes_cl[];
extern const char red_cl_text_chunk_wide_cl[];
extern const char red_cl_text_fold_lanes_cl[];
extern const char red_cl_text_chunk_lanes_cl[];
extern const char red_cl_text_chunk_adjacent_cl[];
extern const char red_cl_text_bags_cl[];
extern const char red_cl_text_keys_cl[];
extern const char red_cl_text_vectors_cl[];
extern const char red_cl_text_nodes_wide_cl[];
extern const char red_cl_text_nodes_lanes_cl[];
extern const char red_cl_text_expansion_cl[];
extern const char red_cl_text_runs_cl[];
extern const char red_cl_text_reduce_wide_cl[];
extern const char red_cl_text_reduce_lanes_cl[];
extern const char red_cl_text_board_cl[];
extern const char red_cl_text_once_lanes_cl[];
extern const char red_cl_text_last_cl[];
extern const char red_cl_text_results_cl[];
extern const char red_cl_text_round_cl[];
extern const char red_cl_text_round_odd_cl[];
extern const char red_cl_text_finish_cl[];
extern const char red_cl_text_out_cl[];
extern const char red_cl_text_out_default_cl[];
extern const char red_cl_text_out_any_cl[];
extern const char red_cl_text_tile_wide_cl[];
extern const char red_cl_text_scan_wide_cl[];
extern const char red_cl_text_scan_pass_wide_cl[];
extern const char red_cl_text_scan_lanes_cl[];
extern const char red_cl_text_async_cl[];
extern const char red_cl_text_lookback_cl[];
extern const char red_cl_text_scan_pipe_cl[];
extern const char red_cl_text_scan_nodes_wide_cl[];
extern const char red_cl_text_scan_nodes_lanes_cl[];
extern const char red_cl_text_exact_cl[];
extern const char red_cl_text_exact_wide_cl[];
extern const char red_cl_text_exact_lanes_cl[];
extern const char red_cl_text_exact_finish_cl[];
extern const char red_cl_text_stats_cl[];
extern const char red_cl_text_stats_wide_cl[];
extern const char red_cl_text_stats_lanes_cl[];
extern const char red_cl_text_moments_cl[];
extern const char red_cl_text_moments_wide_cl[];
extern const char red_cl_text_moments_lanes_cl[];

#endif
