# SPDX-License-Identifier: MIT
"""Measures cycles on the RTL: set-ups x replications, one run after the other, all rows of a run
kept as soon as they are there.

Rows go to build/codesign/cycles/SOURCE.jsonl, where SOURCE is the hash of everything that decides
cycles (study.py). A sweep that was killed goes on behind its last whole run; another source is
another file. A new file begins with the tree's rows if they are of its source.
"""

import json
import os
import time

from codesign import cycles, space, synth

U = space.canonical("u-core")
# the K-Core with another cache or predictor: what a little more power buys
NEIGHBOURS = [space.changed("k-core", icache="2way"), space.changed("k-core", icache="4way"),
              space.changed("k-core", icache="8way"),
              space.changed("k-core", predictor="satcounter", icache="4way")]


class Failed(Exception):
    """A run did not end as it should; the message says which and how."""


class Job:
    """One run: set-up, the cores, number of the replication, latency of the memory.
    It gives a row for each benchmark.
    """

    def __init__(self, setup, cores, replication, latency=0):
        self.setup, self.replication, self.latency = setup, replication, latency
        self.cores = [space.canonical(c) for c in cores]

    def key(self):
        """What identifies its rows."""
        return self.setup, tuple(self.cores), self.replication, self.latency

    def row(self, benchmark, value, **more):
        """A row of this run."""
        return {"benchmark": benchmark, "setup": self.setup, "cores": self.cores,
                "replication": self.replication, "latency": self.latency, "cycles": value, **more}


def job_of(row):
    """The run that a row is of."""
    return Job(row["setup"], row["cores"], row["replication"], row["latency"])


def activity(report, bits):
    """What each core did in a window (or in the whole run) of the simulator's report."""
    return [{"core": i, "cycles": c["cycles"], "doze": c["doze"], "gated": c["gated"],
             "toggles": c["toggles"], "bits": bits} for i, c in enumerate(report)]


def window(report, label):
    """The window of a report with this number; Failed if the program did not open it."""
    found = [w for w in report["windows"] if w["label"] == label and w["times"]]
    if not found:
        raise Failed(f"the run opened no window {label}")
    return found[0]


def done(path, last):
    """Keys of the runs that a file has whole: up to their row of the benchmark `last`.
    What a kill left of a run is cut off.
    """
    if not os.path.exists(path):
        return set()
    with open(path, "rb") as f:
        lines = f.read().splitlines(keepends=True)
    finished, whole, at = set(), 0, 0
    for n, line in enumerate(lines, 1):
        at += len(line)
        if not line.endswith(b"\n"):
            break
        r = cycles.parse(line.decode(), f"{os.path.basename(path)}:{n}")
        if r["benchmark"] == last:
            finished.add(job_of(r).key())
            whole = at
    if lines and whole != sum(map(len, lines)):
        os.truncate(path, whole)
    return finished


def seed(path, kept, source, last):
    """Begin a file of rows with those that are kept elsewhere, if they are of this source: whole
    runs only, each run's rows together, `last` behind.
    """
    runs = {}
    for r in kept:
        if r["source"] == source:
            runs.setdefault(job_of(r).key(), []).append(r)
    whole = [rows for rows in runs.values() if any(r["benchmark"] == last for r in rows)]
    part = f"{path}.part"
    with open(part, "w", encoding="utf-8") as f:
        for rows in whole:
            f.writelines(json.dumps(r) + "\n" for r in sorted(rows, key=lambda r: r["benchmark"] == last))
    os.replace(part, path)


def sweep(jobs, run, source, folder=cycles.FRESH, say=print, kept=()):
    """Run what is missing: run(job) gives a job's rows, the last of them of the benchmark run.last;
    run.source() is the source that it would measure now, if it knows. `kept`: rows that a new file
    of their source begins with. Returns the file's path.

    One sweep at a time in a folder; a second one waits.
    """
    path = os.path.join(folder, f"{source}.jsonl")
    with synth.Lock(folder, say):
        if not os.path.exists(path):
            seed(path, kept, source, run.last)
        finished = done(path, run.last)
        missing, pace = [j for j in jobs if j.key() not in finished], Pace()
        with open(path, "a", encoding="utf-8") as f:
            for i, job in enumerate(missing, 1):
                if run.source() not in (None, source):
                    raise Failed("the sources changed while they were measured: start again")
                say(f"cycles {i}/{len(missing)}: {job.setup}, kernel on "
                    f"{space.title(job.cores[0])} of {len(job.cores)} cores, latency {job.latency}, "
                    f"link order {job.replication}" +
                    (f"; about {pace.left(missing[i - 1:]):.0f} min left" if pace.known() else ""))
                begin = time.monotonic()
                rows = [json.dumps({**r, "source": source}) for r in run(job)]
                for r in rows:
                    cycles.parse(r, "measured row")
                f.write("".join(r + "\n" for r in rows))
                f.flush()
                os.fsync(f.fileno())
                pace.ran(job, time.monotonic() - begin)
    return path


class Pace:
    """How long runs take, by the latency of the memory: for saying when a sweep will end."""

    def __init__(self):
        self.seconds = {}

    def ran(self, job, seconds):
        """A run took so long."""
        self.seconds.setdefault(job.latency, []).append(seconds)

    def known(self):
        """Has anything run?"""
        return bool(self.seconds)

    def left(self, jobs):
        """Minutes that some jobs will take; a latency that was not run yet counts as the slowest
        one that was.
        """
        means = {k: sum(v) / len(v) for k, v in self.seconds.items()}
        return sum(means.get(j.latency, max(means.values())) for j in jobs) / 60


def effect_jobs(replication):
    """The kernel's core over all that the kernel can tell apart (24 of the 192), U-Cores beside it.
    """
    names = {}
    for n in [*map(space.canonical, space.NAMED), *space.names()]:
        seen = space.as_the_kernel_sees(n)
        names.setdefault(seen, n if n in map(space.canonical, space.NAMED) else seen)
    return [Job("dse", [n, U, U, U], replication) for n in names.values()]


def cache_cores():
    """{choice of the cache: core}: the K-Core with each instruction cache, by the names that
    effect_jobs() uses.
    """
    known = {space.as_the_kernel_sees(j.cores[0]): j.cores[0] for j in effect_jobs(0)}
    return {c: known[space.as_the_kernel_sees(space.changed("k-core", icache=c))] for c in space.UNITS["icache"]}


def cache_jobs(replication, latencies):
    """The kernel's core over its instruction caches, at several latencies of the memory."""
    return [Job("dse", [n, U, U, U], replication, latency) for latency in latencies for n in cache_cores().values()]
