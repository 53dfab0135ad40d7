# SPDX-License-Identifier: MIT
"""The memory of a hosted machine: clusters that come, go and are no clusters."""

import mmap
import os

import pytest

import bootrec
import hostedmem
from ui import Failure

PAGE = mmap.PAGESIZE
BASE = 0x7f0000000000


class Kernel:
    build, offset = "", {"cluster_id": 8, "cores": 16}


@pytest.fixture(name="machine")
def _machine(monkeypatch, tmp_path):
    """A machine whose launcher is this test, with two clusters: processes 11 and 12."""
    image = tmp_path / "atoll-host"
    image.symlink_to("/proc/self/exe")
    monkeypatch.setattr(Kernel, "build", str(tmp_path))
    record = {"clusters": 2, "cluster": [{"cores": 3, "first_core": 0}, {"cores": 2, "first_core": 3}]}
    monkeypatch.setattr(hostedmem.kernelmem, "boot_record", lambda data: record)
    monkeypatch.setattr(hostedmem.kernelmem, "name_of", lambda r: "two")
    found = {}
    for pid, number in ((11, 1), (12, 0)):
        memory = mmap.mmap(-1, PAGE)
        memory[8:12], memory[16:24] = number.to_bytes(4, "little"), (BASE + 64).to_bytes(8, "little")
        found[pid] = (BASE, memory)
    monkeypatch.setattr(hostedmem, "children", lambda pid: list(found))
    monkeypatch.setattr(hostedmem, "memory_of", lambda pid: found[pid] if found[pid] else _none())
    return found


def _none():
    raise ValueError("none yet")


def opened():
    return hostedmem.Machine(os.getpid(), os.devnull, Kernel())


def test_clusters_have_the_numbers_that_their_memory_says(machine):
    m = opened()
    assert [(c.number, c.first, c.cores) for c in m.clusters] == [(0, 0, 3), (1, 3, 2)]
    assert m.first_core(m.clusters[0]) == BASE + 64 and m.root(m.clusters[0]) == BASE
    assert m.read(m.clusters[0], BASE - 1, 4) == m.read(m.clusters[0], BASE + PAGE - 3, 4) == bytes(4)


def test_a_cluster_that_begins_is_looked_for_again(machine, monkeypatch):
    monkeypatch.setattr(hostedmem.kernelmem.View, "cores", lambda self: [c.number for c in self.clusters])
    late, machine[11] = machine[11], None
    m = opened()
    assert m.cores() == [0]
    machine[11] = late
    assert m.cores() == [0, 1]
    monkeypatch.setattr(hostedmem, "children", _raise)
    assert m.cores() == [0, 1]


def _raise(pid):
    raise OSError


def test_what_is_no_cluster_or_another_build_is_none(machine, monkeypatch):
    machine[11][1][8:12] = b"\xff" * 4
    assert [c.number for c in opened().clusters] == [0]
    machine[11] = machine[12] = None
    with pytest.raises(ValueError):
        opened()
    monkeypatch.setattr(Kernel, "build", "/nonexistent")
    with pytest.raises(Failure, match="another build"):
        opened()


def test_a_process_without_such_a_memory_is_no_cluster():
    with pytest.raises(ValueError, match="no memory"):
        hostedmem.memory_of(os.getpid())


def test_memory_is_where_the_process_sees_all_of_it():
    fd = os.memfd_create("atoll")
    os.truncate(fd, 2 * PAGE)
    with mmap.mmap(fd, PAGE):
        with pytest.raises(ValueError, match="does not see"):
            hostedmem.memory_of(os.getpid())
        with mmap.mmap(fd, 2 * PAGE) as whole:
            whole[:3] = b"all"
            base, memory = hostedmem.memory_of(os.getpid())
            assert memory[:3] == b"all" and base % PAGE == 0
            memory.close()
    os.close(fd)


def test_a_record_that_is_too_short_is_none():
    with pytest.raises(ValueError):
        hostedmem.kernelmem.boot_record(b"short")
    with pytest.raises(ValueError):
        hostedmem.kernelmem.boot_record(bytes(bootrec.RECORD_MAX))


def test_this_is_no_machine():
    assert os.getpid() not in [pid for pid, _ in hostedmem.running()]
