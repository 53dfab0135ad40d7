# SPDX-License-Identifier: MIT
"""Building simulators: what is missing is said, a simulator is built once per everything that goes
into it, a killed build leaves nothing.
"""

import os
import shutil

import pytest

from codesign import rtl
from rtl import build, config, firmware, simulator

TINY = "module tiny (input logic clk, output logic q); always_ff @(posedge clk) q <= ~q; endmodule\n"
MAIN = '#include "Vtiny.h"\nint main() { Vtiny s; s.clk = 1; s.eval(); return 0; }\n'


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder for what is built, and two sources."""
    monkeypatch.setattr(build, "OUT", str(tmp_path / "out"))
    (tmp_path / "tiny.sv").write_text(TINY)
    (tmp_path / "main.cpp").write_text(MAIN)
    return tmp_path


def test_a_missing_simulator_is_said(monkeypatch, tmp_path):
    (tmp_path / "mor1kx.v").write_text("")
    monkeypatch.setattr(rtl, "folder", lambda version, base=None: str(tmp_path))
    monkeypatch.setattr(build, "VERILATOR", "/nowhere")
    with pytest.raises(simulator.SimulatorError, match="Verilator is not installed: run ./atoll setup hw"):
        simulator.build(config.Cluster(["k-core"]))


def test_a_missing_compiler_is_said(monkeypatch):
    monkeypatch.setattr(build.shutil, "which", lambda name: None)
    monkeypatch.setattr(build.os.path, "exists", lambda path: True)
    with pytest.raises(build.BuildError, match="g\\+\\+ is not installed"):
        build.program("x", "x", [], [], {})
    with pytest.raises(build.BuildError, match="or1k-elf-gcc is not installed"):
        firmware.elf("selftest")


def test_a_missing_core_is_said(monkeypatch):
    monkeypatch.setattr(rtl, "VENV", "/nowhere")
    with pytest.raises(simulator.SimulatorError, match="core package .* is not installed: run ./atoll setup hw"):
        simulator.build(config.Cluster(["k-core"]))


def test_a_missing_program_is_said():
    with pytest.raises(simulator.SimulatorError, match="nothing.elf is missing"):
        simulator.run(config.Cluster(["k-core"]), "/nothing.elf")


@pytest.mark.slow
def test_built_once_and_again_when_a_source_changes(place):
    if not os.path.exists(build.VERILATOR) or not shutil.which(build.CXX):
        pytest.skip("the simulator is not installed")
    sources = [str(place / "tiny.sv")], [str(place / "main.cpp")]
    first = build.program("tiny", "tiny", *sources, {})
    made = os.stat(first).st_mtime_ns
    assert build.program("tiny", "tiny", *sources, {}) == first and os.stat(first).st_mtime_ns == made
    (place / "tiny.sv").write_text(TINY.replace("~q", "q"))
    assert build.program("tiny", "tiny", *sources, {}) != first
    (place / "tiny.sv").write_text("module tiny (")
    with pytest.raises(build.BuildError, match="Verilator failed"):
        build.program("tiny", "tiny", *sources, {})
    (place / "tiny.sv").write_text(TINY)
    assert build.program("tiny", "tiny", *sources, {}) == first
