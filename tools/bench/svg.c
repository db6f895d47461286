/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/svg.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct svg *svg, size_t more) {
  size_t capacity = svg->capacity ? svg->capacity : 4096;
  while (capacity < svg->length + more + 1) capacity *= 2;
  if (capacity == svg->capacity) return true;
  char *text = realloc(svg->text, capacity);
  if (!text) {
    svg->failed = true;
    return false;
  }
  svg->text = text;
  svg->capacity = capacity;
  return true;
}

__attribute__((format(printf, 2, 3))) static void put(struct svg *svg, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (svg->failed || length < 0 || !make_room(svg, (size_t)length)) return;
  va_start(arguments, format);
  vsnprintf(svg->text + svg->length, (size_t)length + 1, format, arguments);
  va_end(arguments);
  svg->length += (size_t)length;
}

static void put_escaped(struct svg *svg, const char *text) {
  for (; *text; text++) {
    if (*text == '<')
      put(svg, "&lt;");
    else if (*text == '>')
      put(svg, "&gt;");
    else if (*text == '&')
      put(svg, "&amp;");
    else if ((unsigned char)*text >= ' ')
      put(svg, "%c", *text);
  }
}

static void put_dash(struct svg *svg, const char *dash) {
  if (dash) put(svg, " stroke-dasharray=\"%s\"", dash);
}

void svg_begin(struct svg *svg, double width, double height) {
  memset(svg, 0, sizeof *svg);
  put(svg,
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      width, height, width, height);
}

void svg_line(struct svg *svg, struct svg_point from, struct svg_point to, const char *color, const char *dash) {
  put(svg, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"", from.x, from.y, to.x, to.y, color);
  put_dash(svg, dash);
  put(svg, "/>\n");
}

void svg_polyline(struct svg *svg, const struct svg_point *points, size_t count, const char *color, const char *dash) {
  put(svg, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"", color);
  put_dash(svg, dash);
  put(svg, " points=\"");
  for (size_t i = 0; i < count; i++) put(svg, "%s%.1f,%.1f", i ? " " : "", points[i].x, points[i].y);
  put(svg, "\"/>\n");
}

void svg_circle(struct svg *svg, struct svg_point center, double radius, const char *color) {
  put(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", center.x, center.y, radius, color);
}

void svg_text(struct svg *svg, struct svg_point at, enum svg_anchor anchor, double degrees, const char *text) {
  static const char *const anchors[] = {"start", "middle", "end"};
  put(svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"", at.x, at.y, anchors[anchor]);
  if (degrees < 0 || degrees > 0) put(svg, " transform=\"rotate(%.0f %.1f %.1f)\"", degrees, at.x, at.y);
  put(svg, ">");
  put_escaped(svg, text);
  put(svg, "</text>\n");
}

void svg_end(struct svg *svg) {
  put(svg, "</svg>\n");
}

void svg_free(struct svg *svg) {
  free(svg->text);
  memset(svg, 0, sizeof *svg);
}
