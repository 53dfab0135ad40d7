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
    assert peers.ROW.findall("row stream 1.5 GB/s bytes=4096\nnoise") == [("stream", "1.5", "GB/s", "4096")]


def test_options():
    assert peers.parse(["mpi", "--peers", "--quick", "--rounds=7"]) == (7, True, list(peers.LIBRARIES), None, None)
    for argv in (["--rounds", "0"], ["--only", "lam"], ["--fast"]):
        with pytest.raises(Usage):
            peers.parse(argv)
