/* SPDX-License-Identifier: BSD-2-Clause */
/* The log: silent unless RED_VERBOSE asks. */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void red_log(const char *format, ...) {
  const char *verbose = getenv("RED_VERBOSE");
  if (verbose == NULL || *verbose == '\0' || strcmp(verbose, "0") == 0) return;
  char line[1200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  fprintf(stderr, "libred: %s\n", line);
}
