/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line on standard error with share done, rate and time left. It appears only on a terminal, and only when the
 * work has taken longer than a second.
 */
#ifndef REDTOOL_PROGRESS_H
#define REDTOOL_PROGRESS_H

#include <stdint.h>

#define PROGRESS_UNKNOWN UINT64_MAX

/* `total` bytes of input, or PROGRESS_UNKNOWN. */
void progress_begin(uint64_t total);
void progress_update(uint64_t done);

/* Take the line off the screen, so that something else can be written. */
void progress_clear(void);

#endif
