# SPDX-License-Identifier: MIT
"""Boot a kernel image in QEMU and return what it said. Standard library only.

A machine is given by its shape, [(clusters, cores each, memory), ...]. Either the stand-in kernel
(probe.c) runs, or the kernel with a program in init's place, which is all that the archive holds.
Nothing is left running: a machine that does not end in time is killed, and says so.
"""

import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import bootrec  # noqa: E402
import machine as machines  # noqa: E402
import patience  # noqa: E402

BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"), "riscv64")
NOC = machines.read_noc({"mailbox_ports": 16, "portal_ports": 16})


class Boot:
    """How a machine ended: its exit status (None: it had to be killed), its console output, host
    seconds.
    """

    def __init__(self, status, output, seconds):
        self.status, self.output, self.seconds = status, output, seconds


def shape(name, clusters, first="TC"):
    """A machine of clusters alike in parts: [(count, cores, memory bytes), ...], core 0 of each
    with role `first`.
    """
    made = [machines.Cluster([first] + ["AC"] * (cores - 1), mem) for count, cores,
            mem in clusters for _ in range(count)]
    return machines.Machine(name, name, ["riscv64"], NOC, made)


def command(m, layout, record, kernel, archive):
    """The QEMU command line."""
    def load(path, at):
        return ["-device", f"loader,file={path},addr={at:#x},force-raw=on"]
    argv = ["qemu-system-riscv64", "-bios", "none", "-M", "virt,aclint=on", "-smp", str(m.cores()),
            "-m", f"{layout.ram_bytes >> 20}M", "-display", "none", "-serial", "stdio", "-monitor",
            "none", "-no-reboot",
            "-kernel", os.path.join(BUILD, "boot.elf")]
    argv += load(os.path.join(BUILD, kernel), bootrec.KERNEL_AT) + load(record, bootrec.RECORD_AT)
    return argv + (load(archive, layout.archive) if archive else [])


def run(argv, timeout):
    """Run QEMU to its end, or kill it."""
    start = time.monotonic()
    try:
        done = patience.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired as e:
        text = (e.stdout or b"").decode(errors="replace") + "[killed: it did not end in time]"
        return Boot(None, text, time.monotonic() - start)
    return Boot(done.returncode, (done.stdout + done.stderr).decode(errors="replace"), time.monotonic() - start)


def boot(m, init=None, timeout=60, extra=(), damage=None, kernel=None):
    """Boot machine `m`: the kernel (or another at the path `kernel`) with program `init` of the
    build, or without one the stand-in. `damage` changes the record's bytes."""
    image = b""
    if init:
        with open(os.path.join(BUILD, "bin", init), "rb") as f:
            image = f.read()
    layout = bootrec.Layout(m, "riscv64", len(image))
    data = bootrec.write(m, "riscv64", layout, (image, init, 0) if init else None, bootrec.QUIET)
    with tempfile.TemporaryDirectory(prefix="atoll-boot-") as folder:
        files = {"record": damage(data) if damage else data, "archive": image}
        for name, content in files.items():
            with open(os.path.join(folder, name), "wb") as f:
                f.write(content)
        kernel = kernel or ("kernel.bin" if init else "boot-probe.bin")
        archive = os.path.join(folder, "archive") if init else None
        return run(command(m, layout, os.path.join(folder, "record"), kernel, archive) + list(extra), timeout)


if __name__ == "__main__":
    what, count, cores = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    own = what.startswith("boot-")
    memory = (8 if own else 2) << 20
    role0 = os.environ.get("ROLE0", "TC")
    result = boot(shape(what, [(count, cores, memory)], role0), init=what if own else None,
                  extra=sys.argv[4:], timeout=20)
    print(result.output, f"status {result.status}, {result.seconds:.2f} s")
