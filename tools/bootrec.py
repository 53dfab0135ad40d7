# SPDX-License-Identifier: MIT
"""Write the boot record (struct boot_record of abi/boot.h). Standard library only.

The physical layout on riscv64: everything is power-of-two sized and aligned, so that one PMP entry
fences it. On or1k the clusters' memory starts at 0, where the first one's exceptions go; what they
share follows.
"""

import os

import cheader
import elf
import machine as machines

C = machines.C
# where QEMU's riscv64 board has kernel and record
VIRT = cheader.Header(os.path.join(machines.ROOT, "hal", "board", "virt", "virt.h"))
QUIET, NO_INIT = C.BOOT_QUIET, C.BOOT_NO_INIT
PROTECTIONS = ((elf.PF_R, C.PAGE_READ), (elf.PF_W, C.PAGE_WRITE), (elf.PF_X, C.PAGE_EXEC))
ORDER = {"hosted": "<", "riscv64": "<", "or1k": ">"}
PAGE = 4096
PAGES = {"or1k": 8192}           # where a page is larger
LARGE = 2 << 20

RAM_MAX = 1 << 30               # or1k
RAM = 0x80000000
KERNEL_AT, KERNEL_MAX = VIRT.VIRT_KERNEL, VIRT.VIRT_RECORD - VIRT.VIRT_KERNEL
RECORD_AT, RECORD_MAX = VIRT.VIRT_RECORD, VIRT.VIRT_RECORD_BYTES
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
    """Bytes of one NoC window, by the formulas of abi/window.abi.h."""
    noc, clusters = m.noc, len(m.clusters)
    entries = power_up(C.WINDOW_EVENTS(noc["mailbox_ports"], noc["portal_ports"], noc["channel_bytes"]))
    slots = C.WINDOW_ALIGN_UP(C.WINDOW_HEAD_BYTES +
                              C.WINDOW_DOORBELLS(max(len(c.roles) for c in m.clusters)) +
                              C.WINDOW_RINGS(clusters, entries) + C.WINDOW_CONSOLE +
                              C.WINDOW_MAILBOXES(noc["mailbox_ports"], noc["mailbox_connectors"], clusters) +
                              C.WINDOW_PORTALS(noc["portal_connectors"], noc["portal_unit_bytes"]))
    return C.WINDOW_ALIGN_UP(slots + noc["channel_bytes"])


class Layout:
    """Where everything lies in physical memory (riscv64, or1k); zeros where the back end allocates
    (hosted).
    """

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
    """Segments of the init program, which lies at `offset` in the archive: page-aligned, as the
    kernel maps them.
    """
    try:
        e = elf.Elf(image, name)
    except elf.ElfError as err:
        raise RecordError(str(err)) from None
    if not e.is_static_pie():
        raise RecordError(f"{name} is not a static position-independent program")
    if len(e.segments) > C.BOOT_SEGMENTS_MAX:
        raise RecordError(f"{name} has {len(e.segments)} segments, the boot record has room for {C.BOOT_SEGMENTS_MAX}")
    out, end = [], 0
    for s in e.segments:
        lead = s.vaddr % page
        if s.vaddr - lead < end:
            raise RecordError(f"{name}: two segments share a page")
        if s.offset < lead:
            raise RecordError(f"{name}: a segment's place in the file does not match its address")
        prot = sum(bit for flag, bit in PROTECTIONS if s.flags & flag)
        out.append({"addr": s.vaddr - lead, "file_offset": offset + s.offset - lead, "file_bytes": s.file_bytes + lead,
                    "mem_bytes": s.mem_bytes + lead, "prot": prot, "reserved": 0})
        end = round_up(s.vaddr + s.mem_bytes, page)
    return e.entry, out


def policy_key(c):
    """What the policies of clusters differ in."""
    return (c.domains, c.policy, len(c.roles), c.mem_bytes) if c.domains > 1 else (1,)


def policies_of(m):
    """The keys of a machine's policies; the first is that of one domain."""
    keys = list(dict.fromkeys([(1,)] + [policy_key(c) for c in m.clusters]))
    if len(keys) > C.BOOT_POLICIES_MAX:
        raise RecordError(f"machine {m.name} has more than {C.BOOT_POLICIES_MAX - 1} kinds of clusters with domains")
    return keys


def _policy(key, page):
    """The record of one."""
    if key == (1,):
        return {"last_domain": 0, "flags": 0, "core_bits": 0, "pages": 0, "core_order": [], "page_order": []}
    domains, policy, cores, mem = key
    rules = machines.POLICIES[policy]
    flags = (0 if rules[0] == "turns" else C.POLICY_CORE_ORDER) | \
        (C.POLICY_PAGES_TAKE_TURNS if rules[1] == "turns" else 0)
    orders = [[row + [0] * (C.DOMAINS_MAX - domains) for row in machines.order_of(rule, domains)] for rule in rules]
    return {"last_domain": domains - 1, "flags": flags, "core_bits": (cores // domains).bit_length() - 1,
            "pages": mem // domains // page,
            "core_order": [x for row in orders[0] for x in row], "page_order": [x for row in orders[1] for x in row]}


def clusters_of(m, layout):
    """The records of the clusters of a machine."""
    out, first, policies = [], 0, policies_of(m)
    for base, c in zip(layout.clusters, m.clusters):
        out.append({"mem_base": base, "mem_bytes": c.mem_bytes, "cores": len(c.roles),
                    "first_core": first, "incarnation": 1, "guests": 0, "policy": policies.index(policy_key(c)),
                    "reserved": 0})
        first += len(c.roles)
    return out


def write(m, port, layout, init=None, flags=0):
    """The record's bytes.
    `init`: (image, name, offset in the archive) or None for a kernel without init.
    """
    if port not in ORDER:
        raise RecordError(f"unknown port '{port}'")
    entry, segments = init_segments(*init, PAGES.get(port, PAGE)) if init else (0, [])
    return C.pack(ORDER[port], "boot_record", m.noc | {
        "magic": C.BOOT_MAGIC, "version": C.BOOT_VERSION, "bytes": C.size("boot_record"), "clusters": len(m.clusters),
        "noc_base": layout.noc, "noc_window_bytes": layout.window, "archive_base": layout.archive,
        "archive_bytes": layout.archive_bytes,
        "init_entry": entry, "init_segments": len(segments), "flags": flags if init else flags | NO_INIT, "reserved": 0,
        "init": segments,
        "cluster": clusters_of(m, layout),
        "roles": [getattr(C, "ROLE_" + role) for c in m.clusters for role in c.roles],
        "machine": m.name.encode(),
        "policy": [_policy(key, PAGES.get(port, PAGE)) for key in policies_of(m)]})
