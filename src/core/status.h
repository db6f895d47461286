/* SPDX-License-Identifier: BSD-2-Clause */
/* Status and the thread's last error sentence. Who first finds an error words it; others pass the status on. */
#ifndef RED_CORE_STATUS_H
#define RED_CORE_STATUS_H

#include <red/red.h>

/* Set the sentence, return the status: `return red_fail(RED_ERR_INVALID, "n is %llu, ...", n);`. */
red_status red_fail(red_status status, const char *format, ...) __attribute__((cold, format(printf, 2, 3)));

/* One line to standard error, "libred: ...", if RED_VERBOSE is set and not 0. */
void red_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
