# SPDX-License-Identifier: MIT
"""Tests of the coherence study: what is kept, what is measured again, what the report shows."""

import pytest

from codesign import coherence, measure


def fake(system, latency, replication):
    cost = {"none": 3, "snooped": 2, "whole": 10, "flash": 9, "lines": 4, "drop": 5}[system] * (latency + 1)
    return [{"system": system, "latency": latency, "benchmark": name, "replication": replication,
             "cycles": cost + replication, "dcache_misses": 1.0,
             "instructions": 7.0} for name in coherence.ROWS]


def test_a_killed_sweep_goes_on_and_other_sources_are_measured_again(tmp_path):
    path, asked = str(tmp_path / "c.csv"), []
    jobs = coherence.parse(["--replications", "2", "--latencies", "0"])

    def run(*job):
        asked.append(job)
        if len(asked) == 5:
            raise KeyboardInterrupt
        return fake(*job)
    with pytest.raises(KeyboardInterrupt):
        coherence.sweep(jobs, "one", path, run, say=lambda t: None)
    asked.clear()
    rows = coherence.sweep(jobs, "one", path, fake, say=asked.append)
    assert len(asked) == len(jobs) - 4 and len(rows) == 2 * 6 * 5
    asked.clear()
    rows = coherence.sweep(jobs, "two", path, fake, say=asked.append)
    assert len(asked) == len(jobs) and {r["source"] for r in coherence.read(path)} == {"two"}


def test_sources_that_change_end_the_sweep(tmp_path):
    path, seen = str(tmp_path / "c.csv"), iter(["one", "one", "two"])
    with pytest.raises(measure.Failed, match="changed while they were measured"):
        coherence.sweep(coherence.parse(["--replications", "1"]), "one", path, fake, lambda t: None, lambda: next(seen))
    assert len(coherence.read(path)) == 2 * len(coherence.ROWS)


def test_a_run_that_does_not_come_out_again_is_found(tmp_path):
    rows = coherence.sweep(coherence.parse(["--replications", "1"]), "one", str(tmp_path / "c.csv"),
                           fake, say=lambda t: None)
    kept = coherence.read(str(tmp_path / "c.csv"))
    assert len(kept) == len(rows) and coherence.not_again(kept, ("lines", 10, 0), fake) == []
    next(r for r in kept if (r["system"], r["latency"], r["benchmark"]) == ("lines", 10, "join"))["dcache_misses"] += 1
    assert [w[:5] for w in coherence.not_again(kept, ("lines", 10, 0),
                                               fake)] == ["join:"] and len(coherence.not_again([], ("lines",
                                                                                                    10, 0), fake)) == 5


def test_the_section_shows_ratios_to_the_full_shoot_down(tmp_path):
    path = str(tmp_path / "c.csv")
    assert "Not measured yet" in coherence.section(path)
    coherence.sweep(coherence.parse(["--replications", "1", "--latencies", "0,10"]), "one", path,
                    fake, say=lambda t: None)
    text = coherence.section(path)
    assert "latency 10" in text and "<td>0.40</td><td>0.50</td>" in text and "source one" in text


def test_what_was_not_measured_is_a_dash(tmp_path):
    path = str(tmp_path / "c.csv")
    coherence.sweep(coherence.parse(["--replications", "1", "--latencies", "0", "--systems", "none,lines"]),
                    "one", path, fake, say=lambda t: None)
    assert "<td>-</td>" in coherence.section(path)


@pytest.mark.parametrize("argv", (["--systems", "magic"], ["--latencies", "999"],
                                  ["--replications", "x"], ["--what", "1"], ["--latencies"]))
def test_bad_command_lines_are_refused(argv):
    with pytest.raises(ValueError):
        coherence.parse(argv)


def test_the_kept_rows_have_one_source():
    assert len({r["source"] for r in coherence.read()}) <= 1
