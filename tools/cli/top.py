# SPDX-License-Identifier: MIT
"""./atoll top: what the processes of a running machine take, read in its memory from outside."""

import cores
import machine as machines

HELP = """usage: ./atoll top [OPTION...]

What the processes of a machine take that ./atoll run or ./atoll shell has started, hosted or
riscv64, read in its memory: the machine does nothing for it. On a terminal the table is written
anew, until Ctrl-C or the end of the machine; else, and with --once, it is written once, for what happens meanwhile.

  --once         once
  --pid P        the machine is process P (QEMU, or atoll-host), where several run
  --seconds S    between two tables (1.0)

process      by the kernel's number, in its cluster
badge        whose it is: init (the process server), server, job N, child N: started by a program
cpu          percent of a core: in how many of 50 looks a second a core ran it
memory       KB, its page tables included
core         of its first thread, and what that acts as: kc kernel, tc threads in turn, ac one program
calls        that it has sent to the first core; faults; turns: times that it left its core for
             another's turn; moves: to another core. Counted from the start of what programs have
             started, of others from when somebody in the machine asks (top, /proc)

Names are known in the machine: top there, which ./atoll shell has.
"""

HEAD = ("process", "cluster", "badge", "cpu", "memory", "threads", "core", "role", "calls", "faults", "turns", "moves")
SECONDS = 1.0


def badge(number):
    """Whose a process is."""
    c = machines.C
    if c.BADGE_CHILD <= number < c.BADGE_CHILD + c.BADGE_CHILDREN:
        return f"child{number - c.BADGE_CHILD}"
    if c.BADGE_JOB <= number < c.BADGE_JOB + c.BADGE_JOBS:
        return f"job{number - c.BADGE_JOB}"
    return {c.BADGE_SERVER: "server"}.get(number, "init" if number >= c.BADGE_INIT else str(number))


def sample(machine, seen):
    """Add which processes cores run at the moment: {(cluster, process): how often}."""
    for c in machine.cores():
        if c.process:
            at = c.cluster.number, c.process
            seen[at] = seen.get(at, 0) + 1


def row(p, share, roles):
    """The cells of a process."""
    n = p.count
    return [str(x) for x in (
        p.number, p.cluster.number, badge(p.badge), f"{share:.1f}", p.kb, p.threads, "-" if p.core is None else p.core,
        roles.get(p.core, "-"), n["calls"], n["faults"], n["preempted"], n["moves"])]


def table(machine, seen, looks):
    """The lines of the table, those first that ran most."""
    roles = {c.number: cores.role_of(c.acts) for c in machine.cores()}
    found = [(100 * seen.get((p.cluster.number, p.number), 0) / max(looks, 1), p) for p in machine.processes()]
    found.sort(key=lambda one: (-one[0], one[1].cluster.number, one[1].number))
    return cores.lines_of(HEAD, [row(p, share, roles) for share, p in found])


def tables(machine, seconds, wait):
    """One after the other, each of what was seen in so many seconds."""
    return cores.tables(machine, seconds, wait, sample, table)


COMMAND = cores.Command("top", HELP, SECONDS, tables)


def main(argv):
    """Exit status 0: a machine was found."""
    return cores.run(COMMAND, argv)
