# SPDX-License-Identifier: BSD-2-Clause
# The stages of .ci/run, one function each. A stage fails by failing; report() adds what it ran to the sums. Without a
# compiler cache the CPU's kernels are most of the time of a build: stages share builds where their options allow it.
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

skip_stage() {
  echo "SKIP: $1"
  report 0 0 1
}

stage_test() {
  local status=0
  ./run-tests || status=1
  report_tests build/tests || status=1
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

# The other compiler, and no warning from either. (The command's suites run in the build of the README and under the
# sanitizers.)
stage_clang() {
  need_to_build
  need_to_test
  need 'clang --version' clang
  need 'compiles clang c omp.h -fopenmp' libomp-dev
  install_missing
  CC=clang CXX=clang++ build build/ci/clang -Dwerror=true -Dtests=enabled -Domp=enabled -Dcuda=disabled
  RED_TEST_SCALE=0.3 run_suites build/ci/clang --suite omp --suite headers --suite examples
}

# AddressSanitizer and UndefinedBehaviorSanitizer over the CPU's suites, every instruction set, and the command.
stage_sanitizers() {
  need_to_build
  need_to_test
  install_missing
  build build/ci/sanitizers -Dwerror=true -Dtests=enabled -Dcuda=disabled -Dopencl=disabled -Dbuildtype=debugoptimized \
    -Db_sanitize=address,undefined -Db_lundef=false
  export ASAN_OPTIONS=abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  export LSAN_OPTIONS=suppressions=$PWD/.ci/leaks.txt:print_suppressions=0
  RED_TEST_SCALE=0.1 run_suites build/ci/sanitizers --suite omp --suite instruction-sets --suite tool --timeout-multiplier 5
}

# ThreadSanitizer over the CPU's suites, with clang's OpenMP runtime and its tool Archer, which tells the sanitizer about
# barriers and teams; GCC's runtime gives false reports. Not the suite of fork: Archer itself crashes in the child;
# nor that of unloading, which is about what dlclose leaves.
stage_threads() {
  need_to_build
  need_to_test
  need 'clang --version' clang
  need 'compiles clang c omp.h -fopenmp' libomp-dev
  install_missing
  local archer names
  archer=$(dirname "$(realpath "$(command -v clang)")")/../lib/libarcher.so
  test -f "$archer"
  CC=clang CXX=clang++ build build/ci/threads -Dtests=enabled -Domp=enabled -Dcuda=disabled -Dopencl=disabled \
    -Dtools=disabled -Dbuildtype=debugoptimized -Db_sanitize=thread -Db_lundef=false
  mapfile -t names < <(meson test -C build/ci/threads --suite omp --list | sed -n 's|.* / ||p' | grep -v -e ' fork$' -e '^unload$')
  export OMP_TOOL_LIBRARIES=$archer OMP_NUM_THREADS=4 TSAN_OPTIONS=halt_on_error=1:ignore_noninstrumented_modules=1
  run_suites build/ci/threads --timeout-multiplier 5 "${names[@]}"
}

# build_parts OPTION...: parts of libred and how they go together, with the newest Meson instead of the distribution's, in
# one folder, since the objects of the kernels are the same.
build_parts() {
  need_to_build
  need_to_test
  need 'python3 -c "import ensurepip, venv"' python3-venv
  install_missing
  if [ ! -x build/ci/venv/bin/meson ]; then
    python3 -m venv build/ci/venv
    build/ci/venv/bin/pip install -q meson
  fi
  PATH=$PWD/build/ci/venv/bin:$PATH
  meson --version
  build build/ci/parts -Dwerror=true -Dtests=enabled -Dcuda=disabled -Dopencl=disabled "$@"
}

# Everything that can be left out is.
stage_features() {
  build_parts -Domp=disabled -Ddefault_library=both -Dtools=enabled
  RED_TEST_SCALE=0.3 run_suites build/ci/parts --suite omp --suite headers --suite examples --suite tool
}

# One library instead of two, and no command; and the benchmarks, which other stages leave out, compile.
stage_static() {
  local kind
  for kind in static shared; do
    build_parts -Domp=enabled -Ddefault_library=$kind -Dtools=disabled -Dbench=enabled
    RED_TEST_SCALE=0.1 run_suites build/ci/parts --suite headers --suite examples --suite omp
  done
  meson compile -C build/ci/parts red-bench-cpu red-peer-cpu
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
  need 'clang --version' clang
  install_missing
  tests/fuzz/run.sh 20
}

# The same bits on AArch64: cross-compiled, run under user-mode emulation.
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
  RED_TEST_SCALE=0.1 run_suites build/ci/aarch64 --suite omp --timeout-multiplier 10
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

# fresh_root SUITE: the README's two commands, each on a bare system of its own.
fresh_root() {
  if [ "$(id -u)" != 0 ]; then
    skip_stage "the commands in a fresh $1: only root can make one"
    return
  fi
  need 'debootstrap --version' debootstrap
  install_missing
  if [ -z "${FRESH_ROOT_MIRROR:-}" ] && ! [ -e "/usr/share/debootstrap/scripts/$1" ]; then
    skip_stage "the commands in a fresh $1: this debootstrap knows it not; FRESH_ROOT_MIRROR would help"
    return
  fi
  local output=build/ci/$1.txt status=0
  scripts/fresh-root "$1" ./run-example
  report 1 0 0
  scripts/fresh-root "$1" ./run-tests | tee "$output" || status=1
  report $(grep -E '^[0-9]+ passed, [0-9]+ failed' "$output" | tail -n 1 | tr -dc '0-9 ')
  return $status
}

stage_debian12() { fresh_root bookworm; }
stage_debian13() { fresh_root trixie; } # its PoCL has sub-groups
stage_ubuntu() { fresh_root noble; }    # 24.04

# The manual: the reference without a warning, every code block, and the blocks that build a clone of HEAD. The build of the
# stage `test` serves.
stage_manual() {
  need_to_build
  need_to_test
  need 'doxygen --version' doxygen
  need 'gfortran --version' gfortran
  need 'git --version' git
  install_missing
  build build/tests -Dtests=enabled -Ddocs=enabled $(cuda_options)
  meson compile -C build/tests docs
  run_suites build/tests --suite docs
  SOURCE=$PWD BUILD=$PWD/build/tests MESON=meson CC=${CC:-cc} \
    python3 tests/docs/blocks.py --needs clone README.md docs/*.md
}

# tarball FOLDER: the release's tarball of HEAD, made in FOLDER, from a clone with the file modes of the umask.
tarball() {
  rm -rf "$1"
  git clone -q . "$1"
  (
    cd "$1"
    meson setup build -Dtests=disabled -Dcuda=disabled -Dopencl=disabled -Dbench=disabled
    meson dist -C build --no-tests
  ) >/dev/null
}

# Two tarballs of one commit are the same bytes; what is in them builds and passes its tests.
stage_dist() {
  need_to_build
  need_to_test
  need 'git --version' git
  need 'xz --version' xz-utils
  install_missing
  (umask 022 && tarball build/ci/dist/one)
  sleep 2 # other times of day
  (umask 077 && tarball build/ci/dist/another)
  cmp build/ci/dist/{one,another}/build/meson-dist/libred-*.tar.xz
  report 1 0 0
  rm -rf build/ci/dist/unpacked
  mkdir build/ci/dist/unpacked
  tar -xf build/ci/dist/one/build/meson-dist/libred-*.tar.xz -C build/ci/dist/unpacked --strip-components=1
  cd build/ci/dist/unpacked
  build build/dist -Dwerror=true -Dtests=enabled -Dcuda=disabled
  run_suites build/dist --suite omp --suite headers --suite examples --suite tool --suite docs
}

# The Debian packages, built as Debian builds them (with the tests of the CPU), checked by lintian, and used.
stage_debian() {
  if ! command -v dpkg >/dev/null; then
    skip_stage 'the Debian packages: this is no Debian'
    return
  fi
  need_to_build
  need 'dpkg-buildpackage --version' dpkg-dev
  need 'dh --version' debhelper
  need 'lintian --version' lintian
  for package in meson check opencl-c-headers; do need "dpkg -s $package" $package; done
  need 'git --version' git
  install_missing
  tarball build/ci/debian/source
  local folder=$PWD/build/ci/debian/work version
  version=$(meson introspect --projectinfo meson.build | python3 -c 'import json, sys; print(json.load(sys.stdin)["version"])')
  rm -rf "$folder"
  mkdir -p "$folder/libred"
  cp build/ci/debian/source/build/meson-dist/libred-*.tar.xz "$folder/libred_$version.orig.tar.xz"
  tar -xf "$folder"/*.orig.tar.xz -C "$folder/libred" --strip-components=1
  cp -r packaging/debian "$folder/libred/debian"
  (cd "$folder/libred" && dpkg-buildpackage -us -uc)
  report 1 0 0
  # Who uploads a package puts an address and the number of a bug.
  local until_then=bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs
  lintian --fail-on error,warning --suppress-tags $until_then "$folder"/libred_*.changes
  report 1 0 0

  local package
  for package in "$folder"/*.deb; do dpkg -x "$package" "$folder/root"; done
  local libraries=$folder/root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
  ${CC:-cc} -std=c11 tests/install/consumer.c -o "$folder/consumer" \
    $(PKG_CONFIG_LIBDIR=$libraries/pkgconfig PKG_CONFIG_SYSROOT_DIR=$folder/root pkg-config --cflags --libs libred)
  LD_LIBRARY_PATH=$libraries "$folder/consumer"
  LD_LIBRARY_PATH=$libraries "$folder/root/usr/bin/redtool" stats examples/data/sunspots.npy
  report 1 0 0
}

# Check, the OpenCL headers and the loader from their wraps. The sources come from subprojects/packagecache, or from
# where the wraps say.
stage_wraps() {
  need_to_build
  need_to_test
  need 'git --version' git
  install_missing
  local clone=build/ci/wraps wrap cache=$PWD/subprojects/packagecache
  rm -rf $clone
  git clone -q . $clone
  if [ -d "$cache" ]; then cp -r "$cache" $clone/subprojects/; fi
  cd $clone
  for wrap in check opencl-headers opencl-icd-loader; do
    if ! timeout 120 meson subprojects download "$wrap"; then
      skip_stage "the wraps: the sources of $wrap are not in subprojects/packagecache and cannot be fetched"
      return
    fi
  done
  build build/wraps --wrap-mode=forcefallback -Dwerror=true -Dtests=enabled -Dopencl=enabled -Dcuda=disabled
  for wrap in check opencl-headers opencl-icd-loader; do
    meson introspect --projectinfo build/wraps | grep -q "\"name\": \"$wrap\"" || { echo "$wrap was not used"; return 1; }
  done
  run_suites build/wraps --suite omp --suite opencl --suite examples --no-suite instruction-sets
}

# What the stages below run on other OpenCL implementations. The arguments are a command that ends in .ci/run-suites and its
# arguments; its lines are counted.
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

# PoCL 6.0 has sub-groups: Debian 13's, around what was built here.
stage_pocl6() {
  if [ "$(id -u)" != 0 ]; then
    skip_stage 'sub-groups, with PoCL 6.0 in a fresh Debian 13: only root can make one'
    return
  fi
  need 'debootstrap --version' debootstrap
  build_for_opencl
  run_on_opencl scripts/fresh-root --here --include=pocl-opencl-icd,ocl-icd-libopencl1,libgomp1,libsubunit0 trixie \
    "RED_OPENCL_SHAPE=subgroup RED_TEST_SCALE=0.1 .ci/run-suites build/tests opencl/test_opencl_primitives \
      opencl/test_opencl_device reduce"
}

# Intel's runtime for CPUs, from PyPI: another compiler, another scheduler.
stage_intel() {
  need 'python3 -c "import ensurepip, venv"' python3-venv
  build_for_opencl
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
  run_on_opencl env OCL_ICD_VENDORS="$venv/icd" LD_LIBRARY_PATH="$venv/loader:$venv/lib" RED_TEST_SCALE=0.2 \
    .ci/run-suites build/tests opencl/test_opencl_device opencl/test_opencl_primitives opencl/test_opencl_programs \
    reduce scan stats
}

# A simulator that checks every access for races and bounds. As a driver (ICD): its command preloads functions that the
# library, which asks the loader for them, would use half of. Not the scan in one pass, whose hand-over OpenCL 1.2 has no words
# for. Its look for uninitialized values (21.10) crashes on vectors of sixteen.
stage_oclgrind() {
  need 'ls /usr/lib/oclgrind/liboclgrind-rt-icd.so' oclgrind
  build_for_opencl
  local folder=build/ci/oclgrind redtool=build/tests/tools/redtool shape arguments words uninitialized f64 passed=0 failed=0
  mkdir -p $folder/icd
  echo /usr/lib/oclgrind/liboclgrind-rt-icd.so >$folder/icd/oclgrind.icd
  python3 -c "import struct; open('$folder/data', 'wb').write(struct.pack('5001f', *(i % 89 - 44.3 for i in range(5001))))"
  export OCL_ICD_VENDORS=$PWD/$folder/icd RED_OPENCL_SCAN=windows RED_CACHE_DIR= RED_OPENCL_PROBE=0 OCLGRIND_DATA_RACES=1
  for shape in wide local; do
    for words in 'reduce --op sum' 'reduce --op argmax' 'reduce --op prod --acc f64' 'reduce --op sum --exact' \
      'reduce --op sumsq --exact' 'scan --op sum' 'scan --op max' stats; do
      uninitialized=1 f64=1
      if [ $shape = wide ]; then uninitialized=; fi
      # It does not know all instructions that its compiler makes of exact kernels: freeze, noalias.scope.decl.
      if [[ $words = *exact* ]]; then uninitialized='' f64=0; fi
      arguments="$words --dtype f32 $folder/data"
      if [[ $words = scan* ]]; then arguments="$arguments --output -"; fi
      if $redtool $arguments --backend omp >$folder/expected &&
        OCLGRIND_UNINITIALIZED=$uninitialized RED_OPENCL_F64=$f64 RED_OPENCL_SHAPE=$shape \
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
