#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Run a program under one of compute-sanitizer's tools; what it finds is a failure.
#
#   sanitize.sh memcheck|racecheck|initcheck|synccheck PROGRAM
tool=$1 program=$2
if ! command -v compute-sanitizer >/dev/null; then
  echo "skipped: compute-sanitizer was not found"
  exit 77
fi
case $tool in
memcheck) options='--leak-check full' ;;
racecheck) options='--racecheck-report all' ;;
*) options= ;;
esac
exec compute-sanitizer --tool "$tool" $options --error-exitcode 9 --target-processes all "$program"
