# SPDX-License-Identifier: MIT
"""./atoll memory: its options, and the tables of a machine's memory."""

import pytest

import cores_test
import kernelmem
import memory
from ui import Failure, Usage

NAMES = ("frames", "frame_domains", "cluster")
OFFSETS = cores_test.OFFSETS | {name: 8 * i for i, name in enumerate(NAMES)} | {
    "frames_total": 64, "frame": 16, "frame_owner": 8, "frame_state": 14, "frame_order": 15, "frame_free": 1,
    "frame_user": 2, "frame_kernel": 3, "frame_limbo": 4, "frame_orders": 20, "domain": 32, "domain_first": 0,
    "domain_end": 4, "domain_near": 8, "domain_far": 12}
TABLE, DOMAINS, ROOT = 0x2000, 0x3000, 0x4000


class Memory(cores_test.Memory):
    """Two domains of eight and four frames, of which the first is nobody's."""

    def __init__(self):
        super().__init__()
        self.kernel = type("Kernel", (), {"offset": OFFSETS, "slots": kernelmem.KERNEL_BASE})()
        self.put(256 + OFFSETS["cluster"], cores_test.virtual(ROOT), 8)
        self.put(ROOT + OFFSETS["frames"], cores_test.virtual(TABLE), 8)
        self.put(ROOT + OFFSETS["frame_domains"], cores_test.virtual(DOMAINS), 8)
        self.put(ROOT + OFFSETS["frames_total"], 13)
        for i, words in enumerate(((1, 9, 5, 2), (9, 13, 7, 0))):
            for k, word in enumerate(words):
                self.put(DOMAINS + 32 * i + 4 * k, word)
        for i, state, order, owner in ((1, 2, 9, 88), (2, 3, 0, 0), (3, 4, 0, 88), (4, 0, 0, 0), (5, 1, 2, 0),
                                       (9, 2, 0, 88), (10, 2, 0, 77), (11, 1, 0, 0), (12, 1, 0, 0)):
            self.frame(i, state, order, owner)

    def frame(self, i, state, order, owner):
        self.put(TABLE + 16 * i + 8, owner)
        self.put(TABLE + 16 * i + 14, state | order << 8, 2)


def test_domains_are_what_their_frames_are():
    head, *lines = (line.split() for line in memory.table(Memory()))
    assert dict(zip(head, lines[0])) == {
        "cluster": "0", "domain": "0", "pages": "8", "used": "3", "free": "5", "kernel": "1", "near": "5", "far": "2",
        "1": "0", "2": "0", "4": "1"}
    assert lines[1] == ["0", "1", "4", "2", "2", "0", "7", "0", "2", "0", "0"]
    assert lines[2:] == [[], list(memory.OWNERS), ["88", "0", "0", "2"], ["77", "0", "1", "1"], ["88", "0", "1", "1"]]


def test_what_changes_while_it_is_read_ends():
    m = Memory()
    m.frame(5, 1, 19, 0)			# a block that is longer than its domain
    m.put(DOMAINS + 4, 0)			# a domain that ends before it begins
    m.put(ROOT + OFFSETS["frames_total"], 1 << 31)
    assert len(m.domains()) == 8
    m.put(ROOT + OFFSETS["frames"], 1 << 63, 8)	# no memory
    assert all(not d.use and not d.free for d in m.domains())


@pytest.mark.parametrize("argv, words", [(["--twice"], "unknown option"), (["--pid", "x"], "--pid needs")])
def test_wrong_options_are_refused(argv, words):
    with pytest.raises(Usage, match=words):
        memory.main(argv)


def test_no_machine_is_no_success(monkeypatch):
    monkeypatch.setattr(memory.cores, "running", lambda: [])
    with pytest.raises(Failure, match="no machine runs"):
        memory.main([])
