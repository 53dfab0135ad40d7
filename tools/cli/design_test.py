# SPDX-License-Identifier: MIT
"""The command line of ./atoll codesign."""

import os

import pytest

import design
from ui import BUILD, Usage


def test_what_is_asked_for():
    assert design.parse([]) == ("normal", os.path.join(BUILD, "codesign", "report"), [])
    assert design.parse(["--quick", "--out", "/x", "k-core"]) == ("quick", "/x", ["k-core"])
    assert design.parse(["--out=/y", "--full"]) == ("full", "/y", [])


@pytest.mark.parametrize("argv, words",
                         [(["--slow"], "--slow"), (["--quick", "--full"], "exclude"), (["--out"], "needs a value")])
def test_what_cannot_be_is_a_usage_error(argv, words):
    with pytest.raises(Usage, match=words):
        design.parse(argv)
