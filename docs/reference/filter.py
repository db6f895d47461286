#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Show Doxygen the public headers with the marks that it wants; the headers themselves are written for people.

usage: filter.py HEADER           writes to standard output
       filter.py --check HEADER   fails if a function of the API has no comment

- A comment before a declaration, or behind it on its line, belongs to it; that at the top belongs to the file.
- A comment before several declarations without an empty line in between belongs to all of them.
- A line of dashes with a title begins a group, which ends at the next one.
- Lines of a comment that are set in by three or more spaces, outside of lists, are kept as they stand.
"""
import pathlib
import re
import sys

SECTION = re.compile(r'/\* -+ (.*?):? -*(?: ?\*/)?$')
TRAILING = re.compile(r'(.*[^\s*/]) +/\* ((?:(?!\*/).)*)(\*/)?$')


def comment_text(lines):
    """The lines of one comment, with tables and formulas kept as they stand."""
    shown, in_list, kept = [], False, False
    for line in lines:
        text = re.sub(r'^\s*\*(?!/)', '', line)
        deep = re.match(r' {3,}\S', text) is not None
        in_list = bool(re.match(r' +- ', text)) or (in_list and deep)
        if deep and not in_list and not kept:
            shown.append('@verbatim')
        elif kept and (not deep or in_list):
            shown.append('@endverbatim')
        kept = deep and not in_list
        shown.append(text)
    if kept:
        shown.insert(-1 if shown[-1].strip() == '*/' else len(shown), '@endverbatim')
    return shown


class Filter:
    def __init__(self, path):
        self.path, self.lines, self.shown = path, path.read_text(encoding='utf-8').splitlines(), []
        self.section = self.together = self.began = False

    def end_together(self):
        if self.together:
            self.shown.append('/** @} */')
        self.together = False

    def end_section(self):
        if self.section:
            self.shown.append('/** @} */')
        self.section = False

    def begin_section(self, title):
        name = re.sub(r'\W+', '_', f'{self.path.name}_{title}'.lower())
        self.end_section()
        self.shown.append(f'/** @defgroup {name} {title}'
                          '\n    @{ */')
        self.section = True

    def comment(self, i):
        """The comment that begins in line i; the number of the line after it."""
        end = i
        while '*/' not in self.lines[end]:
            end += 1
        block, indent = self.lines[i:end + 1], re.match(r'\s*', self.lines[i]).group()
        begin = '/** '
        if not self.began and 'SPDX' not in block[0]:
            title = '@mainpage' if self.path.name == 'red.h' else ''
            self.shown += ['/** @file */', f'/** {title}'] if title else ['/** @file']
            begin, self.began = '', True
        elif 'SPDX' not in block[0]:
            self.end_together()
            self.together = indent == '' and self.declares_several(end + 1)
            if self.together:
                self.shown.append('/** @{ */')
        else:
            return end + 1
        text = comment_text([re.sub(r'^\s*/\*', '', block[0])] + block[1:])
        self.shown += [indent + begin + text[0].strip()] + text[1:]
        return end + 1

    def declares_several(self, i):
        following = []
        while i < len(self.lines) and self.lines[i].strip() and not self.lines[i].startswith('/*'):
            following.append(self.lines[i])
            i += 1
        return sum(line.startswith('RED_API') for line in following) > 1

    def run(self):
        i = 0
        while i < len(self.lines):
            line = self.lines[i]
            section, trailing = SECTION.match(line), TRAILING.match(line)
            if not line.strip():
                self.end_together()
            if section:
                self.begin_section(section.group(1))
                i += 1 if '*/' in line else 2
            elif line.lstrip().startswith('/*'):
                i = self.comment(i)
            else:
                if line == '} // namespace red' or self.lines[i:i + 2] == ['#ifdef __cplusplus', '}']:
                    self.end_section()
                if trailing and not line.startswith('#'):
                    line = f'{trailing.group(1)} /**< {trailing.group(2)}{trailing.group(3) or ""}'
                self.shown.append(line)
                i += 1
        self.end_section()
        return '\n'.join(self.shown) + '\n'


def undocumented(path):
    """Paragraphs that declare a function and do not begin with a comment."""
    paragraphs = re.split(r'\n\s*\n', path.read_text(encoding='utf-8'))
    return [text for text in paragraphs if re.search('^RED_API', text, re.M) and not text.lstrip().startswith('/*')]


if __name__ == '__main__':
    header = pathlib.Path(sys.argv[-1])
    if sys.argv[1] == '--check':
        missing = undocumented(header)
        sys.exit(f'{header}: without a comment:\n' + '\n\n'.join(missing) if missing else 0)
    sys.stdout.write(Filter(header).run())
