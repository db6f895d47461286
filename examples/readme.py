#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The README's C example is examples/sum.c, and running it prints what the README says.

usage: readme.py README.md sum.c PROGRAM
"""
import re
import subprocess
import sys

readme_path, source_path, program = sys.argv[1:]
readme = open(readme_path, encoding='utf-8').read()
source = open(source_path, encoding='utf-8').read()

block = re.search(r'```c\n(.*?)```', readme, re.S)
if not block:
    sys.exit(f'{readme_path} has no C example')
code = re.sub(r'\A(/\*.*?\*/\n)+', '', source, flags=re.S)
if block.group(1) != code:
    sys.exit(f'the C example of {readme_path} differs from {source_path}:\n{block.group(1)}')

promised = re.search(r'prints `([^`]*)`', readme[block.end():])
printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
if not promised or printed.strip() != promised.group(1):
    sys.exit(f'{program} printed {printed!r}; {readme_path} promises {promised and promised.group(1)!r}')
