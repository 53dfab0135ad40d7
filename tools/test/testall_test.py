# SPDX-License-Identifier: MIT
"""What is built before the tests that were asked for."""

import os

import results
import testall
from ui import ROOT


def built(*names):
    return {b.name for b in testall.needed_builds(names, testall.build_tasks())}


def test_all_tests_need_all_builds():
    assert built() == built("mpi") == built("model", "process.deadlock") == {b.name for b in testall.build_tasks()}


def test_few_tests_need_few_builds():
    assert built("model.doorbell") == built("check", "model") == set()
    assert built("coroutine.kernel_kill") == {"build.coroutine"}
    assert built("kernel.riscv64.limits", "unit") == {"build.riscv64", "build.riscv64.tests", "build.unit"}


def test_each_need_is_a_build():
    names = {b.name for b in testall.build_tasks()}
    assert {f"build.{n}" for needs in testall.NEEDS.values() for n in needs} <= names


def test_more_seeds_are_tried_only_when_they_are_named():
    long = {t.name for t in testall.long_tasks(["coroutine.all", "hw.chip"])}
    assert long == {f"coroutine.all.{name}" for name in testall.FEWER_SEEDS} | {"hw.chip.all"}
    assert not long & {t.name for _, tasks in testall.all_tasks() for t in tasks}
    assert built("coroutine.all") == {"build.coroutine"}
    assert testall.long_tasks(["mpi", "boot"]) == []


def test_whoever_has_fewer_seeds_is_a_program():
    folder = os.path.join(ROOT, "tests", "coroutine")
    assert all(os.path.exists(os.path.join(folder, name + ".c")) for name in testall.FEWER_SEEDS)


def test_the_times_are_written_by_group_and_by_program(tmp_path):
    found = [results.Result("mpi.hosted.a.2", "passed", "", 3.0), results.Result("mpi.hosted.b.2", "failed", "", 4.0),
             results.Result("unit.list_test", "passed", "", 5.0), results.Result("unit.list_test.more", "passed")]
    testall.write_times(found, tmp_path / "times")
    lines = [line.split() for line in (tmp_path / "times").read_text().splitlines()]
    assert lines == [["7.0", "mpi.hosted.*"], ["5.0", "unit.list_test.*"],
                     ["5.0", "unit.list_test"], ["4.0", "mpi.hosted.b.2"], ["3.0", "mpi.hosted.a.2"]]
