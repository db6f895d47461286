#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Write an assembly file that puts a binary file into read-only data under a symbol: embed.py FILE SYMBOL OUTPUT."""
import hashlib
import os
import sys

path, symbol, output = sys.argv[1:]
with open(path, 'rb') as file:
    digest = hashlib.sha256(file.read()).hexdigest()

# The digest makes the text differ whenever the bytes do: they are not seen by the dependency scan.
with open(output, 'w') as file:
    file.write(f'''/* {digest} */
    .section .rodata
    .balign 16
    .globl {symbol}
    .hidden {symbol}
    .type {symbol}, %object
{symbol}:
    .incbin "{os.path.abspath(path)}"
    .size {symbol}, . - {symbol}
    .section .note.GNU-stack, "", %progbits
''')
