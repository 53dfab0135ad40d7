# SPDX-License-Identifier: MIT
"""The kernel's benchmarks on the cluster in RTL, in every set-up: builds the kernels, runs, keeps rows (measure.py).

    ./atoll build or1k; python3 tools/codesign/rtlbench.py [--replications N] [--setups u,k,...] [--benchmarks kcalls,...] [--dse N] [--cores N]

A replication varies what must not matter: when each core leaves reset (the seed) and where the kernel's code lies (empty cache lines before it).
"""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from codesign import cycles, measure, rtl  # noqa: E402

KERNELS = os.path.join(rtl.ROOT, "build", "codesign", "kernel")
ACTIVITY_BITS = 192             # ports that hw/rtl/core.sv watches
TIMEOUT_S = 900
PAD_STEP, PAD_LINES = 11, 256   # of 32 bytes: over the whole of a direct-mapped cache

# set-up -> (the kernel's core, switches of mk/tune.mk)
SWITCHES = ("SOFT", "INLINE", "HINTS", "LAYOUT")
NONE, ALL = dict.fromkeys(SWITCHES, 0), dict.fromkeys(SWITCHES, 1)
SETUPS = {"u": ("u-core", {**NONE, "HARD": 1}), "k": ("k-core", NONE), "u-opt": ("u-core", ALL), "k-opt": ("k-core", ALL),
          **{f"k+{s.lower()}": ("k-core", {**NONE, s: 1}) for s in SWITCHES}}

