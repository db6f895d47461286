# SPDX-License-Identifier: BSD-2-Clause
# What the stages of .ci/run share. A stage is a function; it fails by failing, and report() adds what it ran to the sums.
source scripts/setup.sh
PATH=$PATH:/usr/sbin:/sbin # debootstrap, ldconfig

# report PASSED FAILED SKIPPED
report() { echo "$*" >>"$CI_COUNTS"; }

# Add the counts of the last `meson test` in a build folder; fails if a test failed or none passed.
report_tests() {
  local line status=0
  line=$(scripts/count-tests "$1") || status=1
  echo "$1: $line"
  report $(echo "$line" | tr -dc '0-9 ')
  scripts/count-tests --skipped "$1" | sed 's/^/SKIP: /'
  return $status
}

# run_suites FOLDER [ARGUMENT of meson test...]: run, and count what ran.
run_suites() {
  local folder=$1
  shift
  rm -f "$folder/meson-logs/testlog.json"
  meson test -C "$folder" --no-rebuild --print-errorlogs "$@" || true
  report_tests "$folder"
}

# suite_names FOLDER [ARGUMENT of meson test...]: the names of its tests, one a line.
suite_names() {
  local folder=$1
  shift
  meson test -C "$folder" --no-rebuild "$@" --list | sed -n 's|.* / ||p'
}

skip_stage() {
  echo "SKIP: $1"
  report 0 0 1
}
