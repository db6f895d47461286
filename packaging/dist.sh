#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Called by `meson dist` on the unpacked sources: times and modes that depend on the commit alone, so that the tarball does.
set -eu
cd "$MESON_DIST_ROOT"
find . -exec touch --no-dereference --date="@$(git -C "$MESON_SOURCE_ROOT" log -1 --format=%ct)" {} +
chmod -R u=rwX,go=rX .
