/* SPDX-License-Identifier: BSD-2-Clause */
/* Exit status, messages on standard error, and the beginning and the end of the standard streams. */
#ifndef REDTOOL_REPORT_H
#define REDTOOL_REPORT_H

#include <red/red.h>

enum {
  EXIT_OK = 0,
  EXIT_MISMATCH = 1, /* verify: a result differs; bench: a row is too slow */
  EXIT_USAGE = 2,    /* the command line */
  EXIT_IO = 3,       /* a file: missing, malformed, full, broken pipe */
  EXIT_LIBRARY = 4   /* the library: impossible combination, empty input, no device, out of memory */
};

/* "redtool: ..." and a newline on standard error; control characters within are escaped. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Complain, and give EXIT_USAGE or EXIT_IO to return. */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
int io_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Complain with the library's sentence. */
int library_error(red_status status);

/*
 * Give every closed standard stream its descriptor back, lest a file get it and standard output be written there. It
 * leads to /dev/null in the contrary mode: using the stream fails, as if it were closed.
 */
int open_standard_streams(void);

/* Flush and close standard output; an error that printf left behind (full disk, broken pipe) becomes EXIT_IO. */
int close_stdout(void);

#endif
