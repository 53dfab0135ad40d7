# SPDX-License-Identifier: MIT
"""The sweep's cache: resumes after a kill, never mixes sources, survives damaged files, says what
is missing. The synthesiser is a stand-in.
"""

import json
import os
import random
import signal
import subprocess
import sys

import pytest

from codesign import rtl, space, store, synth

CELLS = {"LUT6": 10, "LUT2": 5, "RAM64M": 2, "RAM64X1D": 3, "FDRE": 7, "FDSE": 2, "MUXF7": 1,
         "RAMB36E1": 2, "RAMB18E1": 3, "DSP48E1": 3, "INV": 9, "CARRY4": 4}


@pytest.fixture
def core(tmp_path):
    """A core package that is not the real one."""
    folder = tmp_path / "rtl" / f"{rtl.PACKAGE}-{rtl.PAPER}" / "pythondata_cpu_mor1kx/verilog/rtl/verilog"
    (folder / "pfpu32").mkdir(parents=True)
    (folder / "mor1kx.v").write_text("module mor1kx; endmodule\n")
    (folder / "mor1kx-defines.v").write_text("`define X 1\n")
    (folder / "pfpu32" / "pfpu32_top.v").write_text("module pfpu32_top; endmodule\n")
    return tmp_path / "rtl"


@pytest.fixture(autouse=True)
def version(monkeypatch):
    monkeypatch.setattr(synth, "tool_version", lambda name=synth.TOOL: "1.0")


class Tool:
    """Counts its runs; gives each configuration its own number of LUTs."""

    def __init__(self):
        self.runs = []

    def __call__(self, folder):
        with open(os.path.join(folder, "core_params.vh"), encoding="utf-8") as f:
            text = f.read()
        assert (
            os.path.exists(os.path.join(folder, "rtl", "mor1kx.v"))
            and "@" not in open(os.path.join(folder, "run.ys")).read().split("\n", 1)[1]
        )
        self.runs.append(text)
        return {**CELLS, "LUT6": len(self.runs)}


def quiet(_):
    pass


def test_resources_are_counted_by_kind():
    assert synth.count(CELLS) == {"lut": 15 + 8 + 6, "lutram": 14, "ff": 9, "f7": 1, "f8": 0, "bram36": 3.5, "dsp": 3}


def test_a_sweep_takes_what_is_there_and_makes_what_is_missing(core, tmp_path):
    source, tool, cache = synth.Source(base=str(core)), Tool(), str(tmp_path / "cache")
    first = synth.sweep(["i-core", "k-core"], source, cache, tool, quiet)
    again = synth.sweep(["u-core", "k-core", "i-core"], source, cache, tool, quiet)
    assert len(tool.runs) == 3 and all(again[n] == first[n] for n in first)
    assert '.FEATURE_BRANCH_PREDICTOR("GSHARE")' in tool.runs[2] and ".OPTION_ICACHE_WAYS(2)" in tool.runs[2]
    assert not [f for f in os.listdir(cache) if f.startswith("work-")]


@pytest.mark.parametrize("change", ["rtl", "include", "tool", "flow"])
def test_results_of_different_sources_never_meet(core, tmp_path, monkeypatch, change):
    tool, cache = Tool(), str(tmp_path / "cache")
    synth.sweep(["i-core"], synth.Source(base=str(core)), cache, tool, quiet)
    name = {"rtl": "mor1kx.v", "include": "mor1kx-defines.v"}.get(change)
    if name:
        path = next(p for p in core.rglob(name))
        path.write_text(path.read_text() + "// changed\n")
    if change == "tool":
        monkeypatch.setattr(synth, "tool_version", lambda name=synth.TOOL: "1.1")
    synth.sweep(["i-core"], synth.Source(flow="nolutram" if change == "flow" else "default",
                                         base=str(core)), cache, tool, quiet)
    assert len(tool.runs) == 2 and len({json.load(open(f))["source"] for f in (tmp_path / "cache").glob("*.json")}) == 2


