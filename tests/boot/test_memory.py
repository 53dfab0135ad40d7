# SPDX-License-Identifier: MIT
"""Where the memory of a compute cluster of mppa256-12 goes on riscv64, byte by byte, and its limit.
As test_boot.py; prints the table, too.

A machine runs to its end with its memory in a file. What lies where in it says the kernel itself:
the addresses of its tables, of which places.c knows where they stand, cut the memory below the
first page frame into parts, so that none is left out.
"""

import functools
import os
import struct
import sys
import tempfile

import qemu
from test_boot import main

import bootrec  # noqa: E402
import machine as machines  # noqa: E402
import patience  # noqa: E402

KIB = 1024
PAGE = 4096
KERNEL_BASE = 0xFFFFFFC000000000
CORE_BYTES = 4096
SMALL = 4		# the first compute cluster
LIMIT = 256 * KIB
CROWD_LIMIT = 316 * KIB
FRAME_USER, FRAME_KERNEL = 2, 3
SIZE = 0x7F		# in a frame's `order`, of a page of pieces: which size
INIT = "boot-crowd"
THREADS = 24
PLACES = os.path.join(qemu.BUILD, "k", "tests", "boot", "places.c.o")
# part -> the pointer that says where it begins
TABLES = {"queue of messages": "am.order", "ready rings": "ready",
          "places of threads": "thread", "processes": "proc",
          "deadlines": "deadlines.heap", "of each process: threads, cores": "indexes",
          "ikc: peers": "ikc.peer", "ikc: backlog": "ikc.backlog",
          "ikc: mailboxes in": "ikc.in", "ikc: slots at the peers": "ikc.out",
          "ikc: messages left in slots": "ikc.left",
          "ikc: messages in": "ikc.at", "ikc: connectors in use": "ikc.connected",
          "ikc: portals in": "ikc.portal", "ikc: allowances": "ikc.allow",
          "ikc: sync points": "ikc.sync", "ikc: queues": "ikc.look",
          "console": "console.ring", "page frames": "frames.frame"}


@functools.cache
def places():
    """Name -> (offset, bytes) of what places.c names."""
    with tempfile.TemporaryDirectory(prefix="atoll-places-") as folder:
        out = os.path.join(folder, "places")
        patience.run(["riscv64-unknown-elf-objcopy", "-O", "binary", "--only-section=.places", PLACES, out],
                     check=True, timeout=60)
        with open(out, "rb") as f:
            rows = struct.iter_unpack("<40sII", f.read())
            return {name.rstrip(b"\0").decode(): (offset, size) for name, offset, size in rows}


@functools.cache
def symbols():
    """Addresses of the kernel image."""
    text = patience.run(["riscv64-unknown-elf-nm", os.path.join(qemu.BUILD, "kernel.elf")],
                        check=True, capture_output=True, text=True, timeout=60).stdout
    return {words[2]: int(words[0], 16) for words in map(str.split, text.splitlines()) if len(words) == 3}


