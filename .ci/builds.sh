# SPDX-License-Identifier: BSD-2-Clause
# Stages of .ci/run that build libred in some way and run its suites. Without a compiler cache the CPU's kernels are most
# of the time of a build: stages share builds where their options allow it.

# The README's command; and gcc gives no warning.
stage_test() {
  local status=0
  ./run-tests || status=1
  report_tests build/tests || status=1
  if grep 'warning:' build/tests/setup.log; then status=1; fi
  return $status
}

stage_example() { ./run-example; }

stage_format() {
  need 'clang-format --version' clang-format
  install_missing
  # red.h keeps its enums in compact rows, which clang-format does not know.
  git ls-files '*.c' '*.h' '*.cpp' '*.hpp' '*.cu' '*.cuh' ':!include/red/red.h' |
    xargs clang-format --dry-run --Werror
}

# build_clang OPTION...: the other compiler, and the newest Meson instead of the distribution's. One folder for several
# sets of options, since the objects of the kernels are the same.
build_clang() {
  need_to_build
  need_to_test
  need 'clang --version' clang
  need 'compiles clang c omp.h -fopenmp' libomp-dev
  need 'python3 -c "import ensurepip, venv"' python3-venv
  install_missing
  if [ ! -x build/ci/venv/bin/meson ]; then
    python3 -m venv build/ci/venv
    build/ci/venv/bin/pip install -q meson
  fi
  PATH=$PWD/build/ci/venv/bin:$PATH
  meson --version
  CC=clang CXX=clang++ build build/ci/clang -Dwerror=true -Dtests=enabled -Dcuda=disabled "$@"
}

# No warning from clang either. (The command's suites run in the build of the README and under the sanitizers.)
stage_clang() {
  build_clang -Domp=enabled -Dopencl=enabled -Ddefault_library=both -Dtools=enabled
  RED_TEST_SCALE=0.3 run_suites build/ci/clang --suite omp --suite headers --suite examples
}

# Everything that can be left out is.
stage_features() {
  build_clang -Domp=disabled -Dopencl=disabled -Ddefault_library=both -Dtools=enabled
  RED_TEST_SCALE=0.3 run_suites build/ci/clang --suite omp --suite headers --suite examples --suite tool
}

# One library instead of two, and no command.
stage_static() {
  local kind
  for kind in static shared; do
    build_clang -Domp=enabled -Dopencl=disabled -Ddefault_library=$kind -Dtools=disabled
    RED_TEST_SCALE=0.1 run_suites build/ci/clang --suite headers --suite examples --suite omp
  done
}

# The benchmarks compile, without a warning, onto the build of the stage `test`; other stages leave them out.
stage_bench() {
  need_to_build
  need_to_test
  install_missing
  build build/tests -Dtests=enabled -Dbench=enabled $(cuda_options)
  meson compile -C build/tests red-bench-cpu red-peer-cpu 2>&1 | tee build/tests/bench.log
  if grep 'warning:' build/tests/bench.log; then return 1; fi
}

# clang's runtimes of sanitizers and fuzzing are a package of their own, with clang's version in its name.
need_sanitizers() {
  need 'clang --version' clang
  need 'compiles clang c omp.h -fopenmp' libomp-dev
  install_missing
  need 'echo "int main(void) { return 0; }" | clang -fsanitize=address -x c - -o /dev/null' \
    "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
  install_missing
}

# AddressSanitizer and UndefinedBehaviorSanitizer over the CPU's suites and the command; those that run with every
# instruction set do not run once more with the processor's own, and those that measure for long not at all. The look for
# leaks crashes where it follows the thread-local storage of a library that dlopen loaded.
stage_sanitizers() {
  need_to_build
  need_to_test
  need_sanitizers
  CC=clang CXX=clang++ build build/ci/sanitizers -Dwerror=true -Dtests=enabled -Domp=enabled -Dcuda=disabled \
    -Dopencl=disabled -Dbuildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false
  export ASAN_OPTIONS=abort_on_error=1:allocator_may_return_null=1:intercept_tls_get_addr=0
  export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  export LSAN_OPTIONS=suppressions=$PWD/.ci/leaks.txt:print_suppressions=0
  local names
  mapfile -t names < <(suite_names build/ci/sanitizers --suite omp --suite instruction-sets --suite tool |
    grep -v -x -e 'tool tune' -e 'tool peers' -e 'tool bench' \
      -f <(suite_names build/ci/sanitizers --suite instruction-sets | sed -n 's/^generic /omp /p'))
  RED_TEST_SCALE=0.1 run_suites build/ci/sanitizers --timeout-multiplier 5 "${names[@]}"
}

