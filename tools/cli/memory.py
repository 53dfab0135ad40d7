# SPDX-License-Identifier: MIT
"""./atoll memory: what the memory domains of a running machine have, read in its memory from outside."""

import cores

HELP = """usage: ./atoll memory [OPTION...]

What the memory domains of a machine have that ./atoll run or ./atoll shell has started, hosted or riscv64,
read in its memory: the machine does nothing for it. On a terminal the tables are written anew twice a
second, until Ctrl-C or the end of the machine; else, and with --once, they are written once.

  --once         once
  --pid P        the machine is process P (QEMU, or atoll-host), where several run
  --seconds S    between two tables (0.5)

pages        of the domain; those that are in use, and free; kernel: of those in use the kernel's own
near, far    pages that it has given to processes whose first choice it is, and to others
1, 2, 4 ...  free blocks of so many pages

The second table says which processes have pages of a domain, by the kernel's numbers (./atoll top).
"""

HEAD = ("cluster", "domain", "pages", "used", "free", "kernel", "near", "far")
OWNERS = ("process", "cluster", "domain", "pages")
SECONDS = 0.5


def row(d, orders):
    """The cells of a domain."""
    free = sum(blocks << order for order, blocks in d.free.items()) + d.idle
    used = sum(d.use.values())
    return [str(x) for x in (d.cluster.number, d.number, used + free, used, free, d.use.get(0, 0), d.near, d.far,
                             *(d.free.get(order, 0) for order in range(orders)))]


def owners(domains):
    """The rows of those that have pages, the largest part first."""
    found = [(-pages, owner, d.cluster.number, d.number) for d in domains for owner, pages in d.use.items() if owner]
    return [[str(x) for x in (owner, cluster, domain, -pages)] for pages, owner, cluster, domain in sorted(found)]


def table(machine):
    """The lines of both tables."""
    domains = machine.domains()
    orders = max((order + 1 for d in domains for order in d.free), default=0)
    head = (*HEAD, *(str(1 << order) for order in range(orders)))
    return [*cores.lines_of(head, [row(d, orders) for d in domains]), "", *cores.lines_of(OWNERS, owners(domains))]


def tables(machine, seconds, wait):
    """One after the other."""
    while True:
        yield table(machine)
        if wait(seconds):
            return


COMMAND = cores.Command("memory", HELP, SECONDS, tables)


def main(argv):
    """Exit status 0: a machine was found."""
    return cores.run(COMMAND, argv)
