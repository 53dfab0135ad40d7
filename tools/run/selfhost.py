# SPDX-License-Identifier: MIT
"""./atoll selfhost: a program is built and tested on the machine, by a compiler that runs there."""

import os

import shell
from ui import ROOT, Usage

HELP = """usage: ./atoll selfhost [-jN] [--machine M] [--timeout S]

Boots a riscv64 machine on which GNU make and TinyCC build the language Lua from its C files; then
what was built runs Lua's own test suite (all.lua, as for users: _U). It ends with "final OK !!!" and
status 0. The first use builds make and TinyCC (their sources are got from Debian, Lua's tests from PyPI).

  -jN                  make runs N compilers at a time
  --machine M          riscv-1x4 (default: 256 MB, of which the tests need some 60), or another one
"""
SCRIPT = os.path.join(ROOT, "tools", "run", "selfhost.sh")
VALUED = ("--machine", "--timeout")


def main(argv):
    """Exit status: that of the tests."""
    if argv and argv[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0
    jobs = [a for a in argv if a.startswith("-j")]
    options = [a for a in argv if not a.startswith("-j")]
    for option in options[::2]:
        if option.split("=", 1)[0] not in VALUED:
            raise Usage(f"unknown option '{option}': ./atoll selfhost --help lists them")
    return shell.main(["--with", "tcc,make,lua-source", "--machine", "riscv-1x4", *options, SCRIPT, *jobs])
