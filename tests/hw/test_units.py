# SPDX-License-Identifier: MIT
"""Each unit of the cluster's RTL alone against its oracle, and the same with one defect in it: the testbench must see it."""

import sys

import protocol
from rtl import units


def holds(unit):
    """A test of one unit."""
    def test():
        held, words = units.run(unit)
        assert held, words
    return test


def finds(number):
    """A control: the testbench of the unit refuses the mutant."""
    def test():
        held, words = units.run(units.MUTANTS[number][0], units.mutant(number))
        assert not held and words.startswith("seed "), words
    return test


for _unit in units.UNITS:
    globals()[f"test_{_unit}"] = holds(_unit)
for _n, _mutant in enumerate(units.MUTANTS):
    globals()[f"test_{_mutant[0]}_with_defect_{_n}_is_found_out"] = finds(_n)

if __name__ == "__main__":
    sys.exit(protocol.main(globals()))