@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_result_is_said_and_made_again(core, tmp_path, seed):
    rng, said = random.Random(seed), []
    source, tool, cache = synth.Source(base=str(core)), Tool(), tmp_path / "cache"
    synth.sweep(["i-core"], source, str(cache), tool, quiet)
    path = next(cache.glob("*.json"))
    data = bytearray(path.read_bytes())
    spot = rng.randrange(len(data))
    if seed % 3 == 0:
        del data[spot:]
    elif seed % 3 == 1:
        spot = data.index(b'"FDRE": 7') + 8
        data[spot] = ord("8")
    else:
        data[spot] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
    found = synth.sweep(["i-core"], source, str(cache), tool, said.append)
    assert len(tool.runs) == 2 and any("is damaged: it is made again" in s for s in said)
    assert next(iter(found.values()))["ff"] == 9


def test_a_result_under_another_ones_name_is_not_taken(core, tmp_path):
    source, tool, cache = synth.Source(base=str(core)), Tool(), str(tmp_path)
    synth.sweep(["i-core"], source, cache, tool, quiet)
    os.rename(os.path.join(cache, source.key("i-core") + ".json"), os.path.join(cache, source.key("k-core") + ".json"))
    assert synth.load("k-core", source, cache, quiet) is None


KILLED = """
import os, sys, time
from codesign import synth
synth.tool_version = lambda name=synth.TOOL: "1.0"
count = 0
def tool(folder):
    global count
    count += 1
    open(sys.argv[3], "a").write("x")
    if count == 3:
        print("third", flush=True)
        time.sleep(60)
    return {"LUT6": count}
names = ["i-core", "k-core", "u-core", "simple-serial-div-mul-nofpu-2way"]
synth.sweep(names, synth.Source(base=sys.argv[1]), sys.argv[2], tool, lambda text: None)
"""


def test_a_killed_sweep_resumes_without_repeating(core, tmp_path):
    cache, log = str(tmp_path / "cache"), tmp_path / "runs"
    env = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(synth.__file__))))
    p = subprocess.Popen([sys.executable, "-c", KILLED, str(core), cache, str(log)], env=env,
                         stdout=subprocess.PIPE, text=True)
    assert p.stdout.readline() == "third\n"
    p.send_signal(signal.SIGKILL)
    p.wait()
    tool = Tool()
    names = ["i-core", "k-core", "u-core", "simple-serial-div-mul-nofpu-2way"]
    found = synth.sweep(names, synth.Source(base=str(core)), cache, tool, quiet)
    assert log.read_text() == "xxx" and len(tool.runs) == 2 and len(found) == 4
    assert [found[space.canonical(n)]["lut"] for n in names[:2]] == [1, 2]


def test_a_missing_core_package_says_what_to_do(tmp_path):
    with pytest.raises(rtl.Missing, match="./atoll setup hw"):
        synth.Source(base=str(tmp_path))
    with pytest.raises(rtl.Missing, match="use one of 5.0"):
        synth.Source("6.0")


def test_a_missing_synthesiser_says_what_to_do():
    with pytest.raises(rtl.Missing, match="no-such-tool is not installed: run ./atoll setup hw"):
        synth.tool_path("no-such-tool")


def test_the_command_refuses_what_is_outside_the_space(monkeypatch, core, capsys):
    monkeypatch.setattr(synth.rtl, "VENV", str(core.parent))
    os.rename(core, core.parent / "hw")
    assert synth.main(["simple-barrel-div-mul-nofpu-16way"]) == 2 and "16way" in capsys.readouterr().err
    assert synth.main([]) == 2 and synth.main(["--flow", "x", "i-core"]) == 2


@pytest.mark.parametrize("order", range(3))
def test_the_file_keeps_what_it_has_and_takes_what_the_cache_has(core, tmp_path, order):
    source, tool, cache, path = synth.Source(base=str(core)), Tool(), str(tmp_path / "cache"), tmp_path / "synth.csv"
    names = [["i-core", "k-core"], ["k-core"], ["u-core", "k-core"]][order]
    kept = synth.sweep(names, source, str(tmp_path / "other"), tool, quiet)
    path.write_text(store.text(kept.values()))
    synth.sweep(["u-core"], source, cache, tool, quiet)
    found = store.merged(source, str(path), cache, quiet)
    assert set(found) == {space.canonical(n)
                          for n in [*names, "u-core"]} and {r["source"] for r in found.values()} == {source.hash}
    path.write_text(store.text([{**r, "source": "another"} for r in kept.values()]))
    assert set(store.merged(source, str(path), cache,
                            quiet)) == {space.canonical("u-core")}, "rows of another source stay out"
