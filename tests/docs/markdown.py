# SPDX-License-Identifier: BSD-2-Clause
"""The fenced code blocks of a Markdown page, with what the comments above them say about running them.

A comment on the line above a fence may hold one directive:

    <!-- file: NAME -->        the block is also written to NAME, where later blocks of the page find it
    <!-- frame: NAME -->       a fragment: it takes the place of /* BLOCK */ in tests/docs/frames/NAME
    <!-- needs: PROGRAM -->    left out where PROGRAM is missing
    <!-- clone -->             runs in a clone of the repository (by the stage `manual` of .ci/run only)
    <!-- syntax: REASON -->    is parsed, not run
    <!-- prints -->            (a text block) what the block before it prints; "..." stands for anything
"""
import re

LANGUAGES = {'sh', 'c', 'cpp', 'cuda', 'opencl', 'fortran', 'python', 'cmake', 'meson', 'text'}
FILES_ONLY = {'cmake', 'meson'}
DIRECTIVE = re.compile(r'<!--\s*(file|frame|needs|clone|syntax|prints)\s*(?::\s*(.*?))?\s*-->$')

# Indented blocks are for formulas and drawings.
COMMANDS = r'(cc|c\+\+|nvcc|meson|ninja|cmake|redtool|git|sudo|apt-get|python3?|export) '
INDENTED_CODE = re.compile(r' {4}(\./|#include|[a-z-]+ -|' + COMMANDS + ')')


class Block:
    def __init__(self, page, line, language, text, directive, value):
        self.page, self.line, self.language, self.text = page, line, language, text
        self.directive, self.value = directive, value
        self.prints = None

    @property
    def place(self):
        return f'{self.page.name}:{self.line}'

    @property
    def needs(self):
        """What has to be there beyond a C compiler, a shell and Python; None if nothing."""
        if self.directive in ('needs', 'clone'):
            return self.value or 'clone'
        if 'CL/cl.h' in self.text or (self.directive == 'frame' and self.value.startswith('opencl')):
            return 'opencl'
        return self.language if self.language in ('cpp', 'cuda', 'opencl', 'fortran') else None


def blocks(page):
    """All blocks of a page; ValueError if one is written in a way that no test would see."""
    found, lines, fence, above = [], page.read_text(encoding='utf-8').splitlines(), None, ''
    for number, line in enumerate(lines, 1):
        if fence is None and line.startswith('```'):
            fence, language, text = number, line[3:].strip(), []
            directive = DIRECTIVE.match(above)
            if language not in LANGUAGES:
                raise ValueError(f'{page}:{number}: a block in "{language}"; known: {" ".join(sorted(LANGUAGES))}')
        elif fence is not None and line.startswith('```'):
            name, value = directive.groups() if directive else (None, None)
            found.append(Block(page, fence, language, '\n'.join(text) + '\n', name, value))
            fence = None
        elif fence is not None:
            text.append(line)
        elif INDENTED_CODE.match(line):
            raise ValueError(f'{page}:{number}: code that no test would see; fence it and name its language')
        above = line
    if fence is not None:
        raise ValueError(f'{page}:{fence}: this block does not end')
    attach_output(found)
    return [block for block in found if block.language != 'text']


def attach_output(found):
    for before, block in zip([None] + found, found):
        if block.directive == 'prints':
            if block.language != 'text' or before is None:
                raise ValueError(f'{block.place}: "prints" belongs to a text block after the block that prints it')
            before.prints = block.text
