# SPDX-License-Identifier: MIT
"""Boot a kernel image in QEMU and return what it said. Standard library only.

A machine is given by its shape, [(clusters, cores each, memory), ...]; no init, no archive: these boots end in the kernel or in
the stand-in kernel (probe.c). Nothing is left running: a machine that does not end in time is killed, and says so.
"""

import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import bootrec  # noqa: E402
import machine as machines  # noqa: E402

BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"), "riscv64")
NOC = (16, 16, 4096, 0)  # mailbox ports, portal ports, portal unit, heartbeat


class Boot:
    """How a machine ended: its exit status (None: it had to be killed), its console output, host seconds."""

    def __init__(self, status, output, seconds):
        self.status, self.output, self.seconds = status, output, seconds


def shape(name, clusters):
    """A machine of clusters alike in parts: [(count, cores, memory bytes), ...]."""
    made = [machines.Cluster(["TC"] + ["AC"] * (cores - 1), mem) for count, cores, mem in clusters for _ in range(count)]
    return machines.Machine(name, name, ["riscv64"], NOC, made)


def command(m, layout, record, kernel, extra=()):
    """The QEMU command line."""
    def load(path, at):
        return ["-device", f"loader,file={path},addr={at:#x},force-raw=on"]
    argv = ["qemu-system-riscv64", "-bios", "none", "-M", "virt,aclint=on", "-smp", str(m.cores()),
            "-m", f"{layout.ram_bytes >> 20}M", "-display", "none", "-serial", "stdio", "-monitor", "none", "-no-reboot",
            "-kernel", os.path.join(BUILD, "boot.elf")]
    return argv + load(kernel, bootrec.KERNEL_AT) + load(record, bootrec.RECORD_AT) + list(extra)


def boot(m, kernel="boot-probe.bin", timeout=60, extra=(), damage=None, flags=bootrec.QUIET):
    """Boot machine `m` with a kernel image of the build. `damage` may change the record's bytes."""
    layout = bootrec.Layout(m, "riscv64", 0)
    data = bootrec.write(m, "riscv64", layout, 0, flags=flags)
    with tempfile.TemporaryDirectory(prefix="atoll-boot-") as folder:
        record = os.path.join(folder, "record")
        with open(record, "wb") as f:
            f.write(damage(data) if damage else data)
        argv = command(m, layout, record, os.path.join(BUILD, kernel), extra)
        start = time.monotonic()
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired as e:
            return Boot(None, (e.stdout or b"").decode(errors="replace") + "[killed: it did not end in time]",
                        time.monotonic() - start)
        return Boot(done.returncode, (done.stdout + done.stderr).decode(errors="replace"), time.monotonic() - start)


if __name__ == "__main__":
    scenario, count, cores = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    result = boot(shape(scenario, [(count, cores, 2 << 20)]), extra=sys.argv[4:], timeout=20)
    print(result.output, f"status {result.status}, {result.seconds:.2f} s")
