# SPDX-License-Identifier: MIT
"""QEMU's options for ./atoll run --domains: the model of memory domains (tools/plugin/domains.c)."""

import os

import bootrec
from ui import BUILD, Usage

PLUGIN = os.path.join(BUILD, "plugin", "libdomains.so")
MISS = 100              # instructions that a line from the own domain takes
TURN_US = 25            # of emulated time for each hart: 3,125 instructions
# Under -icount a hart goes on until the machine's next timer is due, before the next hart runs: a timer of
# QEMU's own, of a filter of packets that nobody sends, ends its turn.
TURNS = ("-netdev", "user,id=none,restrict=on", "-device", "virtio-net-device,netdev=none",
         "-object", f"filter-buffer,id=turns,netdev=none,interval={TURN_US}")


def check(machine):
    """The model is about one cluster with domains."""
    if len(machine.clusters) != 1 or machine.clusters[0].domains == 1:
        raise Usage(f"--domains is for a machine of one cluster with memory domains: {machine.name} has none")


def options(machine, layout, out):
    """The emulator counts into the file `out`."""
    c = machine.clusters[0]
    plugin = f"{PLUGIN},out={os.path.abspath(out)},base={layout.clusters[0]:x},bytes={c.mem_bytes:x}," \
             f"bells={bootrec.VIRT.VIRT_SSWI:x},domains={c.domains},harts={len(c.roles)},miss={MISS}," \
             f"far={round(MISS * c.far_cost)}"
    return ["-plugin", plugin, *TURNS]
