/* SPDX-License-Identifier: BSD-2-Clause */
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
  BAR_WIDTH = 30,
  BAR_COLUMNS = 76,
  STEP_COLUMNS = 8 /* taken by the share, and by the cursor */
};

static const double quiet_seconds = 1.0;
static const double interval_seconds = 0.1;

static struct {
  bool terminal;
  bool visible;
  uint64_t total;
  double begun, shown;
} progress;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static unsigned columns(void) {
  struct winsize size;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void progress_begin(uint64_t total) {
  progress.terminal = isatty(STDERR_FILENO) == 1;
  progress.total = total;
  progress.begun = progress.shown = now();
}

static void print_bytes(double bytes, const char *suffix) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  unsigned unit = 0;
  for (; bytes >= 1000 && unit < 6; unit++) bytes /= 1000;
  fprintf(stderr, "%.*f %s%s", bytes < 10 ? 2 : bytes < 100 ? 1 : 0, bytes, units[unit], suffix);
}

static void print_left(double seconds) {
  if (seconds < 60)
    fprintf(stderr, ", %.0f s left", seconds);
  else if (seconds < 3600)
    fprintf(stderr, ", %d:%02d min left", (int)seconds / 60, (int)seconds % 60);
  else
    fprintf(stderr, ", %.1f h left", seconds / 3600);
}

static void print_share(double share) {
  if (columns() >= BAR_COLUMNS) {
    char bar[BAR_WIDTH + 1];
    const int filled = (int)(share * BAR_WIDTH);
    memset(bar, ' ', BAR_WIDTH);
    memset(bar, '#', (size_t)filled);
    bar[BAR_WIDTH] = 0;
    fprintf(stderr, "[%s] ", bar);
  }
  fprintf(stderr, "%3.0f %%  ", 100 * share);
}

/* Whether to draw the line now. */
static bool is_due(void) {
  if (!progress.terminal) return false;
  const double time = now();
  if (time - progress.begun < quiet_seconds || time - progress.shown < interval_seconds) return false;
  progress.shown = time;
  progress.visible = true;
  return true;
}

static void end_line(void) {
  fputs("\033[K", stderr);
  fflush(stderr);
}

void progress_update(uint64_t done) {
  if (!is_due()) return;
  const double rate = (double)done / (progress.shown - progress.begun);
  const bool known = progress.total != PROGRESS_UNKNOWN && progress.total > 0;
  fputc('\r', stderr);
  if (known)
    print_share((double)done / (double)progress.total);
  else
    print_bytes((double)done, "  ");
  print_bytes(rate, "/s");
  if (known && rate > 0) print_left((double)(progress.total - done) / rate);
  end_line();
}

void progress_step(uint64_t done, const char *doing) {
  if (!is_due()) return;
  const double share = (double)done / (double)progress.total;
  fprintf(stderr, "\r%3.0f %%  %.*s", 100 * share, (int)columns() - STEP_COLUMNS, doing);
  end_line();
}

void progress_clear(void) {
  if (!progress.visible) return;
  fputc('\r', stderr);
  end_line();
  progress.visible = false;
}
