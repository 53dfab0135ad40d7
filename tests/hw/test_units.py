# SPDX-License-Identifier: MIT
"""Each unit of the cluster's RTL alone against its oracle, and the same with one defect in it: the
testbench must see it.
"""

import sys

import protocol
from rtl import units


def holds(unit):
    """A test of one unit."""
    def test():
        held, words = units.run(unit)
        assert held, words
    return test


def chooses(unit):
    """A control of the controls: the unit with all its mutants, of which none is on, holds."""
    def test():
        held, words = units.run_mutant(unit, 0)
        assert held, words
    return test


def finds(unit, number):
    """A control: the testbench of the unit refuses the mutant."""
    def test():
        held, words = units.run_mutant(unit, number)
        assert not held and words.startswith("seed "), words
    return test


for _unit in units.UNITS:
    globals()[f"test_{_unit}"] = holds(_unit)
    globals()[f"test_{_unit}_with_no_defect_on"] = chooses(_unit)
for _n, (_unit, *_) in enumerate(units.MUTANTS, 1):
    globals()[f"test_{_unit}_with_defect_{_n}_is_found_out"] = finds(_unit, _n)

if __name__ == "__main__":
    sys.exit(protocol.main(globals()))
