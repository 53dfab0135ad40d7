# SPDX-License-Identifier: MIT
"""The table of the build experiment, and what it refuses."""

import pytest

import buildbench
from ui import Usage


def result(time, near, far):
    return {"time": time, "insns": 2 * time, "near": near, "far": far}


def test_the_table_has_means_with_intervals():
    rows = buildbench.table({("amp", 4): [result(100, 5, 0), result(102, 5, 0), result(104, 5, 0)]}, 9)
    time = rows[0]
    assert (time["policy"], time["cores"], time["compilations"], time["metric"], time["n"]) == ("amp", 4, 9, "time", 3)
    assert float(time["mean"]) == 102 and float(time["low"]) == pytest.approx(102 - 4.30 * 2 / 3 ** 0.5, abs=0.01)
    assert [r["metric"] for r in rows] == ["time", "insns", "near", "far"]
    assert rows[3]["low"] == rows[3]["high"] == "0"


def test_one_execution_has_no_interval():
    assert buildbench.paper.interval([7]) == (7, 7, 7)


def test_executions_come_one_after_the_other():
    o = buildbench.Options(["--build", "--executions", "2", "--cores", "4,8", "--policies", "amp,smp"])
    assert [(r.seed, r.cores, r.policy) for r in buildbench.plan(o)] == [
        (seed, cores, policy) for seed in (1, 2) for cores in (4, 8) for policy in ("amp", "smp")]


def test_what_has_no_time_left_is_missing_unless_it_is_kept():
    class Run:
        policy, cores = "amp", 4

        def __init__(self, seed, kept):
            self.seed, self.kept = seed, kept

        def is_kept(self):
            return self.kept

        def result(self):
            assert self.kept
            return result(self.seed, 1, 1)

    class Silent:
        def step(self, text):
            pass

    found = buildbench.results([Run(1, True), Run(2, False), Run(3, True)], -1, Silent())
    assert [r["time"] for r in found["amp", 4]] == [1, 3]


@pytest.mark.parametrize("argv, words", [
    (["--policies", "best"], "--policies"), (["--cores", "1"], "--cores"), (["--cores", "64"], "--cores"),
    (["--machine", "laptop"], "memory domains"), (["--machine", "nix32@amp"], "without a policy"),
    (["--executions", "0"], "whole numbers"), (["--files", "35"], "--files"), (["--what"], "unknown option")])
def test_wrong_options_are_refused(argv, words):
    with pytest.raises(Usage, match=words):
        buildbench.Options(["--build", *argv])
