# SPDX-License-Identifier: MIT
"""The names of Linux's calls, as the machine is given them."""

import os
import re

import calls
from ui import ROOT


def test_each_name_stands_at_its_number():
    path, data = calls.member()
    assert path == "etc/calls" and len(data) % calls.NAME_BYTES == 0
    for number, name in calls.names().items():
        at = number * calls.NAME_BYTES
        assert data[at:at + calls.NAME_BYTES].rstrip(b"\0").decode() == name
        assert len(name) < calls.NAME_BYTES


def test_the_numbers_are_those_of_the_personality():
    with open(os.path.join(ROOT, "user", "personality", "personality.h"), encoding="ascii") as f:
        ours = {name: int(number) for name, number in re.findall(r"^\tSYS_(\w+) = (\d+),$", f.read(), re.M)}
    linux = {name: number for number, name in calls.names().items()}
    assert len(ours) > 100
    for name, number in ours.items():
        if name not in ("fork_begin", "child_begin"):
            assert linux.get({"fstatat": "newfstatat"}.get(name, name)) == number
