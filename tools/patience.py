# SPDX-License-Identifier: MIT
"""Time limits of tests: a limit counts the time in which the watched processes could run, so that a
busy host makes a test late, not wrong.

Linux says of each thread how long it computed and how long it waited for a CPU. Between two looks a
clock advances by the passed time times the share of the CPUs that the processes got of those they
wanted (at most all there are). Processes that only sleep want none: for them, and so for a
deadlock, the clock is that of the wall. A loop without end wants a CPU and gets at least a part of
one.
"""

import os
import subprocess
import time

LOOK_S = 1.0			# what ends earlier is never looked at
SEEN_S = 0.005			# computed and waited in all: less says nothing
LEAST = 0.02			# of the passed time always counts


def _stat(pid):
    """(parent, session) of a process, or None."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            words = f.read().rsplit(")", 1)[1].split()
        return int(words[1]), int(words[3])
    except (OSError, IndexError, ValueError):
        return None


def family(root, known=()):
    """Processes below `root` and in its session, itself among them; `known` ones stay though their
    parents have ended.
    """
    stats = {int(name): _stat(name) for name in os.listdir("/proc") if name.isdecimal()}
    found = {root, *known} & {p for p, s in stats.items() if s}
    while True:
        more = {p for p, s in stats.items() if s and p not in found and (s[0] in found or s[1] == root)}
        if not more:
            return found
        found |= more


def account(pids):
    """{thread: (seconds computed, seconds waited for a CPU)} of some processes."""
    out = {}
    for pid in pids:
        try:
            tasks = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        for tid in tasks:
            try:
                with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as f:
                    ran, waited, _ = f.read().split()
            except (OSError, ValueError):
                continue
            out[tid] = int(ran) / 1e9, int(waited) / 1e9
    return out


def share(ran, waited, passed, cpus):
    """What threads got of the CPUs that they wanted: 1 if they had all, or wanted none."""
    if ran + waited < SEEN_S or passed <= 0:
        return 1.0
    wanted = min(ran + waited, cpus * passed)
    return max(LEAST, min(1.0, ran / wanted))


class Clock:
    """Seconds in which a process and its children could run."""

    def __init__(self, root):
        self.root, self.known, self.before, self.total = root, set(), {}, 0.0
        self.last, self.cpus = time.monotonic(), len(os.sched_getaffinity(0))

    def seconds(self):
        """Since the clock was made; looks if the last look is long enough ago."""
        now = time.monotonic()
        passed = now - self.last
        if passed < LOOK_S / 2:
            return self.total + passed
        self.known = family(self.root, self.known)
        after = account(self.known)
        had = [[a - b for a, b in zip(after[t], self.before.get(t, (0.0, 0.0)))] for t in after]
        self.total += passed * share(sum(h[0] for h in had), sum(h[1] for h in had), passed, self.cpus)
        self.last, self.before = now, after
        return self.total

    def waits(self, limit_s):
        """Wall seconds until it is worth to look again; None when the limit is reached."""
        left = limit_s - self.seconds()
        return None if left <= 0 else min(left, LOOK_S)


def communicate(process, limit_s, data=None):
    """As Popen.communicate, with a limit that counts by a Clock."""
    clock = Clock(process.pid)
    while True:
        wait_s = clock.waits(limit_s)
        try:
            return process.communicate(data, timeout=wait_s or 0)
        except subprocess.TimeoutExpired as e:
            data = None			# it has been taken
            if wait_s is None:
                raise subprocess.TimeoutExpired(process.args, limit_s, e.output, e.stderr) from None


def wait(process, limit_s):
    """As Popen.wait, with such a limit."""
    clock = Clock(process.pid)
    while True:
        wait_s = clock.waits(limit_s)
        try:
            return process.wait(timeout=wait_s or 0)
        except subprocess.TimeoutExpired:
            if wait_s is None:
                raise


def run(argv, timeout, input=None, capture_output=False, check=False,
        **more):	# noqa: A002 - the names of subprocess.run
    """As subprocess.run, with such a limit; what overruns is killed, and subprocess.TimeoutExpired
    has what it said.
    """
    if input is not None:
        more["stdin"] = subprocess.PIPE
    if capture_output:
        more["stdout"] = more["stderr"] = subprocess.PIPE
    with subprocess.Popen(argv, **more) as p:
        try:
            out, err = communicate(p, timeout, input)
        except BaseException:
            p.kill()
            raise
    if check and p.returncode:
        raise subprocess.CalledProcessError(p.returncode, argv, out, err)
    return subprocess.CompletedProcess(argv, p.returncode, out, err)


def until(condition, limit_s, clock=None):
    """Look until a condition holds; False if the limit, counted by a clock (our own), is over
    before.
    """
    clock = clock or Clock(os.getpid())
    while not condition():
        if clock.waits(limit_s) is None:
            return condition()
        time.sleep(0.01)
    return True


def readable(files, limit_s, clock=None):
    """As select.select for reading, with such a limit."""
    import select
    clock = clock or Clock(os.getpid())
    while True:
        wait_s = clock.waits(limit_s)
        found = select.select(files, [], [], wait_s or 0)[0]
        if found or wait_s is None:
            return found
