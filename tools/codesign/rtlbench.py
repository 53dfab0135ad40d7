# SPDX-License-Identifier: MIT
"""The kernel's benchmarks on the cluster in RTL, in every set-up: builds the kernels, runs, keeps rows (measure.py).

    python3 tools/codesign/rtlbench.py [--replications N] [--setups u,k,...] [--dse N] [--large N]

One run is one boot: all benchmarks, one after the other, in one program (bench/synth/suite.c). A replication varies what must not matter: when each
core leaves reset (the seed) and where the kernel's code lies (empty cache lines before it). --dse: replications of every core of the space
that the kernel can tell apart, --large: of one K-Core with seven U-Cores. What the tree keeps of the same source is not measured again.
"""

import json
import os
import subprocess
import sys

TOOLS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TOOLS, os.path.join(TOOLS, "front")]
import builder  # noqa: E402
from codesign import cycles, measure, rtl, sources  # noqa: E402
from rtl import config, programs  # noqa: E402
from ui import Failure, Usage  # noqa: E402

KERNELS = os.path.join(rtl.ROOT, "build", "codesign", "kernel")
PROGRAM = "suite"
ACTIVITY_BITS = 192             # ports that hw/rtl/core.sv watches
MEMORY = 4 << 20                # of the cluster: what the kernel clears before it starts costs as many cycles as the benchmarks
MAX_CYCLES = 20_000_000
REPLICATIONS = 30
PAD_STEP, PAD_LINES = 11, 256   # of 32 bytes: over the whole of a direct-mapped cache

# set-up -> (the kernel's core, switches of mk/tune.mk)
SWITCHES = ("SOFT", "INLINE", "HINTS", "LAYOUT")
NONE, ALL = dict.fromkeys(SWITCHES, 0), dict.fromkeys(SWITCHES, 1)
SETUPS = {"u": ("u-core", {**NONE, "HARD": 1}), "k": ("k-core", NONE), "u-opt": ("u-core", ALL), "k-opt": ("k-core", ALL),
          **{f"k+{s.lower()}": ("k-core", {**NONE, s: 1}) for s in SWITCHES}}

# KNoise: share of loads among the operations of the computing core, in sixteenths
LOADS, STEPS, NOISY = (0, 4, 8, 12, 16), 40, 2
# part of the program -> WINDOW_BASE that mk/user.mk gives it, + 16
LABEL = {"kcalls": 16, "fork_join": 24, "buffer": 32, "server": 40, "knoise": 48}
CALLS, ROUNDS, OBJECTS, REQUESTS = 50, 5, 16, 16


def words(users):
    """The program's command line on a cluster with so many user cores: work grows with them."""
    out = ["kcalls", "--calls", CALLS, "fork_join", "--threads", users, "--rounds", ROUNDS, "buffer", "--pairs", users // 2, "--objects", OBJECTS,
           "server", "--requests", REQUESTS, "--living", users - 1]
    for loads in LOADS:
        out += ["knoise", "--loads", loads, "--steps", STEPS, "--noisy", NOISY]
    return [str(w) for w in out]


def table(users):
    """row -> (windows whose cycles are added, its cycles are per this many)."""
    fork = LABEL["fork_join"]
    return {"l_kcall": ((LABEL["kcalls"],), CALLS), "r_kcall": ((LABEL["kcalls"] + 1,), CALLS), "spawn": ((fork,), ROUNDS * users),
            "join": ((fork + 1,), ROUNDS * users), "fork_join": ((fork, fork + 1), ROUNDS), "buffer": ((LABEL["buffer"],), 1), "server": ((LABEL["server"],), 1)}


def pad(replication):
    """Empty cache lines before the kernel's code."""
    return replication * PAD_STEP % PAD_LINES


def folder(switches):
    """A build folder per combination of switches."""
    return os.path.join(KERNELS, "-".join(f"{k.lower()}{v}" for k, v in sorted(switches.items())))


def build(switches, targets):
    """Make targets of a kernel with these switches; returns the port's folder. Failed with the compiler's last words."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    argv = ["make", "-C", rtl.ROOT, "--no-print-directory", "PORT=or1k", f"BUILD={os.path.relpath(folder(switches), rtl.ROOT)}", *targets,
            *(f"TUNE_{k}={v}" for k, v in switches.items())]
    p = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if p.returncode:
        raise measure.Failed(f"the kernel with {switches} does not build:\n" + "\n".join(p.stdout.splitlines()[-12:]))
    return os.path.join(folder(switches), "or1k")


def kernels(switches, lines):
    """Paths of kernel images with these switches and layouts, without ending."""
    place = build(switches, ["pads", "PADS=" + " ".join(map(str, lines))])
    return [os.path.join(place, f"kernel-pad{n}") for n in lines]


def program():
    """Path of the program that is run, built."""
    try:
        builder.ensure("or1k")
    except (Failure, Usage) as e:
        raise measure.Failed(str(e)) from None
    return os.path.join(rtl.ROOT, "build", "or1k", "bin", PROGRAM)


def combinations():
    """The kernels of all set-ups: switches by build folder, in a fixed order."""
    return dict(sorted((folder(s), s) for _, s in SETUPS.values()))


def source():
    """The source of rows that would be measured now: builds every kernel and the program."""
    for switches in combinations().values():
        kernels(switches, [0])
    program()
    return built_source()


def built_source():
    """The same of what is built, without building."""
    return sources.source([os.path.join(f, "or1k", "kernel-pad0.elf") for f in combinations()] + [os.path.join(rtl.ROOT, "build", "or1k", "bin", PROGRAM)], words(3))


def added(windows):
    """Several windows as one: their cycles and each core's counters added."""
    total = {"cycles": sum(w["cycles"] for w in windows)}
    total["cores"] = [{k: sum(w["cores"][i][k] for w in windows) for k in c} for i, c in enumerate(windows[0]["cores"])]
    return total


