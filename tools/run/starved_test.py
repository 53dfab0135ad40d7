# SPDX-License-Identifier: MIT
"""Starving and hanging are told apart."""

import os
import subprocess
import sys

import pytest

import dump
import starved


def watch(monkeypatch, *accounts):
    totals = iter(accounts)
    monkeypatch.setattr(starved, "account", lambda pids: next(totals))
    monkeypatch.setattr(dump, "group_members", lambda pgid: [pgid])
    return starved.Watch(1)


def test_a_machine_without_cpu_is_reported_once(monkeypatch):
    w = watch(monkeypatch, (0.1, 30.0), (0.2, 60.0))
    assert (
        w.look()
        == "still running, but the host is busy: 0.1 s computed, 30.0 s spent waiting for a CPU in the last 10 s"
    )
    assert w.look() is None


@pytest.mark.parametrize("had", [(0.0, 0.0), (0.01, 0.2), (9.0, 9.0), (20.0, 60.0)])
def test_a_machine_that_waits_or_computes_is_left_alone(monkeypatch, had):
    assert watch(monkeypatch, had).look() is None


def test_only_the_time_since_the_last_look_counts(monkeypatch):
    w = watch(monkeypatch, (100.0, 50.0), (100.5, 90.0))
    assert w.look() is None and "0.5 s computed, 40.0 s spent" in w.look()


def test_the_verdict_tells_a_hang_from_a_busy_host(monkeypatch):
    watch(monkeypatch, (0.4, 55.0))
    assert starved.verdict(1) == "0.4 s computed, 55.0 s spent waiting for a CPU: the host is busy, give it more time"
    watch(monkeypatch, (0.4, 0.1))
    assert starved.verdict(1) == "0.4 s computed, 0.1 s spent waiting for a CPU"


def test_time_is_counted_for_all_threads():
    code = ("import threading\nt = threading.Thread(target=lambda: sum(range(3000000)))\n"
            "t.start()\nt.join()\nsum(range(3000000))\n"
            "print(flush=True)\ninput()")
    p = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdout.readline()
    assert starved.account([p.pid, 2 ** 22 + 1])[0] > 0
    p.communicate(b"\n")
    assert starved.account([p.pid]) == (0, 0)
    assert starved.account([os.getpid()])[0] > 0
