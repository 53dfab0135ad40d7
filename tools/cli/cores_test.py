# SPDX-License-Identifier: MIT
"""./atoll cores: its options, and the table of a machine's memory."""

import pytest

import bootrec
import cores
import kernelmem
from ui import Failure, Usage

BASE = 0x90000000
OFFSETS = {name: 8 * i for i, name in enumerate((
    "cluster", "current", "call", "am_next", "am_order", "am_served", "proc_id", "thread_proc", "role_since"))}
OFFSETS |= {"slot": 4096, "record": 256, "acts": 72, "role": 76, "is_crowded": 80, "load": 84, "spread": 88,
            "crowded": 92, "count": 96, "levels": 128, "thread_tid": 192, "am_ticket": 200, "am_mask": 204,
            "ticks": 0, "shot_down": 1, "faults": 2, "messages": 3, "roles": 4, "calls": 5, "priorities": 1}


class Kernel:
    offset, slots = OFFSETS, kernelmem.KERNEL_BASE


class Memory(kernelmem.Machine):
    """A machine with a cluster of one core, without a file."""

    def __init__(self):
        self.kernel, self.name = Kernel(), "one"
        self.clusters = [kernelmem.Cluster(0, BASE, 1 << 16, 1, 5)]
        self.memory = bytearray(BASE - bootrec.RAM + (1 << 16))

    def put(self, at, value, size=4):
        at += BASE - bootrec.RAM
        self.memory[at:at + size] = value.to_bytes(size, "little")


def virtual(at):
    return kernelmem.KERNEL_BASE + at


def machine():
    m, core, thread, proc, cluster, node = Memory(), 256, 0x2000, 0x3000, 0x4000, 0x5000
    for name, value in (("acts", 1), ("role", 1), ("load", 3), ("spread", 4), ("crowded", 2)):
        m.put(core + OFFSETS[name], value)
    m.put(core + OFFSETS["is_crowded"], 1, 1)
    m.put(core + OFFSETS["role_since"], 2500000000, 8)
    for i in range(6):
        m.put(core + OFFSETS["count"] + 4 * i, 10 + i)
    for at, to in ((core + OFFSETS["cluster"], cluster), (core + OFFSETS["current"], thread),
                   (thread + OFFSETS["thread_proc"], proc), (core + OFFSETS["levels"], node),
                   (node, core + OFFSETS["levels"]), (cluster + OFFSETS["am_order"], 0x6000),
                   (cluster + OFFSETS["am_next"], 0x6008)):
        m.put(at, virtual(to), 8)
    m.put(thread + OFFSETS["thread_tid"], 77)
    m.put(proc + OFFSETS["proc_id"], 88)
    m.put(cluster + OFFSETS["am_ticket"], 9)
    m.put(cluster + OFFSETS["am_mask"], 7)
    m.put(cluster + OFFSETS["am_served"], 1234, 8)
    return m


def test_a_core_is_what_its_record_says():
    head, line = (text.split() for text in cores.table(machine(), {5: 1}, 2))
    assert dict(zip(head, line)) == {
        "core": "5", "cluster": "0", "role": "ac", "acts": "tc", "thread": "77/88", "busy": "50",
        "threads": "3", "ready": "1",
        "waiting": "7", "messages": "1234", "calls": "15", "ticks": "10", "faults": "12", "shot-down": "11",
        "changes": "14", "spread": "4", "crowded": "2", "since": "2.50"}


def test_what_changes_while_it_is_read_ends():
    m = machine()
    m.put(0x5000, virtual(0x5000), 8)		# a list that leads to itself
    m.put(256 + OFFSETS["current"], (1 << 64) - 8, 8)
    core = m.cores()[0]
    assert core.ready == kernelmem.QUEUE_MAX and core.thread == core.process == 0


@pytest.mark.parametrize("argv, words", [(["--twice"], "unknown option"), (["--pid", "x"], "--pid needs"),
                                         (["--seconds=0"], "--seconds needs")])
def test_wrong_options_are_refused(argv, words):
    with pytest.raises(Usage, match=words):
        cores.Options(cores.COMMAND, argv)


def test_a_machine_is_chosen(monkeypatch):
    def of_another_build():
        raise Failure("no")
    monkeypatch.setattr(cores, "running", lambda: [(1, Memory), (2, Memory), (4, of_another_build)])
    assert cores.find(2)[0] == 2
    with pytest.raises(Failure, match=r"--pid 1 \(one\), --pid 2"):
        cores.find(None)
    for pid in (3, 4):
        with pytest.raises(Failure, match="no such machine|no machine"):
            cores.find(pid)
    monkeypatch.setattr(cores, "running", lambda: [])
    with pytest.raises(Failure, match="no machine runs"):
        cores.find(None)