def rows(job, report, memory):
    """All rows of a run, that of Runner.last last."""
    out = []
    for name, (windows, per) in table(len(job.cores) - 1).items():
        w = added([measure.window(report, n) for n in windows])
        out.append(job.row(name, w["cycles"] / per, memory=memory, activity=measure.activity(w["cores"], ACTIVITY_BITS)))
    quiet, loud = (measure.window(report, LABEL["knoise"] + n) for n in (0, 1))
    if not len(quiet["each"]) == len(loud["each"]) == len(LOADS):
        raise measure.Failed(f"the run opened {len(quiet['each'])} and {len(loud['each'])} windows of KNoise, not {len(LOADS)}")
    for loads, alone, together in zip(LOADS, quiet["each"], loud["each"]):
        out += [job.row(f"knoise_quiet_{loads}", alone / STEPS, memory=memory), job.row(f"knoise_loud_{loads}", together / STEPS, memory=memory)]
    return out


class Runner:
    """Runs jobs. The images of a set-up are built when its first job comes."""

    last = f"knoise_loud_{LOADS[-1]}"
    source = staticmethod(built_source)

    def __init__(self, replications=REPLICATIONS):
        self.pads = [pad(r) for r in range(replications)]
        self.images = {}

    def image(self, job):
        """The kernel of a job."""
        switches = SETUPS[job.setup][1] if job.setup in SETUPS else ALL
        key = folder(switches)
        if key not in self.images:
            self.images[key] = dict(zip(self.pads, kernels(switches, self.pads)))
        return self.images[key][pad(job.replication)]

    def __call__(self, job):
        cluster = config.Cluster(job.cores, ram=MEMORY)
        try:
            report = programs.report(cluster, PROGRAM, words(len(job.cores) - 1), seed=job.replication, kernel=self.image(job),
                                     extra=["--max-cycles", str(MAX_CYCLES)])
        except (Failure, Usage) + programs.TROUBLES as e:
            raise measure.Failed(f"{job.setup}, replication {job.replication}: {e}") from None
        return rows(job, report, cluster.memory())


def jobs(setups, replications, dse, large=0):
    """What is to be run, so that an early end leaves something of everything: replication by replication."""
    out = []
    for r in range(max(replications, dse, large)):
        if r < replications:
            out += [measure.Job(s, [SETUPS[s][0], *["u-core"] * 3], r) for s in setups]
        if r < large:
            out.append(measure.Job("k-opt", ["k-core", *["u-core"] * 7], r))
        out += [j for j in measure.effect_jobs(dse) if j.replication == r]
    return out


def parse(argv):
    """(set-ups, replications, of the space's cores, of the large cluster)."""
    chosen = {"--replications": str(REPLICATIONS), "--setups": ",".join(SETUPS), "--dse": str(REPLICATIONS), "--large": str(REPLICATIONS)}
    for option, value in zip(argv[::2], argv[1::2]):
        if option not in chosen:
            raise ValueError(f"unknown option '{option}'")
        chosen[option] = value
    setups = chosen["--setups"].split(",")
    for s in setups:
        if s not in SETUPS:
            raise ValueError(f"'{s}' is not one of {', '.join(SETUPS)}")
    numbers = [chosen[o] for o in ("--replications", "--dse", "--large")]
    if len(argv) % 2 or not all(n.isdecimal() for n in numbers):
        raise ValueError("options have a value; --replications, --dse and --large a number")
    if not 1 <= max(map(int, numbers)) <= PAD_LINES:
        raise ValueError(f"at most {PAD_LINES} replications, at least 1")
    return setups, *map(int, numbers)


def sweep(wanted, now, say):
    """Measure what is missing of some jobs for the source `now`; returns the file of rows."""
    replications, rooms = 1 + max(j.replication for j in wanted), sources.rooms()
    path = measure.sweep(wanted, Runner(replications), now, say=say, kept=cycles.kept()[0])
    with open(path[:-1], "w", encoding="utf-8") as f:
        json.dump({"source": now, "rooms": rooms}, f, indent=1)
    return path


def main(argv):
    """Exit status 2 for a bad command line, 1 if something is missing or a run failed."""
    try:
        wanted = jobs(*parse(argv))
    except ValueError as e:
        print(e, __doc__, sep="\n", file=sys.stderr)
        return 2
    try:
        path = sweep(wanted, source(), lambda t: print(t, file=sys.stderr, flush=True))
        print(f"{path}\n{cycles.keep(path)} rows kept in {os.path.relpath(cycles.STORED, rtl.ROOT)}")
    except (measure.Failed, rtl.Missing) as e:
        print(e, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(rtl.STOPPED, file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
