# SPDX-License-Identifier: MIT
"""Measures cycles on the RTL: benchmarks x set-ups x replications, one run after the other, each row kept as soon as it is there.

Rows go to build/codesign/cycles/SOURCE.jsonl, where SOURCE is the hash of everything that decides cycles: the cluster's RTL, the core's, the kernel's and
the benchmarks' sources, the compiler. A sweep that was killed goes on behind its last whole row; another source is another file.
"""

import hashlib
import json
import os
import subprocess

from codesign import additive, cycles, rtl, space

# what decides cycles besides the core's package and the compiler
TREE = ("abi", "base", "hal/include", "hal/generic", "hal/cpu/or1k", "hal/noc", "hal/board/or1k", "kernel", "user", "bench/synth", "hw/rtl", "mk", "Makefile")
COMPILER = "or1k-elf-gcc"
U = space.canonical("u-core")


class Failed(Exception):
    """A run did not end as it should; the message says which and how."""


class Job:
    """One run: benchmark, set-up, the cores, number of the replication."""

    def __init__(self, benchmark, setup, cores, replication):
        self.benchmark, self.setup, self.replication = benchmark, setup, replication
        self.cores = [space.canonical(c) for c in cores]

    def key(self):
        """What identifies its rows."""
        return self.benchmark, self.setup, tuple(self.cores), self.replication


def files_below(path):
    """Files of a folder (or the file itself), sorted; no build products of Python."""
    if os.path.isfile(path):
        return [path]
    return sorted(os.path.join(d, n) for d, _, names in os.walk(path) for n in names if not n.endswith((".pyc", "_test.c", ".md")))


def source_hash(root=rtl.ROOT, tree=TREE, extra=None):
    """Hash of everything that decides the cycles."""
    h = hashlib.sha256()
    words = [rtl.digest(), compiler()] if extra is None else extra
    for word in words:
        h.update(word.encode() + b"\0")
    for place in tree:
        for path in files_below(os.path.join(root, place)):
            h.update(os.path.relpath(path, root).encode() + b"\0")
            with open(path, "rb") as f:
                h.update(hashlib.sha256(f.read()).digest())
    return h.hexdigest()[:16]


def compiler():
    """First line of the cross compiler's version."""
    try:
        return subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except FileNotFoundError:
        raise rtl.Missing(f"the compiler {COMPILER} is not installed: run ./atoll setup hw") from None


def activity(report, bits):
    """What each core did in a window (or in the whole run) of the simulator's report."""
    return [{"core": i, "cycles": c["cycles"], "doze": c["doze"], "gated": c["gated"], "toggles": c["toggles"], "bits": bits} for i, c in enumerate(report)]


def window(report, label):
    """The window of a report with this number; Failed if the program did not open it."""
    found = [w for w in report["windows"] if w["label"] == label and w["times"]]
    if not found:
        raise Failed(f"the run opened no window {label}")
    return found[0]


def row(job, report, spec, source):
    """A row out of the simulator's report. `spec` is {"window": number, "per": count, "bits": observed bits, "memory": words}."""
    w = window(report, spec["window"])
    out = {"benchmark": job.benchmark, "setup": job.setup, "cores": job.cores, "replication": job.replication,
           "cycles": w["cycles"] / w["times"] / spec.get("per", 1), "source": source, "memory": spec.get("memory", "")}
    if spec.get("bits"):
        out["activity"] = activity(w["cores"], spec["bits"])
    return out


def done(path):
    """Keys of the whole rows of a file; what a kill left of the last line is cut off."""
    if not os.path.exists(path):
        return set()
    with open(path, "rb") as f:
        data = f.read()
    whole = data[:data.rfind(b"\n") + 1]
    if len(whole) != len(data):
        with open(path, "r+b") as f:
            f.truncate(len(whole))
    return {Job(r["benchmark"], r["setup"], r["cores"], r["replication"]).key() for r in cycles.read(path)}


def sweep(jobs, run, source, folder=cycles.FRESH, say=print):
    """Run what is missing: run(job) gives a job's rows, that of its own benchmark last. Returns the file's path."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{source}.jsonl")
    finished = done(path)
    missing = [j for j in jobs if j.key() not in finished]
    with open(path, "a", encoding="utf-8") as f:
        for i, job in enumerate(missing, 1):
            say(f"cycles {i}/{len(missing)}: {job.benchmark}, {job.setup}, kernel on {space.title(job.cores[0])}, replication {job.replication}")
            for r in run(job):
                cycles.parse(json.dumps(r), "measured row")
                f.write(json.dumps(r) + "\n")
            f.flush()
            os.fsync(f.fileno())
    return path


def effect_jobs(benchmarks, replications=1):
    """The kernel's core over the I-Core and its nine single changes, U-Cores beside it."""
    names = additive.base_points() + [space.canonical("k-core"), U]
    return [Job(b, "dse", [n, U, U, U], r) for n in names for b in benchmarks for r in range(replications)]
