# SPDX-License-Identifier: MIT
"""The options of ./atoll selfhost. No machine is started."""

import pytest

import selfhost
from ui import Usage


def test_options_are_the_shells_and_makes(monkeypatch):
    given = []
    monkeypatch.setattr("shell.main", lambda argv: given.append(argv) or 7)
    assert selfhost.main(["-j3", "--timeout", "9"]) == 7
    assert given[0][-4:] == ["--timeout", "9", selfhost.SCRIPT, "-j3"] and "tcc,make,lua-source" in given[0]


def test_wrong_options_are_refused():
    with pytest.raises(Usage):
        selfhost.main(["--port", "hosted"])
