# SPDX-License-Identifier: MIT
"""Rows of measured cycles: read whole or refused with a place; sources stay apart; intervals are
Student's.
"""

import json
import random

import pytest

from codesign import cycles, kept, space

GOOD = {"benchmark": "r_kcall", "setup": "k", "cores": ["k-core"] + ["u-core"] * 3, "replication": 0,
        "latency": 0, "cycles": 100, "source": "a"}


def lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(r) for r in rows) + "\n\n")
    return str(path)


def test_a_row_gets_canonical_configurations(tmp_path):
    assert cycles.read(lines(tmp_path / "a.jsonl", [GOOD]))[0]["cores"][0] == space.canonical("k-core")


@pytest.mark.parametrize("change, words", [
    ({"cycles": 0}, "more than 0"), ({"cycles": "1"}, "'cycles'"), ({"cores": []}, "more than 0"),
    ({"cores": ["x-core"]}, "no configuration"),
    ({"replication": True}, "'replication'"), ({"source": None}, "'source'")])
def test_a_bad_row_is_refused_with_its_place(tmp_path, change, words):
    with pytest.raises(cycles.BadRow, match="b.jsonl:2: .*" + words):
        cycles.read(lines(tmp_path / "b.jsonl", [GOOD, {**GOOD, **change}]))


@pytest.mark.parametrize("text", ["{", "[]", "1", "nonsense"])
def test_text_that_is_no_row_is_refused(text):
    with pytest.raises(cycles.BadRow):
        cycles.parse(text, "x:1")


def test_fresh_rows_replace_the_kept_ones_as_a_whole(tmp_path):
    stored = str(tmp_path / "stored.jsonl")
    kept.write(stored, cycles.compact([GOOD, {**GOOD, "replication": 1}]))
    assert len(cycles.everything(stored, str(tmp_path / "none"))[0]) == 2
    lines(tmp_path / "fresh" / "x.jsonl", [{**GOOD, "source": "b"}])
    assert [r["source"] for r in cycles.everything(stored, str(tmp_path / "fresh"))[0]] == ["b"]


def test_kept_rows_that_were_touched_are_refused(tmp_path):
    stored = tmp_path / "stored.jsonl"
    kept.write(str(stored), cycles.compact([GOOD]))
    assert cycles.kept(str(stored))[0][0]["cycles"] == 100
    stored.write_text(stored.read_text().replace('"cycles":100', '"cycles":101'))
    with pytest.raises(kept.Damaged, match="the checksum in its first line does not fit"):
        cycles.kept(str(stored))


def test_latencies_are_never_averaged_together():
    rows = [{**GOOD, "cores": [space.canonical(c) for c in GOOD["cores"]], "latency": n, "cycles": 100 + n}
            for n in (0, 10)]
    assert [s.mean for n in (0, 10) for s in cycles.summarise(rows, n).values()] == [100, 110]


@pytest.mark.parametrize("seed", range(10))
def test_sources_are_never_averaged_together(seed):
    rng = random.Random(seed)
    rows = [{**GOOD, "replication": i, "source": rng.choice("aab"), "cycles": rng.randrange(1, 1000)}
            for i in range(30)]
    of_one, left = cycles.one_source(rows)
    assert len({r["source"] for r in of_one}) == 1 and len(of_one) + left == 30 and len(of_one) >= left
    (found,) = cycles.summarise(of_one).values()
    values = [r["cycles"] for r in of_one]
    assert min(values) <= found.mean <= max(values) and found.n == len(values) and found.half > 0


def test_the_interval_of_two_replications_is_wide():
    rows = [{**GOOD, "replication": i, "cycles": c} for i, c in enumerate((100, 102))]
    (found,) = cycles.summarise(rows).values()
    assert found.mean == 101 and abs(found.half - 12.706) < 0.01


def test_what_the_tree_keeps_is_what_was_measured(tmp_path):
    rows = [{**GOOD, "replication": i, "cycles": 100 + i / 7, "activity": [{"core": 0}]} for i in range(5)]
    path, stored = lines(tmp_path / "fresh.jsonl",
                         rows + [{**GOOD, "source": "b", "replication": 9}]), str(tmp_path / "x" / "kept.jsonl")
    assert cycles.keep(path, stored) == 5
    found = cycles.kept(stored)[0]
    assert [round(r["cycles"], 3) for r in rows] == [r["cycles"]
                                                     for r in found] and ["activity" in r
                                                                          for r in found] == [True] * 3 + [False] * 2
    assert found[0]["cores"] == [space.canonical(c) for c in GOOD["cores"]]
