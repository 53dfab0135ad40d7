# SPDX-License-Identifier: MIT
"""The MPI test list's lines and how a run is judged."""

import pytest

import results
import testlist
from ui import Usage


def run(status=0, output="No errors\n", timed_out=False):
    return results.Run(status, output, 1.0, timed_out)


def test_the_shipped_list_can_be_read_and_every_line_runs_somewhere():
    for e in testlist.read():
        assert e.machine_on("hosted") or e.machine_on("riscv64")


def test_a_line_is_taken_apart():
    e = testlist.parse_line("flood 8 machine=4x4 policy=scatter path=unopt exit=3 --size 4 a=b  # words", "x:1")
    assert e.path == "unopt"
    assert (e.program, e.ranks, e.policy, e.exit, e.args) == ("flood", 8, "scatter", "3", ["--size", "4", "a=b"])
    assert e.machine_on("hosted") == "hosted-4x4" and e.machine_on("riscv64") == "riscv-4x4"
    assert testlist.parse_line("  # nothing", "x:1") is None


@pytest.mark.parametrize("line, words",
                         [("flood", "expected"), ("flood many", "expected"), ("flood 0", "expected"),
                          ("flood 2 colour=red", "unknown key"),
                                         ("flood 2 machine=toaster", "unknown machine"),
                                         ("flood 2 exit=bad", "numbers"),
                                         ("flood 2 policy=random", "compact or scatter"), ('flood 2 "', "quotation"),
                                         ("flood 2 7 machine=4x4", "behind an argument")])
def test_a_wrong_line_is_refused(line, words):
    with pytest.raises(Usage, match=words):
        testlist.parse_line(line, "x:1")


def test_a_port_without_the_machine_is_left_out():
    names = [t.name for t in testlist.tasks([testlist.parse_line("a 2 machine=288", "x"),
                                             testlist.parse_line("b 1 port=hosted", "x")] * 2)]
    assert names == ["mpi.riscv64.a.2.riscv-288", "mpi.hosted.b.1.laptop",
                     "mpi.riscv64.a.2.riscv-288.2", "mpi.hosted.b.1.laptop.2"]


@pytest.mark.parametrize("line, r, words", [
    ("a 1", run(), None), ("a 1", run(output="hello\n"), "No errors"),
    ("a 1", run(status=1), "exit status 1"), ("a 1 exit=7", run(status=7, output=""), None),
    ("a 1 exit=7", run(), "exit status 0 instead of 7"), ("a 1", run(status=124), "no end"),
    ("a 1", run(timed_out=True), "no end")])
def test_a_run_is_judged(line, r, words):
    why = testlist.judge(testlist.parse_line(line, "x"), r)
    assert (why is None) if words is None else words in why
