# SPDX-License-Identifier: MIT
"""The stored results hold what they promise; the page is whole, fetches nothing, and shows no
figure that was not measured.
"""

import csv
import html.parser
import json
import os
import random

import pytest

from codesign import additive, cli, compare, cycles, gather, paper, page, report, rtl, space, store

pytestmark = [pytest.mark.slow]

VOID = {"meta", "br", "img", "link", "path", "use", "rect", "circle"}


class Shape(html.parser.HTMLParser):
    """Collects text, ids and references; complains about tags that do not match."""

    def __init__(self, text):
        super().__init__()
        self.stack, self.wrong, self.text, self.ids, self.links = [], [], [], set(), []
        self.feed(text)
        self.wrong += self.stack

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.stack.append(tag)
        found = dict(attrs)
        self.ids.add(found.get("id"))
        self.links += [v for k, v in found.items() if k in ("href", "src", "xlink:href") and v]

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.stack or self.stack.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def rows(monkeypatch):
    """Lets a test say which cycles were measured."""
    def put(found):
        monkeypatch.setattr(cycles, "kept", lambda: (found, "test"))
        return gather.gather("quick", lambda text: None)
    return put


def row(benchmark, setup, kernel, value, replication=0):
    return {"benchmark": benchmark, "setup": setup,
            "cores": [space.canonical(kernel)] + [space.canonical("u-core")] * 3, "replication": replication,
            "latency": 0, "cycles": value, "source": "s"}


def test_the_stored_results_hold_the_published_structure():
    results = gather.stored_results()
    assert [g for g in compare.gates(results) if not g[1]] == []
    data = gather.Data(results, "")
    assert (data.model.w > 0).all() and len(data.unseen) > 1
    drawn = [s for s in data.spots if s[0] in additive.spot_points()]
    assert len(drawn) == len(additive.spot_points()) and additive.worst_percent(drawn, "lut") < 5
    assert additive.worst_percent(data.spots, "lut") < 7 and additive.worst_percent(data.spots, "ff") == 0


def test_a_gate_fails_when_a_figure_does():
    results = {n: dict(r) for n, r in gather.stored_results().items()}
    results[space.changed("i-core", predictor="gshare")]["ff"] += 1
    assert [what for what, holds, _ in compare.gates(results) if not holds] == ["ff_branch_gshare"]
    results[space.canonical("k-core")]["lut"] = 9999
    assert "lut_rank_correlation" in [what for what, holds, _ in compare.gates(results) if not holds]


@pytest.mark.parametrize("seed", range(6))
def test_stored_results_that_were_touched_are_refused(seed):
    rng = random.Random(seed)
    with open(store.PATH, encoding="utf-8") as f:
        text = list(f.read())
    spot = rng.choice([i for i, c in enumerate(text) if c.isdigit() and i > 100])
    text[spot] = str((int(text[spot]) + 1 + rng.randrange(8)) % 10)
    with pytest.raises(store.Damaged, match="checksum"):
        store.parse("".join(text))


def test_stored_results_of_two_sources_are_refused():
    records = store.read()
    assert store.parse(store.text(records)) == sorted(records,
                                                      key=lambda r: (r["rtl"], r["flow"],
                                                                     space.names().index(r["config"])))
    records[0]["source"] = "another"
    with pytest.raises(store.Damaged, match="different sources"):
        store.parse(store.text(records))


def test_without_measured_cycles_no_cycles_are_shown(rows, tmp_path):
    data = rows([])
    shape = Shape(report.html(data))
    text = " ".join(shape.text)
    assert not shape.wrong and text.count("not measured yet") >= 12 + 3 and {a for a,
                                                                             _ in report.NAVIGATION} <= shape.ids
    assert all(link.startswith("#") for link in shape.links) and "http" not in report.page.CSS
    report.write(data, str(tmp_path))
    with open(tmp_path / "table3.csv", encoding="utf-8") as f:
        assert all(r["cycles"] == "" and r["replications"] == "0" for r in csv.DictReader(f))
    with open(tmp_path / "space.csv", encoding="utf-8") as f:
        found = list(csv.DictReader(f))
    assert len(found) == 192 and all(r["slowdown"] == "" for r in found)


