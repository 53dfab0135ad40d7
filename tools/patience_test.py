# SPDX-License-Identifier: MIT
"""Time limits that count the time in which a process could run."""

import os
import subprocess
import sys

import pytest

import patience

SPIN = [sys.executable, "-c", "while True: pass"]
# a child in a session of its own, and a grandchild whose parent has ended
FAMILY = (
    "import os, subprocess, sys\np = subprocess.Popen(['sh', '-c', 'sleep 1000 & echo $!; exec sleep 1000'],"
    " start_new_session=True, stdout=1)\np.wait()\n"
)


@pytest.mark.parametrize("ran, waited, passed, cpus, got", [
    (0, 0, 1, 2, 1.0),		# all sleep: a deadlock is as long as the wall says
    (1, 0, 1, 2, 1.0),		# one loop with a CPU of its own
    (0.5, 0.5, 1, 2, 0.5),	# the same beside another one on its CPU
    (2, 14, 1, 2, 1.0),		# sixteen loops that have both CPUs wait for one another only
    (1, 15, 1, 2, 0.5),		# sixteen that share them with somebody else
    (0, 8, 1, 2, 0.02),		# nothing at all: counts a little
    (0.001, 0.002, 1, 2, 1.0),
    (3, 0, 1, 2, 1.0)])
def test_what_a_group_got_of_what_it_wanted(ran, waited, passed, cpus, got):
    assert patience.share(ran, waited, passed, cpus) == pytest.approx(got)


def clock_of(monkeypatch, looks):
    """A Clock for which time passes and threads compute as given: [(passed, {thread: (ran,
    waited)})].
    """
    now = [0.0]
    monkeypatch.setattr(patience.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(patience, "family", lambda root, known: {1})
    clock = patience.Clock(1)
    clock.cpus = 2
    out = []
    for passed, accounts in looks:
        now[0] += passed
        monkeypatch.setattr(patience, "account", lambda pids, a=accounts: a)
        out.append(clock.seconds())
    return out


def test_a_clock_advances_by_what_was_had(monkeypatch):
    assert clock_of(monkeypatch,
                    [(1, {"a": (0.5, 0.5)}), (1, {"a": (0.75, 1.25)}), (1, {"b": (0.25, 0.75)}),
                     (2, {"b": (0.25, 0.75)})]) == \
        pytest.approx([0.5, 0.75, 1.0, 3.0])


def test_a_look_too_early_costs_nothing(monkeypatch):
    assert clock_of(monkeypatch, [(0.1, None), (0.2, None)]) == pytest.approx([0.1, 0.3])


def test_a_loop_without_end_overruns_its_limit():
    with pytest.raises(subprocess.TimeoutExpired):
        patience.run(SPIN, 0.3)


def test_a_sleeper_overruns_its_limit_and_what_it_said_is_there():
    with pytest.raises(subprocess.TimeoutExpired) as e:
        patience.run(["sh", "-c", "echo words; exec sleep 1000"], 0.3, stdout=subprocess.PIPE)
    assert e.value.output == b"words\n"


def test_what_ends_in_time_is_as_with_subprocess():
    p = patience.run(["sh", "-c", "cat; echo err >&2; exit 3"], 60, input=b"in", capture_output=True)
    assert (p.returncode, p.stdout, p.stderr) == (3, b"in", b"err\n")


def test_children_of_other_sessions_and_orphans_belong_to_the_family():
    with subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE, text=True) as p:
        grandchild = int(p.stdout.readline())
        found = patience.family(p.pid)
        child = next(c for c in found if c not in (p.pid, grandchild))
        assert found == {p.pid, child, grandchild}
        p.kill()
        p.wait()
        assert patience.family(p.pid, found) == {child, grandchild}
        for pid in (child, grandchild):
            os.kill(pid, 9)


def test_a_condition_that_never_holds_and_one_that_does():
    assert not patience.until(lambda: False, 0.05)
    assert patience.until(lambda: True, 0.05)
