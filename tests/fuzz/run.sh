#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh [SECONDS [TARGET...]]: build each fuzz target with clang and its sanitizers, and run it for so long (10 s).
# A crash fails the script and leaves the input in the folder it names.
set -e
cd "$(dirname "$0")/../.."
seconds=${1:-10}
[ $# -gt 0 ] && shift
targets=${*:-problem npy accumulator}
build=${FUZZ_BUILD:-build/fuzz}
clang=${CLANG:-clang}
flags='-std=c11 -g -O1 -fno-omit-frame-pointer -ffp-contract=off -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE
  -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -I include -I src/core -I tools'
# What reads problem strings and names dtypes; no target needs a backend.
core='src/core/problem.c src/core/lower.c src/core/tables.c src/core/status.c'

sources() {
  case $1 in
  problem) echo "$core" ;;
  npy) echo "tools/npy.c $core" ;;
  accumulator) # with a registry of no backends
    printf '#define RED_BACKENDS(X)\n#define RED_BACKENDS_ABSENT(X) X(none, "not built for this test")\n' >"$2/backends.def"
    echo "-I $2 src/core/*.c" ;;
  *) echo "run.sh: no target $1" >&2; exit 2 ;;
  esac
}

# Seeds: strings of every shape, a small data set, and accumulators of nothing.
seed() {
  mkdir -p "$2"
  case $1 in
  problem)
    sed -n 's/^[^#|]*| \([^|]*\) |.*/\1/p' tests/vectors/sum.txt tests/vectors/scan_any_order.txt |
      awk 'NR % 25 == 1' | while read -r text; do printf %s "$text" >"$2/$(echo "$text" | tr -c 'a-z0-9\n' _)"; done ;;
  npy)
    for file in examples/data/*.npy; do
      [ -f "$file" ] && { printf '\000'; head -c 512 "$file"; } >"$2/$(basename "$file")"
    done ;;
  accumulator) # the string and its length, then zeros: first, count, and what each kind has
    while read -r text zeros; do
      # shellcheck disable=SC2059
      { printf "\\$(printf %03o ${#text})\\0\\0\\0"; printf %s "$text"; head -c "$zeros" /dev/zero; } >"$2/$(echo "$text" | tr -c 'a-z0-9\n' _)"
    done <<EOF
reduce:sum:f64:0:exact 29
reduce:dot:f32:0:exact 29
reduce:nrm2:f64:0 29
reduce:sum:f32:0 28
reduce:sum:f64:0:init=1.5 28
reduce:dot:f16/f64/f32:0 28
reduce:mean:bf16:0 28
reduce:prod:f64:0 28
reduce:sum:f32:0:bound 28
stats:f32:0:select=default 100
stats:i8:0:select=all 100
reduce:min:i32:0 16
reduce:argmax:f64:0 16
reduce:sum:u8:0 16
EOF
    ;;
  esac
}

# run TARGET FOLDER
run() {
  # shellcheck disable=SC2046,SC2086
  $clang $flags tests/fuzz/fuzz_$1.c $(sources "$1" "$2") -lm -o "$2/fuzz"
  "$2/fuzz" -max_total_time="$seconds" -max_len=1024 -timeout=10 -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="$2/found/" "$2/corpus"
}

# Side by side: each keeps one processor busy.
for target in $targets; do
  folder=$build/$target
  mkdir -p "$folder/found"
  seed "$target" "$folder/corpus"
  (run "$target" "$folder") >"$folder/log" 2>&1 &
  echo $! >"$folder/pid"
done
failed=0
for target in $targets; do
  wait "$(cat "$build/$target/pid")" || failed=1
  echo "fuzz $target: $seconds s"
  cat "$build/$target/log"
done
exit $failed
