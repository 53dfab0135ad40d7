# SPDX-License-Identifier: MIT
"""Instruction counts on riscv64, exact under icount: the counter itself, and the kernel against its
targets. As test_boot.py.
"""

import functools
import json
import os
import re
import subprocess
import sys
import tempfile

import qemu
from test_boot import ICOUNT, main

import spans  # noqa: E402

LOCAL_MAX, REMOTE_MAX, MESSAGE_MAX = 100, 300, 100
WAKEUP_MAX = REMOTE_MAX + 20  # a look-up of a handle; a second argument, and what a wake-up does
LATER_MAX = 100  # home looks at the clock, and sets its alarm anew
READY_LOOK = 20  # a TC looks whether a thread became ready while its call waited
SIGNAL_MAX, SIGNAL_HOME_MAX, PREEMPT_MAX = 600, 250, 300
HOME_LOOK = 80  # a home core that is preempted looks at all that only it looks after
CALLS, SETTLING, APPLICATION = 20, 4, 1  # of calls.c; the application core that calls
REFLECT_MAX, FAULT_MAX = 250, 300
CREATE_MAX, JOIN_MAX = 2500, 1700
CROWD_SLACK = 100  # where the first free bit of a word lies, and which of the cores: bounded, unlike the threads
KERNEL_MAX = 96 << 10
LABELS = {16: "empty", 17: "local", 18: "remote", 19: "loop", 20: "poll", 21: "create", 22: "join",
          23: "handle", 24: "signal", 25: "preempt",
          26: "reflect", 27: "fault", 28: "later"}
MESSAGE = "am_call_kernel+call_shared:kcall_serve_void_remote"  # the program runs on a TC
SIGNAL = "wakeup_other:user"
PLUGIN = os.path.join(os.path.dirname(qemu.BUILD), "plugin", "libcount.so")


@functools.cache
def counted(first, again=0, pair=MESSAGE):
    """All windows and the spans `pair` of the measuring program on a cluster of four cores; `again`
    asks for another run.
    """
    with tempfile.TemporaryDirectory(prefix="atoll-count-") as folder:
        out = os.path.join(folder, "windows")
        m = qemu.shape("counts", [(1, 4, 8 << 20)], first)
        span = spans.options(pair, os.path.join(qemu.BUILD, "kernel.elf"))
        b = qemu.boot(m, init="boot-calls", extra=ICOUNT + ("-plugin", f"{PLUGIN},out={out}{span}"))
        assert b.status == 0 and "all passed" in b.output, b.output
        with open(out, encoding="utf-8") as f:
            return [json.loads(line) for line in f]


def windows(first, again=0):
    """The windows by label."""
    found = {name: [] for name in LABELS.values()}
    for row in counted(first, again):
        if "window" in row:
            found[LABELS[row["label"]]].append(row)
    return found


def messages(first):
    """The windows of remote calls that the kernel core serves, each with the span of its active
    message, which is written before it.
    """
    found, span = [], None
    for row in counted(first):
        if "span" in row:
            span = row
        elif "window" in row:
            if LABELS[row["label"]] == "remote" and row["others"]:
                found.append((row, span))
            span = None
    return found


def test_a_loop_counts_its_instructions_exactly():
    for first in ("KC", "TC"):
        for row in windows(first)["loop"]:
            assert row["user"] == 2001 and row["insns"] == 2001 and row["kernel"] == 0, row


def test_an_empty_window_counts_nothing():
    for row in windows("KC")["empty"]:
        assert row["insns"] == 0 and row["total"] == 0, row


def test_what_one_hart_does_alone_is_its_critical_path():
    for first in ("KC", "TC"):
        for row in sum(windows(first).values(), []):
            assert row["insns"] <= row["path"] <= row["total"], row
            assert row["others"] or row["path"] == row["insns"], row


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


def warm(rows):
    """Those of the application core, without the first: the thread that waits for it still goes to
    sleep then.
    """
    found = [r for r in rows if r["hart"] == APPLICATION][SETTLING:]
    assert len(found) == CALLS - SETTLING, found
    return found


def test_a_remote_call_is_within_its_target_on_both_cores():
    for name, limit in (("remote", REMOTE_MAX), ("handle", WAKEUP_MAX)):
        for row in warm(windows("KC")[name]):
            assert [o["hart"] for o in row["others"]] == [0] and row["entries"] == 1 and row["interrupts"] == 0, row
            assert row["total"] <= limit, row


