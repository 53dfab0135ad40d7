# SPDX-License-Identifier: MIT
"""What is built before the tests that were asked for."""

import testall


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