def test_measured_cycles_fill_the_table_and_the_third_axis(rows, tmp_path):
    found = [row("buffer", s, k, c + i, i) for s, k,
             c in (("u", "u-core", 2000), ("k", "k-core", 2100), ("k-opt", "k-core", 1900)) for i in range(3)]
    found += [row("buffer", "dse", n, 1000 + 10 * i) for i, n in enumerate(additive.base_points())]
    found.append({**row("buffer", "k-opt", "k-core", 4000),
                  "cores": [space.canonical("k-core")] + [space.canonical("u-core")] * 7,
                  "activity": [{"core": i, "cycles": 4000, "gated": 0, "toggles": 60000, "bits": 300}
                               for i in range(8)]})
    for r in found[:9]:
        r["activity"] = [{"core": i, "cycles": 2000, "gated": 500 * (i > 0), "toggles": 60000,
                          "bits": 300} for i in range(4)]
    data = rows(found)
    shape = Shape(report.html(data))
    text = " ".join(shape.text)
    assert (
        not shape.wrong
        and "\u22125.0 %" in text
        and text.count("not measured yet") == 1 + 9 + 4 * 4 + 1
        and "clock stopped" in text
    )
    assert len(data.front) > 1 and all(p.slowdown for p in data.points)
    with open(os.path.join(os.path.dirname(report.write(data, str(tmp_path))), "table3.csv"), encoding="utf-8") as f:
        kept = [r for r in csv.DictReader(f) if r["cycles"]]
    assert [float(r["cycles"]) for r in kept] == [2001, 2101, 1901] and float(kept[0]["uj"]) == pytest.approx(
        data.u_mw * 1e3 * 2001 / 50e6, abs=0.001
    )


def test_the_figures_of_the_page_are_those_of_the_files(rows):
    data, text = rows([]), None
    text = " ".join(Shape(report.html(data)).text)
    assert (
        f"{data.saving.value:.1f} %" in text
        and data.source in text
        and page.number(data.results[paper.I_CORE]["lut"]) in text
    )


def test_missing_results_say_what_to_do(monkeypatch):
    monkeypatch.setattr(store, "read", lambda path=None: [])
    with pytest.raises(rtl.Missing, match="run ./atoll codesign without --quick"):
        gather.stored_results()


def test_the_command_shows_configurations_and_refuses_others(capsys):
    have = store.results()
    missing = [n for n in space.names() if n not in have]
    assert cli.main(["quick", "", "k-core", *missing[:1]]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("k-core") and "(synthesised)" in out[0] and all("(predicted)" in line
                                                                             for line in out[1:1 + len(missing[:1])])
    assert cli.main(["quick", "",
                     "gshare-barrel-div-mul-fpu-3way"]) == 2 and "use one of 1way" in capsys.readouterr().err


def test_a_bad_row_of_cycles_ends_with_a_line(monkeypatch, capsys, tmp_path):
    (tmp_path / "x.jsonl").write_text(json.dumps({"benchmark": "buffer"}))
    monkeypatch.setattr(cycles, "kept", lambda: (cycles.read(str(tmp_path / "x.jsonl")), ""))
    assert cli.main(["quick", str(tmp_path)]) == 1 and "x.jsonl:1: no good value for 'setup'" in capsys.readouterr().err


def test_numbers_read_well():
    assert (
        page.signed(-1234.5, 1) == "\u22121\u202f234.5"
        and page.signed(-0.01, 1) == "\u00b10.0"
        and page.number(1234567) == "1\u202f234\u202f567"
    )
    assert page.table(["a"], [["<b>"]]).count("&lt;b&gt;") == 1
