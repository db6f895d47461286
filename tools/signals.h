/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must be right when the process is torn away: a temporary file is unlinked on SIGINT, SIGTERM, SIGHUP, SIGQUIT
 * and SIGABRT, and when a run-time library ends the process, whose status then is EXIT_LIBRARY; a mapped file that
 * shrinks (SIGBUS) becomes a sentence and EXIT_IO; a broken pipe and a file size limit become errors of write(2).
 */
#ifndef REDTOOL_SIGNALS_H
#define REDTOOL_SIGNALS_H

#include <stddef.h>

void signals_install(void);

/* main is about to return. */
void signals_leave(void);

/* Hold back the signals that end the process, while a file and the note of it are out of step. */
void signals_hold(void);
void signals_release(void);

/* The temporary file to unlink; NULL: none. The string must live until it is replaced. */
void signals_set_temporary(const char *path);

/* A SIGBUS inside [address, address + bytes) means that the file `name` shrank; there are two such places. */
void signals_add_mapping(const char *name, const void *address, size_t bytes);
void signals_remove_mapping(const void *address);

#endif
