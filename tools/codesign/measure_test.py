# SPDX-License-Identifier: MIT
"""A sweep of measurements resumes behind its last whole run, never mixes sources, and refuses runs
that measured nothing.
"""

import json
import os
import random
import signal
import subprocess
import sys

import pytest

from codesign import cycles, measure, space, synth


def counters(**values):
    """A core's counters as the simulator reports them."""
    return {**dict.fromkeys(("cycles", "doze", "gated", "toggles", "instructions"), 0), **values}


class Runner:
    """Runs are counted; their cycles depend on the job only."""

    last = "server"
    now = None

    def __init__(self):
        self.log = []

    def source(self):
        return self.now

    def __call__(self, job):
        self.log.append(job.key())
        return [job.row(b, 1000 + 10 * job.replication + len(b), memory="m") for b in ("buffer", "join", "server")]


def jobs(count=4):
    """Some jobs."""
    return [measure.Job("k", ["k-core"] + ["u-core"] * 3, i) for i in range(count)]


def quiet(_):
    pass


def test_activity_is_what_each_core_did():
    found = measure.activity([counters(cycles=1010, doze=3, toggles=9090)] * 4, 100)
    assert len(found) == 4 and found[2] == {"core": 2, "cycles": 1010, "doze": 3, "gated": 0,
                                            "toggles": 9090, "bits": 100}


@pytest.mark.parametrize("bad", [{"windows": [{"label": 3, "times": 0}]},
                                 {"windows": [{"label": 4, "times": 1}]}, {"windows": []}])
def test_a_run_that_measured_nothing_is_no_row(bad):
    with pytest.raises(measure.Failed, match="no window 3"):
        measure.window(bad, 3)


@pytest.mark.parametrize("seed", range(10))
def test_a_killed_sweep_goes_on_behind_its_last_whole_run(tmp_path, seed):
    rng, run = random.Random(seed), Runner()
    path = measure.sweep(jobs(), run, "a", str(tmp_path), quiet)
    with open(path, "rb") as f:
        data = f.read()
    cut = rng.randrange(len(data))
    with open(path, "wb") as f:
        f.write(data[:cut])
    whole = data[:cut].count(b"\n") // 3
    measure.sweep(jobs(), run, "a", str(tmp_path), quiet)
    assert len(run.log) == 4 + 4 - whole
    with open(path, "rb") as f:
        assert f.read() == data


def test_a_finished_sweep_runs_nothing(tmp_path):
    run = Runner()
    for _ in range(2):
        measure.sweep(jobs(), run, "a", str(tmp_path), quiet)
    assert len(run.log) == 4


@pytest.mark.parametrize("order", range(4))
def test_a_new_file_begins_with_the_kept_rows_of_its_source(tmp_path, order):
    run, more = Runner(), Runner()
    kept = cycles.read(measure.sweep(jobs(2), run, "a", str(tmp_path / "old"), quiet))
    random.Random(order).shuffle(kept)
    broken = [r for r in kept if (r["replication"], r["benchmark"]) != (1, "server")]
    path = measure.sweep(jobs(3), more, "a", str(tmp_path / "new"), quiet, broken)
    assert [k[2] for k in more.log] == [1, 2] and len(cycles.read(path)) == 9
    measure.sweep(jobs(1), more, "b", str(tmp_path / "new"), quiet, kept)
    assert len(more.log) == 3, "rows of another source are none"


KILLED = """
import os, signal, sys
from codesign import measure
class Run:
    last = "server"
    def source(self):
        return None
    def __call__(self, job):
        open(sys.argv[2], "a").write("x")
        if job.replication == 2:
            os.kill(os.getpid(), int(sys.argv[3]))
        return [job.row("server", 1)]
measure.sweep([measure.Job("k", ["k-core"], i) for i in range(4)], Run(), "a", sys.argv[1], lambda text: None)
"""


@pytest.mark.slow
@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_process_that_is_killed_loses_one_run_at_most(tmp_path, sig):
    log, run = tmp_path / "log", Runner()
    env = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(measure.__file__))))
    p = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "rows"), str(log), str(int(sig))],
                       env=env, stderr=subprocess.DEVNULL, check=False)
    assert p.returncode == -sig and log.read_text() == "xxx"
    measure.sweep([measure.Job("k", ["k-core"], i) for i in range(4)], run, "a", str(tmp_path / "rows"), quiet)
    assert [k[2] for k in run.log] == [2, 3]


