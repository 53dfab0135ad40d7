# SPDX-License-Identifier: MIT
"""Where functions return, and names that are none."""

import pytest

import elf
import spans
from ui import Failure, Usage

ADDI, NOP, RET, LONG_RET = b"\x13\x01\x01\xfe", b"\x01\x00", b"\x82\x80", b"\x67\x80\x00\x00"


class FakeKernel:
    """A kernel of two functions: send (with returns) and serve."""

    def __init__(self, code):
        self.data = code + NOP
        self.segments = [elf.Segment(5, 0, 0x1000, len(self.data), len(self.data))]

    def symbols(self):
        return [(0x1000, len(self.data) - 2, "send"), (0x1000 + len(self.data) - 2, 2, "serve")]


def fake(monkeypatch, code):
    monkeypatch.setattr(elf, "read", lambda path: FakeKernel(code))


def test_returns_are_found_at_instruction_borders_only():
    assert spans.returns(ADDI + RET + NOP + LONG_RET) == [4, 8]
    assert spans.returns(b"\x13\x01\x82\x80" + NOP) == []


def test_a_span_names_three_places(monkeypatch):
    fake(monkeypatch, ADDI + RET + NOP + RET)
    assert spans.options("send:serve") == ",from=1000,to=100a,back=1004,back=1008"


def test_a_span_may_end_in_user_mode(monkeypatch):
    fake(monkeypatch, NOP)
    assert spans.options("send:user") == ",from=1000,to=user"


def test_unknown_functions_are_refused(monkeypatch):
    fake(monkeypatch, RET)
    for pair in ("send", "send:", "send:x", "x:serve", ""):
        with pytest.raises(Usage, match="no function"):
            spans.options(pair)


def test_a_function_that_never_returns_is_refused(monkeypatch):
    fake(monkeypatch, NOP)
    with pytest.raises(Failure, match="0 returns"):
        spans.options("send:serve")
