/* SPDX-License-Identifier: BSD-2-Clause */
#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "progress.h"

static void say(const char *format, va_list arguments) {
  progress_clear();
  fputs("redtool: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
}

void complain(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
}

int usage_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  return EXIT_USAGE;
}

int io_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  return EXIT_IO;
}

int library_error(red_status status) {
  const char *sentence = red_last_error();
  complain("%s", *sentence ? sentence : red_strerror(status));
  return EXIT_LIBRARY;
}

int close_stdout(void) {
  errno = 0;
  int failed = ferror(stdout);
  if (fclose(stdout) != 0) failed = 1;
  if (!failed) return EXIT_OK;
  return io_error("standard output: %s", errno ? strerror(errno) : "write error");
}
