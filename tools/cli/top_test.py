# SPDX-License-Identifier: MIT
"""./atoll top: the table of a machine's memory."""

import os

import pytest

import cores
import cores_test
import kernelmem
import top
from ui import Failure, Usage

NAMES = ("thread_core", "thread_counts", "proc_badge", "proc_frames", "proc_live", "procs", "threads", "core_id",
         "proc_state", "thread_state", "procs_max", "threads_used", "run_word", "proc_counts")
OFFSETS = cores_test.OFFSETS | {name: 1024 + 32 * i for i, name in enumerate(NAMES)} | {
    "process": 4096, "proc_runs": 1, "thread_ready": 1, "thread_waiting": 2, "run_switches": 2}
PROC, THREAD, CLUSTER, TABLE, COUNTS = 0x3000, 0x2000, 0x4000, 0x7000, 0x8000


@pytest.fixture(name="machine")
def _machine(monkeypatch):
    monkeypatch.setattr(cores_test.Kernel, "offset", OFFSETS)
    m, core = cores_test.machine(), 256
    at = cores_test.virtual
    for where, to in ((CLUSTER + OFFSETS["procs"], PROC), (CLUSTER + OFFSETS["threads"], TABLE), (TABLE + 8, THREAD),
                      (THREAD + OFFSETS["thread_core"], core), (THREAD + OFFSETS["thread_counts"], COUNTS)):
        m.put(where, at(to), 8)
    m.put(TABLE, 5, 8)		# a free place
    for name, value in (("proc_state", 1), ("proc_badge", 2048 + 9), ("proc_frames", 3), ("proc_live", 1)):
        m.put(PROC + OFFSETS[name], value)
    m.put(CLUSTER + OFFSETS["procs_max"], 2)
    m.put(CLUSTER + OFFSETS["threads_used"], 2)
    m.put(THREAD + OFFSETS["thread_state"], 2)
    for i in range(len(kernelmem.COUNTS)):
        m.put(PROC + OFFSETS["proc_counts"] + 4 * i, 100 * (i + 1))
        m.put(COUNTS + OFFSETS["run_word"] + 4 * (2 + i), i)
    return m


def test_a_process_is_what_its_record_and_its_threads_say(machine):
    seen = {}
    top.sample(machine, seen)
    head, line = (text.split() for text in top.table(machine, seen, 4))
    assert dict(zip(head, line)) == {
        "process": "88", "cluster": "0", "badge": "child9", "cpu": "25.0", "memory": "12", "threads": "1",
        "core": "5", "role": "tc", "calls": "201", "faults": "403", "turns": "302", "moves": "504"}


def test_what_is_no_memory_is_nothing(machine):
    machine.put(TABLE + 8, (1 << 64) - 8, 8)
    machine.put(CLUSTER + OFFSETS["threads_used"], (1 << 32) - 1)
    machine.put(CLUSTER + OFFSETS["procs_max"], (1 << 32) - 1)
    head, line, *_ = (text.split() for text in top.table(machine, {}, 0))
    assert dict(zip(head, line))["core"] == "-"


def test_a_table_is_of_what_was_seen_until_the_machine_ends(machine):
    tables = list(top.COMMAND.tables(machine, 5, lambda seconds: True))
    assert len(tables) == 1 and "100.0" in tables[0][1]


def test_a_machine_that_has_ended_is_none(machine):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    with pytest.raises(Failure, match="has ended"):
        cores.watch(top.COMMAND, cores.Options(top.COMMAND, []), pid, machine)


def test_wrong_options_are_refused():
    with pytest.raises(Usage, match="./atoll top --help"):
        cores.Options(top.COMMAND, ["--twice"])
    assert cores.Options(top.COMMAND, ["--once", "--seconds", "0.1"]).seconds == 0.1


@pytest.mark.parametrize("number, name", [(1, "server"), (17, "job1"), (2048, "child0"), (4096, "init"), (3, "3")])
def test_a_badge_says_whose_a_process_is(number, name):
    assert top.badge(number) == name