def test_another_source_is_another_file(tmp_path):
    run = Runner()
    first, second = (measure.sweep(jobs(n), run, s, str(tmp_path), quiet) for n, s in ((4, "a"), (2, "b")))
    assert first != second and len(run.log) == 6
    os.utime(first, (1, 1))
    rows, place = cycles.everything("none", str(tmp_path))
    assert {r["source"] for r in rows} == {"b"} and place.endswith("b.jsonl")


def test_sources_that_change_end_the_sweep(tmp_path):
    class Changing(Runner):
        def __call__(self, job):
            self.now = "b" if job.replication == 1 else "a"
            return super().__call__(job)
    run = Changing()
    with pytest.raises(measure.Failed, match="changed while they were measured"):
        measure.sweep(jobs(), run, "a", str(tmp_path), quiet)
    assert len(run.log) == 2


def test_what_is_no_row_is_not_kept(tmp_path):
    class Bad(Runner):
        def __call__(self, job):
            return [job.row("server", 0)]
    with pytest.raises(cycles.BadRow):
        measure.sweep(jobs(1), Bad(), "a", str(tmp_path), quiet)
    assert os.path.getsize(tmp_path / "a.jsonl") == 0


def test_the_space_varies_the_kernels_core_only():
    found = measure.effect_jobs(0) + measure.effect_jobs(1)
    seen = {space.as_the_kernel_sees(j.cores[0]) for j in found}
    assert seen == {space.as_the_kernel_sees(n)
                    for n in space.names()} and {tuple(j.cores[1:]) for j in found} == {(measure.U,) * 3}
    assert len({j.key() for j in found}) == len(found) == 2 * 24 and {j.latency for j in found} == {0}


def test_the_caches_vary_nothing_but_the_cache():
    found = measure.cache_jobs(3, (0, 10))
    kinds = [{**space.choices(space.as_the_kernel_sees(j.cores[0])), "icache": None} for j in found]
    assert all(k == kinds[0] for k in kinds) and [j.latency for j in found] == [0] * 4 + [10] * 4
    assert [space.choices(n)["icache"] for n in measure.cache_cores().values()] == list(space.UNITS["icache"])
    assert {j.key() for j in found
            if not j.latency} <= {j.key() for j in measure.effect_jobs(3)}, "the same run has one name"


def test_runs_at_two_latencies_are_two_runs(tmp_path):
    run, wanted = Runner(), [measure.Job("k", ["k-core"], 0, latency) for latency in (0, 10)]
    path = measure.sweep(wanted, run, "a", str(tmp_path), quiet)
    assert len(run.log) == 2 and {r["latency"] for r in cycles.read(path)} == {0, 10}
    measure.sweep(wanted, run, "a", str(tmp_path), quiet)
    assert len(run.log) == 2


def test_what_is_left_is_estimated_by_latency():
    pace = measure.Pace()
    pace.ran(measure.Job("k", ["k-core"], 0), 60)
    pace.ran(measure.Job("k", ["k-core"], 0, 10), 180)
    assert pace.known() and pace.left([measure.Job("k", ["k-core"], 0),
                                       measure.Job("k", ["k-core"], 0, 30)]) == pytest.approx(1 + 3)


def test_a_row_is_read_as_it_was_written():
    row = json.dumps({**jobs()[1].row("buffer", 5, memory="m"), "source": "s"})
    assert cycles.parse(row, "x")["cores"][1] == space.canonical("u-core")


def test_a_second_sweep_says_that_it_waits(tmp_path):
    said = []

    def say(text):
        said.append(text)
        raise KeyboardInterrupt     # nobody waits for ever
    with synth.Lock(str(tmp_path)), pytest.raises(KeyboardInterrupt):
        measure.sweep(jobs(1), Runner(), "a", str(tmp_path), say)
    assert len(said) == 1 and "another sweep is at work" in said[0]
    measure.sweep(jobs(1), Runner(), "a", str(tmp_path), quiet)
