/* SPDX-License-Identifier: BSD-2-Clause */
/* The picture of bench --plot: bandwidth over n on logarithmic axes, a curve for each device, rooflines dashed. */
#ifndef REDTOOL_BENCH_PLOT_H
#define REDTOOL_BENCH_PLOT_H

#include "bench/rows.h"
#include "output.h"

/* Draw all rows of route plan into an open file and commit it. */
int plot_write(const struct table *table, struct output *out);

#endif
