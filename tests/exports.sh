#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# exports.sh LIBRARY HEADER: the dynamic symbols are the functions that the header declares, no more and no fewer.
command -v nm >/dev/null || { echo 'skipped: no nm'; exit 77; }
exported=$(nm -D --defined-only "$1" | awk '$2 ~ /[TWDBRV]/ { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u)
declared=$(tr '\n' ' ' <"$2" | grep -o 'RED_API [a-z][a-z_0-9 *]*(' | sed 's/.*[ *]\(red_[a-z_0-9]*\)(/\1/' | LC_ALL=C sort -u)
[ "$exported" = "$declared" ] && exit 0
echo "declared (<) and exported (>) differ:"
echo "$declared" >"${TMPDIR:-/tmp}/red-declared.$$"
echo "$exported" | diff "${TMPDIR:-/tmp}/red-declared.$$" -
rm -f "${TMPDIR:-/tmp}/red-declared.$$"
exit 1
