# SPDX-License-Identifier: MIT
"""Stretches of a kernel core (tools/plugin/stretch.h): exact, repeatable, and a loop put into a
call is found and named; and none of the kernel's own is longer than the bound where many wait for
one thing. That none is while programs start and under random calls, on three machines, is a figure
of the README, which tests/docs/test_readme.py measures. As test_boot.py."""

import functools
import os
import struct
import subprocess
import sys
import tempfile

import qemu
from test_boot import ICOUNT, main

import elf  # noqa: E402
import patience  # noqa: E402
import stretches  # noqa: E402

PLUGIN = os.path.join(os.path.dirname(qemu.BUILD), "plugin", "libcount.so")
KERNEL = os.path.join(qemu.BUILD, "kernel.elf")
INIT = os.path.join("..", "tests", "kernel", "first")	# calls void_remote and stats
VOID_MAX, LOOP_AROUND = 200, 500
# li t0, 5000; 1: addi t0, t0, -1; bnez t0, 1b; li a0, 0; ret
LOOP, LOOP_INSNS = struct.pack("<6I", 0x000012B7, 0x38828293, 0xFFF28293, 0xFE029EE3, 0x00000513, 0x00008067), 10000
VICTIM, BODY = "kcall_serve_stats", "kc_stats"
BOUND = 5000
FUZZ = os.path.join(qemu.BUILD, "tests", "kernel", "fuzz")
WAITERS = os.path.join(qemu.BUILD, "tests", "kernel", "waiters")
MANY_WAIT = set(range(20, 28))  # its phases
TIMEOUT_S = 600


def looping(folder):
    """A kernel image in which a call's half on the kernel core is a loop."""
    e = elf.read(KERNEL)
    addr, size = {name: (addr, size) for addr, size, name in e.symbols()}[BODY]
    assert size >= len(LOOP), f"{BODY} has {size} bytes: too few for a loop"
    with open(os.path.join(qemu.BUILD, "kernel.bin"), "rb") as f:
        image = bytearray(f.read())
    at = addr - min(s.vaddr for s in e.segments)
    image[at:at + len(LOOP)] = LOOP
    path = os.path.join(folder, "kernel.bin")
    with open(path, "wb") as f:
        f.write(image)
    return path


@functools.cache
def found(first, damaged=False, again=0):
    """The longest stretches of a cluster of four cores by their part; `again` asks for another run.
    """
    with tempfile.TemporaryDirectory(prefix="atoll-stretch-") as folder:
        out = os.path.join(folder, "stretches")
        m = qemu.shape("stretches", [(1, 4, 8 << 20)], first)
        extra = ICOUNT + ("-plugin", f"{PLUGIN},out={out}{stretches.options(m)}")
        b = qemu.boot(m, init=INIT, extra=extra, kernel=looping(folder) if damaged else None)
        assert b.status is not None and (damaged or "0 failed" in b.output), b.output
        with open(out, encoding="utf-8") as f:
            return {s.part: (s.insns, s.most) for s in reversed(stretches.read(f))}


def longest(machine, *program):
    """The longest stretches of a run of ./atoll, the longest first."""
    with tempfile.TemporaryDirectory(prefix="atoll-stretch-") as folder:
        out = os.path.join(folder, "stretches")
        argv = [os.path.join(qemu.ROOT, "atoll"), "run", "--port", "riscv64", "--machine", machine,
                "--timeout", str(TIMEOUT_S)]
        argv += ["--icount", "--count", out, "--stretches", *program]
        done = patience.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=2 * TIMEOUT_S, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr).decode(errors="replace")
        with open(out, encoding="utf-8") as f:
            return stretches.read(f)


def test_nobody_waits_longer_than_the_bound_where_many_wait_for_one_thing():
    found = [s for s in longest("crowd", "--bare", WAITERS) if s.label in MANY_WAIT]
    assert {s.label for s in found} == MANY_WAIT and found[0].insns <= BOUND, found[:3]


def test_where_a_stretch_began_and_ended_is_named():
    found = [s for s in longest("crowd", "--bare", FUZZ, "50", "1") if s.part == "proc_reap"]
    assert found and all(s.began == stretches.POINT
                         and s.ended in ("core_work", "home_work", "home_round") for s in found), found


def test_a_call_that_does_nothing_is_a_short_stretch():
    insns, _ = found("KC")["kcall_serve_void_remote"]
    assert 20 <= insns <= VOID_MAX, found("KC")


def test_what_is_longer_than_a_call_is_not_hidden_by_it():
    for first in ("KC", "TC"):
        assert found(first)["kcall_serve_thread_create"][0] > VOID_MAX, found(first)


def test_two_runs_find_the_same():
    assert found("KC") == found("KC", False, 1)


def test_a_loop_in_a_call_is_found_and_named():
    for first in ("KC", "TC"):
        insns, most = found(first, True)[VICTIM]
        assert LOOP_INSNS <= insns <= LOOP_INSNS + LOOP_AROUND and most == BODY, found(first, True)
        assert found(first).get(VICTIM, (0, ""))[0] < LOOP_INSNS, found(first)
    assert found("KC", True)["kcall_serve_void_remote"][0] <= VOID_MAX, found("KC", True)


if __name__ == "__main__":
    sys.exit(main(globals()))
