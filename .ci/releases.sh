# SPDX-License-Identifier: BSD-2-Clause
# Stages of .ci/run about what users get: the commands on bare systems, the manual, the tarball, packages.

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
