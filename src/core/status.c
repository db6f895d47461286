/* SPDX-License-Identifier: BSD-2-Clause */
/* Status texts and the thread's last error sentence. */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_error[1024];

const char *red_strerror(red_status status) {
  switch (status) {
#define RED_STATUS_TEXT(name, value, text)                                                                             \
  case RED_##name:                                                                                                     \
    return text;
    RED_STATUS_LIST(RED_STATUS_TEXT)
#undef RED_STATUS_TEXT
  }
  return "unknown status";
}

const char *red_last_error(void) {
  return last_error;
}

red_status red_fail(red_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  /* Formatted aside first: an argument may be the present sentence itself. */
  char sentence[sizeof last_error];
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  snprintf(last_error, sizeof last_error, "%s", sentence);
  return status;
}

int red_version(void) {
  return RED_VERSION_NUMBER;
}
