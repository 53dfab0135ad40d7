# SPDX-License-Identifier: MIT
"""Does a machine hang, or does it get no CPU? Linux counts for each thread how long it computed and
how long it waited for a CPU.
"""

import dump
import patience
from launch import LOOK_S

RATIO = 10			# so many times longer it waited than it computed: starved
LITTLE_S = 0.5			# of waiting that says nothing


def account(pids):
    """(seconds computed, seconds waited for a CPU) of all threads of some processes."""
    threads = patience.account(pids).values()
    return sum(ran for ran, _ in threads), sum(waited for _, waited in threads)


class Watch:
    """Looks at a process group from time to time."""

    def __init__(self, pgid):
        self.pgid, self.before, self.said = pgid, (0.0, 0.0), False

    def now(self):
        """What the group had since the last look."""
        total = account(dump.group_members(self.pgid))
        had = (max(0.0, total[0] - self.before[0]), max(0.0, total[1] - self.before[1]))
        self.before = total
        return had

    def look(self):
        """A line that says that the machine starves, once; else None."""
        run, wait = self.now()
        if self.said or wait < LITTLE_S or wait < RATIO * run:
            return None
        self.said = True
        return f"still running, but the host is busy: {words(run, wait)} in the last {LOOK_S} s"


def words(run, wait):
    """The two numbers as text."""
    return f"{run:.1f} s computed, {wait:.1f} s spent waiting for a CPU"


def verdict(pgid):
    """For a machine that overran its time: what it got of the host."""
    run, wait = account(dump.group_members(pgid))
    if wait >= LITTLE_S and wait >= RATIO * run:
        return f"{words(run, wait)}: the host is busy, give it more time"
    return words(run, wait)
