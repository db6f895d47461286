# SPDX-License-Identifier: BSD-2-Clause
# Sourced by run-example, run-tests and .ci/run: find what is missing, install it with apt, configure and build.

missing=

# need PROBE PACKAGE...: remember the packages unless the probe succeeds.
need() {
  probe=$1
  shift
  if eval "$probe" >/dev/null 2>&1; then return; fi
  for package in "$@"; do
    case "$missing " in
    *" $package "*) ;;
    *) missing="$missing $package" ;;
    esac
  done
}

# compiles COMPILER LANGUAGE HEADER [FLAG...]
compiles() {
  compiler=$1 language=$2 header=$3
  shift 3
  echo "#include <$header>" | "$compiler" "$@" -x "$language" -fsyntax-only -
}

# Installs what the calls of need() found missing; says nothing if that is nothing.
install_missing() {
  [ -n "$missing" ] || return 0
  if ! command -v apt-get >/dev/null; then
    echo "missing:$missing (as Debian names them); please install them" >&2
    return 1
  fi
  as_root=
  if [ "$(id -u)" != 0 ]; then
    as_root=sudo
    if ! command -v sudo >/dev/null; then
      echo "missing, and there is no sudo; run as root: apt-get install$missing" >&2
      return 1
    fi
  fi
  echo "Installing$missing"
  apt_log=$(mktemp)
  if ! {
    $as_root apt-get update -q &&
      $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
  } </dev/null >"$apt_log" 2>&1; then
    cat "$apt_log" >&2
    rm -f "$apt_log"
    return 1
  fi
  rm -f "$apt_log"
  missing=
}

need_to_build() {
  need 'compiles "${CC:-cc}" c stdio.h' gcc libc6-dev
  need 'compiles "${CC:-cc}" c omp.h -fopenmp' gcc
  need 'meson --version' meson
  need 'ninja --version' ninja-build
  need 'pkg-config --version' pkg-config
  need 'compiles "${CC:-cc}" c CL/cl.h -DCL_TARGET_OPENCL_VERSION=120' opencl-headers
}

need_to_test() {
  need 'compiles "${CXX:-c++}" c++ memory' g++
  need 'pkg-config --exists "check >= 0.15"' check
  need 'cmake --version' cmake
  # An OpenCL device that every machine can have, unless there is a driver already.
  need 'ls /etc/OpenCL/vendors/*.icd' pocl-opencl-icd
  need 'ldconfig -p | grep -F libOpenCL.so.1 || /sbin/ldconfig -p | grep -F libOpenCL.so.1' ocl-icd-libopencl1
}

# CUDA kernels for the GPUs of this machine; without one they could not run, and are not compiled.
cuda_options() {
  if archs=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null) && [ -n "$archs" ]; then
    echo "-Dcuda=auto -Dgpu_archs=$(echo "$archs" | tr -d . | sort -nu | paste -sd,)"
  else
    echo '-Dcuda=disabled'
  fi
}

# build FOLDER [OPTION...]: configure (again, if the folder is there) and compile, quietly unless it fails. Benchmarks are
# left out unless an option asks for them.
build() {
  folder=$1
  shift
  mkdir -p "$folder"
  echo "Building in $folder, which takes some minutes at first (what it says goes to $folder/setup.log)"
  if [ -f "$folder/build.ninja" ]; then set -- --reconfigure "$@"; fi
  if ! { meson setup "$folder" . -Dbench=disabled "$@" && meson compile -C "$folder" --ninja-args=--quiet; } </dev/null >"$folder/setup.log" 2>&1; then
    cat "$folder/setup.log" >&2
    return 1
  fi
}
