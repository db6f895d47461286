#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Draw the README's picture from the tables of bench/RESULTS.md, with gnuplot.

usage: draw.py [--check] RESULTS.md PICTURE.svg

--check draws nothing: it compares the figures that the picture was drawn from, which it holds as a comment, with those
of the tables.
"""
import re
import subprocess
import sys

SECTION = '## CUDA, one H200'
TITLE = 'One NVIDIA H200: f32 in device memory, L2 flushed, medians of 25'

SCRIPT = '''
set terminal svg size 900,330 font "sans-serif,13" background "#ffffff"
set output "/dev/stdout"
set multiplot layout 1,2 title "{title}" font ",14"
set logscale x 2
set xrange [2**13:2**30.6]
set yrange [0:5000]
set xtics ("16 Ki" 2**14, "256 Ki" 2**18, "4 Mi" 2**22, "64 Mi" 2**26, "1 Gi" 2**30)
set ytics 1000
set grid ytics lc rgb "#dddddd"
set border 3 lc rgb "#444444"
set tics nomirror
set key top left reverse Left
set xlabel "elements"
set style line 1 lc rgb "#0b6e4f" lw 2.5 pt 7 ps 0.5
set style line 2 lc rgb "#c1440e" lw 1.5 pt 5 ps 0.5
set style line 3 lc rgb "#777777" lw 1.5 dt 2
$sum << EOD
{sum}EOD
$scan << EOD
{scan}EOD
set ylabel "GB/s"
set title "sum"
plot $sum using 1:2 with linespoints ls 1 title "libred", "" using 1:3 with linespoints ls 2 title "CUB"
unset ylabel
set title "inclusive scan (read + write)"
plot $scan using 1:2 with linespoints ls 1 title "libred", "" using 1:3 with linespoints ls 2 title "CUB", \\
  "" using 1:4 with lines ls 3 title "cudaMemcpy"
'''


def rows(text, table, title):
    """The cells of the rows of the first table below `table` whose first cell is `title`, as numbers."""
    text = text.split(f'\n### {table}\n', 1)[-1].split('\n### ', 1)[0]
    found = [[float(cell) for cell in row.split('|')] for row in
             re.findall(rf'^\| {re.escape(title)} \| ([0-9.| ]+) \|$', text, re.M)]
    if not found:
        sys.exit(f'no row "{title}" below "{SECTION}"')
    return found


def figures(path):
    """n, then GB/s of libred, CUB and, for scans, cudaMemcpy: a line each."""
    text = open(path, encoding='utf-8').read()
    section = text.split(f'\n{SECTION}\n', 1)
    if len(section) != 2:
        sys.exit(f'{path} has no section "{SECTION}"')
    text = section[1].split('\n## ', 1)[0]
    total = ''.join(f'{n:.0f} {rate:.0f} {4e-3 * n / cub:.0f}\n'
                    for n, us, rate, cub, *_ in rows(text, 'Reduce', 'sum f32'))
    scan = ''.join(f'{n:.0f} {rate:.0f} {8e-3 * n / cub:.0f} {8e-3 * n / copy:.0f}\n'
                   for n, us, rate, cub, _, copy, _ in rows(text, 'Scan', 'inclusive f32'))
    return {'sum': total, 'scan': scan}


def as_comment(data):
    return ''.join(f'<!-- {name}: {" / ".join(lines.splitlines())} -->\n' for name, lines in data.items())


def main(arguments):
    check = arguments[0] == '--check'
    results, picture = arguments[check:]
    data = figures(results)
    if check:
        if as_comment(data) not in open(picture, encoding='utf-8').read():
            return f'{picture} shows other figures than {results}: draw it again (docs/figures/draw.py)'
        return 0
    svg = subprocess.run(['gnuplot'], input=SCRIPT.format(title=TITLE, **data), text=True, stdout=subprocess.PIPE,
                         check=True).stdout
    head, rest = svg.split('?>\n', 1) if svg.startswith('<?xml') else ('', svg)
    with open(picture, 'w', encoding='utf-8') as file:
        file.write((head + '?>\n' if head else '') + as_comment(data) + rest)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
