# SPDX-License-Identifier: MIT
"""Measured cycles of the benchmarks on the RTL: the rows that the runner writes and everything here reads.

A row is one JSON object on one line (files *.jsonl in build/codesign/cycles, the kept ones in hw/results/cycles.jsonl):

    {"benchmark": "r_kcall", "setup": "k-opt", "cores": ["simple-barrel-nodiv-nomul-nofpu-1way", "gshare-barrel-div-mul-fpu-2way", ...],
     "replication": 0, "cycles": 79000, "source": "0123456789abcdef", "memory": "latency 0",
     "activity": [{"core": 0, "cycles": 79000, "doze": 100, "gated": 100, "toggles": 5000000, "bits": 300}, ...]}

benchmark  r_kcall, l_kcall, fork_join, spawn, join, buffer, server, knoise_quiet_N and knoise_loud_N (N of 16 operations are loads; cycles per
step); setup  u (kernel on a U-Core), k (on a K-Core), k-opt (and the
optimised kernel), u-opt, or k+NAME (one optimisation alone); cores  each core's configuration, core 0 runs the kernel; cycles  of the whole
benchmark (per call for those that a table gives per call); source  hash of RTL, kernel and tools: rows of different sources are never averaged
together; activity is optional: gated counts cycles without a clock, toggles counts bit changes over `bits` observed bits.
"""

import json
import os
import statistics

from scipy import stats

from codesign import rtl, space

STORED = os.path.join(rtl.ROOT, "hw", "results", "cycles.jsonl")       # beside it cycles.json: the source and the rooms' hashes (sources.py)
FRESH = os.path.join(rtl.ROOT, "build", "codesign", "cycles")
NEEDED = {"benchmark": str, "setup": str, "cores": list, "replication": int, "cycles": (int, float), "source": str}


class BadRow(Exception):
    """A line that is no row; the message says where and why."""


def parse(text, where):
    """One row, checked."""
    try:
        row = json.loads(text)
    except ValueError as e:
        raise BadRow(f"{where}: no JSON: {e}") from None
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


def read(path):
    """Rows of a file; none if it does not exist."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return [parse(line, f"{os.path.basename(path)}:{n}") for n, line in enumerate(f, 1) if line.strip()]


def kept():
    """(rows, where they are from) of the tree."""
    return read(STORED), os.path.relpath(STORED, rtl.ROOT)


def everything(stored=STORED, fresh=FRESH):
    """(rows, where they are from): of the file measured last if there is one (a file has one source), else the kept ones; never a mixture."""
    paths = [os.path.join(fresh, n) for n in sorted(os.listdir(fresh)) if n.endswith(".jsonl")] if os.path.isdir(fresh) else []
    paths = [p for p in paths if os.path.getsize(p)]
    path = max(paths, key=os.path.getmtime) if paths else stored
    return read(path), os.path.relpath(path, rtl.ROOT)


def one_source(rows):
    """The rows of the source that has most of them, and the number of rows left out."""
    if not rows:
        return [], 0
    sources = [r["source"] for r in rows]
    best = max(sorted(set(sources)), key=sources.count)
    kept = [r for r in rows if r["source"] == best]
    return kept, len(rows) - len(kept)


def compact(rows, with_activity=3):
    """Text of rows for the tree: each once, short names, activity of the first replications only, sorted."""
    out, rows = [], {(r["benchmark"], r["setup"], tuple(r["cores"]), r["replication"]): r for r in rows}.values()
    for r in sorted(rows, key=lambda r: (r["setup"], r["benchmark"], r["cores"], r["replication"])):
        kept = {k: v for k, v in r.items() if k != "activity" or r["replication"] < with_activity}
        out.append(json.dumps({**kept, "cores": [space.nickname(c) for c in r["cores"]], "cycles": round(r["cycles"], 3)}, separators=(",", ":")) + "\n")
    return "".join(out)


def about(path=STORED):
    """What is known of a file of rows: {"source", "rooms"}, or {}."""
    try:
        with open(path.removesuffix("l"), encoding="utf-8") as f:
            found = json.load(f)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("rooms"), dict) else {}


def keep(path, stored=STORED):
    """Put the rows of a file into the tree with what is known of them; returns their number."""
    kept, _ = one_source(read(path))
    os.makedirs(os.path.dirname(stored), exist_ok=True)
    with open(stored, "w", encoding="utf-8") as f:
        f.write(compact(kept))
    with open(stored.removesuffix("l"), "w", encoding="utf-8") as f:
        json.dump(about(path), f, indent=1)
        f.write("\n")
    return len(kept)


class Summary:
    """Cycles over replications: mean, half width of the 95 % interval (None for one replication), number."""

    def __init__(self, values):
        self.n, self.mean = len(values), statistics.fmean(values)
        self.half = None
        if self.n > 1:
            self.half = float(stats.t.ppf(0.975, self.n - 1)) * statistics.stdev(values) / self.n ** 0.5


def summarise(rows):
    """{(benchmark, setup, cores as a tuple): Summary} of rows of one source."""
    groups = {}
    for r in rows:
        groups.setdefault((r["benchmark"], r["setup"], tuple(r["cores"])), {})[r["replication"]] = r["cycles"]
    return {key: Summary(list(values.values())) for key, values in groups.items()}


def of_setup(summaries, benchmark, setup):
    """(cores, Summary) of a set-up on the paper's clusters, or None."""
    kernel = space.canonical("u-core" if setup.startswith("u") else "k-core")
    wanted = (kernel,) + (space.canonical("u-core"),) * 3
    found = summaries.get((benchmark, setup, wanted))
    return (wanted, found) if found else None
