/* SPDX-License-Identifier: BSD-2-Clause */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "escape.h"
#include "progress.h"

enum {
  SENTENCE_BYTES = 8192 /* longer than any path */
};

static void say(const char *format, va_list arguments) {
  char sentence[SENTENCE_BYTES], line[ESCAPED_BYTES * SENTENCE_BYTES];
  vsnprintf(sentence, sizeof sentence, format, arguments);
  escape(line, sentence);
  progress_clear();
  fprintf(stderr, "redtool: %s\n", line);
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

int open_standard_streams(void) {
  static const int contrary[] = {O_WRONLY, O_RDONLY, O_RDONLY};
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    if (open("/dev/null", contrary[stream]) < 0) return io_error("/dev/null: %s", strerror(errno));
  }
  return EXIT_OK;
}

int close_stdout(void) {
  errno = 0;
  int failed = ferror(stdout);
  if (fclose(stdout) != 0) failed = 1;
  if (!failed) return EXIT_OK;
  return io_error("standard output: %s", errno ? strerror(errno) : "write error");
}
