# SPDX-License-Identifier: MIT
"""How an or1k machine is started."""

import pytest

import bootrec
import elf
import launch
import or1k
import run
from ui import Usage


def test_an_image_becomes_an_elf_file_that_starts_where_it_begins():
    e = elf.Elf(or1k.wrap(0x100, b"abcdefgh"))
    assert e.entry == 0x100 and e.machine == "or1k" and not e.is_static_pie()
    assert [(s.vaddr, s.file_bytes, s.mem_bytes) for s in e.segments] == [(0x100, 8, 8)]


def test_the_kernel_ends_behind_the_stacks_of_its_cores():
    m = launch.load_machine("optimsoc4", "or1k")
    assert or1k.kernel_end(0x2001, m.clusters[0]) == 0x4000 + 4 * 4096


def test_more_cores_than_qemu_has_are_refused():
    m = launch.load_machine("optimsoc8", "or1k")
    with pytest.raises(Usage, match="at most 4"):
        or1k.qemu(m, bootrec.Layout(m, "or1k", 0), lambda name, data: name)


@pytest.mark.parametrize("argv, words",
                         [(["--rtl", "p"], "--port or1k"), (["--bare", "p"], "--port or1k"),
                          (["--port", "or1k", "--report", "x", "p"], "need --rtl"),
                                         (["--port", "or1k", "--rtl", "--seed", "x", "p"], "--seed needs"),
                                         (["--port", "or1k", "--bare", "-n", "2", "p"], "no -n")])
def test_options_that_do_not_fit_are_refused(argv, words):
    with pytest.raises(Usage, match=words):
        run.parse(argv)