class Memory:
    """The memory of one cluster."""

    def __init__(self, m, layout, ram, cluster):
        self.machine, self.cluster = m, m.clusters[cluster]
        self.base = layout.clusters[cluster]
        self.data = ram[self.base - bootrec.RAM:self.base - bootrec.RAM + self.cluster.mem_bytes]
        self.free = self.at(symbols()["hal_machine"], "hal_machine.free") - self.base + KERNEL_BASE
        self.kernel = -(-self.free // 64) * 64

    def at(self, addr, place):
        """What stands in a member of the structure at an address."""
        offset, size = places()[place]
        start = addr - KERNEL_BASE + offset
        return int.from_bytes(self.data[start:start + size], "little")

    def of_cluster(self, member):
        """A member of struct cluster."""
        return self.at(self.kernel, f"cluster.{member}")

    def start_of(self, pointer):
        """Where a table begins, 0: the cluster has none."""
        if pointer == "ready":
            return self.at(self.of_cluster("core"), "core.ready.slot")
        if pointer == "indexes":
            return self.at(self.of_cluster("proc"), "process.indexes")
        if pointer == "frames.frame":
            return self.frame_table(self.of_cluster(pointer))
        return self.of_cluster(pointer)

    def frame_table(self, entry_0):
        """Where the table of page frames begins: frames below the memory have no entries, but for
        three at most in a cache line with one that has (kernel/mem/frame.c).
        """
        return next(at for at in range(entry_0, self.kernel + self.cluster.mem_bytes, 64)
                    if (at - KERNEL_BASE) // PAGE // 4 * 4 == (at - entry_0) // 16)

    def fixed(self):
        """[(part, bytes)] of what the kernel has from its start on, in the order of addresses."""
        s = symbols()
        stacks = s["image_end"] + len(self.cluster.roles) * CORE_BYTES
        starts = [(s["image_start"], "text"), (s["image_rodata"], "read-only data"),
                  (s["image_data"], "data"), (s["image_stacks"], "stacks and cores"),
                  (stacks, "kernel's page tables"), (self.free, "cluster")]
        starts += [(self.start_of(pointer), part) for part, pointer in TABLES.items() if self.start_of(pointer) != 0]
        starts.append((self.of_cluster("frames.base") + self.of_cluster("frames.first") * PAGE, "frames"))
        starts.sort()
        return [(part, after - at) for (at, part), (after, _) in zip(starts, starts[1:])]

    def frames(self):
        """Bytes of page frames by what they are used for."""
        size, records = places()["frame"][0], places()["slab records"][0]
        out = {"threads": 0, "pieces": 0, "page tables": 0, "users": 0, "free": 0}
        for i in range(self.of_cluster("frames.first"), self.of_cluster("frames.total")):
            entry = self.of_cluster("frames.frame") + i * size
            state, is_piece = self.at(entry, "frame.state"), self.at(entry, "frame.refs") > 0
            piece = "threads" if self.at(entry, "frame.order") & SIZE == records else "pieces"
            what = {FRAME_USER: "users", FRAME_KERNEL: piece if is_piece else "page tables"}.get(state)
            out[what or "free"] += PAGE
        return out


@functools.cache
def memory():
    """A compute cluster of mppa256-12 in which threads sleep."""
    m = machines.load("mppa256-12")
    with open(os.path.join(qemu.BUILD, "bin", INIT), "rb") as f:
        layout = bootrec.Layout(m, "riscv64", len(f.read()))
    with tempfile.TemporaryDirectory(prefix="atoll-memory-") as folder:
        path = os.path.join(folder, "ram")
        extra = ["-object", f"memory-backend-file,id=ram,mem-path={path},size={layout.ram_bytes},share=on",
                 "-machine", "memory-backend=ram"]
        b = qemu.boot(m, init=INIT, timeout=300, extra=extra)
        assert b.status == 0, b.output
        with open(path, "rb") as f:
            return Memory(m, layout, f.read(), SMALL)


def on_demand(frames):
    """Bytes that the kernel has taken since its start."""
    return frames["threads"] + frames["pieces"] + frames["page tables"]


def test_every_byte_below_the_first_page_frame_belongs_to_a_part():
    m = memory()
    parts = m.fixed()
    assert {"text", "stacks and cores", "places of threads", "ikc: slots at the peers",
            "page frames"} <= {part for part, size in parts if size > 0}, parts
    frames = m.frames()
    assert frames["free"] == m.of_cluster("frames.free") * PAGE, frames
    assert sum(size for _, size in parts) + sum(frames.values()) == m.cluster.mem_bytes, (parts, frames)


def test_the_threads_are_there():
    assert memory().of_cluster("threads_live") == THREADS + 1
    assert memory().frames()["threads"] > 0


def test_image_stacks_and_tables_are_within_their_limit():
    fixed = sum(size for _, size in memory().fixed())
    assert fixed <= LIMIT, fixed


def test_with_what_threads_and_handles_take_they_are_within_their_limit_too():
    frames = memory().frames()
    whole = sum(size for _, size in memory().fixed()) + on_demand(frames)
    assert whole <= CROWD_LIMIT, whole


def show():
    """The table. The README has the line of the sums."""
    m, frames = memory(), memory().frames()
    fixed, window = sum(size for _, size in m.fixed()), bootrec.window_bytes(m.machine)
    threads = fixed + on_demand(frames)
    for part, size in m.fixed():
        print(f"{size / KIB:8.1f} KB  {part}")
    print(f"{frames['threads'] / KIB:8.1f} KB  records of threads on demand")
    print(f"{frames['pieces'] / KIB:8.1f} KB  small pieces on demand (handles, endpoints)")
    print(f"{frames['page tables'] / KIB:8.1f} KB  page tables of the process")
    print(f"{frames['users'] / KIB:8.1f} KB  pages of the process, not the kernel's")
    print(f"{window / KIB:8.1f} KB  NoC window, outside of the cluster's memory")
    print(f"in all: {fixed / KIB:.0f} KB; {threads / KIB:.0f} KB; {(threads + window) / KIB:.0f} KB")


if __name__ == "__main__":
    status = main(globals())
    show()
    sys.exit(status)
