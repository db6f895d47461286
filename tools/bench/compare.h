/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows beside those of an earlier run: bench --compare OLD. */
#ifndef REDTOOL_BENCH_COMPARE_H
#define REDTOOL_BENCH_COMPARE_H

#include "bench/json.h"
#include "bench/rows.h"

/* Read a file that --json wrote; anything else is EXIT_IO and a sentence. json_free the value in any case. */
int compare_open(const char *path, struct json *old);

/* Give each row that the old run has too its old median. That none has is an error. */
int compare_rows(struct table *table, const char *path, const struct json *old);

/* Rows are slower than `least` times the old ones: EXIT_MISMATCH and a sentence that names the worst. */
int compare_judge(const struct table *table, double least);

#endif
