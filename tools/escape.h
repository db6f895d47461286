/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that a terminal only shows: names of files may hold line ends and escape sequences. */
#ifndef REDTOOL_ESCAPE_H
#define REDTOOL_ESCAPE_H

enum {
  ESCAPED_BYTES = 4 /* that a byte may become */
};

/*
 * Copy `from` with \n, \r, \t and \xHH for control characters and for bytes that are no UTF-8. `to` has room for
 * ESCAPED_BYTES for each byte, and for the end of the string.
 */
void escape(char *to, const char *from);

#endif
