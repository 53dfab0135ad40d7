# SPDX-License-Identifier: MIT
"""The memory of a machine, seen from outside: where the kernel's words lie, and what stands there
while it runs. Nothing in the machine does anything for it. riscv64; hostedmem.py is the same of a
hosted machine.
"""

import mmap
import os
import re

import bootrec
import cheader
import elf
import machine as machines
from ui import BUILD, Failure

LAYOUT = cheader.Header(os.path.join(machines.ROOT, "hal", "cpu", "riscv64", "layout.h"))
KERNEL_BASE = LAYOUT.KERNEL_BASE
ROLES = {getattr(machines.C, "ROLE_" + name): name.lower() for name in ("IDLE", "TC", "KC", "AC", "XC")}
QUEUE_MAX = 4096	# a list that changes while it is read may seem to have no end
PROCS_MAX = THREADS_MAX = 4096	# and a number be none
PAGE = 4096
COUNTS = ("switches", "calls", "preempted", "faults", "moves")	# struct thread_counts


class Kernel:
    """What a build of the kernel says of itself: offsets and names of calls."""

    def __init__(self, port):
        self.build = os.path.join(BUILD, port)
        path = os.path.join(self.build, "offsets")
        try:
            with open(path, encoding="ascii") as f:
                self.offset = {name: int(value) for name, value in (line.split() for line in f)}
        except OSError:
            raise Failure(f"{path} is missing: run ./atoll build {port}") from None

    @staticmethod
    def calls():
        """Names of the kernel calls by number."""
        with open(os.path.join(machines.ROOT, "abi", "kcalls.tbl"), encoding="utf-8") as f:
            found = re.findall(r"^\s*(\d+)\s+(\w+)\s+(?:local|remote)\b", f.read(), re.M)
        return {int(number): name for number, name in found}


class LinkedKernel(Kernel):
    """The kernel of riscv64, whose addresses its image says."""

    def __init__(self):
        super().__init__("riscv64")
        kernel = elf.read(os.path.join(self.build, "kernel.elf"))
        kinds = (elf.NOTYPE, elf.OBJECT)
        self.symbol = {name: (addr, size) for addr, size, name in kernel.symbols(kinds)}
        self.slots, self.table = self.symbol["hal_core_slots"][0], self.symbol["kcall_table"]

    def is_in(self, memory):
        """Is this the kernel that the machine was started with?"""
        with open(os.path.join(self.build, "kernel.bin"), "rb") as f:
            image = f.read()
        at = bootrec.KERNEL_AT - bootrec.RAM
        return memory[at:at + len(image)] == image


class Core:
    """What a core's record says."""

    def __init__(self, machine, cluster, number, at):
        k, o = machine, machine.kernel.offset
        self.cluster, self.number = cluster, cluster.first + number
        self.role, self.acts = k.u32(cluster, at + o["role"]), k.u32(cluster, at + o["acts"])
        self.is_crowded = k.read(cluster, at + o["is_crowded"], 1) != b"\0"
        self.threads, self.spread = k.u32(cluster, at + o["load"]), k.u32(cluster, at + o["spread"])
        self.crowded = k.u32(cluster, at + o["crowded"])
        self.count = {name: k.u32(cluster, at + o["count"] + 4 * o[name])
                      for name in ("ticks", "shot_down", "faults", "messages", "roles", "calls")}
        self.role_since = k.u64(cluster, at + o["role_since"])
        thread = k.u64(cluster, at + o["current"])
        self.thread = k.u32(cluster, thread + o["thread_tid"]) if thread else 0
        proc = k.u64(cluster, thread + o["thread_proc"]) if thread else 0
        self.process = k.u32(cluster, proc + o["proc_id"]) if proc else 0
        self.ready = sum(k.list_length(cluster, at + o["levels"] + 16 * level) for level in range(o["priorities"]))
        self.waiting = 0
        if number == 0:
            of = k.u64(cluster, at + o["cluster"])
            served = (k.u64(cluster, of + o["am_next"]) - k.u64(cluster, of + o["am_order"])) // 4
            self.waiting = (k.u32(cluster, of + o["am_ticket"]) - served) & k.u32(cluster, of + o["am_mask"])
            self.count["messages"] = k.u64(cluster, of + o["am_served"])


class Process:
    """What a process's record says, and those of its threads. Counts are zeros where nobody has asked for them."""

    def __init__(self, machine, cluster, at):
        o = machine.kernel.offset
        self.cluster, self.number = cluster, machine.u32(cluster, at + o["proc_id"])
        self.badge, self.threads = (machine.u32(cluster, at + o[name]) for name in ("proc_badge", "proc_live"))
        self.kb = machine.u32(cluster, at + o["proc_frames"]) * PAGE // 1024
        self.core = None		# of its first thread
        self.count = {name: machine.u32(cluster, at + o["proc_counts"] + 4 * i) for i, name in enumerate(COUNTS)}

    def add(self, machine, thread):
        """One of its threads."""
        o, c = machine.kernel.offset, self.cluster
        core = machine.u64(c, thread + o["thread_core"])
        number = machine.u32(c, core + o["core_id"]) if core else c.cores
        if self.core is None and number < c.cores:		# beyond them are guests
            self.core = c.first + number
        counts = machine.u64(c, thread + o["thread_counts"])
        for i, name in enumerate(COUNTS):
            if counts:
                self.count[name] += machine.u32(c, counts + o["run_word"] + 4 * (o["run_switches"] + i))


class Cluster:
    """A cluster as the boot record has it."""

    def __init__(self, number, base, size, cores, first):
        self.number, self.base, self.size, self.cores, self.first = number, base, size, cores, first


