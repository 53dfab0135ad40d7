# SPDX-License-Identifier: MIT
"""Programs linked twice become position-independent: with the real compiler, on a program with a
table of addresses.
"""

import os
import shutil
import struct
import subprocess
import sys

import pytest

import elf

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINKER = ["or1k-elf-gcc", "-static", "-nostdlib", "-T",
          os.path.join(ROOT, "user", "cpu", "or1k", "program.ld"), "-Wl,-e,_start"]
SOURCE = """
static int one, two = 2;
int *const table[] = {&one, &two, &one};
int **moving = (int **)table;
int _start(int i) { return *moving[i] + *table[i]; }
"""

pytestmark = pytest.mark.skipif(not shutil.which("or1k-elf-gcc"), reason="no compiler for or1k here")


def link(folder, *flags):
    """(linker's status and words, the program or None)."""
    source, obj, out = (os.path.join(folder, "p" + end) for end in (".c", ".o", ""))
    with open(source, "w", encoding="ascii") as f:
        f.write(SOURCE)
    subprocess.run(["or1k-elf-gcc", "-O1", *flags, "-c", "-o", obj, source], check=True)
    argv = [sys.executable, os.path.join(ROOT, "tools", "pielink.py"), *LINKER, "-o", out, obj]
    p = subprocess.run(argv, capture_output=True, text=True, check=False)
    return p, elf.read(out) if p.returncode == 0 else None


def test_every_address_in_data_is_a_relocation(tmp_path):
    p, e = link(str(tmp_path), "-fPIC", "-fvisibility=hidden")
    assert p.returncode == 0, p.stderr
    assert e.is_static_pie() and e.machine == "or1k" and len(e.segments) == 2
    tag, table, size_tag, size, end, _ = struct.unpack_from(">IIIIII", e.data, e.segments[1].offset)
    assert (tag, size_tag, end) == (7, 8, 0) and size % 12 == 0 and size >= 4 * 12
    last = e.segments[1].vaddr + e.segments[1].mem_bytes
    for at, info, addend in struct.iter_unpack(">III", e.data[table:table + size]):
        assert info == 21 and at % 4 == 0 and at < last and addend < last


def test_a_program_that_is_not_position_independent_is_refused(tmp_path):
    p, _ = link(str(tmp_path), "-fno-pic")
    assert p.returncode == 1 and "not position-independent" in p.stderr
    assert not os.path.exists(tmp_path / "p")
