# SPDX-License-Identifier: MIT
"""./atoll bench --mixed: what the machine's own choice of cores is worth beside a fixed one: six processes that
compute, and beside them six that call the kernel and the file server until the others have ended, on seven
application cores, in modelled time (domains.py).

The kernel alone chooses a core when a process begins, and sends those that compute to cores that are empty. With
the process server those that keep calling share cores, so that others become empty (provision.h).
Fixed is what somebody does who does not know the processes: each goes to the next core, in turn, and the
cores share their time. Executions differ by the order in which the processes start.
"""

import hashlib
import json
import os
import random
import subprocess
import tempfile

import buildbench
import builder
import domains
import machine as machines
import packages
import paper
import shell
from ui import BUILD, ROOT, Failure, Steps, Usage

HELP = """usage: ./atoll bench --mixed [--quick]

Prints what a mixed load takes where the kernel chooses the core of each process, and moves those that
compute to cores that become empty; where also the process server gathers those that keep calling on
few cores; and where each process has a core from its start to its end. Exit status 1 if the last one
does not take longest. A run that is kept in build/paper is not made again;
--quick: two orders of the processes instead of ten.
"""
MACHINE, POLICY, ORDERS, ROUNDS = "nix32", "amp", 10, 1500
SCRIPT = os.path.join(buildbench.HERE, "mixed.sh")
KINDS = "ckckckckckck"
PLACES = {"auto": "the process server's, too", "own": "the kernel's choice", "turn": "each on the next core, in turn"}
TIMEOUT_S = 300


class Run(paper.Run):
    """The load once."""

    def __init__(self, place, order):
        super().__init__("mark", "riscv64", f"{MACHINE}@{POLICY}", [], order)
        self.place, self.kinds = place, list(KINDS)
        random.Random(order).shuffle(self.kinds)

    def argv(self, extra=()):
        """The command that makes it."""
        found = shell.brought(("dash",), (), [builder.program_path("riscv64", "mark")])
        words = [os.path.basename(SCRIPT), self.place, machines.load(MACHINE).cores(), ROUNDS, *self.kinds]
        return [os.path.join(ROOT, "atoll"), "run", *shell.command(
            found, [f"{SCRIPT}={os.path.basename(SCRIPT)}"],
            ["--machine", self.machine, "--icount", "--timeout", str(TIMEOUT_S), *extra], map(str, words))]

    def key(self):
        """What its result depends on."""
        digest = hashlib.sha256(repr((self.place, self.kinds, ROUNDS, domains.MISS, domains.TURNS)).encode())
        dash = os.path.join(packages.tree("dash"), "bin", "dash")
        for path in (SCRIPT, domains.PLUGIN, dash, machines.path_of(MACHINE),
                     *(os.path.join(BUILD, "riscv64", n) for n in ("kernel.bin", "bin/proc", "bin/personality",
                                                                   "bin/file", "bin/mark"))):
            with open(path, "rb") as f:
                digest.update(f.read())
        return digest.hexdigest()[:24]

    def make(self):
        """What the model says of it."""
        with tempfile.NamedTemporaryFile(prefix="atoll-mixed-") as f:
            p = subprocess.run(self.argv(("--domains", f.name)), stdin=subprocess.DEVNULL, capture_output=True,
                               text=True, errors="replace")
            windows = [json.loads(line) for line in f.read().decode().splitlines()]
        if p.returncode or p.stdout.split() != [str(len(KINDS))] or len(windows) != 1:
            raise Failure(f"the load ended with {p.returncode} and {len(windows)} windows: "
                          f"{(p.stderr + p.stdout)[-500:]}")
        return windows[0]


def rows(found):
    """For each place (mean, low, high) of its time, and of what the busiest core but core 0 executed."""
    return {place: (paper.interval([r["time"] for r in results]),
                    paper.interval([max(r["harts"][1:]) for r in results])) for place, results in found.items()}


def main(argv):
    """Exit status 0 if both choices are better."""
    if "--help" in argv or "-h" in argv:
        print(HELP, end="")
        return 0
    if not set(argv) <= {"--mixed", "--quick"}:
        raise Usage("--mixed has no other options than --quick: ./atoll bench --mixed --help")
    builder.ensure_run("riscv64", ("mark",))
    builder.make("hosted", ("plugin",), quiet=True)
    packages.ensure(("dash",))
    os.makedirs(paper.KEPT, exist_ok=True)
    orders = 2 if "--quick" in argv else ORDERS
    steps, found = Steps("mixed", orders * len(PLACES)), {place: [] for place in PLACES}
    for order in range(1, orders + 1):
        for place, results in found.items():
            results.append(Run(place, order).result())
            steps.step(f"{PLACES[place]}, order {order}")
    steps.end()
    table = rows(found)
    for place, (time, busiest) in table.items():
        mean, low, high = (x / 1e6 for x in time)
        print(f"{PLACES[place]:32} {mean:6.1f} million [{low:.1f}, {high:.1f}], the busiest core executes "
              f"{busiest[0] / 1e6:.1f} million, {orders} orders")
    return 0 if max(table[place][0][0] for place in ("auto", "own")) < table["turn"][0][0] else 1
