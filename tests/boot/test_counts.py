# SPDX-License-Identifier: MIT
"""Instruction counts on riscv64, exact under icount: the counter itself, and the kernel against its targets. As test_boot.py."""

import functools
import json
import os
import sys
import tempfile

import qemu
from test_boot import ICOUNT, main

LOCAL_MAX, REMOTE_MAX = 100, 300
KERNEL_MAX = 64 << 10
LABELS = {16: "empty", 17: "local", 18: "remote", 19: "loop", 20: "poll"}
PLUGIN = os.path.join(os.path.dirname(qemu.BUILD), "plugin", "libcount.so")


@functools.cache
def windows(first, again=0):
    """All windows of the measuring program on a cluster of four cores, by label; `again` asks for another run."""
    with tempfile.TemporaryDirectory(prefix="atoll-count-") as folder:
        out = os.path.join(folder, "windows")
        m = qemu.shape("counts", [(1, 4, 8 << 20)], first)
        b = qemu.boot(m, init="boot-calls", extra=ICOUNT + ("-plugin", f"{PLUGIN},out={out}"))
        assert b.status == 0 and "all passed" in b.output, b.output
        with open(out, encoding="utf-8") as f:
            rows = [json.loads(line) for line in f]
    found = {name: [] for name in LABELS.values()}
    for row in rows:
        if "window" in row:
            found[LABELS[row["label"]]].append(row)
    return found


def test_a_loop_counts_its_instructions_exactly():
    for first in ("KC", "TC"):
        for row in windows(first)["loop"]:
            assert row["user"] == 2001 and row["insns"] == 2001 and row["kernel"] == 0, row


def test_an_empty_window_counts_nothing():
    for row in windows("KC")["empty"]:
        assert row["insns"] == 0 and row["total"] == 0, row


def test_polls_are_counted_apart():
    for row in windows("KC")["poll"]:
        assert row["polls"] == 9 and row["poll_insns"] == 18 and row["insns"] == 3, row


def test_a_computing_core_sees_no_kernel_instruction_and_no_interrupt():
    for row in windows("KC")["loop"]:
        assert row["entries"] == 0 and row["interrupts"] == 0 and row["kernel"] == 0, row


def test_a_local_call_is_one_entry_and_within_its_target():
    for row in windows("KC")["local"] + windows("TC")["local"]:
        assert row["entries"] == 1 and row["interrupts"] == 0, row
        assert row["total"] == row["insns"] <= LOCAL_MAX, row


def test_a_void_remote_call_is_within_its_target_on_both_cores():
    warm = windows("KC")["remote"][1:]
    assert len(warm) >= 20, warm
    for row in warm:
        assert [o["hart"] for o in row["others"]] == [0] and row["entries"] == 1 and row["interrupts"] == 0, row
        assert row["total"] <= REMOTE_MAX, row


def test_two_runs_count_the_same():
    assert windows("TC") == windows("TC", 1)


def test_the_kernel_is_within_its_size():
    size = os.path.getsize(os.path.join(qemu.BUILD, "kernel.bin"))
    assert size <= KERNEL_MAX, size


if __name__ == "__main__":
    sys.exit(main(globals()))
