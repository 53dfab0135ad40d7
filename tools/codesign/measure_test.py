# SPDX-License-Identifier: MIT
"""A sweep of measurements resumes behind its last whole row, never mixes sources, and refuses runs that measured nothing."""

import json
import os
import random

import pytest

from codesign import additive, cycles, measure, space


def counters(**values):
    """A core's counters as the simulator reports them."""
    return {**dict.fromkeys(("cycles", "doze", "gated", "toggles", "instructions"), 0), **values}


def report(total, times=2, label=3):
    """A simulator's report with one window."""
    return {"windows": [{"core": 0, "label": label, "times": times, "cycles": total, "cores": [counters(cycles=total, toggles=9 * total)] * 4}]}


def runner(log, source="a"):
    """Runs are counted; their cycles depend on the job only."""
    def run(job):
        log.append(job.key())
        return [measure.row(job, report(1000 + 10 * job.replication), {"window": 3, "per": 5, "bits": 100}, source)]
    return run


def jobs(count=4):
    """Some jobs."""
    return [measure.Job("buffer", "k", ["k-core"] + ["u-core"] * 3, i) for i in range(count)]


def quiet(_):
    pass


def test_a_row_says_cycles_per_part_and_what_each_core_did():
    r = measure.row(jobs()[1], report(1010), {"window": 3, "per": 5, "bits": 100, "memory": "latency 0"}, "a")
    assert r["cycles"] == 101 and len(r["activity"]) == 4 and r["activity"][2] == {"core": 2, "cycles": 1010, "doze": 0, "gated": 0, "toggles": 9090, "bits": 100}
    assert cycles.parse(json.dumps(r), "x")["cores"][1] == space.canonical("u-core")


@pytest.mark.parametrize("bad", [report(1000, times=0), report(1000, label=4), {"windows": []}])
def test_a_run_that_measured_nothing_is_no_row(bad):
    with pytest.raises(measure.Failed, match="no window 3"):
        measure.row(jobs()[0], bad, {"window": 3}, "a")


@pytest.mark.parametrize("seed", range(10))
def test_a_killed_sweep_goes_on_behind_its_last_whole_row(tmp_path, seed):
    rng, log = random.Random(seed), []
    path = measure.sweep(jobs(), runner(log), "a", str(tmp_path), quiet)
    with open(path, "rb") as f:
        data = f.read()
    cut = rng.randrange(len(data))
    with open(path, "wb") as f:
        f.write(data[:cut])
    whole = data[:cut].count(b"\n")
    measure.sweep(jobs(), runner(log), "a", str(tmp_path), quiet)
    assert len(log) == 4 + 4 - whole
    with open(path, "rb") as f:
        assert f.read() == data


def test_another_source_is_another_file(tmp_path):
    log = []
    first = measure.sweep(jobs(), runner(log), "a", str(tmp_path), quiet)
    second = measure.sweep(jobs(2), runner(log, "b"), "b", str(tmp_path), quiet)
    assert first != second and len(log) == 6
    os.utime(first, (1, 1))
    rows, place = cycles.everything("none", str(tmp_path))
    assert {r["source"] for r in rows} == {"b"} and place.endswith("b.jsonl")


def test_the_source_changes_with_every_file_that_decides_cycles(tmp_path):
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel" / "a.c").write_text("int a;\n")
    seen = {measure.source_hash(str(tmp_path), ("kernel",), ["rtl", "gcc"])}
    (tmp_path / "kernel" / "a.c").write_text("int b;\n")
    seen.add(measure.source_hash(str(tmp_path), ("kernel",), ["rtl", "gcc"]))
    os.rename(tmp_path / "kernel" / "a.c", tmp_path / "kernel" / "b.c")
    seen.add(measure.source_hash(str(tmp_path), ("kernel",), ["rtl", "gcc"]))
    seen.add(measure.source_hash(str(tmp_path), ("kernel",), ["rtl", "gcc 13"]))
    assert len(seen) == 4
    (tmp_path / "kernel" / "b_test.c").write_text("int c;\n")
    assert measure.source_hash(str(tmp_path), ("kernel",), ["rtl", "gcc 13"]) in seen


def test_the_main_effects_vary_the_kernels_core_only():
    found = measure.effect_jobs(["buffer"], 2)
    assert {j.cores[0] for j in found} >= set(additive.base_points()) and {tuple(j.cores[1:]) for j in found} == {(measure.U,) * 3}
    assert len({j.key() for j in found}) == len(found) == 24
