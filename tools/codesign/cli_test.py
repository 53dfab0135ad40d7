# SPDX-License-Identifier: MIT
"""How ./atoll codesign ends: bad input and missing tools in one line, a sweep that is stopped with
what becomes of it.
"""

import os
import signal
import subprocess
import sys

import pytest

from codesign import cli, cycles, measure, rtl, store, synth

HERE = os.path.dirname(os.path.abspath(cli.__file__))
STOPPED = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import cli
def gather(mode, say):
    os.kill(os.getpid(), int(sys.argv[2]))
    signal.pause()
cli.gather.gather = gather
cli.process(["normal", "nowhere"])
"""


@pytest.mark.slow
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_sweep_says_that_it_goes_on(sig):
    p = subprocess.run([sys.executable, "-c", STOPPED, HERE, str(int(sig))], stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, check=False)
    assert (p.returncode, p.stdout, p.stderr) == (130, "", f"atoll: {rtl.STOPPED}\n")


@pytest.mark.parametrize("trouble",
                         [rtl.Missing("the synthesiser x is not installed"), synth.Broken("no end"),
                          store.Damaged("checksum"), cycles.BadRow("x:1"), measure.Failed("k")])
def test_trouble_is_said_without_a_trace(monkeypatch, capsys, trouble):
    def fail(mode, say):
        raise trouble
    monkeypatch.setattr(cli.gather, "gather", fail)
    assert cli.main(["normal", "nowhere"]) == 1 and capsys.readouterr().err == f"atoll: {trouble}\n"


@pytest.mark.slow
def test_a_core_outside_the_space_is_refused(capsys):
    assert cli.main(["normal", "nowhere", "simple-barrel-div-mul-nofpu-3way"]) == 2
    assert "'3way' is no icache; use one of 1way, 2way, 4way, 8way" in capsys.readouterr().err
