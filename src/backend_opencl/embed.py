# SPDX-License-Identifier: BSD-2-Clause
"""Write text files as C strings: embed.py OUTPUT FILE..."""
import hashlib
import os
import sys


def name_of(path):
    return os.path.basename(path).replace('.', '_')


def literal(line):
    escaped = line.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n').replace('?', '\\?')
    return f'    "{escaped}"\n'


def main():
    output, *inputs = sys.argv[1:]
    with open(output, 'w', encoding='utf-8') as out:
        out.write('/* Generated from kernels/ and the tables. */\n#include "texts.h"\n')
        digest = hashlib.sha256()
        for path in inputs:
            with open(path, encoding='utf-8') as text:
                content = text.read()
            digest.update(content.encode())
            lines = ''.join(literal(line) for line in content.splitlines(keepends=True))
            out.write(f'\nconst char red_cl_text_{name_of(path)}[] =\n{lines.rstrip()};\n')
        out.write(f'\nconst char red_cl_texts_digest[] = "{digest.hexdigest()}";\n')


main()
