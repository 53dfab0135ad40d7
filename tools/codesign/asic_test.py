# SPDX-License-Identifier: MIT
"""The cross-check reads the timing tool's report, keeps what it read, and says what is missing;
stored results stay with their source.
"""

import pytest

from codesign import asic, gather, paper, rtl, space, store, synth

REPORT = """Group                  Internal  Switching    Leakage      Total
----------------------------------------------------------------
Sequential             1.86e-02   4.01e-04   2.52e-07   1.90e-02  68.0%
Combinational          6.18e-03   2.76e-03   5.78e-07   8.94e-03  32.0%
Macro                  0.00e+00   0.00e+00   0.00e+00   0.00e+00   0.0%
Total                  2.48e-02   3.16e-03   8.30e-07   2.79e-02 100.0%
"""


def test_the_report_is_read_in_milliwatts():
    assert asic.milliwatts(REPORT) == {"Sequential": pytest.approx(19.0),
                                       "Combinational": pytest.approx(8.94), "Total": pytest.approx(27.9)}


def test_a_report_without_power_is_a_failure():
    with pytest.raises(synth.Broken, match="no power"):
        asic.milliwatts("Error: cells.lib not found\n")


def test_what_is_kept_is_what_was_written(tmp_path):
    rows = [{"label": r[0], "config": r[1], "source": "s", "area_um2": 1.0 + i, "mw": 10.0 + i,
             "sequential_mw": 5.0, "combinational_mw": 5.0 + i}
            for i, r in enumerate(paper.TABLE2)]
    asic.write(rows, str(tmp_path / "x" / "asic.csv"))
    assert asic.read(str(tmp_path / "x" / "asic.csv")) == rows and 0 < asic.clock_share(rows) <= 0.5
    assert asic.read(str(tmp_path / "none.csv")) == []


def test_a_missing_library_says_what_to_do(monkeypatch, tmp_path):
    with pytest.raises(rtl.Missing, match="./atoll setup asic"):
        asic.check_tools("/nowhere/cells.lib")
    monkeypatch.setattr(asic.shutil, "which", lambda name: name)
    (tmp_path / "cells.lib").write_text("another")
    with pytest.raises(rtl.Missing, match="another cell library"):
        asic.check_tools(str(tmp_path / "cells.lib"))


class Source:
    """Stands in for the installed sources."""

    def __init__(self, version, flow):
        self.hash = self.version = "installed"
        self.flow = flow

    def key(self, name):
        return name


@pytest.mark.parametrize("stored, made", [("installed", 1), ("other", 2)])
def test_stored_results_are_used_only_if_they_are_of_the_installed_source(monkeypatch, stored, made):
    said, asked = [], []
    monkeypatch.setattr(synth, "Source", Source)
    monkeypatch.setattr(store, "results", lambda version, flow,
                        path=None: {space.canonical("i-core"): {"source": stored, "config": space.canonical("i-core")}})
    monkeypatch.setattr(store, "cached", lambda source, cache, say: {})
    monkeypatch.setattr(synth, "sweep", lambda names, source,
                        say: asked.extend(names) or {n: {"source": source.hash, "config": n} for n in names})
    names = [space.canonical("i-core"), space.canonical("k-core")]
    found = gather.synthesised(rtl.PAPER, "default", names, said.append)
    assert len(asked) == made and {r["source"] for r in found.values()} == {"installed"} and len(found) == 2
    assert bool(said) == (stored == "other")
