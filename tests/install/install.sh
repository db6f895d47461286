#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Install into a scratch root, then build and run a consumer the way $1 says: cc, cmake (find_package), cmake-pkgconfig,
# meson or subproject.
# From meson.build: MESON, CC, SOURCE (the top folder), BUILD (its build folder), PREFIX, LIBDIR.
set -eu

here=$SOURCE/tests/install
scratch=$(mktemp -d "${TMPDIR:-/tmp}/libred-install.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

skip() {
  echo "skipped: $1"
  exit 77
}

install_library() {
  command -v pkg-config >/dev/null || skip 'pkg-config was not found'
  DESTDIR=$scratch/root $MESON install -C "$BUILD" --no-rebuild --quiet
  libdir=$scratch/root$PREFIX/$LIBDIR
  # The library lies under a DESTDIR, as in a package that is being built, and nothing else is looked at.
  export PKG_CONFIG_LIBDIR="$libdir/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$scratch/root"
}

run_shared() {
  LD_LIBRARY_PATH=$libdir ldd "$1" | grep "libred.so.0.1 => $libdir/" || { echo "$1 does not use the installed library"; exit 1; }
  LD_LIBRARY_PATH=$libdir "$1"
}

run_static() {
  if ldd "$1" | grep libred; then echo "$1 should hold libred itself"; exit 1; fi
  env -u LD_LIBRARY_PATH "$1"
}

case $1 in
cc)
  install_library
  flags=$(pkg-config --cflags libred)
  $CC -std=c11 "$here/consumer.c" $flags -o "$scratch/shared" $(pkg-config --libs libred)
  run_shared "$scratch/shared"
  $CC -std=c11 "$here/consumer.c" $flags -o "$scratch/static" \
    $(pkg-config --static --libs libred | sed 's/-lred\b/-l:libred.a/')
  run_static "$scratch/static"
  ;;
cmake)
  command -v cmake >/dev/null || skip 'cmake was not found'
  command -v c++ >/dev/null || skip 'a C++ compiler was not found'
  install_library
  # Somewhere else than where it was configured to be: the files find each other by relative paths.
  mv "$scratch/root$PREFIX" "$scratch/moved"
  libdir=$scratch/moved/$LIBDIR
  CC=$CC cmake -G Ninja -S "$here/cmake" -B "$scratch/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$scratch/moved"
  cmake --build "$scratch/build"
  run_shared "$scratch/build/consumer"
  run_shared "$scratch/build/consumer_cpp"
  run_static "$scratch/build/consumer_static"
  for version in 0.1 0.1.0; do
    cmake -G Ninja -S "$here/cmake" -B "$scratch/$version" -DCMAKE_PREFIX_PATH="$scratch/moved" -DWANTED=$version >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
  done
  for version in 0.2 0.1.99 1; do
    if cmake -G Ninja -S "$here/cmake" -B "$scratch/$version" -DCMAKE_PREFIX_PATH="$scratch/moved" -DWANTED=$version \
      >"$scratch/log" 2>&1; then
      echo "find_package(libred $version) accepts another version"
      exit 1
    fi
    grep -q 'considered but not accepted' "$scratch/log" || { cat "$scratch/log"; exit 1; }
  done
  ;;
cmake-pkgconfig)
  command -v cmake >/dev/null || skip 'cmake was not found'
  install_library
  CC=$CC cmake -G Ninja -S "$here/cmake-pkgconfig" -B "$scratch/build" -DCMAKE_BUILD_TYPE=Release
  cmake --build "$scratch/build"
  run_shared "$scratch/build/consumer"
  ;;
meson)
  install_library
  CC=$CC $MESON setup "$scratch/build" "$here/meson"
  $MESON compile -C "$scratch/build"
  run_shared "$scratch/build/consumer"
  run_static "$scratch/build/consumer_static"
  ;;
subproject)
  mkdir -p "$scratch/project/subprojects"
  cp -r "$here/meson" "$here/consumer.c" "$scratch/project"
  mv "$scratch/project/meson"/* "$scratch/project"
  sed -i 's|\.\./consumer|consumer|' "$scratch/project/meson.build"
  ln -s "$SOURCE" "$scratch/project/subprojects/libred"
  # A compiler that takes the CPU's kernels, which are most of its work, from the build under test.
  cat >"$scratch/cc" <<END
#!/bin/sh
before=
for argument; do
  if [ "\$before" = -o ]; then
    object="$BUILD/\${argument#subprojects/libred/}"
    case \$argument in
    subprojects/libred/src/backend_omp/libred_vec_*) if [ -f "\$object" ]; then exec cp "\$object" "\$argument"; fi ;;
    esac
  fi
  before=\$argument
done
exec $CC "\$@"
END
  chmod +x "$scratch/cc"
  CC=$scratch/cc $MESON setup "$scratch/build" "$scratch/project" -Dbuildtype=release \
    -Das_subproject=true -Dlibred:cuda=disabled
  $MESON compile -C "$scratch/build"
  "$scratch/build/consumer"
  ;;
esac
