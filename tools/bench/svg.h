/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The few elements of SVG 1.1 that a diagram needs, collected in memory. Written here, since a plotting program would
 * be one more thing to install and a diagram on two logarithmic axes is lines, circles and text.
 */
#ifndef REDTOOL_BENCH_SVG_H
#define REDTOOL_BENCH_SVG_H

#include <stdbool.h>
#include <stddef.h>

struct svg {
  char *text;
  size_t length, capacity;
  bool failed; /* no memory: what is missing is not noticed elsewhere */
};

enum svg_anchor {
  SVG_START,
  SVG_MIDDLE,
  SVG_END
};

struct svg_point {
  double x, y;
};

void svg_begin(struct svg *svg, double width, double height);
/* `dash` as in stroke-dasharray, or NULL. */
void svg_line(struct svg *svg, struct svg_point from, struct svg_point to, const char *color, const char *dash);
void svg_polyline(struct svg *svg, const struct svg_point *points, size_t count, const char *color, const char *dash);
void svg_circle(struct svg *svg, struct svg_point center, double radius, const char *color);
/* Any text; what XML reserves is escaped. `degrees` turns it around its place. */
void svg_text(struct svg *svg, struct svg_point at, enum svg_anchor anchor, double degrees, const char *text);
void svg_end(struct svg *svg);
void svg_free(struct svg *svg);

#endif
