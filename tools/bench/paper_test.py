# SPDX-License-Identifier: MIT
"""Tests of ./atoll bench --paper: what windows become."""

import paper
import pytest
from ui import Failure


def result(name, parameter, values, windows):
    return {"rows": [[name, 1.0, "ns", {parameter: str(v)}] for v in values], "windows": windows}


def window(label, home=0, others=0, insns=100):
    cores = [{"hart": 0, "user": 0, "kernel": home}, {"hart": 3, "user": others, "kernel": 0}]
    return {"window": 1, "label": label, "insns": insns, "total": insns + home + others, "kernel": 0, "entries": 0,
            "interrupts": 0, "others": cores}


def test_a_transfer_is_a_part_of_all_pairs():
    found = dict(((m, x), v) for m, x, v, _ in paper.of_buffer(
        result("buffer", "pairs", (1, 2), [window(16, 320, 0, 0), window(16, 640, 640, 0)])))
    assert found == {("kernel core", 1): 10, ("all cores", 1): 10, ("kernel core", 2): 10, ("all cores", 2): 20}


def test_computing_threads_are_compared_with_themselves():
    windows = [window(16), window(17, insns=125), window(16), window(16), window(17, insns=200), window(17)]
    found = paper.of_knoise(result("knoise", "computing", (1, 2), windows))
    assert [(x, v) for m, x, v, _ in found if m == "efficiency"] == [(1, 80), (2, pytest.approx(200 / 3))]


def test_windows_in_another_order_are_refused():
    with pytest.raises(Failure):
        list(paper.of_knoise(result("knoise", "computing", (2,), [window(16), window(17), window(16), window(17)])))


def test_windows_that_are_missing_are_noticed():
    with pytest.raises(Failure):
        list(paper.of_buffer(result("buffer", "pairs", (1, 2), [window(16)])))


def test_rounds_belong_to_their_number_of_threads():
    windows = [window(label, insns=n) for n in (3, 4) for _ in range(paper.FORKS) for label in (16, 17)]
    rows = list(paper.of_fork_join(result("spawn", "threads", (3, 4), windows)))
    assert rows[0] == ("spawn", 3, 3, "instructions") and rows[-1] == ("join", 4, 4, "instructions")
    assert len(rows) == 4


def test_an_interval_is_that_of_student():
    assert paper.interval([5.0]) == (5, 5, 5) and paper.interval([5.0, 5.0, 5.0]) == (5, 5, 5)
    mean, low, high = paper.interval([4.0, 6.0])
    assert (mean, low, high) == (5, pytest.approx(5 - 12.71), pytest.approx(5 + 12.71))


def test_a_run_is_known_by_what_it_was_made_from(tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "BUILD", str(tmp_path))
    monkeypatch.setattr(paper.builder, "BUILD", str(tmp_path))
    for name in ("hosted/atoll-host", "hosted/bin/buffer"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    keys = {paper.Run("buffer", "hosted", "crowd", ["--to", to], seed).key() for to in "12" for seed in (1, 2)}
    (tmp_path / "hosted/bin/buffer").write_text("2")
    keys.add(paper.Run("buffer", "hosted", "crowd", ["--to", "1"], 1).key())
    assert len(keys) == 5


def test_the_plan_has_the_parameters_of_the_table():
    runs = [r for _, r in paper.plan(["riscv64"], False)]
    sizes = {r.args[r.args.index("--bytes") + 1] for r in runs if r.program == "buffer"}
    assert sizes == {"1024", "2048", "4096", "8192"}
    assert all(r.args[r.args.index("--to") + 1] == "14" for r in runs if r.program in ("knoise", "fork_join"))
