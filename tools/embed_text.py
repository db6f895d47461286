# SPDX-License-Identifier: BSD-2-Clause
"""Write a text file as a C string: embed_text.py OUTPUT INPUT NAME."""
import sys


def literal(line):
    return '    "' + line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?").replace("\n", "\\n") + '"\n'


output, source, name = sys.argv[1:]
with open(source, encoding="utf-8") as text, open(output, "w", encoding="utf-8") as out:
    out.write(f"extern const char {name}[];\nconst char {name}[] =\n{''.join(map(literal, text)).rstrip()};\n")