# ThreadSanitizer over the CPU's suites, with clang's OpenMP runtime and its tool Archer, which tells the sanitizer about
# barriers and teams; GCC's runtime gives false reports. Not the suite of fork: Archer itself crashes in the child;
# nor that of unloading, which is about what dlclose leaves.
stage_threads() {
  need_to_build
  need_to_test
  need_sanitizers
  local archer names
  archer=$(dirname "$(realpath "$(command -v clang)")")/../lib/libarcher.so
  test -f "$archer"
  CC=clang CXX=clang++ build build/ci/threads -Dtests=enabled -Domp=enabled -Dcuda=disabled -Dopencl=disabled \
    -Dtools=disabled -Dbuildtype=debugoptimized -Db_sanitize=thread -Db_lundef=false
  mapfile -t names < <(suite_names build/ci/threads --suite omp | grep -v -x -e 'omp fork' -e unload)
  export OMP_TOOL_LIBRARIES=$archer OMP_NUM_THREADS=4 TSAN_OPTIONS=halt_on_error=1:allocator_may_return_null=1:ignore_noninstrumented_modules=1
  run_suites build/ci/threads --timeout-multiplier 5 "${names[@]}"
}

# The CUDA backend builds without a GPU and without a warning, onto the build of the stage `test`; its suites then say
# why they are left out.
stage_cuda() {
  if ! command -v nvcc >/dev/null; then
    skip_stage 'the CUDA build: nvcc was not found'
    return
  fi
  need_to_build
  need_to_test
  install_missing
  build build/tests -Dtests=enabled -Dcuda=enabled -Dgpu_archs=90
  if grep 'warning:' build/tests/setup.log; then return 1; fi
  run_suites build/tests --suite cuda --suite headers
  # Kernels that use what only newer devices have, for the oldest and for the newest architecture.
  local folder=build/ci/cuda-archs
  if [ ! -f $folder/build.ninja ]; then
    meson setup $folder . -Dcuda=enabled -Dgpu_archs=75,120 -Dopencl=disabled -Dtests=disabled -Dtools=disabled -Dbench=disabled
  fi
  ninja -C $folder src/backend_cuda/{reduce_float,scan_hot,scan_pipe}.fatbin
  report 1 0 0
}

stage_fuzz() {
  need_sanitizers
  tests/fuzz/run.sh 20
}

# The same bits on AArch64, by NEON and by generic C: cross-compiled, run under user-mode emulation.
stage_aarch64() {
  need_to_build
  need 'aarch64-linux-gnu-gcc --version' gcc-aarch64-linux-gnu libc6-dev-arm64-cross
  need 'qemu-aarch64 --version' qemu-user
  install_missing
  aarch64_check build/ci/arm64
  cat >build/ci/arm64.ini <<END
[properties]
pkg_config_libdir = '$PWD/build/ci/arm64/usr/lib/aarch64-linux-gnu/pkgconfig'
sys_root = '$PWD/build/ci/arm64'
END
  build build/ci/aarch64 --cross-file scripts/aarch64-linux-gnu.ini --cross-file build/ci/arm64.ini \
    -Dtests=enabled -Dcuda=disabled -Dopencl=disabled
  local names # NEON's are those of `omp`; a few show that generic C is compiled to the same bits
  mapfile -t names < <(suite_names build/ci/aarch64 --suite omp
    suite_names build/ci/aarch64 --suite instruction-sets | grep -x -e 'generic \(vectors\|reduce\|dot\)')
  RED_TEST_SCALE=0.1 run_suites build/ci/aarch64 --timeout-multiplier 10 "${names[@]}"
}

# Debian's Check for AArch64, unpacked into a folder; the machine's own package lists stay as they are.
aarch64_check() {
  local root=$PWD/$1
  if [ -d "$root/usr" ]; then return; fi
  mkdir -p "$root/apt/lists/partial" "$root/apt/cache/archives/partial"
  (
    cd "$root/apt"
    options="-o Dir::State::lists=$root/apt/lists -o Dir::Cache=$root/apt/cache -o APT::Sandbox::User=root
      -o APT::Architecture=arm64 -o APT::Architectures=arm64"
    apt-get -q $options update
    apt-get -q $options download check libsubunit-dev
    for package in *.deb; do dpkg -x "$package" "$root"; done
  )
  rm -f "$root"/usr/lib/aarch64-linux-gnu/*.so # only static libraries need no more of that system
}
