# SPDX-License-Identifier: BSD-2-Clause
"""The names of the manual's pages, one a line, for meson.build. usage: pages.py FOLDER"""
import pathlib
import sys

for page in sorted(pathlib.Path(sys.argv[1]).glob('*.md')):
    print(page.name)
