# SPDX-License-Identifier: MIT
"""The comparison with other MPIs: what it makes of numbers."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import peers  # noqa: E402
from ui import Usage  # noqa: E402

TIME, RATE = ("half_round_trip", 2, 8, "ns"), ("stream", 2, 4096, "GB/s")


def test_the_ratio_is_to_the_better_peer():
    times = {"process": [90.0, 80.0], "openmpi": [100.0], "mpich": [200.0, 400.0]}
    assert peers.ratio(TIME, times, "process") == 0.8
    assert peers.ratio(RATE, times, "process") == 90 / 400
    assert peers.ratio(TIME, {"process": [1.0]}, "process") is None
    assert peers.ratio(TIME, {"mpich": [1.0]}, "process") is None


def test_the_table_names_every_measure():
    text = peers.table({TIME: {"process": [80.0], "mpich": [100.0]}, RATE: {"mpich": [3.0]}}, ["process", "mpich"])
    assert "process 0.80" in text and len(text.splitlines()) == 3


def test_memory_is_what_a_further_rank_costs():
    found = {("job_pss", 1, 0, "kB"): {"a": [100.0, 110.0, 120.0]}, ("job_pss", 5, 0, "kB"): {"a": [510.0], "b": [7.0]}}
    peers.memory_per_rank(found)
    assert found == {("memory_per_rank", 5, 0, "kB"): {"a": [100.0]}}


def test_a_row_is_read():
    text = "row stream 1.5 GB/s bytes=4096\nnoise\nrow ibcast/bcast 1.3 times bytes=8\n"
    assert peers.ROW.findall(text) == [("stream", "1.5", "GB/s", "4096")]


def test_options():
    o, names = peers.parse(["mpi", "--peers", "--quick", "--rounds=7", "--log", "x"])
    assert (o["--rounds"], o["--quick"], o["--resume"], o["--log"],
            names) == ("7", True, False, "x", list(peers.LIBRARIES))
    for argv in (["--rounds", "0"], ["--minutes", "some"], ["--only", "lam"], ["--fast"]):
        with pytest.raises(Usage):
            peers.parse(argv)


class FakeLibrary:
    """Answers at once."""

    def __init__(self, name, why=None):
        self.name, self.why, self.runs = name, why, 0

    def run(self, shot):
        """One row, or none."""
        self.runs += 1
        return ({}, self.why) if self.why else ({("trip", shot[1], 8, "ns"): float(self.runs)}, None)


def test_a_comparison_goes_on_where_it_was_cut_off(tmp_path):
    path, shots = str(tmp_path / "log"), [("pairs", 2, []), ("pairs", 4, [])]
    good, bad = FakeLibrary("process"), FakeLibrary("mpich", "took longer")
    log = peers.Log(path, False)
    peers.measure([good, bad], shots, 2, log, float("inf"))
    assert (good.runs, bad.runs) == (4, 2)      # what fails is not tried again
    assert log.found() == {("trip", 2, 8, "ns"): {"process": [1.0, 3.0]}, ("trip", 4, 8, "ns"): {"process": [2.0, 4.0]}}
    assert log.failures() == ["mpich: pairs with 2 ranks took longer", "mpich: pairs with 4 ranks took longer"]
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(text[:-9])
    log = peers.Log(path, True)
    peers.measure([good, bad], shots, 2, log, float("inf"))
    assert (good.runs, bad.runs) == (5, 2) and len(log.runs) == 6
    assert peers.Log(path, False).runs == []


def test_no_round_is_begun_that_would_not_end_in_time(tmp_path):
    good, log = FakeLibrary("process"), peers.Log(str(tmp_path / "log"), False)
    peers.measure([good], [("pairs", 2, [])], 5, log, 0)
    assert good.runs == 1
