# SPDX-License-Identifier: MIT
"""Benchmark descriptions and what becomes of a program's output."""

import json

import pytest

import bench
from ui import Usage


def shot():
    return bench.Shot(bench.Bench("x/pp.toml", {}), "hosted", "laptop", {"ranks": 2})


def test_every_shipped_description_can_be_read():
    for b in bench.load_all().values():
        assert b.get("description") and b.points(False) and b.points(True)


def test_the_grid_is_every_combination():
    b = bench.Bench("x/a.toml", {"parameters": {"size": [1, 2], "n": 3}, "quick": {"size": [1]}})
    assert b.points(False) == [{"size": 1, "n": 3}, {"size": 2, "n": 3}] and b.points(True) == [{"size": 1, "n": 3}]


def test_once_is_one_run_of_each_point():
    (several,), (once,) = (bench.choose(bench.Options(["a2a", *more])) for more in ([], ["--once"]))
    assert several.get("repetitions") > 1 and once.get("repetitions") == 1


def test_rows_of_several_runs_become_a_median():
    samples = bench.parse_rows("hello\nrow half 3.0 ns size=8\nrow half 1 ns size=8\n"
                               "row half 2 ns size=8\nrow rate 5e6 1/s\n")
    rows = bench.merge(shot(), samples)
    assert rows[0] == {"name": "half", "params": {"ranks": 2, "size": "8"}, "value": 2, "unit": "ns",
                       "port": "hosted", "machine": "laptop", "n": 3}
    assert rows[1]["value"] == 5000000 and rows[1]["n"] == 1


@pytest.mark.parametrize("line", ["row", "row a b c", "row a 1", "xrow a 1 ns", "row a 1 ns junk"])
def test_what_is_no_row_is_left_alone(line):
    assert bench.parse_rows(line) == []


def test_windows_become_rows():
    window = {"hart": 1, "window": 0, "label": 16, "insns": 90, "user": 30, "kernel": 60, "polls": 1,
              "poll_insns": 4, "entries": 1, "interrupts": 0,
              "others": [{"hart": 0, "user": 0, "kernel": 50}], "total": 140}
    lines = [json.dumps(window), json.dumps({**window, "label": 17}), json.dumps({"exit": True, "hart": 0})]
    specs = [{"name": "call", "label": 16, "per": 10}, {"name": "call", "label": 16, "count": "others"},
             {"name": "call", "label": 17, "per": "calls"}]
    assert bench.parse_windows(lines, specs, {"calls": 9}) == [
        ("call", 9, "instructions", {"count": "insns"}), ("call", 50, "instructions", {"count": "others"}),
        ("call", 10, "instructions", {"count": "insns"})]


def test_windows_of_a_run_in_rtl_become_rows():
    report = {"windows": [{"label": 16, "times": 2, "cycles": 600},
                          {"label": 17, "times": 0, "cycles": 0}, {"label": 9, "times": 1, "cycles": 5}]}
    specs = [{"name": "spawn", "label": 16, "per": "threads"}, {"name": "join", "label": 17}]
    assert bench.parse_report(report, specs, {"threads": 3}) == [("spawn", 100, "cycles", {})]


def test_of_many_windows_in_rtl_there_are_the_extremes_and_the_exceptions_of_their_core():
    report = {"windows": [{"core": 1, "label": 16, "times": 4, "cycles": 20, "least": 4, "most": 8,
                           "each": [4, 4, 5, 8], "cores": [{"exceptions": 9}, {"exceptions": 2}]}]}
    specs = [{"name": "slice", "label": 16, "count": count}
             for count in ("cycles", "least", "most", "longer", "exceptions")]
    assert bench.parse_report(report, specs, {}) == [
        ("slice", 5, "cycles", {"count": "cycles"}), ("slice", 4, "cycles", {"count": "least"}),
        ("slice", 8, "cycles", {"count": "most"}), ("slice", 2, "windows", {"count": "longer"}),
        ("slice", 2, "exceptions", {"count": "exceptions"})]


def test_an_unknown_key_is_refused():
    with pytest.raises(Usage, match="unknown key 'colour'"):
        bench.Bench("x/a.toml", {"colour": 1})


@pytest.mark.parametrize("argv, words",
                         [(["--port", "vax"], "unknown port"),
                          (["--icount", "--port", "hosted"], "--icount is for"),
                          (["--rtl", "--port", "hosted"], "--rtl is for"), (["--fast"], "unknown option"),
                                         (["--json"], "needs a value")])
def test_bad_options_are_refused(argv, words):
    with pytest.raises(Usage, match=words):
        bench.Options(argv)