# program -> by number of user cores: (arguments, {row: (windows whose cycles are added, cycles are per this many)})
WINDOW = 16
BENCHMARKS = {
    "kcalls": lambda n: (["--calls", "100"], {"l_kcall": ((0,), 100), "r_kcall": ((1,), 100)}),
    "fork_join": lambda n: (["--threads", str(n), "--rounds", "10"], {"spawn": ((0,), 10 * n), "join": ((1,), 10 * n), "fork_join": ((0, 1), 10)}),
    "buffer": lambda n: (["--pairs", str(n // 2), "--objects", "32"], {"buffer": ((0,), 1)}),
    "server": lambda n: (["--requests", "32", "--living", str(n - 1)], {"server": ((0,), 1)}),
}
MAIN = {"kcalls": "r_kcall", "fork_join": "fork_join", "buffer": "buffer", "server": "server"}


def machine_text(cores):
    """A machine of one cluster with these cores."""
    names = ", ".join(f'"{c}"' for c in cores)
    return (f'description = "measurement"\nports = ["or1k"]\n\n[[cluster]]\nkernel = "KC"\napplication = {len(cores) - 1}\nmemory = "32M"\n\n'
            f"[hardware]\ncores = [{names}]\n")


def pad(replication):
    """Empty cache lines before the kernel's code."""
    return replication * PAD_STEP % PAD_LINES


def folder(switches):
    """A build folder per combination of switches."""
    return os.path.join(KERNELS, "-".join(f"{k.lower()}{v}" for k, v in sorted(switches.items())))


def kernel(switches, lines):
    """Path (without ending) of a kernel image with these switches and this layout; built if needed."""
    build = folder(switches)
    path = os.path.join(build, "or1k", "kernel" + (f"-pad{lines}" if lines else ""))
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    argv = ["make", "-C", rtl.ROOT, "--no-print-directory", "PORT=or1k", f"BUILD={os.path.relpath(build, rtl.ROOT)}", f"PAD={lines}",
            *(f"TUNE_{k}={v}" for k, v in switches.items())]
    argv += [os.path.relpath(path + end, rtl.ROOT) for end in (".elf", "-moved.elf")]
    p = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if p.returncode:
        raise measure.Failed(f"the kernel with {switches} does not build:\n" + "\n".join(p.stdout.splitlines()[-12:]))
    return path


def simulate(job, image, program, args):
    """The simulator's report of one run."""
    with tempfile.TemporaryDirectory(prefix="atoll-measure-") as place:
        machine, report = os.path.join(place, "measured.toml"), os.path.join(place, "report.json")
        with open(machine, "w", encoding="utf-8") as f:
            f.write(machine_text(job.cores))
        argv = [os.path.join(rtl.ROOT, "atoll"), "run", "--port", "or1k", "--rtl", "--bare", "--machine", machine, "--kernel", image,
                "--seed", str(job.replication), "--report", report, "--timeout", str(TIMEOUT_S), program, *args]
        p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if p.returncode:
            raise measure.Failed(f"{program}, {job.setup}, replication {job.replication}: exit status {p.returncode}\n" + "\n".join(p.stdout.splitlines()[-12:]))
        with open(report, encoding="utf-8") as f:
            return json.load(f)


def added(windows):
    """Several windows as one: their cycles and each core's counters added."""
    total = {"times": 1, "cycles": sum(w["cycles"] for w in windows)}
    total["cores"] = [{k: sum(w["cores"][i][k] for w in windows) for k in c} for i, c in enumerate(windows[0]["cores"])]
    return total


def rows(job, report, source, memory):
    """All rows of a run, that of the job's own benchmark last."""
    out = []
    for name, (windows, per) in sorted(BENCHMARKS[job.benchmark](len(job.cores) - 1)[1].items(), key=lambda x: x[0] == MAIN[job.benchmark]):
        w = added([measure.window(report, WINDOW + n) for n in windows])
        out.append({"benchmark": name, "setup": job.setup, "cores": job.cores, "replication": job.replication, "cycles": w["cycles"] / per,
                    "source": source, "memory": memory, "activity": measure.activity(w["cores"], ACTIVITY_BITS)})
    return out


class Runner:
    """Runs jobs. A job is named by its main row, so that a sweep knows what is finished."""

    def __init__(self, source, memory="no data cache, latency 0"):
        self.source, self.memory = source, memory
        self.programs = {row: program for program, row in MAIN.items()}

    def __call__(self, job):
        program = self.programs[job.benchmark]
        switches = SETUPS[job.setup][1] if job.setup in SETUPS else ALL
        report = simulate(job, kernel(switches, pad(job.replication)), program, BENCHMARKS[program](len(job.cores) - 1)[0])
        inner = measure.Job(program, job.setup, job.cores, job.replication)
        return rows(inner, report, self.source, self.memory)


def jobs(setups, programs, replications, dse, cores=4):
    """What is to be run, so that an early end leaves something of everything: replication by replication."""
    out = []
    for r in range(replications):
        out += [measure.Job(MAIN[p], s, [SETUPS[s][0], *["u-core"] * (cores - 1)], r) for s in setups for p in programs]
    return out + sorted(measure.effect_jobs([MAIN[p] for p in programs], dse), key=lambda j: j.replication)


def parse(argv):
    """(set-ups, programs, replications, replications of the main effects, cores)."""
    chosen = {"--replications": "30", "--setups": ",".join(SETUPS), "--benchmarks": ",".join(BENCHMARKS), "--dse": "3", "--cores": "4"}
    for option, value in zip(argv[::2], argv[1::2]):
        if option not in chosen:
            raise ValueError(f"unknown option '{option}'")
        chosen[option] = value
    setups, programs = chosen["--setups"].split(","), chosen["--benchmarks"].split(",")
    for words, known in ((setups, SETUPS), (programs, BENCHMARKS)):
        for w in words:
            if w not in known:
                raise ValueError(f"'{w}' is not one of {', '.join(known)}")
    numbers = [chosen[o] for o in ("--replications", "--dse", "--cores")]
    if len(argv) % 2 or not all(n.isdecimal() for n in numbers):
        raise ValueError("options have a value; --replications, --dse and --cores a number")
    if not 4 <= int(numbers[2]) <= 8:
        raise ValueError("--cores is from 4 to 8")
    return setups, programs, *map(int, numbers)


def main(argv):
    """Exit status 2 for a bad command line, 1 if something is missing or a run failed."""
    try:
        wanted = jobs(*parse(argv))
    except ValueError as e:
        print(e, __doc__, sep="\n", file=sys.stderr)
        return 2
    try:
        source = measure.source_hash()
        path = measure.sweep(wanted, Runner(source), source, say=lambda t: print(t, file=sys.stderr, flush=True))
        print(f"{path}\n{cycles.keep(path)} rows kept in {os.path.relpath(cycles.STORED, rtl.ROOT)}")
    except (measure.Failed, rtl.Missing) as e:
        print(e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
