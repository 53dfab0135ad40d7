# SPDX-License-Identifier: MIT
"""Benchmarks in every set-up: the right kernel on the right core, rows that add up, an order that leaves something of everything."""

import os
import random

import pytest

import machine as machines
from codesign import cycles, measure, rtlbench, space


def window(label, cycles_, toggles=7):
    """A window of a simulator's report."""
    return {"core": 1, "label": label, "times": 3, "cycles": cycles_,
            "cores": [{"cycles": cycles_, "doze": i, "gated": i, "toggles": toggles, "instructions": 1} for i in range(4)]}


def test_the_set_ups_are_the_papers_and_each_optimisation_alone():
    assert {k: c for k, (c, _) in rtlbench.SETUPS.items() if "opt" in k or len(k) == 1} == {"u": "u-core", "k": "k-core", "u-opt": "u-core", "k-opt": "k-core"}
    alone = [s for k, (_, s) in rtlbench.SETUPS.items() if "+" in k]
    assert len(alone) == len(rtlbench.SWITCHES) and all(sum(s.values()) == 1 for s in alone)
    assert len({rtlbench.folder(s) for _, s in rtlbench.SETUPS.values()}) == len(alone) + 3
    assert not any("HARD" in s for c, s in rtlbench.SETUPS.values() if c == "k-core")


def test_windows_add_up_and_the_jobs_own_row_is_last():
    job = measure.Job("fork_join", "k", ["k-core"] + ["u-core"] * 3, 2)
    found = rtlbench.rows(job, {"windows": [window(16, 300), window(17, 600)]}, "s", "m")
    assert [r["benchmark"] for r in found] == ["spawn", "join", "fork_join"] and [r["cycles"] for r in found] == [10, 20, 90]
    assert found[2]["activity"][3] == {"core": 3, "cycles": 900, "doze": 6, "gated": 6, "toggles": 14, "bits": rtlbench.ACTIVITY_BITS}
    with pytest.raises(measure.Failed, match="no window 17"):
        rtlbench.rows(job, {"windows": [window(16, 300)]}, "s", "m")


def test_a_larger_cluster_gets_as_much_work_per_core():
    for n in (3, 7):
        args, found = rtlbench.BENCHMARKS["fork_join"](n)
        assert args[1] == str(n) and found["spawn"][1] == 10 * n
    assert [len(j.cores) for j in rtlbench.jobs(["k"], ["buffer"], 1, 0, 8)] == [8]


def test_a_measured_machine_is_a_machine():
    m = machines.parse("measured", rtlbench.machine_text(["k-core", "u-core"]))
    assert m.cores() == 2 and m.hardware["cores"] == ["k-core", "u-core"]


def test_replications_lay_the_code_out_differently():
    found = [rtlbench.pad(r) for r in range(30)]
    assert len(set(found)) == 30 and found[0] == 0 and max(found) < rtlbench.PAD_LINES


def test_an_early_end_leaves_something_of_everything():
    found = rtlbench.jobs(["k", "u"], ["buffer", "server"], 3, 2)
    assert {j.key()[:2] for j in found[:4]} == {(b, s) for b in ("buffer", "server") for s in ("k", "u")}
    assert [j.replication for j in found[:12]] == sorted(j.replication for j in found[:12])
    assert len({j.key() for j in found}) == len(found) == 12 + 2 * 2 * 12


@pytest.mark.parametrize("argv, words", [(["--setups", "x"], "'x' is not one of u, k"), (["--replications", "many"], "a number"), (["--dse"], "a value"), (["--fast", "1"], "--fast"),
                                         (["--cores", "9"], "from 4 to 8")])
def test_a_bad_command_line_is_refused(argv, words, capsys):
    assert rtlbench.main(argv) == 2 and words in capsys.readouterr().err


def test_a_sweep_of_runs_makes_rows_that_are_read(tmp_path, monkeypatch):
    rng = random.Random(3)
    monkeypatch.setattr(rtlbench, "kernel", lambda switches, lines: f"{sorted(switches.items())} {lines}")
    monkeypatch.setattr(rtlbench, "simulate", lambda job, image, program, args: {"windows": [window(16 + n, rng.randrange(1000, 2000)) for n in (0, 1)]})
    wanted = rtlbench.jobs(list(rtlbench.SETUPS), list(rtlbench.BENCHMARKS), 2, 1)
    path = measure.sweep(wanted, rtlbench.Runner("s"), "s", str(tmp_path), lambda text: None)
    found = cycles.summarise(cycles.read(path))
    assert cycles.of_setup(found, "r_kcall", "k-opt")[1].n == 2 and cycles.of_setup(found, "spawn", "u")
    assert measure.done(path) >= {j.key() for j in wanted} and os.path.basename(path) == "s.jsonl"
    assert (("buffer", "dse", (space.canonical("i-core"),) + (measure.U,) * 3)) in found
