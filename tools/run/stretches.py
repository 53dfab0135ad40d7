# SPDX-License-Identifier: MIT
"""Stretches of the counting plugin (tools/plugin/stretch.h): what it watches, and what it found by
the names of functions. Imported only when counting.
"""

import bisect
import collections
import json
import os
import re

import elf
from ui import BUILD, Usage

POINT = "am_serve_call"  # a look at the queue of active messages
# stretches are told apart by these functions, as far as the kernel has them: the halves of calls, and
# what the kernel core does without being asked
PART = re.compile(
    r"kcall_(enter|serve|finish)_\w+|\w+_serve|ikc_poll|peers_poll|console_poll|sweeps_poll|"
    r"revokes_poll|deadlines_poll|ready_drain|proc_reap|proc_end_orphan|kernel_trap|init_start"
)


def _kernel(path):
    return elf.read(path or os.path.join(BUILD, "riscv64", "kernel.elf"))


def options(machine, kernel=None):
    """Plugin options: the kernel cores of a machine, the points, the parts."""
    functions = {name: addr for addr, _, name in _kernel(kernel).symbols()}
    if POINT not in functions:
        raise Usage(f"--stretches: the kernel has no function '{POINT}'")
    harts, first = [], 0
    for c in machine.clusters:
        harts.append(str(first))
        first += len(c.roles)
    parts = sorted(addr for name, addr in functions.items() if PART.fullmatch(name))
    return f",serve={':'.join(harts)},point={functions[POINT]:x}" + "".join(f",part={p:x}" for p in parts)


class Names:
    """Names of the kernel's functions by address."""

    def __init__(self, kernel=None):
        self.functions = sorted((addr, size, name) for addr, size, name in _kernel(kernel).symbols())
        self.starts = [f[0] for f in self.functions]

    def of(self, addr):
        """The function that an address lies in."""
        at = bisect.bisect_right(self.starts, addr) - 1
        if at < 0 or addr >= self.functions[at][0] + max(self.functions[at][1], 1):
            return f"{addr:#x}"
        return self.functions[at][2]


# label: the phase; part: the function of PART that it belongs to; most, share: the function that took
# most of the instructions that were kept, and its share; began, ended: the functions at its two ends
Stretch = collections.namedtuple("Stretch", "label insns part most share began ended")


def read(lines, kernel=None):
    """The longest stretch per phase and part, the longest first."""
    names, out = Names(kernel), []
    for line in lines:
        if not line.startswith('{"stretch"'):
            continue
        s = json.loads(line)
        took = {}
        for pc, insns in s["top"]:
            name = names.of(int(pc, 16))
            took[name] = took.get(name, 0) + insns
        most = max(took, key=lambda name: (took[name], name))
        began, ended = (names.of(int(s[at], 16)) for at in ("began", "ended"))
        part = names.of(int(s["part"], 16)) if int(s["part"], 16) else began
        out.append(Stretch(s["label"], s["stretch"], part, most, took[most] / s["seen"], began, ended))
    return sorted(out, key=lambda s: -s.insns)
