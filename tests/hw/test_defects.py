# SPDX-License-Identifier: MIT
"""Controls: core.sv, cluster.sv and chip.sv with one defect each (tools/rtl/defects.py). Firmware
that runs well without it must not run well with it.

    .venv/bin/python3 tests/hw/test_defects.py [MACHINE...]
"""

import sys

import protocol
from rtl import defects


def runs_well(machine, check):
    """A test of the simulator without a defect: what finds one must hold."""
    def test():
        assert defects.holds(machine, check), "it finds a defect where there is none"
    return test


def finds(machine, check, number):
    """A control: the check refuses the defect."""
    def test():
        unit, place, instead, *_ = defects.DEFECTS[number - 1]
        assert not defects.holds(machine, check, number), f"{unit}: '{place}' may be '{instead}'"
    return test


def of_machine(machine):
    """{name: test} of one machine."""
    tests = {}
    for n, (unit, _, _, on, check) in enumerate(defects.DEFECTS, 1):
        if on == machine:
            by = check.replace(" ", "_")
            tests[f"test_{machine}_has_no_defect_for_{by}"] = runs_well(machine, check)
            tests[f"test_{unit}_with_defect_{n:02}_is_found_out_by_{by}"] = finds(machine, check, n)
    return tests


if __name__ == "__main__":
    sys.exit(max(protocol.main(of_machine(m)) for m in sys.argv[1:] or defects.MACHINES))
