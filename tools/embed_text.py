# SPDX-License-Identifier: BSD-2-Clause
"""
Write a text file as a C string: embed_text.py OUTPUT INPUT NAME [FOLDER]. Lines that include <red/...> are replaced by
that file of FOLDER, each time anew.
"""
import pathlib
import re
import sys


def literal(line):
    return '    "' + line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?").replace("\n", "\\n") + '"\n'


def lines(path, folder):
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        include = re.match(r"#include <(red/[^>]+)>", line)
        if include:
            yield from lines(folder / include.group(1), folder)
        else:
            yield line


output, source, name, *folder = sys.argv[1:]
text = lines(pathlib.Path(source), pathlib.Path(*folder))
with open(output, "w", encoding="utf-8") as out:
    out.write(f"extern const char {name}[];\nconst char {name}[] =\n{''.join(map(literal, text)).rstrip()};\n")
