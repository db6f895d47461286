/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line on standard error that tells how far the work is. It appears only on a terminal, and only when the work has
 * taken longer than a second.
 */
#ifndef REDTOOL_PROGRESS_H
#define REDTOOL_PROGRESS_H

#include <stdint.h>

#define PROGRESS_UNKNOWN UINT64_MAX

/* `total` bytes of input, or PROGRESS_UNKNOWN, or steps. */
void progress_begin(uint64_t total);

/* Bytes: the share done, the rate and the time left. */
void progress_update(uint64_t done);

/* Steps of unequal length: the share done and what is being done. */
void progress_step(uint64_t done, const char *doing);

/* Take the line off the screen, so that something else can be written. */
void progress_clear(void);

#endif
