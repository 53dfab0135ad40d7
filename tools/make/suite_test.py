# SPDX-License-Identifier: MIT
"""mpi4py is fetched and built once, although its tests ask for it side by side."""

import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import suite  # noqa: E402


def test_who_asks_at_the_same_time_waits_and_finds_it_there(tmp_path, monkeypatch):
    inside, steps = [], []

    def fetch(package):
        top = tmp_path / "source"
        inside.append(package)
        steps.append(len(inside))
        time.sleep(0.05)        # so that the others come; without the lock they would be seen inside
        top.mkdir(exist_ok=True)
        inside.pop()
        return str(top)

    def call(argv, what, **more):
        os.mkdir(argv[argv.index("--build-lib") + 1])

    monkeypatch.setattr(suite, "FOLDER", str(tmp_path))
    monkeypatch.setattr(suite, "_fetch", fetch)
    monkeypatch.setattr(suite, "_call", call)
    monkeypatch.setattr(suite, "_key", lambda prefix: "key")
    monkeypatch.setattr(suite.setup, "ensure", lambda *what: None)
    monkeypatch.setattr(suite.install, "ensure", lambda: str(tmp_path))
    monkeypatch.setattr(suite, "BUILD", str(tmp_path))
    found = []
    asking = [threading.Thread(target=lambda: found.append(suite.ensure())) for _ in range(3)]
    for t in asking:
        t.start()
    for t in asking:
        t.join()
    assert steps == [1, 1, 1] and found == [(str(tmp_path / "built-key"), str(tmp_path / "source" / "test"))] * 3
