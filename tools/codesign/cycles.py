# SPDX-License-Identifier: MIT
"""Measured cycles of the benchmarks on the RTL: the rows that the runner writes and everything here
reads.

A row is one JSON object on one line (files *.jsonl in build/codesign/cycles, the kept ones in
hw/results/cycles.jsonl, behind a checksum):

    {"benchmark": "r_kcall", "setup": "k-opt", "cores": ["simple-barrel-nodiv-nomul-nofpu-1way",
    "gshare-barrel-div-mul-fpu-2way", ...],
     "replication": 0, "latency": 0, "cycles": 79000, "source": "0123456789abcdef", "image":
     "0123456789ab", "memory": "no data cache, latency 0", "activity": [{"core": 0, "cycles": 79000,
     "doze": 100, "gated": 100, "toggles": 5000000, "bits": 300}, ...]}

benchmark r_kcall, l_kcall, fork_join, spawn, join, buffer, server, mailbox, pages, knoise_quiet_N
and knoise_loud_N (N of 16 operations are loads; cycles per step); setup u (kernel on a U-Core), k
(on a K-Core), k-opt (and the optimised kernel), u-opt, k+NAME (one optimisation alone), the same
with -o3 (compiled at -O3), or dse; cores each core's configuration, core 0 runs the kernel;
replication the seed of the link order; latency of the memory; cycles of the whole benchmark (per
call for those that a table gives per call); source hash of images, RTL and tools: rows of different
sources are never averaged together; image hash of the kernel as it was linked; activity is
optional: gated counts cycles without a clock, toggles counts bit changes over `bits` observed bits.
"""

import json
import os
import statistics

from scipy import stats

from codesign import kept as keeping
from codesign import rtl, space

STORED = os.path.join(rtl.ROOT, "hw", "results", "cycles.jsonl")
FRESH = os.path.join(rtl.ROOT, "build", "codesign", "cycles")
NEEDED = {"benchmark": str, "setup": str, "cores": list, "replication": int, "latency": int,
          "cycles": (int, float), "source": str}


class BadRow(Exception):
    """A line that is no row; the message says where and why."""


def parse(text, where):
    """One row, checked."""
    try:
        row = json.loads(text)
    except ValueError as e:
        raise BadRow(f"{where}: no JSON: {e}") from None
    if isinstance(row, dict):
        row.setdefault("latency", 0)
    for key, kind in NEEDED.items():
        if not isinstance(row, dict) or not isinstance(row.get(key), kind) or isinstance(row.get(key), bool):
            raise BadRow(f"{where}: no good value for '{key}'")
    if row["cycles"] <= 0 or not row["cores"]:
        raise BadRow(f"{where}: cycles and cores are more than 0")
    try:
        row["cores"] = [space.canonical(c) for c in row["cores"]]
    except space.OutsideSpace as e:
        raise BadRow(f"{where}: {e}") from None
    return row


def _rows(text, name):
    return [parse(line, f"{name}:{n}") for n, line in enumerate(text.splitlines(), 1) if line.strip()]


def read(path):
    """Rows of a file that was just measured; none if it does not exist."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return _rows(f.read(), os.path.basename(path))


def kept(stored=STORED):
    """(rows, where they are from) of the tree; kept.Damaged if they were touched."""
    return _rows(keeping.read(stored), os.path.basename(stored)), os.path.relpath(stored, rtl.ROOT)


def everything(stored=STORED, fresh=FRESH):
    """(rows, where they are from): of the file measured last if there is one (a file has one
    source), else the kept ones; never a mixture.
    """
    paths = [os.path.join(fresh, n) for n in sorted(os.listdir(fresh))
             if n.endswith(".jsonl")] if os.path.isdir(fresh) else []
    paths = [p for p in paths if os.path.getsize(p)]
    if not paths:
        return kept(stored)
    path = max(paths, key=os.path.getmtime)
    return read(path), os.path.relpath(path, rtl.ROOT)


def one_source(rows):
    """The rows of the source that has most of them, and the number of rows left out."""
    if not rows:
        return [], 0
    sources = [r["source"] for r in rows]
    best = max(sorted(set(sources)), key=sources.count)
    found = [r for r in rows if r["source"] == best]
    return found, len(rows) - len(found)


def short(row, with_activity=3):
    """A row as the tree keeps it: short names, activity of the first replications only."""
    found = {k: v for k, v in row.items() if k != "activity" or row["replication"] < with_activity}
    return {**found, "cores": [space.nickname(c) for c in row["cores"]], "cycles": round(row["cycles"], 3)}


def compact(rows):
    """Text of rows for the tree: each once, sorted."""
    rows = {(r["setup"], r["benchmark"], tuple(r["cores"]), r["latency"], r["replication"]): r for r in rows}
    return "".join(json.dumps(short(rows[key]), separators=(",", ":")) + "\n" for key in sorted(rows))


def keep(path, stored=STORED):
    """Put the rows of a file into the tree; returns their number."""
    found, _ = one_source(read(path))
    keeping.write(stored, compact(found))
    return len(found)


class Summary:
    """Cycles over replications: mean, half width of the 95 % interval (None for one replication),
    number.
    """

    def __init__(self, values):
        self.n, self.mean = len(values), statistics.fmean(values)
        self.half = None
        if self.n > 1:
            self.half = float(stats.t.ppf(0.975, self.n - 1)) * statistics.stdev(values) / self.n ** 0.5


def summarise(rows, latency=0):
    """{(benchmark, setup, cores as a tuple): Summary} of rows of one source and latency."""
    groups = {}
    for r in rows:
        if r["latency"] == latency:
            groups.setdefault((r["benchmark"], r["setup"], tuple(r["cores"])), {})[r["replication"]] = r["cycles"]
    return {key: Summary(list(values.values())) for key, values in groups.items()}


def of_setup(summaries, benchmark, setup):
    """(cores, Summary) of a set-up on the paper's clusters, or None."""
    kernel = space.canonical("u-core" if setup.startswith("u") else "k-core")
    wanted = (kernel,) + (space.canonical("u-core"),) * 3
    found = summaries.get((benchmark, setup, wanted))
    return (wanted, found) if found else None
