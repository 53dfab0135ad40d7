# SPDX-License-Identifier: MIT
"""What is printed is what is kept: figures of the docs and of the report, worked out a second time
from the files in the plainest way.
"""

import csv
import itertools
import json
import math
import os
import re
import statistics

import numpy as np
import pytest
from scipy import optimize

from codesign import better, figures, gather, measure, paper, power, report, rtl, space, timing, today

pytestmark = [pytest.mark.slow]

U = "u-core"
RESULTS = os.path.join(rtl.ROOT, "hw", "results")


def kept_rows():
    """The kept cycles as they lie in the file."""
    with open(os.path.join(RESULTS, "cycles.jsonl"), encoding="utf-8") as f:
        return [json.loads(line) for line in f if not line.startswith("#")]


def kept_cores():
    """{configuration: its row} of the kept syntheses of the paper's core."""
    with open(os.path.join(RESULTS, "synth.csv"), encoding="utf-8") as f:
        rows = list(csv.DictReader(line for line in f if not line.startswith("#")))
    return {r["config"]: r for r in rows if (r["rtl"], r["flow"]) == (rtl.PAPER, "default")}


def mean_ratio(rows, benchmark, one, other):
    """Mean over link orders of one set-up's cycles over another's."""
    sides = [{r["replication"]: r["cycles"] for r in rows
              if (r["benchmark"], r["setup"], r.get("latency", 0), len(r["cores"])) == (benchmark, s, 0, 4)}
              for s in (one, other)]
    return statistics.fmean(sides[0][i] / sides[1][i] for i in sorted(set(sides[0]) & set(sides[1])))


def naive_fit(features, cores, mw):
    """Weights and leave-one-out error of a subset."""
    x = np.array([[1.0 if f == "const" else float(c[f]) for f in features] for c in cores])
    errors = []
    for i in range(len(mw)):
        w = optimize.nnls(np.delete(x, i, 0), np.delete(mw, i))[0]
        errors.append((x[i] @ w - mw[i]) ** 2)
    return optimize.nnls(x, mw)[0], math.sqrt(sum(errors) / len(errors))


def naive_model(cores, mw, names=power.CANDIDATES):
    """(features, weights) of the subset that leaves out best."""
    found = []
    for n in range(1, len(names) + 1):
        for features in itertools.combinations(names, n):
            w, error = naive_fit(features, cores, np.array(mw, float))
            if (w > 0).all():
                found.append((error, features, w))
    return min(found, key=lambda f: f[0])


def milliwatts(model, core):
    return sum(w * (1.0 if f == "const" else float(core[f])) for f, w in zip(model[1], model[2]))


@pytest.fixture(scope="module")
def page():
    with open(figures.PAGE, encoding="utf-8") as f:
        return f.read()


@pytest.fixture(scope="module")
def data():
    return gather.gather("quick", lambda text: None)


def test_the_docs_have_the_figures_that_are_kept(page, data):
    assert figures.split(page)[1] == figures.table(data), "run .venv/bin/python3 tools/codesign/figures.py"