class Domain:
    """What the frames of a memory domain are: `free` blocks by order, pages in `use` by process (0: the kernel's), and
    `idle` ones that are in no block.
    """

    def __init__(self, machine, cluster, number, at):
        o = machine.kernel.offset
        self.cluster, self.number = cluster, number
        self.first, self.end = machine.u32(cluster, at + o["domain_first"]), machine.u32(cluster, at + o["domain_end"])
        self.near, self.far = machine.u32(cluster, at + o["domain_near"]), machine.u32(cluster, at + o["domain_far"])
        self.free, self.use, self.idle = {}, {}, 0

    def look(self, table, o):
        """Go over the domain's part of the table of frames."""
        at = 0
        while at + o["frame"] <= len(table):
            state, order, pages = table[at + o["frame_state"]], table[at + o["frame_order"]], 1
            if state == o["frame_free"] and order < o["frame_orders"]:
                self.free[order], pages = self.free.get(order, 0) + 1, 1 << order
            elif state in (o["frame_user"], o["frame_kernel"], o["frame_limbo"]):
                owner = int.from_bytes(table[at + o["frame_owner"]:at + o["frame_owner"] + 4], "little")
                self.use[owner] = self.use.get(owner, 0) + 1
            else:
                self.idle += 1
            at += pages * o["frame"]


class View:
    """A machine's memory: `name`, `clusters` and `kernel` of it, and where the kernel's records lie."""

    name, clusters, kernel = "", (), None

    def read(self, cluster, addr, size):
        """Bytes at an address of a cluster's kernel; zeros where it has no memory."""
        raise NotImplementedError

    def root(self, cluster):
        """Address of the cluster's record."""
        raise NotImplementedError

    def first_core(self, cluster):
        """Address of the record of its first core."""
        raise NotImplementedError

    def u32(self, cluster, addr):
        """A word of 32 bits."""
        return int.from_bytes(self.read(cluster, addr, 4), "little")

    def u64(self, cluster, addr):
        """A word of 64 bits."""
        return int.from_bytes(self.read(cluster, addr, 8), "little")

    def list_length(self, cluster, head):
        """Of a list of the kernel."""
        at, n = self.u64(cluster, head), 0
        while at not in (head, 0) and n < QUEUE_MAX:
            at, n = self.u64(cluster, at), n + 1
        return n

    def processes(self):
        """What all processes that run say now."""
        return [p for c in self.clusters for p in self._processes_of(c)]

    def _processes_of(self, c):
        o, record = self.kernel.offset, self.root(c)
        table, procs = self.u64(c, record + o["procs"]), self.u32(c, record + o["procs_max"])
        threads, used = self.u64(c, record + o["threads"]), self.u32(c, record + o["threads_used"])
        places = [table + i * o["process"] for i in range(min(procs, PROCS_MAX))]
        found = {at: Process(self, c, at) for at in places if self.u32(c, at + o["proc_state"]) == o["proc_runs"]}
        for i in range(min(used, THREADS_MAX)):
            at = self.u64(c, threads + 8 * i)
            owner = found.get(self.u64(c, at + o["thread_proc"])) if at and not at & 1 else None
            if owner and self.u32(c, at + o["thread_state"]) in (o["thread_ready"], o["thread_waiting"]):
                owner.add(self, at)
        return list(found.values())

    def domains(self):
        """What all memory domains are now."""
        found, o = [], self.kernel.offset
        for c in self.clusters:
            root = self.root(c)
            total, table = self.u32(c, root + o["frames_total"]), self.u64(c, root + o["frames"])
            at, number, end = self.u64(c, root + o["frame_domains"]), 0, 0
            while end < total and number < machines.C.DOMAINS_MAX:
                d = Domain(self, c, number, at + number * o["domain"])
                d.look(self.read(c, table + d.first * o["frame"], max(d.end - d.first, 0) * o["frame"]), o)
                found.append(d)
                end, number = d.end, number + 1
        return found

    def cores(self):
        """What all cores say now."""
        slot = self.kernel.offset["slot"]
        return [Core(self, c, i, at + i * slot)
                for c in self.clusters for at in (self.first_core(c),) for i in range(c.cores)]


def boot_record(data):
    """The boot record that data begins with; ValueError if it is none."""
    record = bootrec.C.unpack("<", "boot_record", data) if len(data) >= bootrec.C.size("boot_record") else {}
    if record.get("magic") != bootrec.C.BOOT_MAGIC:
        raise ValueError("no boot record")
    return record


def name_of(record):
    """The machine's name."""
    return bytes(record["machine"]).split(b"\0")[0].decode("ascii", "replace")


class Machine(View):
    """A machine's memory, a file that it shares with us."""

    def __init__(self, path, kernel):
        self.kernel = kernel
        with open(path, "rb") as f:
            self.memory = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
        at = bootrec.RECORD_AT - bootrec.RAM
        record = boot_record(self.memory[at:at + bootrec.RECORD_MAX])
        if not kernel.is_in(self.memory):
            raise Failure("the machine runs another build of the kernel than this one")
        self.name = name_of(record)
        self.clusters = [Cluster(i, c["mem_base"], c["mem_bytes"], c["cores"], c["first_core"])
                         for i, c in enumerate(record["cluster"][:record["clusters"]])]

    def read(self, cluster, addr, size):
        offset = addr - KERNEL_BASE
        if not 0 <= offset <= cluster.size - size:
            return bytes(size)
        at = cluster.base - bootrec.RAM + offset
        return self.memory[at:at + size]

    def root(self, cluster):
        return self.u64(cluster, self.first_core(cluster) + self.kernel.offset["cluster"])

    def first_core(self, cluster):
        return self.kernel.slots + self.kernel.offset["record"]
