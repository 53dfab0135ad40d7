# SPDX-License-Identifier: MIT
"""Tests of the defects' texts: each is in its unit once, and none is the same as another."""

import pytest

from rtl import defects, mutants, units


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


def test_every_unit_alone_has_mutants_and_each_is_in_it():
    assert {row[0] for row in units.MUTANTS} == set(units.UNITS)
    assert len(set(units.MUTANTS)) == len(units.MUTANTS)
    for unit in units.UNITS:
        text = units.marked(unit)
        for number, (of, *_) in enumerate(units.MUTANTS, 1):
            assert (f"== 32'd{number} ?" in text) == (of == unit)


def test_two_defects_of_one_expression_are_chosen_one_by_one():
    one = '($c32("hw_defect") == 32\'d1 ? (c) : (b))'
    two = f'($c32("hw_defect") == 32\'d2 ? (d) : ({one}))'
    assert mutants.marked("x; a = b; y", [(1, "a = @b@;", "c"), (2, "a = @b@;", "d")]) == f"x; a = {two}; y"


def test_a_text_that_is_not_there_once_is_refused():
    for text in ("", "a = b; a = b;"):
        with pytest.raises(mutants.Unmarked):
            mutants.marked(text, [(1, "a = @b@;", "c")])
