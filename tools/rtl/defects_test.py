# SPDX-License-Identifier: MIT
"""Tests of the defects' texts: each is in its unit once, and none is the same as another."""

import pytest

from rtl import defects, units


def test_every_defect_is_in_its_unit():
    for unit in defects.UNITS:
        with open(units.path(unit), encoding="utf-8") as f:
            text = defects.marked(unit, f.read())
        for number, (of, *_) in enumerate(defects.DEFECTS, 1):
            assert (f"== 32'd{number} ?" in text) == (of == unit)


def test_every_unit_has_defects_and_every_defect_a_check():
    assert {row[0] for row in defects.DEFECTS} == set(defects.UNITS)
    assert all(on in defects.MACHINES and by in defects.CHECKS for *_, on, by in defects.DEFECTS)
    assert len({row[:3] for row in defects.DEFECTS}) == len(defects.DEFECTS)


def test_two_defects_of_one_expression_are_chosen_one_by_one(monkeypatch):
    rows = [("core", "a = @b@;", "c", "cluster", "far"), ("core", "a = @b@;", "d", "cluster", "far")]
    monkeypatch.setattr(defects, "DEFECTS", rows)
    one = '($c32("hw_defect") == 32\'d1 ? (c) : (b))'
    two = f'($c32("hw_defect") == 32\'d2 ? (d) : ({one}))'
    assert defects.marked("core", "x; a = b; y") == f"x; a = {two}; y"


def test_a_text_that_is_not_there_once_is_refused(monkeypatch):
    rows = [("core", "a = @b@;", "c", "cluster", "far")]
    monkeypatch.setattr(defects, "DEFECTS", rows)
    for text in ("", "a = b; a = b;"):
        with pytest.raises(defects.Unmarked):
            defects.marked("core", text)
