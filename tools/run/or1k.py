# SPDX-License-Identifier: MIT
"""Start an or1k machine, in QEMU or in RTL: the kernel's image per cluster, boot record and archive
are put into its memory. Standard library only.
"""

import os
import struct

import bootrec
import elf
import rebase
from ui import BUILD, Failure, Usage

CORES_MAX = 4                   # of QEMU's board
RECORD_SLOT = 8
CORE_BYTES = 4096
# nanoseconds since the start, the same for all cores, whatever the host's clock does
CLOCK = ["-rtc", "base=1970-01-01T00:00:00,clock=vm"]


def read_image(path):
    """A link of a kernel image."""
    try:
        return elf.read(path)
    except elf.ElfError as e:
        raise Failure(f"{e}; run ./atoll build or1k") from None


def pieces(machine, layout, kernel):
    """(address, bytes) of everything that memory holds at the start but record and archive: where
    the record is, and the images.
    """
    kernel = kernel.removesuffix(".elf")
    low, high = read_image(kernel + ".elf"), None
    out = [(RECORD_SLOT, layout.record.to_bytes(4, "big"))]
    for base, c in zip(layout.clusters, machine.clusters):
        if base and high is None:
            high = read_image(kernel + "-moved.elf")
        at, image = rebase.moved(low, high, base)
        if kernel_end(at + len(image), c) > base + c.mem_bytes:
            raise Usage(f"machine {machine.name}: the kernel does not fit into a cluster's memory")
        out.append((at, image))
    return out


def kernel_end(image_end, cluster):
    """Where the memory starts that the kernel may use, behind the stacks of its cores (kernel.ld).
    """
    return bootrec.round_up(image_end, bootrec.PAGES["or1k"]) + CORE_BYTES * len(cluster.roles)


def qemu(machine, layout, store, kernel=None):
    """QEMU's command line.
    store(name, bytes) -> path puts boot data where QEMU finds it; record and archive are stored
    already.
    """
    if machine.cores() > CORES_MAX:
        raise Usage(f"machine {machine.name} has {machine.cores()} cores, QEMU's or1k at most {CORES_MAX}")
    parts = pieces(machine, layout, kernel or os.path.join(BUILD, "or1k", "kernel"))
    # QEMU puts a device tree behind this image: not into memory that must be zero
    at, image = parts[1]
    image += bytes(kernel_end(at + len(image), machine.clusters[0]) - at - len(image))
    argv = ["qemu-system-or1k", "-M", "virt", "-smp", str(machine.cores()), "-m",
            f"{layout.ram_bytes >> 20}M", "-nodefaults",
            "-no-user-config", "-display", "none", "-serial", "stdio", *CLOCK, "-kernel",
            store("kernel.elf", wrap(at, image))]
    for i, (at, data) in enumerate(parts[:1] + parts[2:]):
        argv += load(store(f"piece{i}.bin", data), at)
    return argv


def _kernel_for(cluster):
    """The kernel of a cluster in RTL: the port's, or one that mends data caches."""
    from rtl import config, kernels
    if cluster.data_cache != "plain":
        return os.path.join(BUILD, "or1k", "kernel")
    if cluster.coherence is None:
        raise config.ConfigError("data caches that nobody keeps coherent need a kernel that does: "
                                 "give coherence in [hardware]")
    return kernels.path(cluster.coherence)


def rtl(job, layout, store, shared):
    """The simulator's command line."""
    from rtl import config, kernels, simulator
    try:
        cluster = config.of_machine(job.machine)
        kernel = (job.image or _kernel_for(cluster)).removesuffix(".elf")
        cluster.ram = layout.ram_bytes
        if cluster.ram > config.RAM_MAX:
            raise Usage(f"machine {job.machine.name} needs {cluster.ram >> 20} MB, the cluster in "
                        f"RTL has at most {config.RAM_MAX >> 20}")
        slot, _, *moved = pieces(job.machine, layout, kernel)
        loads = [(store(f"piece{i}.bin", data), at) for i, (at, data) in enumerate([slot, *moved])] + list(shared)
        cluster.windows = job.machine.clusters[0].mem_bytes, layout.noc, layout.window
        options = simulator.Options(seed=job.seed, illegal="kernel",
                                    symbols=[(kernel + ".elf", base) for base in layout.clusters[1:]])
        return simulator.command(cluster, kernel + ".elf", loads, options, job.report)
    except (config.ConfigError, simulator.SimulatorError, kernels.KernelError) as e:
        raise Failure(str(e)) from None


def command(job, layout, store, shared):
    """The command line of a machine. shared: (path, address) of what its clusters read."""
    if job.rtl:
        return rtl(job, layout, store, shared)
    argv = qemu(job.machine, layout, store, job.image)
    for path, at in shared:
        argv += load(path, at)
    return argv


def wrap(at, image):
    """An ELF file of one segment, entered at its start: what else QEMU takes as a kernel is started
    anywhere.
    """
    head = b"\x7fELF\1\2\1".ljust(16, b"\0") + struct.pack(">HHIIIIIHHHHHH", elf.ET_EXEC, 92, 1, at,
                                                           52, 0, 0, 52, 32, 1, 0, 0, 0)
    return head + struct.pack(">IIIIIIII", elf.PT_LOAD, 84, at, at, len(image), len(image), 7, 4) + image


def load(path, at):
    """QEMU's words for a file in memory."""
    return ["-device", f"loader,file={path},addr={at:#x},force-raw=on"]