def test_a_deadline_that_has_not_come_costs_who_calls_little():
    for first in ("KC", "TC"):
        rows = warm(windows(first)["later"])
        assert max(row["total"] for row in rows) <= REMOTE_MAX + LATER_MAX, rows


def test_a_remote_call_from_a_time_sharing_core_looks_for_ready_threads_and_no_more():
    for row in [r for r in windows("KC")["remote"] if r["hart"] != APPLICATION][1:]:
        assert row["total"] <= REMOTE_MAX + READY_LOOK, row


def application_messages():
    found = [m for m in messages("KC") if m[0]["hart"] == APPLICATION][SETTLING:]
    assert len(found) == CALLS - SETTLING, found
    return found


def test_a_critical_path_goes_through_the_hart_that_answers():
    """What the kernel core does behind its answer, until it sleeps, is as long after each call."""
    rows = application_messages()
    assert len({row["total"] - row["path"] for row, _ in rows}) == 1
    for row, span in rows:
        assert row["insns"] + span["receive"] < row["path"] < row["total"], (row, span)


def test_an_active_message_is_within_its_target():
    for window, span in application_messages():
        assert span["hart"] == window["hart"] and span["to"] == 0 and span["label"] == window["label"], (window, span)
        assert span["one_way"] == span["send"] + span["receive"] <= MESSAGE_MAX, span


def test_a_message_is_a_part_of_its_call_on_each_core():
    for window, span in application_messages():
        assert span["send"] < span["sender"] < window["insns"], (window, span)
        assert span["receive"] < span["receiver"] <= sum(o["user"] + o["kernel"]
                                                         for o in window["others"]), (window, span)
        assert span["round_trip"] == span["sender"] + span["receiver"], span


def test_a_call_of_the_kernel_core_itself_is_no_message():
    assert messages("TC"), "the application core's calls are missing"
    assert all(row["hart"] != 0 for row in counted("TC") if "span" in row)


def test_a_signal_is_within_its_targets_from_home_and_from_another_application_core():
    rows = counted("KC", pair=SIGNAL)
    calls = [r for r in rows if "window" in r and LABELS[r["label"]] == "signal"]
    woken = [r for r in rows if "span" in r and LABELS[r["label"]] == "signal"]
    assert len(calls) == len(woken) == CALLS, (calls, woken)
    for call, span in zip(calls[SETTLING:], woken[SETTLING:]):
        assert [o["hart"] for o in call["others"]] == [0] and span["hart"] == 0 and span["to"] == 2, (call, span)
        assert span["one_way"] == span["send"] + span["receive"] <= SIGNAL_HOME_MAX, span
        assert call["total"] + span["receive"] <= SIGNAL_MAX, (call, span)


def test_a_preemption_is_within_its_target():
    for first, core, limit in (("KC", 3, PREEMPT_MAX), ("TC", 0, PREEMPT_MAX + HOME_LOOK)):
        found = windows(first)["preempt"]
        assert len(found) >= CALLS and all(row["hart"] == core
                                           and row["entries"] == row["interrupts"] == 1 for row in found), found
        assert max(row["kernel"] for row in found[SETTLING:]) <= limit, found


def test_what_a_thread_handles_itself_is_within_its_targets():
    for name, limit, faults in (("reflect", REFLECT_MAX, 0), ("fault", FAULT_MAX, 1)):
        rows = windows("KC")[name]
        assert len(rows) == CALLS, rows
        for row in rows[1:]:
            assert row["entries"] == 2 and row["interrupts"] == faults, row
            assert row["total"] == row["insns"] <= limit, row


def test_create_and_join_are_within_their_targets_however_many_threads_there_are():
    for name, limit in (("create", CREATE_MAX), ("join", JOIN_MAX)):
        totals = [row["total"] for row in windows("KC")[name]]
        alone, crowded = totals[1:4], totals[5:]
        assert len(crowded) == 3 and max(totals) <= limit, totals
        assert max(crowded) <= min(alone) + CROWD_SLACK, totals


def test_two_runs_count_the_same():
    assert counted("TC") == counted("TC", 1)


def test_the_kernel_is_within_its_size():
    tool = ["riscv64-unknown-elf-size", "-A", os.path.join(qemu.BUILD, "kernel.elf")]
    said = subprocess.run(tool, check=True, capture_output=True, text=True).stdout
    # the file is longer: each section begins on a page
    sizes = dict(re.findall(r"^\.(text|rodata|data)\s+(\d+)", said, re.M))
    assert len(sizes) == 3 and sum(map(int, sizes.values())) <= KERNEL_MAX, sizes


if __name__ == "__main__":
    sys.exit(main(globals()))
