# SPDX-License-Identifier: BSD-2-Clause
# Stages of .ci/run that run OpenCL's suites on other devices than the one of the stage `test`, with its build.

# What runs where there is no Meson. The arguments are a command that ends in .ci/run-suites and its arguments; its lines
# are counted.
run_on_opencl() {
  local output status=0
  output=$("$@" 2>&1) || status=$?
  echo "$output"
  report "$(grep -c '^passed ' <<<"$output")" "$(grep -c '^failed ' <<<"$output")" "$(grep -c '^skipped ' <<<"$output")"
  return $status
}

# The build of the stage `test` serves.
build_for_opencl() {
  need_to_build
  need_to_test
  install_missing
  build build/tests -Dtests=enabled $(cuda_options)
}

# The names of OpenCL's suites, on one line.
opencl_suites() { suite_names build/tests --suite opencl | sed -n 's/^opencl //p' | tr '\n' ' '; }

# The same PoCL as a GPU would be driven: work-groups that share local memory, instead of wide items.
stage_local() {
  build_for_opencl
  RED_OPENCL_SHAPE=local RED_TEST_SCALE=0.1 run_suites build/tests --suite opencl --timeout-multiplier 3
}

# on_pocl6 SUITE...: PoCL 6.0 has sub-groups: Debian 13's, around what was built here.
on_pocl6() {
  if [ "$(id -u)" != 0 ]; then
    skip_stage 'sub-groups, with PoCL 6.0 in a fresh Debian 13: only root can make one'
    return
  fi
  need 'debootstrap --version' debootstrap
  install_missing
  local status=0
  run_on_opencl scripts/fresh-root --here --include=pocl-opencl-icd,ocl-icd-libopencl1,libgomp1,libsubunit0 trixie \
    "RED_OPENCL_SHAPE=subgroup RED_TEST_SCALE=0.1 .ci/run-suites build/tests $*" || status=$?
  if [ $status -eq 3 ]; then
    skip_stage 'sub-groups, with PoCL 6.0 in a fresh Debian 13: debootstrap cannot make one here'
    return
  fi
  return $status
}

# The suites whose kernels differ where there are sub-groups; then all.
stage_pocl6() {
  build_for_opencl
  on_pocl6 primitives reduce scan stats answers
}
stage_pocl6_all() {
  build_for_opencl
  on_pocl6 $(opencl_suites)
}

# on_intel SUITE...: Intel's runtime for CPUs, from PyPI: another compiler, another scheduler.
on_intel() {
  need 'python3 -c "import ensurepip, venv"' python3-venv
  install_missing
  local venv=$PWD/build/ci/intel
  if ! { python3 -m venv "$venv" && "$venv/bin/pip" install -q intel-opencl-rt &&
    "$venv/bin/pip" install -q --no-deps intel-cmplr-lib-rt; }; then
    skip_stage "Intel's OpenCL runtime: PyPI's intel-opencl-rt cannot be installed"
    return
  fi
  mkdir -p "$venv/icd" "$venv/loader"
  echo "$venv/lib/libintelocl.so" >"$venv/icd/intel.icd"
  # Its own loader ignores OCL_ICD_VENDORS: the system's goes first.
  ln -sf "$(ldconfig -p | awk '/libOpenCL.so.1 .*64/ {print $NF; exit}')" "$venv/loader/libOpenCL.so.1"
  run_on_opencl env OCL_ICD_VENDORS="$venv/icd" LD_LIBRARY_PATH="$venv/loader:$venv/lib" RED_TEST_SCALE=0.1 \
    .ci/run-suites build/tests "$@"
}

# The suites that other drivers failed before; then all.
stage_intel() {
  build_for_opencl
  on_intel device answers faults limits rounding stats subgroups
}
stage_intel_all() {
  build_for_opencl
  on_intel $(opencl_suites)
}

# A simulator that checks every access for races and bounds. As a driver (ICD): its command preloads functions that the
# library, which asks the loader for them, would use half of. Not the scan in one pass, whose hand-over OpenCL 1.2 has no words
# for. Its look for uninitialized values (21.10) crashes on vectors of sixteen.
stage_oclgrind() {
  need 'ls /usr/lib/oclgrind/liboclgrind-rt-icd.so' oclgrind
  build_for_opencl
  local folder=build/ci/oclgrind redtool=build/tests/tools/redtool shape arguments words uninitialized options f64 passed=0 failed=0
  mkdir -p $folder/icd
  echo /usr/lib/oclgrind/liboclgrind-rt-icd.so >$folder/icd/oclgrind.icd
  python3 -c "import struct; open('$folder/data', 'wb').write(struct.pack('5001f', *(i % 89 - 44.3 for i in range(5001))))"
  export OCL_ICD_VENDORS=$PWD/$folder/icd RED_OPENCL_SCAN=windows RED_CACHE_DIR= RED_OPENCL_PROBE=0 OCLGRIND_DATA_RACES=1
  for shape in wide local; do
    for words in 'reduce --op sum' 'reduce --op argmax' 'reduce --op prod --acc f64' 'reduce --op sum --exact' \
      'reduce --op sumsq --exact' 'scan --op sum' 'scan --op max' stats; do
      uninitialized=1 f64=1
      # Of what its compiler makes it does not know all: noalias.scope.decl, freeze. These kernels come out without, as it
      # happens: the wide ones optimized, the others not.
      options=-cl-opt-disable
      if [ $shape = wide ]; then uninitialized='' options=''; fi
      if [[ $words = *exact* ]]; then uninitialized='' f64=0; fi
      arguments="$words --dtype f32 $folder/data"
      if [[ $words = scan* ]]; then arguments="$arguments --output -"; fi
      if $redtool $arguments --backend omp >$folder/expected &&
        OCLGRIND_BUILD_OPTIONS=$options OCLGRIND_UNINITIALIZED=$uninitialized RED_OPENCL_F64=$f64 RED_OPENCL_SHAPE=$shape \
          $redtool $arguments --backend opencl >$folder/got 2>$folder/messages &&
        cmp $folder/expected $folder/got && ! grep -E 'race|Invalid|Uninitialized' $folder/messages; then
        echo "passed $shape $words"
        passed=$((passed + 1))
      else
        echo "failed $shape $words"
        head -n 20 $folder/messages
        failed=$((failed + 1))
      fi
    done
  done
  report $passed $failed 0
  [ $failed -eq 0 ]
}
