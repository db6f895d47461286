#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compile and run the code blocks of Markdown pages, as a reader would who has installed libred.

usage: blocks.py [--needs WHAT] PAGE.md...

Without --needs: the blocks that need a C compiler, a shell and Python only. With it, those that need WHAT besides; if
it is missing the reason is printed and the exit status is 77. From the environment: SOURCE and BUILD (the top folder
and its build folder), MESON, CC, CXX. Directives above blocks: markdown.py.
"""
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

import markdown
from markdown import FILES_ONLY

SOURCE, BUILD = pathlib.Path(os.environ['SOURCE']), pathlib.Path(os.environ['BUILD'])
FRAMES = SOURCE / 'tests/docs/frames'


class Skip(Exception):
    """What a block needs is not here; the text says what."""


def command(name):
    found = shutil.which(name) or shutil.which(name, path='/usr/local/cuda/bin')
    if not found:
        raise Skip(f'{name} was not found')
    return found


def install(root):
    """Install into `root`; the environment of somebody who uses what lies there."""
    meson = shlex.split(os.environ['MESON'])
    subprocess.run([*meson, 'install', '-C', BUILD, '--no-rebuild', '--quiet', '--destdir', root], check=True,
                   stdout=subprocess.DEVNULL)
    libraries = next(root.rglob('libred.so')).parent
    prefix = next(root.rglob('include')).parent
    environment = dict(os.environ)
    for name in ('RED_BACKEND', 'RED_CPU', 'RED_VERBOSE', 'MAKEFLAGS', 'DESTDIR'):
        environment.pop(name, None)
    environment |= {
        'PATH': f'{prefix}/bin:{environment["PATH"]}', 'LD_LIBRARY_PATH': str(libraries), 'LC_ALL': 'C.UTF-8',
        'PKG_CONFIG_LIBDIR': str(libraries / 'pkgconfig'), 'PKG_CONFIG_SYSROOT_DIR': str(root),
        'CMAKE_PREFIX_PATH': str(prefix), 'CMAKE_GENERATOR': 'Ninja', 'RED_INCLUDE': f'{prefix}/include'}
    return environment


def write_data(folder):
    """measurements.npy: 1000 floats 0, 0.5, 1, ..., which the pages use as somebody's data."""
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000,), }"
    header += ' ' * (-(len(header) + 11) % 64) + '\n'
    values = struct.pack('<1000f', *(i / 2 for i in range(1000)))
    start = b'\x93NUMPY\1\0' + struct.pack('<H', len(header)) + header.encode()
    (folder / 'measurements.npy').write_bytes(start + values)


