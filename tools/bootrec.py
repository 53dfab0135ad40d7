# SPDX-License-Identifier: MIT
"""Write the boot record (struct boot_record of abi/boot.h). Standard library only.

The physical layout on riscv64: everything is power-of-two sized and aligned, so that one PMP entry fences it. On or1k the clusters' memory
starts at 0, where the first one's exceptions go; what they share follows.
"""

import struct

import elf
import machine as machines

MAGIC, VERSION, SEGMENTS_MAX = 0x4C4F5441, 1, 6
QUIET, NO_INIT = 1, 2
HEAD = "IIII QQQQ IIII QII"
SEGMENT = "QQQQII"
CLUSTER = "QQIIII"
ORDER = {"hosted": "<", "riscv64": "<", "or1k": ">"}
PAGE = 4096
PAGES = {"or1k": 8192}           # where a page is larger
LARGE = 2 << 20

RAM_MAX = 1 << 30               # or1k
RAM = 0x80000000
KERNEL_AT, KERNEL_MAX = 0x80200000, 2 << 20
RECORD_AT, RECORD_MAX = 0x80400000, 1 << 20
ARCHIVE_AT, ARCHIVE_MIN = 0x81000000, 16 << 20
NOC_AT = 0x84000000
FDT_LIMIT, FDT_BYTES = 0xC0000000, 4 << 20	# QEMU puts its device tree below this, or below the end of RAM


class RecordError(Exception):
    """A machine or an init program that no boot record can describe; one line."""


def round_up(n, align):
    """n rounded up to a multiple of align."""
    return -(-n // align) * align


def power_up(n):
    """Smallest power of two that is at least n."""
    return 1 << max(0, (n - 1).bit_length())


def window_bytes(m):
    """Bytes of one NoC window; the formula of hal/noc/shm/window.h."""
    def line(n):
        return round_up(n, 64)
    clusters = len(m.clusters)
    entries = power_up(2 * m.mailbox_ports + 4 * m.portal_ports)
    size = 2 * 64 + 64 * max(len(c.roles) for c in m.clusters)
    size += clusters * (128 + line(8 * entries)) + 128 + 4096
    size += m.mailbox_ports * clusters * 192 + m.portal_ports * line(64 + m.portal_unit)
    return round_up(size, PAGE)


class Layout:
    """Where everything lies in physical memory (riscv64, or1k); zeros where the back end allocates (hosted)."""

    def __init__(self, m, port, archive_bytes):
        self.window = window_bytes(m)
        self.archive_bytes = archive_bytes
        self.noc, self.archive = 0, 0
        self.clusters = [0] * len(m.clusters)
        self.ram_bytes = 0
        self.record = RECORD_AT
        if port == "or1k":
            self._place_flat(m, archive_bytes)
        elif port != "hosted":
            self._place(m, archive_bytes)

    def _place_flat(self, m, archive_bytes):
        page, at = PAGES["or1k"], 0
        for i, c in enumerate(m.clusters):
            self.clusters[i] = at
            at += c.mem_bytes
        self.noc = at
        self.record = round_up(at + self.window * len(m.clusters), page)
        self.archive = self.record + page
        self.ram_bytes = round_up(self.archive + archive_bytes, 1 << 20)
        if self.ram_bytes > RAM_MAX:
            raise RecordError(f"machine {m.name} needs {self.ram_bytes >> 20} MB, or1k has room for {RAM_MAX >> 20}")

    def _place(self, m, archive_bytes):
        area = power_up(max(archive_bytes, ARCHIVE_MIN))
        self.archive = round_up(ARCHIVE_AT, area)
        noc = power_up(self.window * len(m.clusters))
        self.noc = round_up(max(NOC_AT, self.archive + area), noc)
        at = self.noc + noc
        # the largest first: no hole bigger than the last ones
        for i in sorted(range(len(m.clusters)), key=lambda i: -m.clusters[i].mem_bytes):
            size = m.clusters[i].mem_bytes
            at = round_up(at, max(size, LARGE))
            if at < FDT_LIMIT and at + size > FDT_LIMIT - FDT_BYTES:
                at = round_up(FDT_LIMIT, size)
            self.clusters[i] = at
            at += size
        self.ram_bytes = round_up(at + FDT_BYTES, LARGE) - RAM


def init_segments(image, name, offset, page=PAGE):
    """Segments of the init program, which lies at `offset` in the archive: page-aligned, as the kernel maps them."""
    try:
        e = elf.Elf(image, name)
    except elf.ElfError as err:
        raise RecordError(str(err)) from None
    if not e.is_static_pie():
        raise RecordError(f"{name} is not a static position-independent program")
    if len(e.segments) > SEGMENTS_MAX:
        raise RecordError(f"{name} has {len(e.segments)} segments, the boot record has room for {SEGMENTS_MAX}")
    out, end = [], 0
    for s in e.segments:
        lead = s.vaddr % page
        if s.vaddr - lead < end:
            raise RecordError(f"{name}: two segments share a page")
        if s.offset < lead:
            raise RecordError(f"{name}: a segment's place in the file does not match its address")
        prot = (1 if s.flags & elf.PF_R else 0) | (2 if s.flags & elf.PF_W else 0) | (4 if s.flags & elf.PF_X else 0)
        out.append((s.vaddr - lead, offset + s.offset - lead, s.file_bytes + lead, s.mem_bytes + lead, prot, 0))
        end = round_up(s.vaddr + s.mem_bytes, page)
    return e.entry, out


def write(m, port, layout, init=None, flags=0):
    """The record's bytes. `init`: (image, name, offset in the archive) or None for a kernel without init."""
    if port not in ORDER:
        raise RecordError(f"unknown port '{port}'")
    order = ORDER[port]
    entry, segments = init_segments(*init, PAGES.get(port, PAGE)) if init else (0, [])
    if not init:
        flags |= NO_INIT
    body = b"".join(struct.pack(order + SEGMENT, *s) for s in segments + [(0,) * 6] * (SEGMENTS_MAX - len(segments)))
    roles, first = bytearray(machines.CORES_MAX), 0
    for i, c in enumerate(m.clusters):
        body += struct.pack(order + CLUSTER, layout.clusters[i], c.mem_bytes, len(c.roles), first, 1, 0)
        for role in c.roles:
            roles[first] = machines.ROLES[role]
            first += 1
    body += bytes(struct.calcsize(order + CLUSTER) * (machines.CLUSTERS_MAX - len(m.clusters)))
    body += bytes(roles) + m.name.encode().ljust(32, b"\0")
    size = struct.calcsize(order + HEAD) + len(body)
    head = struct.pack(order + HEAD, MAGIC, VERSION, size, len(m.clusters), layout.noc, layout.window, layout.archive,
                       layout.archive_bytes, m.mailbox_ports, m.portal_ports, m.portal_unit, m.heartbeat_ms, entry,
                       len(segments), flags)
    return head + body
