# SPDX-License-Identifier: BSD-2-Clause
"""docs/env_vars.md tells about every variable that the library or the command reads, and about no other.

usage: variables.py SOURCE
"""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
read = set()
for folder in ('src', 'tools', 'tests'):
    for file in sorted((source / folder).rglob('*.[ch]')):
        read |= set(re.findall(r'\bgetenv\("(RED_\w+|XDG_\w+)"\)', file.read_text(encoding='utf-8')))
# The suites' own: how they find files of the source tree, and what they tell the loader that plays a driver.
read -= {'RED_INCLUDE', 'RED_TEST_BUILD', 'RED_TEST_FAKE_LOADER', 'RED_TEST_LOADER'}
text = (source / 'docs/env_vars.md').read_text(encoding='utf-8')
told = set(re.findall(r'`\$?(RED_[A-Z_0-9]+|XDG_[A-Z_]+)[`=]', text))

for name in sorted(read - told):
    print(f'{name} is read, and docs/env_vars.md does not mention it')
for name in sorted(told - read):
    print(f'docs/env_vars.md mentions {name}, which nothing reads')
sys.exit(1 if read != told else 0)
