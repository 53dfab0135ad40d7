# SPDX-License-Identifier: MIT
"""The testbenches of the RTL units: each unit alone under Verilator, against an oracle in C++
(hw/test/unit/NAME_test.cpp).

MUTANTS are the controls: a unit with one defect, which its testbench must find.
"""

import os
import subprocess

from rtl import build, mutants

# unit -> parameters of its testbench
UNITS = {"arbiter": ["-GM=7"], "ram": ["-GWORDS=256"], "ompic": ["-GN=4", "-GFIRST=8", "-GCORES=16"],
         "console": [], "perf": ["-GN=3"], "clockgate": [], "invalidate": ["-GN=3"],
         "dropper": ["-GN=3"], "netif": ["-GN=2", "-GCLUSTERS=4", "-GNUMBER=2"], "router": ["-GNUMBER=1"]}
# units that others are made of
PARTS = {"router": ["arbiter"]}
# (unit, text with the expression between @, what stands there instead)
MUTANTS = [
    ("arbiter", "if (@active@)\n\t\t\t\theld <= owner;", "active & last & ~busy"),
    ("arbiter", "busy <= @active & ~last@;", "1'b0"),
    ("ram", "if (@ack & stb & we@) begin", "stb & we"),
    ("ram", "word[2:0] + @3'd1@", "3'd2"),
    ("ompic", "if (@take@)", "take & ~send"),
    ("console", "@word0 & sel[3]@", "word0"),
    ("perf", "@adr[2]@ ? chosen[63:32]", "adr[3]"),
    ("clockgate", "gclk = clk & @on@;", "enable"),
    ("invalidate", "@running & ~hold & ~rest@", "running & ~hold"),
    ("invalidate", "(base + @wdata - 32'd1@)", "wdata"),
    ("dropper", "running <= @left != 0@;", "left > 1"),
    ("dropper", "'0 : @own@ ? N'(1) << who :", "1'b0"),
    ("ompic", "@(from < 9'(CORES))@ & ", "1'b1"),
    ("ompic", "@14'(from)@", "14'(pair)"),
    ("netif", "@(wanted == COMPARE)@ & ~in_flit[1][19]", "1'b1"),
    ("netif", "& @(bus_rdata == in_value)@", "1'b1"),
    ("netif", "& @~bus_err@ & (bus_rdata", "1'b1"),
    ("netif", "blocked <= @waiting@ ?", "1'b0"),
    ("netif", "linking <= @atomic & who[0]@;", "who[0]"),
    ("netif", "linking <= @atomic & who[0]@;", "atomic"),
    ("netif", "@we | fenced[core]@", "we"),
    ("netif", "@we | fenced[core]@", "fenced[core]"),
    ("netif", "@we | fenced[core]@", "1'b1"),
    ("netif", "@dest != posted_to[core]@", "1'b0"),
    ("netif", "@posted & (fenced | msync)@", "posted & msync"),
    ("netif", "if (@waiter[0]@)", "1'b1"),
    ("netif", "@free & (is_post | ~waiting)@", "is_post | ~waiting"),
    ("netif", "@free & (is_post | ~waiting)@", "free"),
    ("netif", "ack <= @~failed@;", "1'b1"),
    ("netif", "wrong <= @bus_err@;", "1'b0"),
    ("netif", "~in_flit[1][19] & @~reply_failed@", "1'b1"),
    ("router", "@middle@ ? way :", "1'b0"),
    ("router", "!= @(A+1)'(DEPTH)@", "(A+1)'(DEPTH + 1)"),
    ("router", "@moves & first[owner][32]@", "moves"),
]


def _program(unit, source=None):
    folder = os.path.join(build.HW, "test", "unit")
    rules = os.path.join(folder, "unit.vlt")
    options = {"v": UNITS[unit], "files": [os.path.join(folder, "unit.h")]}
    if source:
        # what a defect leaves unused is no reason to stop
        options = {"v": UNITS[unit] + ["-Wno-fatal"], "files": options["files"] + [build.DEFECT],
                   "cxx": ["-include", build.DEFECT]}
    verilog = [rules, source or path(unit), *map(path, PARTS.get(unit, []))]
    return build.program(f"unit-{unit}", unit, verilog, [os.path.join(folder, f"{unit}_test.cpp")], options)


def path(unit):
    """The unit's RTL."""
    return os.path.join(build.HW, "rtl", unit + ".sv")


def _run(program, defect):
    env = dict(os.environ, HW_DEFECT=str(defect))
    p = subprocess.run([program], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, env=env)
    return p.returncode == 0, p.stdout.strip() + p.stderr.strip()


def run(unit):
    """(held, words) of a unit's testbench."""
    return _run(_program(unit), 0)


def marked(unit):
    """The unit's source with all its MUTANTS to choose from."""
    with open(path(unit), encoding="utf-8") as f:
        rows = [(n, place, instead) for n, (of, place, instead) in enumerate(MUTANTS, 1) if of == unit]
        return mutants.marked(f.read(), rows)


def run_mutant(unit, number):
    """(held, words) of the testbench of a unit with one of its MUTANTS, which count from 1; with 0
    without a defect.
    """
    target = os.path.join(build.OUT, "mutants", unit + ".sv")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(f"{target}.{os.getpid()}", "w", encoding="utf-8") as f:
        f.write(marked(unit))
    os.replace(f.name, target)
    return _run(_program(unit, target), number)
