# SPDX-License-Identifier: MIT
"""Benchmarks in every set-up: the right kernel on the right core, rows that add up, an order that
leaves something of everything.
"""

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
    found = [window(n, value()) for n in (16, 17, 24, 25, 32, 40, 56, 64)]
    return {"windows": found + [window(n, value(), len(rtlbench.LOADS)) for n in (48, 49)]}


def job(cores=4):
    return measure.Job("k", ["k-core"] + ["u-core"] * (cores - 1), 2)


def test_the_set_ups_are_the_papers_and_each_optimisation_alone():
    assert {k: c for k, (c, _) in rtlbench.SETUPS.items()
            if k in rtlbench.SLOW_SETUPS} == {"u": "u-core", "k": "k-core", "u-opt": "u-core", "k-opt": "k-core"}
    alone = [rtlbench.KERNELS[n] for s, (_, n) in rtlbench.SETUPS.items() if "+" in s]
    assert len(alone) == len(rtlbench.SWITCHES) and all(sum(k.values()) == 1 for k in alone)
    assert {n for _, n in rtlbench.SETUPS.values()} == set(rtlbench.KERNELS)
    assert not any("HARD" in rtlbench.KERNELS[n] for c, n in rtlbench.SETUPS.values() if c == "k-core")


def test_o3_changes_nothing_but_the_level():
    for setup, (core, kernel) in rtlbench.SETUPS.items():
        if setup.endswith("-o3"):
            plain, other = rtlbench.SETUPS[setup.removesuffix("-o3")], rtlbench.KERNELS[kernel]
            assert plain[0] == core and {k: v for k,
                                         v in other.items()
                                         if k != "O"} == rtlbench.KERNELS[plain[1]] and other["O"] == 3
    assert (
        "TUNE_O=3" in rtlbench.variables("k-o3") and rtlbench.has_own_order("opt") and not rtlbench.has_own_order("k")
    )


def test_windows_add_up_and_the_last_row_is_the_runners():
    found = {r["benchmark"]: r for r in rtlbench.rows(job(), report(), "m")}
    assert (
        found["fork_join"]["cycles"] == 1200 / rtlbench.ROUNDS
        and found["spawn"]["cycles"] == 600 / rtlbench.ROUNDS / 3
        and found["server"]["cycles"] == 600
    )
    assert found["fork_join"]["activity"][3] == {"core": 3, "cycles": 1200, "doze": 6, "gated": 6,
                                                 "toggles": 14, "bits": rtlbench.ACTIVITY_BITS}
    assert list(found)[-1] == rtlbench.Runner.last and found["knoise_quiet_4"]["cycles"] == 120 / rtlbench.STEPS


@pytest.mark.parametrize("label", [16, 17, 24, 25, 32, 40, 48, 49, 56, 64])
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


def test_an_early_end_leaves_something_of_everything():
    numbers = {"--replications": 3, "--slow": 1, "--dse": 2, "--caches": 2, "--large": 1}
    found = rtlbench.jobs(["k", "u"], numbers)
    assert [j.replication for j in found] == sorted(j.replication
                                                    for j in found) and len({j.key() for j in found}) == len(found)
    assert {(j.setup, j.latency) for j in found if j.replication == 0} == {
        ("k", 0),
        ("u", 0),
        *((s, n) for s in (*rtlbench.SLOW_SETUPS, "dse") for n in rtlbench.SLOW),
        ("k-opt", 0),
        ("dse", 0),
    }
    assert [len(j.cores) for j in found if j.setup == "k-opt" and not j.latency] == [8]
    assert len(found) == 3 * 2 + 1 + 2 * 4 + 2 * 24 + 2 * 2 * 4


@pytest.mark.parametrize("argv, words",
                         [(["--setups", "x"], "'x' is not one of u, k"),
                          (["--replications", "many"], "a number"), (["--dse"], "a value"), (["--fast", "1"], "--fast"),
                                         ([w for o in rtlbench.DEFAULTS for w in (o, "0")], "at least 1")])
def test_a_bad_command_line_is_refused(argv, words, capsys):
    assert rtlbench.main(argv) == 2 and words in capsys.readouterr().err


@pytest.fixture
def machine(monkeypatch):
    """No simulator: runs give reports by chance, and say what they were asked for."""
    rng, asked = random.Random(3), []
    monkeypatch.setattr(rtlbench.study, "kernel", lambda name, seed: f"{name}-{seed}")
    monkeypatch.setattr(rtlbench.study, "image", lambda path: path)
    monkeypatch.setattr(rtlbench.study, "run", lambda *what: asked.append(what) or report(rng))
    monkeypatch.setattr(rtlbench.Runner, "source", staticmethod(lambda: None))
    return asked


def test_a_sweep_of_runs_makes_rows_that_are_read(tmp_path, machine):
    wanted = rtlbench.jobs(list(rtlbench.SETUPS),
                           {"--replications": 2, "--slow": 1, "--dse": 1, "--caches": 0, "--large": 0})
    path = measure.sweep(wanted, rtlbench.Runner(), "s", str(tmp_path), lambda text: None)
    found = cycles.summarise(cycles.read(path))
    assert cycles.of_setup(found, "r_kcall",
                           "k-opt")[1].n == 2 and cycles.of_setup(found, "pages",
                                                                  "u-o3") and len(machine) == len(wanted)
    assert measure.done(path, rtlbench.Runner.last) == {j.key() for j in wanted} and os.path.basename(path) == "s.jsonl"
    assert (("buffer", "dse", (space.canonical("i-core"),) +
             (measure.U,) * 3)) in found and {w[1] for w in machine} >= {"k-o3-1", "opt-0", "u-1"}
    assert {(c.latency, seed) for job, _, c, seed in machine if job == "suite-3"} == {(0, 0), (0, 1), (10, 0), (30, 0)}
    assert {r["image"] for r in cycles.read(path) if r["setup"] == "k-opt"} == {"opt-0", "opt-1"}


def test_a_run_that_fails_says_which(monkeypatch, machine):
    def fail(*_):
        raise rtlbench.study.RunFailed("no end")
    monkeypatch.setattr(rtlbench.study, "run", fail)
    with pytest.raises(measure.Failed, match="k, latency 0, link order 2: no end"):
        rtlbench.Runner()(job())
