# SPDX-License-Identifier: MIT
"""The boot record is what C reads, and the physical layout can be fenced."""

import os
import shutil
import struct
import subprocess

import pytest

import bootrec
import machine

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RISCV = [n for n in machine.names() if "riscv64" in machine.load(n).ports]

READER = r"""
#include <stdio.h>
#include <abi/boot.h>
int main(int argc, char **argv) {
	static struct boot_record r;
	FILE *f = fopen(argv[argc - 1], "rb");
	size_t n = fread(&r, 1, sizeof(r) + 1, f);
	printf("%zu %d %u %u %u %lx %lx %lx %lx %u %u %u %u %lx %u %u %s\n",
	    n, n == sizeof(r) && r.bytes == n, r.magic == BOOT_MAGIC,
	    r.version == BOOT_VERSION, r.clusters, r.noc_base, r.noc_window_bytes, r.archive_base, r.archive_bytes,
	    r.mailbox_ports,
	    r.portal_ports, r.portal_unit_bytes, r.heartbeat_ms, r.init_entry, r.init_segments, r.flags, r.machine);
	for (unsigned c = 0; c < r.clusters; c++)
		printf("%lx %lx %u %u %u\n", r.cluster[c].mem_base, r.cluster[c].mem_bytes,
		    r.cluster[c].cores, r.cluster[c].first_core,
		    r.cluster[c].incarnation);
	for (unsigned i = 0; i < 8; i++)
		printf("%u ", r.roles[i]);
	for (unsigned i = 0; i < r.init_segments; i++)
		printf("%lx %lx %lx %lx %u ", r.init[i].addr, r.init[i].file_offset,
		    r.init[i].file_bytes, r.init[i].mem_bytes, r.init[i].prot);
	return 0;
}
"""


def small_elf(segments, kind=3):
    """A 64-bit little-endian ELF with (flags, offset, vaddr, file bytes, memory bytes) segments."""
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", kind, 243, 1, 0x1234,
                                                           64, 0, 0, 64, 56, len(segments), 64, 0, 0)
    body = b"".join(struct.pack("<IIQQQQQQ", 1, fl, off, va, va, fb, mb, 4096) for fl, off, va, fb, mb in segments)
    return (head + body).ljust(0x3000, b"\xaa")


PROC = small_elf([(4, 0, 0, 0x400, 0x400), (5, 0x410, 0x1410, 0x100, 0x100), (6, 0x600, 0x2600, 0x80, 0x900)])


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reader")
    (folder / "r.c").write_text(READER)
    subprocess.run([shutil.which("gcc"), "-I", ROOT, "-o", folder / "r", folder / "r.c"], check=True)
    return folder / "r"


def test_c_reads_what_was_written(reader, tmp_path):
    m = machine.load("riscv-4x4")
    layout = bootrec.Layout(m, "riscv64", 5000)
    (tmp_path / "rec").write_bytes(bootrec.write(m, "riscv64", layout, (PROC, "proc", 0x1000), bootrec.QUIET))
    out = subprocess.run([reader, tmp_path / "rec"], capture_output=True, text=True, check=True).stdout.split("\n")
    assert out[0].split()[1:5] == ["1", "1", "1", "4"]
    assert out[0].split()[5:] == ["84000000", f"{layout.window:x}", "81000000", "1388", "32", "32",
                                  "4096", "0", "1234", "3", "1", "riscv-4x4"]
    assert out[1].split() == ["88000000", "4000000", "4", "0", "1"] and out[4].split()[3] == "12"
    assert out[5].split()[:8] == ["1", "3", "3", "3"] * 2
    # text starts in the middle of a page: mapped from the page's start
    assert out[5].split()[8:] == ["0", "1000", "400", "400", "1", "1000", "1000", "510", "510", "5",
                                  "2000", "1000", "680", "f00", "3"]


