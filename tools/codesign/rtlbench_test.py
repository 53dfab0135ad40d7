# SPDX-License-Identifier: MIT
"""Benchmarks in every set-up: the right kernel on the right core, rows that add up, an order that leaves something of everything."""

import os
import random

import pytest

from codesign import cycles, measure, rtlbench, space


def window(label, cycles_, times=3):
    """A window of a simulator's report."""
    return {"core": 1, "label": label, "times": times, "cycles": cycles_, "each": [cycles_ // times] * times,
            "cores": [{"cycles": cycles_, "doze": i, "gated": i, "toggles": 7, "instructions": 1} for i in range(4)]}


def report(rng=None):
    """A report with every window of the program."""
    value = (lambda: rng.randrange(1000, 2000)) if rng else (lambda: 600)
    found = [window(n, value()) for n in (16, 17, 24, 25, 32, 40)]
    return {"windows": found + [window(n, value(), len(rtlbench.LOADS)) for n in (48, 49)]}


def job(cores=4):
    return measure.Job("k", ["k-core"] + ["u-core"] * (cores - 1), 2)


def test_the_set_ups_are_the_papers_and_each_optimisation_alone():
    assert {k: c for k, (c, _) in rtlbench.SETUPS.items() if "opt" in k or len(k) == 1} == {"u": "u-core", "k": "k-core", "u-opt": "u-core", "k-opt": "k-core"}
    alone = [s for k, (_, s) in rtlbench.SETUPS.items() if "+" in k]
    assert len(alone) == len(rtlbench.SWITCHES) and all(sum(s.values()) == 1 for s in alone)
    assert len({rtlbench.folder(s) for _, s in rtlbench.SETUPS.values()}) == len(alone) + 3
    assert not any("HARD" in s for c, s in rtlbench.SETUPS.values() if c == "k-core")


def test_windows_add_up_and_the_last_row_is_the_runners():
    found = {r["benchmark"]: r for r in rtlbench.rows(job(), report(), "m")}
    assert found["fork_join"]["cycles"] == 1200 / rtlbench.ROUNDS and found["spawn"]["cycles"] == 600 / rtlbench.ROUNDS / 3 and found["server"]["cycles"] == 600
    assert found["fork_join"]["activity"][3] == {"core": 3, "cycles": 1200, "doze": 6, "gated": 6, "toggles": 14, "bits": rtlbench.ACTIVITY_BITS}
    assert list(found)[-1] == rtlbench.Runner.last and found["knoise_quiet_4"]["cycles"] == 120 / rtlbench.STEPS


@pytest.mark.parametrize("label", [16, 17, 24, 25, 32, 40, 48, 49])
def test_a_run_without_a_window_measured_nothing(label):
    bad = {"windows": [w for w in report()["windows"] if w["label"] != label]}
    with pytest.raises(measure.Failed, match=f"no window {label}"):
        rtlbench.rows(job(), bad, "m")


def test_a_run_with_too_few_windows_of_knoise_measured_nothing():
    bad = report()
    bad["windows"][-1] = window(49, 600, 3)
    with pytest.raises(measure.Failed, match="5 and 3 windows of KNoise"):
        rtlbench.rows(job(), bad, "m")


def test_a_larger_cluster_gets_as_much_work_per_core():
    for n in (3, 7):
        words = rtlbench.words(n)
        assert words[words.index("--threads") + 1] == str(n) and rtlbench.table(n)["spawn"][1] == rtlbench.ROUNDS * n
        assert words.count("knoise") == len(rtlbench.LOADS) and sum(map(len, words)) + len(words) < 1024


def test_replications_lay_the_code_out_differently():
    found = [rtlbench.pad(r) for r in range(30)]
    assert len(set(found)) == 30 and found[0] == 0 and max(found) < rtlbench.PAD_LINES


def test_an_early_end_leaves_something_of_everything():
    found = rtlbench.jobs(["k", "u"], 3, 2, 1)
    assert [j.replication for j in found] == sorted(j.replication for j in found)
    assert {j.setup for j in found if j.replication == 0} == {"k", "u", "dse", "k-opt"} and [len(j.cores) for j in found if j.setup == "k-opt"] == [8]
    assert len({j.key() for j in found}) == len(found) == 3 * 2 + 1 + len(measure.effect_jobs(2))


@pytest.mark.parametrize("argv, words", [(["--setups", "x"], "'x' is not one of u, k"), (["--replications", "many"], "a number"), (["--dse"], "a value"), (["--fast", "1"], "--fast"),
                                         (["--large", "257"], "at most 256"), (["--replications", "0", "--dse", "0", "--large", "0"], "at least 1")])
def test_a_bad_command_line_is_refused(argv, words, capsys):
    assert rtlbench.main(argv) == 2 and words in capsys.readouterr().err


def test_a_sweep_of_runs_makes_rows_that_are_read(tmp_path, monkeypatch):
    rng = random.Random(3)
    built = []
    monkeypatch.setattr(rtlbench, "kernels", lambda switches, lines: built.append(switches) or [f"kernel-{n}" for n in lines])
    monkeypatch.setattr(rtlbench.programs, "report", lambda *_, **__: report(rng))
    monkeypatch.setattr(rtlbench.Runner, "source", staticmethod(lambda: None))
    wanted = rtlbench.jobs(list(rtlbench.SETUPS), 2, 1, 0)
    path = measure.sweep(wanted, rtlbench.Runner(2), "s", str(tmp_path), lambda text: None)
    found = cycles.summarise(cycles.read(path))
    assert cycles.of_setup(found, "r_kcall", "k-opt")[1].n == 2 and cycles.of_setup(found, "spawn", "u") and len(built) == 7
    assert measure.done(path, rtlbench.Runner.last) == {j.key() for j in wanted} and os.path.basename(path) == "s.jsonl"
    assert (("buffer", "dse", (space.canonical("i-core"),) + (measure.U,) * 3)) in found


def test_a_run_that_fails_says_which(monkeypatch):
    def fail(*_, **__):
        raise rtlbench.programs.RunFailed("no end")
    monkeypatch.setattr(rtlbench, "kernels", lambda switches, lines: [f"kernel-{n}" for n in lines])
    monkeypatch.setattr(rtlbench.programs, "report", fail)
    with pytest.raises(measure.Failed, match="k, replication 2: no end"):
        rtlbench.Runner(3)(job())
