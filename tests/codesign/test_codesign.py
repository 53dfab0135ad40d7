# SPDX-License-Identifier: MIT
"""Synthesis of three cores against what the tree keeps, kept runs on the RTL again, every kept file
against its source, and the report.

Flip-flops, multipliers and block RAM are fixed by RTL and script: they must be equal. LUTs may
differ by a little where another host's floating point turns a choice of the mapper.
"""

import os
import subprocess
import sys
import tempfile
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
from codesign import (
    asic, coherence, cycles, instructions, kept, measure, network, replay, rtl, rtlbench, space,
    store, study, synth
)  # noqa: E402

CORES = ("i-core", "k-core", "u-core")
EQUAL = ("ff", "dsp", "bram36")
LUT_TOLERANCE = 0.02


def test_three_cores_synthesise_to_what_is_stored():
    kept, source = store.results(), synth.Source()
    assert (
        store.source_hash(kept) == source.hash
    ), "RTL, script or tool changed: run ./atoll codesign, then tools/codesign/store.py"
    with tempfile.TemporaryDirectory(prefix="synth-", dir=os.path.join(ROOT, "build")) as cache:
        for name, made in synth.sweep(CORES, source, cache).items():
            want = kept[name]
            assert all(made[k] == want[k] for k in EQUAL), (space.title(name), {k: (made[k], want[k]) for k in EQUAL})
            assert abs(made["lut"] / want["lut"] - 1) <= LUT_TOLERANCE, (space.title(name), made["lut"], want["lut"])


def test_kept_runs_come_out_again_to_the_last_cycle():
    """One run of each set-up where the text of the RTL is another than that of the rows: then they
    hold if the behaviour is the same.
    """
    rows = cycles.kept()[0]
    names = replay.USUAL if rows[0]["source"] == study.source() else rtlbench.SETUPS
    found = replay.again(rows, replay.chosen(rows, names), rtlbench.Runner(), lambda text: None)
    wrong = [(words, differences[:3]) for words, differences in found if differences]
    assert len(found) == len(names) and not wrong, wrong


def test_a_kept_cycle_that_is_one_off_is_found():
    rows = cycles.kept()[0]
    key = replay.chosen(rows, replay.USUAL[:1])[0]
    for row in replay.runs(rows)[key].values():
        row["cycles"] += 1
    ((_, wrong),) = replay.again(rows, [key], rtlbench.Runner(), lambda text: None)
    assert len(wrong) == len(replay.runs(rows)[key]), wrong


def test_instructions_are_those_of_the_kept_kernels():
    assert {column: instructions.counts(found) for column,
            found in instructions.analyse_kept().items()} == instructions.read()


def test_the_cells_and_the_network_are_of_their_sources():
    assert {r["source"] for r in asic.read()} == {asic.Source().hash}
    found = network.read()
    assert found["lut"][1] == network.synthesis_hash(), "run .venv/bin/python3 tools/codesign/network.py synthesis"
    assert network.not_again(found) == [], "run .venv/bin/python3 tools/codesign/network.py messages"


def test_data_caches_come_out_again():
    rows = coherence.read()
    assert len({r["source"] for r in rows}) == 1
    for job in (("none", 0, 0), ("lines", 0, 0)):
        assert coherence.not_again(rows, job) == [], "run .venv/bin/python3 tools/codesign/coherence.py"


def test_the_report_comes_from_the_stored_results():
    with tempfile.TemporaryDirectory(prefix="atoll-report-") as folder:
        p = subprocess.run([os.path.join(ROOT, "atoll"), "codesign", "--quick", "--out", folder],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert p.returncode == 0, p.stdout + p.stderr
        assert "FAILS" not in p.stdout and p.stdout.count("holds") == 4, p.stdout
        names = sorted(os.listdir(folder))
        assert names == ["index.html", "instructions.csv", "space.csv", "table2.csv", "table3.csv"], names


def test_a_configuration_outside_the_space_is_a_usage_error():
    p = subprocess.run([os.path.join(ROOT, "atoll"), "codesign", "simple-barrel-div-mul-nofpu-3way"],
                       stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert p.returncode == 2 and "use one of 1way, 2way, 4way, 8way" in p.stderr, (p.returncode, p.stderr)


def main():
    """Speak the test protocol."""
    failed = 0
    os.makedirs(os.path.join(ROOT, "build"), exist_ok=True)
    for name, test in list(globals().items()):
        if not name.startswith("test_"):
            continue
        try:
            test()
            print(f"ok {name[5:]}", flush=True)
        except (AssertionError, rtl.Missing, synth.Broken, kept.Damaged, measure.Failed,
                network.Failed, ValueError, OSError):
            failed = 1
            print(f"FAIL {name[5:]}: {' | '.join(traceback.format_exc().strip().splitlines()[-6:])}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
