# SPDX-License-Identifier: MIT
"""Our programs by name: what `./atoll run NAME` finds, whether it is built or not."""

import os
import re

from ui import ROOT

ROOMS = {"hosted": ("apps", "bench"), "riscv64": ("apps", "bench"), "or1k": ("bench/synth",)}	# PROG_DIRS in mk/user.mk
MAIN = re.compile(rb"^(int +)?main\(", re.M)		# MAIN_RE in the Makefile


def _is_main(path):
    with open(path, "rb") as f:
        return bool(MAIN.search(f.read()))


def names(port):
    """Names of all programs of a port, sorted."""
    out = set()
    for room in ROOMS[port]:
        for folder, _, files in os.walk(os.path.join(ROOT, room)):
            out |= {f[:-2] for f in files if f.endswith(".c") and not f.endswith("_test.c")
                    and _is_main(os.path.join(folder, f))}
    return sorted(out)