def test_a_figure_that_was_changed_by_hand_is_found(page, data):
    table = figures.table(data)
    spots = [m.start() for m in re.finditer(r"\d", table)]
    for spot in spots[:: max(1, len(spots) // 40)]:
        other = table[:spot] + str((int(table[spot]) + 1) % 10) + table[spot + 1:]
        assert figures.split(page.replace(table, other))[1] != table


def test_the_savings_are_those_of_the_kept_syntheses(page, data):
    cores, label = kept_cores(), {r[0]: r for r in paper.TABLE2}
    k, u = (cores[label[n][1]] for n in ("K-Core", "U-Core"))
    rows = list(label.values())
    fitted = naive_model([cores[r[1]] for r in rows], [r[6] for r in rows])
    others = [r for r in rows if r[0] not in ("K-Core", "U-Core")]
    unseen = naive_model([cores[r[1]] for r in others], [r[6] for r in others], ("lut", "ff", "const"))
    errors = []
    for i, r in enumerate(rows):
        rest = rows[:i] + rows[i + 1:]
        errors.append((milliwatts(naive_model([cores[x[1]] for x in rest], [x[6] for x in rest]),
                                  cores[r[1]]) - r[6]) ** 2)
    text = report.html(data)
    for model in (fitted, unseen):
        saving = 25 * (1 - milliwatts(model, k) / milliwatts(model, u))
        assert f"{saving:.1f} % (" in figures.split(page)[1] and f"<b>{saving:.1f} %</b>" in text
    left_out = f"{math.sqrt(sum(errors) / 9):.2f} mW"
    assert left_out in page and left_out in text


def test_the_ratios_are_those_of_the_kept_rows(page, data):
    rows, text = kept_rows(), report.html(data)
    for one, other in (("k-opt", "u-opt"), ("k-opt", "u"), ("k", "u"), ("k-o3", "u-o3")):
        for benchmark in paper.BENCHMARKS:
            if any(r["setup"] == one for r in rows):
                assert f"{mean_ratio(rows, benchmark, one, other):.3f} ± " in figures.split(page)[1], (
                    one,
                    other,
                    benchmark,
                )
    for benchmark in paper.BENCHMARKS:
        assert f"{mean_ratio(rows, benchmark, 'k-opt', 'u-opt'):.4f} ± " in text
        own = [r["cycles"] for r in rows if (r["benchmark"], r["setup"], r.get("latency", 0),
                                             len(r["cores"])) == (benchmark, "k-opt", 0, 4)]
        assert (
            f"{statistics.fmean(own):,.{1 if statistics.fmean(own) < 10000 else 0}f} ± ".replace(",", "\u202f") in text
        )


class Measured:
    """Rows of a stand-in: cycles by the cache's ways."""

    def __init__(self, factors, spread=0.0005):
        rng = np.random.default_rng(2)
        self.rows = [{"benchmark": b, "setup": "dse", "cores": [core, *[space.canonical(U)] * 3],
                      "replication": r, "latency": n,
                      "cycles": 1000 * factors[ways] * (1 + rng.normal(0, spread))}
                     for n in (0, 10) for b in paper.BENCHMARKS for r in range(6) for ways,
                     core in measure.cache_cores().items()]


@pytest.mark.parametrize("factors, words", [
    ({"1way": 1, "2way": 1.02, "4way": 1.03, "8way": 1.02}, "is <b>confirmed"),
    ({"1way": 1, "2way": 0.97, "4way": 1.02, "8way": 1.02}, "not confirmed"),
    ({"1way": 1, "2way": 1, "4way": 1, "8way": 1}, "nothing differs"),
    ({"1way": 1, "2way": 1.0, "4way": 1.03, "8way": 1.02}, "is <b>not confirmed")])
def test_the_caches_verdict_follows_the_rows(factors, words):
    assert words in better.caches(Measured(factors))


def test_one_link_order_is_no_verdict():
    data = Measured({"1way": 1, "2way": 0.9, "4way": 0.9, "8way": 0.9})
    data.rows = [r for r in data.rows if not r["replication"]]
    assert "one link order is measured" in better.caches(data) and "not confirmed" in better.caches(data)


def test_no_rows_at_all_are_no_verdict():
    class Nothing:
        rows = []
    assert better.caches(Nothing) == better.outside(Nothing) == better.latencies(Nothing) == ""


def test_the_kernel_of_today_is_shown_beside_the_studys(tmp_path):
    def run(job):
        return [job.row("r_kcall", 660 + job.replication)]
    path = str(tmp_path / "today.json")
    rows = today.measured(2, lambda text: None, run, path)
    with open(path, encoding="utf-8") as f:
        rooms = json.load(f)["rooms"]
    assert today.read(rooms, path) == rows and today.read({**rooms, "kernel": "other"},
                                                          path) == [] and today.read(rooms, path + "x") == []

    class Data:
        kernel_changed = "kernel"
    Data.today, Data.rows = rows, [{**r, "cycles": 600, "replication": i} for r in rows for i in range(3)]
    text = timing.kernel_of_today(Data)
    assert "660 (1.101)" in text.replace("661", "660").replace("1.102",
                                                               "1.101") and "has changed since in kernel" in text
    Data.today = []
    assert "not measured yet" in timing.kernel_of_today(Data)


def test_the_page_of_ports_has_the_kept_cycles():
    rows = [r for r in kept_rows() if (r["setup"], r["latency"], len(r["cores"])) == ("k-opt", 0, 4)]
    with open(os.path.join(rtl.ROOT, "docs", "ports.md"), encoding="utf-8") as f:
        text = " ".join(f.read().split())

    def mean(benchmark, per=1):
        return statistics.fmean(r["cycles"] for r in rows if r["benchmark"] == benchmark) / per
    assert (f"a local call takes {mean('l_kcall'):.0f} cycles, a void remote one "
            f"{mean('r_kcall'):.0f}, a thread {mean('spawn'):,.0f} to create and {mean('join'):,.0f} to join") in text
    assert f"a buffered transfer of 1 KB {mean('buffer', 16):,.0f}, a served request {mean('server', 16):,.0f}." in text
