# SPDX-License-Identifier: MIT
"""The HAL's contract tests on each back end: an image that stands in for the kernel, on a small
machine.
"""

import os
import time

import launch
import patience
import results
from ui import BUILD

TIMEOUT_S = 300          # the chip in RTL: 11 s of a quiet core
IMAGES = {"hosted": ("hal-test", "hosted-4x4"), "riscv64": ("hal-test.bin", "riscv-4x4"),
          "or1k": ("hal-test.elf", "or1k-2x2")}


# group -> machine in RTL: one cluster, and two behind a network
RTL_MACHINES = {"hal.or1k-rtl": "optimsoc4", "hal.or1k-chip": "optimsoc4x2"}


def run_machine(group, port, icount=False):
    """Start the image, collect its console, end it."""
    image, machine = IMAGES[port]
    rtl, machine = group in RTL_MACHINES, RTL_MACHINES.get(group, machine)
    job = launch.Job(launch.load_machine(machine, port), port, [("etc/none", b"")], init=None)
    job.image, job.icount, job.rtl, job.timeout_s = os.path.join(BUILD, port, image), icount, rtl, TIMEOUT_S
    read, job.output = os.pipe()
    m = launch.Machine(job)
    m.start()
    results.started(m.pid)
    start = time.monotonic()
    os.close(job.output)
    output, timed_out, status = b"", False, None
    try:
        output, timed_out = _collect(read, m.pid)
        text = m.dump() if timed_out else ""
        if not timed_out:
            status = os.waitpid(m.pid, 0)[1]
    finally:
        os.close(read)
        m.kill()
        results.ended(m.pid)
    code = 0 if status is None else os.waitstatus_to_exitcode(status)
    text = output.decode("utf-8", "replace") + ("\n" + text if timed_out else "")
    return results.parse_output(group, results.Run(code, text, time.monotonic() - start, timed_out))


def _collect(fd, pid):
    """Everything until the end of the stream, or until the time is over."""
    output, clock = b"", patience.Clock(pid)
    while True:
        if not patience.readable([fd], TIMEOUT_S, clock):
            return output, True
        part = os.read(fd, 65536)
        if not part:
            return output, False
        output += part


def tasks():
    """One task per back end that has the tests."""
    out = []
    for port, (image, _) in IMAGES.items():
        if os.path.exists(os.path.join(BUILD, port, image)):
            out.append(results.Task(f"hal.{port}", lambda p=port: run_machine(f"hal.{p}", p)))
    if os.path.exists(os.path.join(BUILD, "riscv64", "hal-test.bin")):
        out.append(results.Task("hal.riscv64-icount", lambda: run_machine("hal.riscv64-icount", "riscv64", True)))
    if os.path.exists(os.path.join(BUILD, "or1k", "hal-test.elf")):
        out += [results.Task(g, lambda g=g: run_machine(g, "or1k")) for g in RTL_MACHINES]
    coro = os.path.join(BUILD, "coroutine", "hal-test")
    if os.path.exists(coro):
        out.append(results.program_task("hal.coroutine", [coro], TIMEOUT_S))
    return out
