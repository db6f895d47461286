#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# headers.sh LANGUAGE STANDARD INCLUDE HEADER COMPILER...: does a program of nothing but this header compile?
set -e
language=$1 standard=$2 include=$3 header=$4
shift 4
printf '#include <red/%s>\n#include <red/%s>\nint main(void) { return 0; }\n' "$header" "$header" |
  "$@" -x "$language" -std="$standard" -pedantic-errors -Wall -Wextra -Werror -I "$include" -fsyntax-only -
