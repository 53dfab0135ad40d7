# SPDX-License-Identifier: MIT
"""The source of rows follows what is loaded, the rooms follow the text; neither follows comments or
what is not used.
"""

import os
import struct

import pytest

from codesign import sources
from rtl import build


def program(path, code, tail=b""):
    """A small or1k ELF program with one segment, and something behind it that is not loaded."""
    head = b"\x7fELF\1\2\1".ljust(16, b"\0") + struct.pack(">HHIIIIIHHHHHH", 2, 92, 1, 0x100, 52, 0,
                                                           0, 52, 32, 1, 0, 0, 0)
    path.write_bytes(head + struct.pack(">IIIIIIII", 1, 84, 0x100, 0x100, len(code), len(code), 7, 4) + code + tail)
    return str(path)


def test_an_image_is_what_is_loaded(tmp_path):
    a, b, c = (program(tmp_path / n, code, tail) for n, code,
               tail in (("a", b"1234", b""), ("b", b"1234", b"symbols"), ("c", b"1235", b"")))
    assert sources.image(a) == sources.image(b) != sources.image(c)


def test_the_files_header_is_not_the_image(tmp_path):
    """Some programs are loaded with it, and it says where the sections are, which nobody loads."""
    path = program(tmp_path / "a", b"1234")
    before = sources.image(path)
    with open(path, "r+b") as f:
        f.seek(56)
        f.write(struct.pack(">I", 0))       # the segment begins with the file
    whole = sources.image(path)
    with open(path, "r+b") as f:
        f.seek(32)
        f.write(struct.pack(">I", 4711))    # e_shoff
    assert sources.image(path) == whole != before


@pytest.fixture
def tree(tmp_path):
    """A tree with every room."""
    for room in sources.ROOMS:
        if room == "Makefile":
            (tmp_path / room).write_text("a = b\n")
        else:
            (tmp_path / room).mkdir(parents=True, exist_ok=True)
    (tmp_path / "kernel" / "a.c").write_text("int a;\n")
    return tmp_path


def rooms(tree):
    return sources.rooms(str(tree), [])


def test_comments_and_tests_do_not_matter_but_code_and_names_do(tree):
    before = rooms(tree)
    (tree / "kernel" / "a.c").write_text("/* said\n * more */\nint  a;\t// so\n")
    (tree / "kernel" / "a_test.c").write_text("int b;\n")
    (tree / "Makefile").write_text("# said\na = b\n")
    assert rooms(tree) == before and sources.changed(before, rooms(tree)) == ""
    (tree / "kernel" / "a.c").write_text("int b;\n")
    assert sources.changed(before, rooms(tree)) == "kernel"
    (tree / "kernel" / "a.c").write_text("int a;\n")
    os.rename(tree / "kernel" / "a.c", tree / "kernel" / "b.c")
    (tree / "Makefile").write_text("a = c\n")
    assert sources.changed(before, rooms(tree)) == "kernel, Makefile"


def test_rows_without_rooms_are_of_something_else():
    assert sources.changed({}, {"abi": "1", "kernel": "2"}) == "abi, kernel"


def test_only_the_clusters_own_units_count(tmp_path, monkeypatch):
    (tmp_path / "rtl").mkdir()
    for name, text in (("top", "module top;\n\tleaf #(.N(1)) a (.clk);\n\tother b (.clk);\n"),
                       ("leaf", "module leaf;"), ("other", "module other;\n\tleaf c (.clk);\n"),
                       ("beside", "module beside;")):
        (tmp_path / "rtl" / f"{name}.sv").write_text(text)
    monkeypatch.setattr(build, "HW", str(tmp_path))
    assert [os.path.basename(p) for p in build.units_of("top")] == ["leaf.sv", "other.sv", "top.sv"]


def test_the_cluster_is_found_whole():
    names = {os.path.basename(p) for p in build.cluster_sources()}
    assert {"mor1kx.vlt", "cluster.sv", "core.sv", "clockgate.sv", "ram.sv", "perf.sv", "arbiter.sv"} <= names
