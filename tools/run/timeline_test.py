# SPDX-License-Identifier: MIT
"""What the tracer's events become: slices that nest, arrows that have two ends."""

import gzip
import json
import os

import pytest

import timeline as t

CLUSTERS = [{"first_core": 0, "cores": 2}, {"first_core": 2, "cores": 1}]
ROLES = [1, 3, 1]
CALLS = {4: "futex_wake"}
# core 1 calls home, which serves that and posts a message; time, a, b, hart, kind
CALL_HOME = [(100, 7, 9, 1, t.CURRENT), (110, 0, 0, 1, t.USER), (200, 0, 0, 1, t.KERNEL), (210, 4, 0, 1, t.CALL),
             (220, 1, 0, 1, t.SEND), (230, 0, 0, 1, t.WAIT), (240, 1, 0, 0, t.SERVE), (260, 1, 0, 0, t.REPLY),
             (270, 0, 0, 1, t.WAKE), (280, 0, 0, 1, t.USER), (300, 1, 0, 0, t.POST), (310, 0, 0, 1, t.KERNEL),
             (320, 1, 0, 1, t.TAKE), (330, 1, 0, 1, t.TAKEN), (340, 0, 0, 1, t.USER), (400, 1, 0, 0, t.CROWDED),
             (410, 1, 1, 1, t.ROLE), (500, 0, 0, 1, t.CURRENT)]


def made(events):
    return t.timeline(CLUSTERS, ROLES, CALLS, events)


def slices(out):
    return {(e["name"], e["pid"], e["tid"]): (round(e["ts"] * 1000) + 100, round((e["ts"] + e["dur"]) * 1000) + 100)
            for e in out if e["ph"] == "X"}


def test_a_call_is_a_slice_of_its_thread_and_is_served_on_the_first_core():
    found = slices(made(CALL_HOME))
    assert found["thread 7 of process 9", 1, 4] == (100, 500)
    assert found["futex_wake", 1, 4] == (200, 280)
    assert found["wait", 1, 4] == (230, 270)
    assert found["serve futex_wake of core 1", 1, 2] == (240, 260)
    assert found["message of core 0", 1, 4] == (320, 330)
    assert found["trap", 1, 4] == (310, 340)


def test_roles_are_a_track():
    found = slices(made(CALL_HOME))
    assert found["ac", 1, 3] == (100, 410) and found["tc", 1, 3] == (410, 500) and found["tc", 1, 1] == (100, 500)
    assert [e["name"] for e in made(CALL_HOME) if e["ph"] == "i"] == ["has threads of two processes: a tc now"]


def test_a_process_that_is_kept_on_a_core_is_shown_there_and_when_it_may_leave():
    at = [(100, 9, 0 | 2 << 16, 0, t.PLACED), (110, 9, 0 | 2 << 16, 0, t.PLACED), (200, 9, 1 | 1 << 16, 0, t.PLACED),
          (210, 9, 1 | 1 << 16, 0, t.PLACED), (300, 9, 0 | 2 << 16, 0, t.PLACED), (310, 8, 1 | 1 << 16, 0, t.PLACED),
          (320, 7, 0 | 9 << 16, 0, t.PLACED), (330, 7, 0 | 2 << 16, 0, t.PLACED)]
    shown = [(e["name"], e["tid"], round(e["ts"] * 1000) + 100, e["args"]["process"])
             for e in made(at) if e["ph"] == "i"]
    assert shown == [(t.KEPT, 4, 200, 9), (t.LET_GO, 4, 300, 9)]


def test_each_arrow_has_two_ends():
    out = made(CALL_HOME)
    begun, ended = ({e["id"]: e["name"] for e in out if e["ph"] == ph} for ph in "sf")
    assert begun == ended and sorted(begun.values()) == ["answer", "call", "message"]


def test_messages_that_wait_are_a_counter():
    assert [e["args"]["messages"] for e in made(CALL_HOME) if e["ph"] == "C"] == [1, 0]


def test_a_message_whose_sender_is_dead_waits_no_more_when_the_next_comes():
    again = [(600, 1, 0, 1, t.SEND), (700, 1, 0, 1, t.SEND), (710, 1, 0, 0, t.SERVE)]
    assert [e["args"]["messages"] for e in made(CALL_HOME + again) if e["ph"] == "C"] == [1, 0, 1, 0, 1, 0]


@pytest.mark.parametrize("length", range(len(CALL_HOME)))
def test_slices_nest_wherever_the_machine_is_killed(length):
    tracks = {}
    for e in made(CALL_HOME[:length]):
        if e["ph"] == "X":
            assert e["dur"] >= 0
            begin, end = round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)
            tracks.setdefault((e["pid"], e["tid"]), []).append((begin, end))
    for spans in tracks.values():
        for a in spans:
            assert not any(a[0] < b[0] < a[1] < b[1] for b in spans)


def test_events_of_unknown_cores_are_none():
    assert not [e for e in made([(1, 0, 0, 77, t.USER)]) if e["ph"] == "X" and e["name"] == "trap"]


def test_the_buffer_is_bounded_and_says_what_is_lost():
    b = t.Buffer(room=3)
    for i, e in enumerate(((30, 1, 2, 3, t.USER, 1), (10, 4, 5, 6, t.WAIT, 1), (20, 0, 0, 0, t.WAKE, 0))):
        os.pwrite(b.fd, t.EVENT.pack(*e), t.HEAD.size + i * t.EVENT.size)
    os.pwrite(b.fd, t.HEAD.pack(3, 8, 0), 0)
    # in the order of their times; one is not whole, and five found no room
    assert b.read() == ([(10, 4, 5, 6, t.WAIT), (30, 1, 2, 3, t.USER)], 5)


def test_the_plugin_and_this_have_the_same_kinds_in_one_order():
    path = os.path.join(os.path.dirname(os.path.dirname(t.__file__)), "plugin", "trace.h")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    kinds = [k.strip() for k in text.partition("enum trace_kind {")[2].partition("}")[0].split(",")]
    assert [getattr(t, k) for k in kinds] == list(range(len(kinds)))


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_a_file_may_be_compressed(name, tmp_path, monkeypatch):
    class Kernel:
        def calls(self):
            return CALLS

    class Machine:
        name, clusters = "one", []
    monkeypatch.setattr(t.bootrec, "clusters_of", lambda m, layout: CLUSTERS)
    path = str(tmp_path / name)
    t.write(path, Machine(), None, t.Buffer(room=1), Kernel(), True)
    with (gzip.open if name.endswith("gz") else open)(path, "rt") as f:
        assert json.load(f)["otherData"]["events"] == 0
