/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/svg.h"
#include "report.h"

enum {
  LEFT = 70,
  TOP = 40,
  WIDTH = 640,
  HEIGHT = 400,
  BELOW = 60,
  LEGEND_LINE = 18,
  LEGEND_WIDTH = 330,
  MOST_CURVES = 64
};

/* Okabe and Ito's colours (2008), which colour-blind readers can tell apart. */
static const char *const colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"};

/* Rows that differ in n only. */
struct curve {
  const struct row *like;
  bool roof; /* draw the roof of the rows instead of their bandwidth */
  const char *color, *dash;
};

struct plot {
  const struct table *table;
  struct svg svg;
  struct curve curves[MOST_CURVES];
  size_t curve_count, colored;
  double first_n, last_n, low, high; /* of the axes: log2 of n, log10 of GB/s */
};

static bool is_drawn(const struct row *row) {
  return row->measured && row->route == ROUTE_PLAN;
}

static double value_of(const struct curve *curve, const struct row *row) {
  return (curve->roof ? row->roof : row_bandwidth(row)) * 1e-9;
}

static bool belongs(const struct curve *curve, const struct row *row) {
  const struct row *like = curve->like;
  return is_drawn(row) && row->device == like->device && row->cold == like->cold &&
         strcmp(row->c->series, like->c->series) == 0 && value_of(curve, row) > 0;
}

/* With warm and with cold caches a device has the same colour. */
static const char *choose_color(struct plot *plot, const struct row *row) {
  for (size_t i = 0; i + 1 < plot->curve_count; i++) {
    const struct curve *curve = &plot->curves[i];
    if (!curve->roof && curve->like->device == row->device && strcmp(curve->like->c->series, row->c->series) == 0)
      return curve->color;
  }
  return colors[plot->colored++ % (sizeof colors / sizeof *colors)];
}

static void add_curve(struct plot *plot, const struct row *row, bool roof) {
  for (size_t i = 0; i < plot->curve_count; i++)
    if (plot->curves[i].roof == roof && belongs(&plot->curves[i], row)) return;
  if (plot->curve_count == MOST_CURVES) return;
  struct curve *curve = &plot->curves[plot->curve_count++];
  *curve = (struct curve){row, roof, "#888888", row->cold ? "6 4 2 4" : "6 4"};
  if (roof) return;
  curve->color = choose_color(plot, row);
  curve->dash = row->cold ? "2 3" : NULL;
}

static void find_curves(struct plot *plot) {
  for (size_t i = 0; i < plot->table->count; i++) {
    const struct row *row = &plot->table->rows[i];
    if (!is_drawn(row)) continue;
    add_curve(plot, row, false);
    if (row->roof > 0 && !row->is_peer) add_curve(plot, row, true);
  }
}

/* ---- axes ---- */

static void find_range(struct plot *plot) {
  double first = INFINITY, last = 0, low = INFINITY, high = 0;
  for (size_t i = 0; i < plot->table->count; i++) {
    const struct row *row = &plot->table->rows[i];
    if (!is_drawn(row)) continue;
    const double n = (double)row->c->problem.n, bandwidth = row_bandwidth(row) * 1e-9, roof = row->roof * 1e-9;
    first = fmin(first, n);
    last = fmax(last, n);
    low = fmin(low, bandwidth);
    high = fmax(high, fmax(bandwidth, roof));
  }
  plot->first_n = floor(log2(first));
  plot->last_n = fmax(ceil(log2(last)), plot->first_n + 1);
  plot->low = floor(log10(low));
  plot->high = fmax(ceil(log10(high)), plot->low + 1);
}

static struct svg_point place(const struct plot *plot, double log_n, double log_bandwidth) {
  return (struct svg_point){LEFT + WIDTH * (log_n - plot->first_n) / (plot->last_n - plot->first_n),
                            TOP + HEIGHT * (plot->high - log_bandwidth) / (plot->high - plot->low)};
}