def test_hosted_memory_is_the_back_ends_affair():
    m = machine.load("laptop")
    layout = bootrec.Layout(m, "hosted", 5000)
    assert layout.noc == layout.archive == 0 and set(layout.clusters) == {0} and layout.window > 0


@pytest.mark.parametrize("name", RISCV)
@pytest.mark.parametrize("archive_bytes", [1, 17 << 20, 100 << 20])
def test_regions_are_aligned_powers_of_two_that_do_not_overlap(name, archive_bytes):
    m = machine.load(name)
    at = bootrec.Layout(m, "riscv64", archive_bytes)
    regions = [(bootrec.RAM, 1 << 20), (bootrec.KERNEL_AT, bootrec.KERNEL_MAX), (bootrec.RECORD_AT, bootrec.RECORD_MAX),
               (at.archive, bootrec.power_up(archive_bytes)), (at.noc, bootrec.power_up(at.window * len(m.clusters)))]
    regions += [(base, c.mem_bytes) for base, c in zip(at.clusters, m.clusters)]
    regions.sort()
    for base, size in regions:
        assert size & (size - 1) == 0 and base % size == 0
    for (a, size), (b, _) in zip(regions, regions[1:]):
        assert a + size <= b
    end = bootrec.RAM + at.ram_bytes
    tree = min(end, bootrec.FDT_LIMIT) - bootrec.FDT_BYTES
    assert all(base + size <= tree or base >= tree + bootrec.FDT_BYTES for base,
               size in regions) and regions[-1][0] < end


def test_the_record_has_no_room_for_everything():
    many = small_elf([(4, i * 0x100, i * 0x1100, 16, 16) for i in range(7)])
    with pytest.raises(bootrec.RecordError, match="7 segments"):
        bootrec.init_segments(many, "proc", 0)


@pytest.mark.parametrize("image, words", [
    (b"#!/bin/sh", "not an ELF"),
    (PROC[:70], "damaged"),
    (PROC[:0x500], "cut short"),
    (small_elf([(5, 0, 0, 16, 16)], kind=2), "position-independent"),
    (small_elf([(4, 0, 0, 16, 16), (6, 0x20, 0x20, 16, 16)]), "share a page"),
])
def test_a_bad_init_program_is_refused(image, words):
    with pytest.raises(bootrec.RecordError, match=words):
        bootrec.init_segments(image, "proc", 0)


def test_on_or1k_words_are_big_endian_and_clusters_start_at_0():
    m = machine.load("or1k-2x2")
    layout = bootrec.Layout(m, "or1k", 5000)
    data = bootrec.write(m, "or1k", layout)
    assert struct.unpack_from(">IIII", data) == (bootrec.C.BOOT_MAGIC, bootrec.C.BOOT_VERSION, len(data), 2)
    assert layout.clusters == [0, 32 << 20]
    shared = [layout.noc, layout.noc + 2 * layout.window, layout.record, layout.record + len(data),
              layout.archive, layout.archive + 5000]
    assert shared == sorted(shared) and layout.noc == 64 << 20 and layout.ram_bytes >= shared[-1]
    assert layout.archive % 8192 == 0 and len(data) <= 8192


def test_policies_are_tables_in_the_record():
    for policy, flags in (("amp", 1), ("ampbadcol", 1), ("smpcol0", 0), ("smp", 2)):
        m = machine.load(f"nix32@{policy}")
        assert bootrec.policies_of(m) == [(1,), (8, policy, 32, 512 << 20)]
        p = bootrec._policy(bootrec.policies_of(m)[1], 4096)
        assert (p["last_domain"], p["flags"], p["core_bits"], p["pages"]) == (7, flags, 2, 16384)
        rules = machine.POLICIES[policy]
        assert [p["core_order"][8:16], p["page_order"][8:16]] == [machine.order_of(r, 8)[1] for r in rules]
    assert bootrec.policies_of(machine.load("mppa256")) == [(1,)]