class Page:
    """The blocks of one page share a folder, so that one may use the files of another."""

    def __init__(self, path, folder, environment):
        self.blocks = markdown.blocks(path)
        self.environment, self.folder = environment, folder
        self.folder.mkdir()
        write_data(self.folder)
        for block in self.blocks:
            if block.directive == 'file':
                (self.folder / block.value).write_text(block.text, encoding='utf-8')

    def call(self, *arguments, **options):
        done = subprocess.run(arguments, cwd=self.folder, env=self.environment, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900, **options)
        if done.returncode == 77:
            raise Skip(done.stdout.strip().splitlines()[-1].removeprefix('skipped: '))
        if done.returncode != 0:
            raise RuntimeError(f'{arguments[0]} ended with {done.returncode}:\n{done.stdout}')
        return done.stdout

    def compile(self, suffix, text, *compiler):
        source, program = self.folder / f'block{suffix}', self.folder / 'block'
        source.write_text(text, encoding='utf-8')
        flags = self.call('pkg-config', '--cflags', '--libs', 'libred').split()
        if 'CL/cl.h' in text:
            flags += self.opencl_flags()
        self.call(*compiler, source.name, '-o', program.name, *flags)
        return str(program)

    def run(self, block):
        """What the block prints, or None if it is not a thing to run."""
        if block.directive == 'syntax':
            return self.call('sh', '-n', '-c', block.text) and None
        if block.directive == 'clone':
            return self.run_in_clone(block)
        if block.language in FILES_ONLY:
            if block.directive != 'file':
                raise RuntimeError('nothing uses this block: give it a file name, or make it "text"')
            return None
        text = block.text
        if block.directive == 'frame' and block.language != 'opencl':
            text = (FRAMES / block.value).read_text(encoding='utf-8').replace('/* BLOCK */', text)
        return getattr(self, 'run_' + block.language)(block, text)

    def run_sh(self, block, text):
        if block.directive == 'needs':
            command(block.value)
        return self.call('sh', '-eu', '-c', text)

    clones = {}  # by the command that configures: pages that agree on it share what it compiled

    def run_in_clone(self, block):
        """The reader's commands; CUDA kernels for every architecture would take too long."""
        configure = re.search(r'^meson setup [^&\n]*', block.text, re.M).group().strip()
        clone = self.clones.setdefault(configure, self.folder.parent / f'clone{len(self.clones)}')
        programs = self.folder.parent / 'programs'
        if not clone.exists():
            self.call('git', 'clone', '-q', str(SOURCE), str(clone))
            programs.mkdir(exist_ok=True)
            meson = programs / 'meson'
            meson.write_text(f'#!/bin/sh\n[ "$1" != setup ] || set -- "$@" -Dcuda=disabled\nexec {command("meson")} "$@"\n')
            meson.chmod(0o755)
        environment = os.environ | {'DESTDIR': f'{clone}-root', 'PATH': f'{programs}:{os.environ["PATH"]}'}
        done = subprocess.run(['sh', '-eu', '-c', block.text], cwd=clone, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise RuntimeError(f'it ended with {done.returncode}:\n{done.stdout}')

    def run_c(self, block, text):
        warnings = ['-std=c11', '-D_POSIX_C_SOURCE=200809L', '-Wall', '-Wextra', '-Wno-unused-parameter', '-Werror']
        program = self.compile('.c', text, *shlex.split(os.environ['CC']), *warnings)
        if block.needs == 'opencl':
            self.need_device('opencl')
        return self.call(program)

    def need_device(self, backend):
        info = self.call('redtool', 'info')
        if not re.search(rf'^{backend}:\S+ +(?!not available)', info, re.M):
            reason = re.search(rf'^{backend}\S* +not available: (.*)', info, re.M)
            raise Skip(f'compiled, not run: {reason.group(1) if reason else "no such device"}')

    def opencl_flags(self):
        has_it = subprocess.run([*shlex.split(os.environ['CC']), '-E', '-x', 'c', '-'], input='#include <CL/cl.h>\n',
                                text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if has_it.returncode:
            raise Skip('the OpenCL headers were not found')
        return ['-DCL_TARGET_OPENCL_VERSION=120', '-l:libOpenCL.so.1']

    def run_cpp(self, block, text):
        compiler = shlex.split(os.environ.get('CXX', 'c++'))
        return self.call(self.compile('.cpp', text, *compiler, '-std=c++17', '-Wall', '-Werror'))

    def run_fortran(self, block, text):
        return self.call(self.compile('.f90', text, command('gfortran'), '-std=f2018', '-Wall', '-Werror'))

    def run_python(self, block, text):
        return self.call(sys.executable, '-c', text)

    def run_cuda(self, block, text):
        """Compiled wherever nvcc is, run where libred finds a device."""
        program = self.compile('.cu', text, command('nvcc'), '-std=c++17')
        self.need_device('cuda')
        return self.call(program)

    def run_opencl(self, block, text):
        """Kernels are built and launched by the frame, a C program that knows what they should compute."""
        (self.folder / 'kernel.cl').write_text(text, encoding='utf-8')
        frame = (FRAMES / block.value).read_text(encoding='utf-8')
        return self.call(self.compile('.c', frame, *shlex.split(os.environ['CC']), '-std=c11'))


def check_output(block, printed):
    if block.prints is None:
        return
    lines = block.prints.rstrip().replace('\n...\n', '...\n') # a line of dots is any number of lines
    pattern = '.*'.join(re.escape(part) for part in lines.split('...'))
    if not re.fullmatch(pattern, (printed or '').rstrip(), re.S):
        raise RuntimeError(f'it printed\n{printed}\nand the page says\n{block.prints}')


def main(arguments):
    needs = None
    if arguments and arguments[0] == '--needs':
        needs, arguments = arguments[1], arguments[2:]
    passed, failed, skipped = 0, 0, []
    with tempfile.TemporaryDirectory(prefix='libred-docs.') as name:
        scratch = pathlib.Path(name)
        environment = install(scratch / 'root')
        for number, path in enumerate(map(pathlib.Path, arguments)):
            try:
                page = Page(path, scratch / f'{number}-{path.stem}', environment)
            except ValueError:
                if needs is None:
                    raise
                continue # the page's own test reports it
            for block in (block for block in page.blocks if block.needs == needs):
                try:
                    check_output(block, page.run(block))
                    passed += 1
                except Skip as reason:
                    skipped.append(f'{block.place}: {reason}')
                except (RuntimeError, subprocess.SubprocessError) as error:
                    failed += 1
                    print(f'{block.place}: {block.language}: {error}')
    print(f'{passed} blocks run, {failed} failed, {len(skipped)} left out')
    if needs and passed + failed + len(skipped) == 0:
        return f'no block needs {needs}'
    for reason in skipped:
        print(reason)
    if skipped:
        reason = skipped[-1].split(': ', 1)[1]
        print(f'skipped: {len(skipped)} blocks that need {needs or "more than is here"}: {reason}')
    return 1 if failed else 77 if skipped else 0


if __name__ == '__main__':
    try:
        sys.exit(main(sys.argv[1:]))
    except ValueError as error:
        sys.exit(str(error))
