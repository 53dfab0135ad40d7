# SPDX-License-Identifier: MIT
"""The testbenches of the RTL units: each unit alone under Verilator, against an oracle in C++ (hw/test/unit/NAME_test.cpp).

MUTANTS are the controls: a unit with one defect, which its testbench must find.
"""

import os
import subprocess

from rtl import build

# unit -> parameters of its testbench
UNITS = {"arbiter": ["-GM=7"], "ram": ["-GWORDS=256"], "ompic": ["-GN=4", "-GFIRST=8", "-GCORES=16"], "console": [], "perf": ["-GN=3"], "clockgate": [], "invalidate": ["-GN=3"],
         "dropper": ["-GN=3"], "netif": ["-GN=2", "-GCLUSTERS=4", "-GNUMBER=2"], "router": ["-GNUMBER=1"]}
# units that others are made of
PARTS = {"router": ["arbiter"]}
# (unit, text, what stands there instead)
MUTANTS = [
    ("arbiter", "if (active)\n\t\t\t\theld <= owner;", "if (active & last & ~busy)\n\t\t\t\theld <= owner;"),
    ("arbiter", "busy <= active & ~last;", "busy <= 1'b0;"),
    ("ram", "if (ack & stb & we) begin", "if (stb & we) begin"),
    ("ram", "word[2:0] + 3'd1", "word[2:0] + 3'd2"),
    ("ompic", "if (take)", "if (take & ~send)"),
    ("console", "word0 & sel[3]", "word0"),
    ("perf", "adr[2] ? chosen[63:32]", "adr[3] ? chosen[63:32]"),
    ("clockgate", "@(negedge clk)", "@(posedge clk)"),
    ("invalidate", "running & ~hold & ~rest", "running & ~hold"),
    ("invalidate", "(base + wdata - 32'd1)", "(base + wdata)"),
    ("dropper", "running <= left != 0;", "running <= left > 1;"),
    ("dropper", "own ? N'(1) << who :", ""),
    ("ompic", "(from < 9'(CORES)) & ", ""),
    ("ompic", "14'(from)", "14'(pair)"),
    ("netif", "(wanted == COMPARE) & ~in_flit[1][19]", "~in_flit[1][19]"),
    ("netif", " & (bus_rdata == in_value)", ""),
    ("netif", "& ~bus_err & (bus_rdata", "& (bus_rdata"),
    ("netif", "waiting ? blocked & ((2*N)'(1) << waiter) : '0", "'0"),
    ("netif", "linking <= atomic & who[0];", "linking <= who[0];"),
    ("netif", "linking <= atomic & who[0];", "linking <= atomic;"),
    ("netif", "we | fenced[core]", "we"),
    ("netif", "we | fenced[core]", "fenced[core]"),
    ("netif", "we | fenced[core]", "1'b1"),
    ("netif", "dest != posted_to[core]", "1'b0"),
    ("netif", "posted & (fenced | msync)", "posted & msync"),
    ("netif", "if (waiter[0])", ""),
    ("netif", "free & (is_post | ~waiting)", "(is_post | ~waiting)"),
    ("netif", "free & (is_post | ~waiting)", "free"),
    ("netif", "ack <= ~failed;", "ack <= 1'b1;"),
    ("netif", "wrong <= bus_err;", "wrong <= 1'b0;"),
    ("netif", "~in_flit[1][19] & ~reply_failed", "~in_flit[1][19]"),
    ("router", "middle ? way :", ""),
    ("router", "!= (A+1)'(DEPTH)", "!= (A+1)'(DEPTH + 1)"),
    ("router", "moves & first[owner][32]", "moves"),
]


def _program(unit, source=None):
    folder = os.path.join(build.HW, "test", "unit")
    # what a defect leaves unused is no reason to stop
    options = {"v": UNITS[unit] + (["-Wno-fatal"] if source else []), "files": [os.path.join(folder, "unit.h")]}
    rules = os.path.join(build.HW, "test", "unit", "unit.vlt")
    return build.program(f"unit-{unit}", unit, [rules, source or path(unit), *map(path, PARTS.get(unit, []))], [os.path.join(folder, f"{unit}_test.cpp")], options)


def path(unit):
    """The unit's RTL."""
    return os.path.join(build.HW, "rtl", unit + ".sv")


def run(unit, source=None):
    """(held, words) of a unit's testbench; of another source in its place."""
    p = subprocess.run([_program(unit, source)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    return p.returncode == 0, p.stdout.strip() + p.stderr.strip()


def mutant(number):
    """Write the source of MUTANTS[number] and return its path."""
    unit, old, new = MUTANTS[number]
    with open(path(unit), encoding="utf-8") as f:
        text = f.read()
    if text.count(old) != 1:
        raise ValueError(f"mutant {number} of {unit}: its text is not there once")
    target = os.path.join(build.OUT, "mutants", str(number), unit + ".sv")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w", encoding="utf-8") as f:
        f.write(text.replace(old, new))
    return target
