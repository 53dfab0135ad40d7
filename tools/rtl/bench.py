# SPDX-License-Identifier: MIT
"""The synthetic benchmarks on the cluster in RTL: set-ups x benchmarks x replications, as rows for tools/codesign. Resumable.

    python3 tools/rtl/bench.py [--replications N] [--setups u,k,k-opt,u-opt,k+soft ...] [--benchmarks kcalls,fork_join,buffer,server,knoise]

Replication r has its own code layout (the kernel's code is moved by r cache lines) and its own phase (each core leaves reset at
another cycle): identical runs would prove nothing. Rows go to build/codesign/cycles.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

if __name__ == "__main__":
    sys.path[:0] = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]

import tune
from codesign import cycles, measure, rtl, space
from rtl import config

OBSERVED_BITS = 192     # of each core's ports (hw/rtl/core.sv)
LABEL = 16              # of window 0 (bench/synth/kit.h)
CALLS, THREADS, ROUNDS, REQUESTS = 50, 3, 6, 32
NOISE_LOADS = (0, 4, 8, 12, 16)
NOISE_STEPS = 100
# program -> its runs: (arguments, [(name of the row, windows that are added, what one window holds)])
PROGRAMS = {
    "kcalls": [(["--calls", str(CALLS)], [("l_kcall", (0,), CALLS), ("r_kcall", (1,), CALLS)])],
    "fork_join": [(["--threads", str(THREADS), "--rounds", str(ROUNDS)],
                   [("spawn", (0,), THREADS), ("join", (1,), THREADS), ("fork_join", (0, 1), 1)])],
    "buffer": [(["--pairs", "1"], [("buffer", (0,), 1)])],
    "server": [(["--requests", str(REQUESTS)], [("server", (0,), 1)])],
    "knoise": [(["--loads", str(n), "--steps", str(NOISE_STEPS), "--noisy", "2"],
                [(f"knoise{n}_quiet", (0,), NOISE_STEPS), (f"knoise{n}", (1,), NOISE_STEPS)]) for n in NOISE_LOADS],
}
MACHINE = """# SPDX-License-Identifier: MIT
ports = ["or1k"]
[[cluster]]
kernel = "KC"
application = {application}
memory = "{memory}"
[hardware]
cores = {cores}
latency = {latency}
"""


def machine(cores, latency, folder):
    """Write a machine of these cores; returns its path."""
    path = os.path.join(folder, "bench.toml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(MACHINE.format(application=len(cores) - 1, memory="8M", cores=json.dumps(list(cores)), latency=latency))
    return path


def simulate(job, kernel, program, arguments, latency):
    """Run one program; the simulator's report. measure.Failed with the console's last words if it does not end well."""
    with tempfile.TemporaryDirectory(prefix="atoll-bench-") as folder:
        report = os.path.join(folder, "report.json")
        argv = [os.path.join(rtl.ROOT, "atoll"), "run", "--port", "or1k", "--machine", machine(job.cores, latency, folder), "--rtl", "--bare",
                "--kernel", kernel, "--seed", str(job.replication), "--report", report, program, *arguments]
        p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if p.returncode:
            raise measure.Failed(f"{program} on {' '.join(job.cores)} with {kernel} ended with {p.returncode}:\n" + "\n".join(p.stdout.splitlines()[-30:]))
        with open(report, encoding="utf-8") as f:
            return json.load(f)


def rows_of(job, report, parts, source, memory):
    """The rows that one report gives."""
    out = []
    for name, windows, per in parts:
        found = [measure.window(report, LABEL + n) for n in windows]
        row = measure.row(measure.Job(name, job.setup, job.cores, job.replication), report,
                          {"window": LABEL + windows[0], "per": per, "bits": OBSERVED_BITS, "memory": memory}, source)
        row["cycles"] = sum(w["cycles"] / w["times"] for w in found) / per
        if len(found) > 1:
            total = [{key: sum(w["cores"][c][key] for w in found) for key in found[0]["cores"][c]} for c in range(len(job.cores))]
            row["activity"] = measure.activity(total, OBSERVED_BITS)
        out.append(row)
    return out


def kernel_of(setup, replication):
    """Image of a set-up's kernel in the layout of a replication."""
    return tune.kernel(tune.SETUPS[setup][1], replication)


def runner(source, latency=0):
    """run(job) for measure.sweep. A job's benchmark is a program's name; the row that closes it has that name too."""
    def run(job):
        kernel = kernel_of(job.setup, job.replication)
        memory = config.Cluster(job.cores, latency=latency).memory()
        out = []
        for arguments, parts in PROGRAMS[job.benchmark]:
            out += rows_of(job, simulate(job, kernel, job.benchmark, arguments, latency), parts, source, memory)
        if job.benchmark not in [r["benchmark"] for r in out]:
            # what tells a later sweep that the program ran whole
            out.append({**out[-1], "benchmark": job.benchmark})
        return out
    return run


def jobs(benchmarks, setups, replications):
    """All runs, replication by replication, so that a sweep that is stopped has all set-ups."""
    u = space.canonical("u-core")
    return [measure.Job(b, s, [tune.SETUPS[s][0], u, u, u], r) for r in range(replications) for s in setups for b in benchmarks]


def table(rows, setups):
    """Lines: mean cycles of each benchmark per set-up with the half width of the 95 % interval, and the ratio to the first set-up."""
    names = list(dict.fromkeys(r["benchmark"] for r in rows))
    out = [f"{'benchmark':<16}" + "".join(f"{s:>26}" for s in setups)]
    for name in names:
        cells, base = [], None
        for s in setups:
            values = [r["cycles"] for r in rows if r["benchmark"] == name and r["setup"] == s]
            if not values:
                cells.append(f"{'-':>26}")
                continue
            mean = sum(values) / len(values)
            spread = (sum((v - mean) ** 2 for v in values) / max(len(values) - 1, 1)) ** 0.5
            base = base or mean
            cells.append(f"{mean:>12.0f} +-{1.96 * spread / len(values) ** 0.5:>4.0f}{mean / base:>7.3f}")
        out.append(f"{name:<16}" + "".join(cells))
    return out


def main(argv):
    """Exit status 1 if a run failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--replications", type=int, default=30)
    parser.add_argument("--setups", default="u,k,k-opt,u-opt")
    parser.add_argument("--benchmarks", default=",".join(PROGRAMS))
    parser.add_argument("--latency", type=int, default=0)
    o = parser.parse_args(argv)
    setups, benchmarks = o.setups.split(","), o.benchmarks.split(",")
    for word, known in [(s, tune.SETUPS) for s in setups] + [(b, PROGRAMS) for b in benchmarks]:
        if word not in known:
            parser.error(f"'{word}': use some of {', '.join(known)}")
    source = measure.source_hash() + (f"-l{o.latency}" if o.latency else "")
    try:
        path = measure.sweep(jobs(benchmarks, setups, o.replications), runner(source, o.latency), source)
    except (measure.Failed, tune.TuneError, rtl.Missing) as e:
        print(f"bench: {e}", file=sys.stderr)
        return 1
    print("\n".join(table(cycles.read(path), setups)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
