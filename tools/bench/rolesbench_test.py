# SPDX-License-Identifier: MIT
"""What is made of the runs on cores of two roles, and that the proof can fail."""

import cmath

import pytest

import paper
import rolesbench
from ui import Failure

NOTHING = dict.fromkeys(rolesbench.KERNELS, 0)
QUIET = {"kernel": 0, "entries": 0, "interrupts": 0}
BUSY = {"kernel": 900, "entries": 5, "interrupts": 3}


def counted(own=(), **window):
    return {"rows": {**NOTHING, **dict(own)}, "series": [], "device_interrupts": 0,
            "windows": [{"label": rolesbench.LABEL, "user": 100, "others": [], **QUIET, **window}]}


def called(entries):
    result = counted()
    result["windows"][0]["others"] = [{"hart": 0, "entries": 0}, {"hart": 4, "entries": entries}]
    return result


def run(expect):
    return rolesbench.Run("riscv64", "ftq", "a case", "--on ac", expect)


@pytest.mark.parametrize("expect, own, plugin", [
    ("quiet", {}, QUIET), ("control", {"thread_switches": 3}, BUSY), (None, {"core_ticks": 7}, BUSY),
    ("faults", {"core_faults": 3, "thread_faults": 3}, BUSY), ("calls", {"thread_calls": 5}, BUSY)])
def test_what_should_be_holds(expect, own, plugin):
    rolesbench.prove(run(expect), counted(own, **plugin))


@pytest.mark.parametrize("expect, own, plugin", [
    *[("quiet", {name: 1}, QUIET) for name in rolesbench.KERNELS],
    *[("quiet", {}, {**QUIET, name: 1}) for name in QUIET], ("control", {}, BUSY),
    ("control", {"thread_switches": 3}, QUIET), ("control", {"thread_switches": 3}, {**BUSY, "interrupts": 0}),
    ("faults", {"core_faults": 3, "thread_faults": 2}, BUSY), ("faults", {}, QUIET),
    ("calls", {"thread_calls": 6}, BUSY), ("calls", {}, QUIET)])
def test_what_should_not_be_is_found(expect, own, plugin):
    with pytest.raises(Failure, match="ftq, a case: "):
        rolesbench.prove(run(expect), counted(own, **plugin))


def test_a_core_is_left_alone_by_others_only_if_they_called():
    rolesbench.prove(run("called"), called(3))
    with pytest.raises(Failure, match="no other core called"):
        rolesbench.prove(run("called"), called(0))


def test_a_core_is_left_alone_by_devices_only_if_one_interrupted():
    rolesbench.prove(run("device"), {**counted(), "device_interrupts": 2})
    with pytest.raises(Failure, match="no device has interrupted"):
        rolesbench.prove(run("device"), called(3))
    with pytest.raises(Failure, match="the kernel ran"):
        rolesbench.prove(run("device"), {**counted(kernel=1), "device_interrupts": 2})


def moved(*slices):
    """A result with these (hart, user, kernel, interrupts), each between two in which it comes and goes."""
    return {"windows": [{"label": rolesbench.LOCAL, "hart": h, "user": u, "kernel": k + way, "interrupts": i + way}
                        for h, u, k, i in slices for way in (1, 0, 0, 1)]}


BEFORE, MEANWHILE = (2, 9, 0, 0), (7, 9, 4, 1)


@pytest.mark.parametrize("slices, wrong", [
    ((BEFORE, MEANWHILE, BEFORE), None), ((BEFORE, MEANWHILE), "harts"), ((BEFORE, MEANWHILE, (3, 9, 0, 0)), "harts"),
    (((2, 9, 1, 1), MEANWHILE, BEFORE), "kernel"), ((BEFORE, MEANWHILE, (2, 9, 1, 0)), "kernel"),
    ((BEFORE, (7, 9, 0, 0), BEFORE), "kernel"), ((BEFORE, (7, 9, 4, 0), BEFORE), "kernel"),
    ((BEFORE, (7, 10, 4, 1), BEFORE), "same work"), (((2, 10, 0, 0), MEANWHILE, BEFORE), "same work")])
def test_a_program_that_falls_back_is_left_alone_on_its_application_core_only(slices, wrong):
    fallback = rolesbench.Run("riscv64", "fallback", "a case", "", "moved")
    if wrong is None:
        rolesbench.prove(fallback, moved(*slices))
        return
    with pytest.raises(Failure, match=wrong):
        rolesbench.prove(fallback, moved(*slices))


@pytest.mark.parametrize("windows", [[], [{"label": 16, "user": 0, **QUIET}], 2 * [{"label": 16, "user": 9, **QUIET}]])
def test_a_window_in_which_nothing_was_measured_proves_nothing(windows):
    with pytest.raises(Failure, match="instead of one in which it worked"):
        rolesbench.prove(run("quiet"), {**counted(), "windows": windows})


def test_each_program_has_quiet_runs_and_a_control_or_runs_that_count():
    for quick in (True, False):
        runs = rolesbench.plan(["riscv64"], quick)
        for program in ("ftq", "selfish", "strid3"):
            expected = {r.expect for r in runs if r.program == program}
            assert "quiet" in expected and expected & {"control", "faults"}


def test_the_low_pass_is_that_of_the_source():
    assert rolesbench.low_pass([2003, 2004, 2003, 534, 2004]) == [(3, 200), (1, 53), (1, 200)]


def test_the_transform_is_the_sum_that_defines_it():
    values = [3, 1, 4, 1, 5, 9, 2, 6]
    for k, found in enumerate(rolesbench.transform(values)):
        assert abs(found - sum(v * cmath.exp(-2j * cmath.pi * k * i / 8) for i, v in enumerate(values))) < 1e-9


def test_a_period_is_a_line_of_the_spectrum():
    hertz, amplitude = max(rolesbench.spectrum([110 if i % 8 < 4 else 90 for i in range(64)], 0.001),
                           key=lambda x: x[1])
    assert hertz == pytest.approx(125) and 0.1 < amplitude < 0.15


def test_replications_of_the_other_experiments_are_told_apart_from_these():
    assert "--seed" not in run(None).argv() and "--seed" in paper.Run("ftq", "riscv64", "crowd", [], 1).argv()