static void draw_axes(struct plot *plot) {
  char text[32];
  const int step = plot->last_n - plot->first_n > 16 ? 4 : 2;
  for (int k = (int)plot->first_n; k <= (int)plot->last_n; k++) {
    if (k % step != 0 && k != (int)plot->first_n) continue;
    const struct svg_point below = place(plot, k, plot->low);
    svg_line(&plot->svg, below, place(plot, k, plot->high), "#dddddd", NULL);
    snprintf(text, sizeof text, "2^%d", k);
    svg_text(&plot->svg, (struct svg_point){below.x, below.y + 18}, SVG_MIDDLE, 0, text);
  }
  for (int k = (int)plot->low; k <= (int)plot->high; k++) {
    const struct svg_point left = place(plot, plot->first_n, k);
    svg_line(&plot->svg, left, place(plot, plot->last_n, k), "#dddddd", NULL);
    snprintf(text, sizeof text, "%g", pow(10, k));
    svg_text(&plot->svg, (struct svg_point){left.x - 8, left.y + 4}, SVG_END, 0, text);
  }
  svg_line(&plot->svg, place(plot, plot->first_n, plot->low), place(plot, plot->last_n, plot->low), "black", NULL);
  svg_line(&plot->svg, place(plot, plot->first_n, plot->low), place(plot, plot->first_n, plot->high), "black", NULL);
  svg_text(&plot->svg, (struct svg_point){LEFT + WIDTH / 2.0, TOP + HEIGHT + 42}, SVG_MIDDLE, 0, "n, elements");
  svg_text(&plot->svg, (struct svg_point){20, TOP + HEIGHT / 2.0}, SVG_MIDDLE, -90, "GB/s");
  svg_text(&plot->svg, (struct svg_point){LEFT, 24}, SVG_START, 0, "redtool bench: medians, executing a plan");
}

/* ---- curves ---- */

static void draw_legend(struct plot *plot, size_t index) {
  const struct curve *curve = &plot->curves[index];
  const double y = TOP + 10 + LEGEND_LINE * (double)index, x = LEFT + WIDTH + 20;
  char text[2 * CASE_TEXT_BYTES];
  svg_line(&plot->svg, (struct svg_point){x, y - 4}, (struct svg_point){x + 24, y - 4}, curve->color, curve->dash);
  snprintf(text, sizeof text, "%s, %s%s, %s", curve->like->c->series, curve->like->device->id,
           curve->roof ? " roofline" : "", curve->like->cold ? "cold" : "warm");
  svg_text(&plot->svg, (struct svg_point){x + 30, y}, SVG_START, 0, text);
}

static int by_x(const void *a, const void *b) {
  const struct svg_point *p = a, *q = b;
  return (p->x > q->x) - (p->x < q->x);
}

static void draw_curve(struct plot *plot, size_t index, struct svg_point *points) {
  const struct curve *curve = &plot->curves[index];
  size_t count = 0;
  for (size_t i = 0; i < plot->table->count; i++) {
    const struct row *row = &plot->table->rows[i];
    if (!belongs(curve, row)) continue;
    points[count++] = place(plot, log2((double)row->c->problem.n), log10(value_of(curve, row)));
  }
  qsort(points, count, sizeof *points, by_x);
  svg_polyline(&plot->svg, points, count, curve->color, curve->dash);
  for (size_t i = 0; i < count && !curve->roof; i++) svg_circle(&plot->svg, points[i], 3, curve->color);
  draw_legend(plot, index);
}

static double picture_height(const struct plot *plot) {
  const double legend = TOP + LEGEND_LINE * (double)(plot->curve_count + 1);
  return fmax(legend, TOP + HEIGHT + BELOW);
}

int plot_write(const struct table *table, struct output *out) {
  struct plot plot = {.table = table};
  struct svg_point *points = calloc(table->count + 1, sizeof *points);
  find_curves(&plot);
  if (plot.curve_count == 0) {
    free(points);
    complain("%s: nothing was measured that could be drawn", out->name);
    return EXIT_LIBRARY;
  }
  find_range(&plot);
  svg_begin(&plot.svg, LEFT + WIDTH + LEGEND_WIDTH, picture_height(&plot));
  draw_axes(&plot);
  for (size_t i = 0; i < plot.curve_count && points; i++) draw_curve(&plot, i, points);
  svg_end(&plot.svg);
  int code = EXIT_OK;
  if (!points || plot.svg.failed) {
    complain("out of memory for the picture");
    code = EXIT_LIBRARY;
  }
  if (!code) code = output_write(out, plot.svg.text, plot.svg.length);
  if (!code) code = output_commit(out);
  svg_free(&plot.svg);
  free(points);
  return code;
}
