# SPDX-License-Identifier: MIT
"""The kernel's benchmarks on the cluster in RTL, in every set-up: links the kept kernels
(images.py), runs them, keeps rows (measure.py).

    python3 tools/codesign/rtlbench.py [--replications N] [--setups u,k,...] [--slow N] [--dse N]
    [--caches N] [--large N]

One run is one boot: all benchmarks, one after the other, in one program (bench/synth/suite.c). A
replication has a link order of its own: its number is the seed that decides the order of the
kernel's functions (layout.py) and when each core leaves reset. What is measured how often:

--replications    every set-up, memory latency 0
--slow            the set-ups u, k, u-opt, k-opt at the latencies 10 and 30
--dse             every core of the space that the kernel can tell apart, latency 0
--caches          the cores that differ from the K-Core by their instruction cache alone, at the latencies 0, 10 and 30
--large           one K-Core with seven U-Cores

What the tree keeps of the same source is not measured again: a larger number adds to it.
"""

import os
import sys

TOOLS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TOOLS)
import rooms  # noqa: E402,F401
import builder  # noqa: E402
from codesign import cycles, kept, measure, rtl, study  # noqa: E402
from rtl import config  # noqa: E402
from ui import Failure, Usage  # noqa: E402

PROGRAM = "suite"
ACTIVITY_BITS = 192             # ports that hw/rtl/core.sv watches
# of the cluster: what the kernel clears before it starts costs as many cycles as the benchmarks
MEMORY = 4 << 20
USERS = (3, 7)                  # user cores of the clusters that are measured
SLOW = (10, 30)                 # latencies of the memory beside 0
SLOW_SETUPS = ("u", "k", "u-opt", "k-opt")
DEFAULTS = {"--replications": 30, "--slow": 5, "--dse": 5, "--caches": 5, "--large": 5}

# kernel -> switches of mk/tune.mk; TUNE_O: the optimisation level of the compiler
SWITCHES = ("SOFT", "INLINE", "HINTS", "LAYOUT")
NONE, ALL = dict.fromkeys(SWITCHES, 0), dict.fromkeys(SWITCHES, 1)
KERNELS = {"u": {**NONE, "HARD": 1}, "k": NONE, "opt": ALL, **{s.lower(): {**NONE, s: 1} for s in SWITCHES},
           "u-o3": {**NONE, "HARD": 1, "O": 3}, "k-o3": {**NONE, "O": 3}, "opt-o3": {**ALL, "O": 3}}
# set-up -> (the kernel's core, kernel)
SETUPS = {"u": ("u-core", "u"), "k": ("k-core", "k"), "u-opt": ("u-core", "opt"), "k-opt": ("k-core", "opt"),
          **{f"k+{s.lower()}": ("k-core", s.lower()) for s in SWITCHES},
          "u-o3": ("u-core", "u-o3"), "k-o3": ("k-core", "k-o3"), "u-opt-o3": ("u-core", "opt-o3"),
          "k-opt-o3": ("k-core", "opt-o3")}

# KNoise: share of loads among the operations of the computing core, in sixteenths
LOADS, STEPS, NOISY = (0, 4, 8, 12, 16), 40, 2
# part of the program -> WINDOW_BASE that mk/user.mk gives it, + 16
LABEL = {"kcalls": 16, "fork_join": 24, "buffer": 32, "server": 40, "knoise": 48, "mailbox": 56, "pages": 64}
CALLS, ROUNDS, OBJECTS, REQUESTS, MESSAGES, MAPPINGS = 50, 5, 16, 16, 12, 6


def words(users):
    """The program's command line on a cluster with so many user cores: work grows with them."""
    out = ["kcalls", "--calls", CALLS, "fork_join", "--threads", users, "--rounds", ROUNDS, "buffer",
           "--pairs", users // 2, "--objects", OBJECTS,
           "server", "--requests", REQUESTS, "--living", users - 1]
    out += ["mailbox", "--rounds", MESSAGES, "pages", "--rounds", MAPPINGS, "--pages", 4]
    for loads in LOADS:
        out += ["knoise", "--loads", loads, "--steps", STEPS, "--noisy", NOISY]
    return [str(w) for w in out]


def table(users):
    """row -> (windows whose cycles are added, its cycles are per this many)."""
    fork = LABEL["fork_join"]
    return {"l_kcall": ((LABEL["kcalls"],), CALLS), "r_kcall": ((LABEL["kcalls"] + 1,), CALLS),
            "spawn": ((fork,), ROUNDS * users),
            "join": ((fork + 1,), ROUNDS * users), "fork_join": ((fork, fork + 1), ROUNDS),
            "buffer": ((LABEL["buffer"],), 1), "server": ((LABEL["server"],), 1),
            "mailbox": ((LABEL["mailbox"],), MESSAGES),
            "pages": ((LABEL["pages"],), MAPPINGS)}


def variables(kernel):
    """The variables of make for a kernel of the study."""
    return [f"TUNE_{k}={v}" for k, v in KERNELS[kernel].items()]


def has_own_order(kernel):
    """Does a kernel keep an order of its own for its hot functions?"""
    return KERNELS[kernel]["LAYOUT"] == 1


def program():
    """Path of the program that is run, built."""
    try:
        builder.ensure("or1k")
    except (Failure, Usage) as e:
        raise measure.Failed(str(e)) from None
    return os.path.join(rtl.ROOT, "build", "or1k", "bin", PROGRAM)


def kernel_of(setup):
    """The kernel of a set-up; of all cores of the space: the optimised one."""
    return SETUPS[setup][1] if setup in SETUPS else "opt"


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
        out.append(job.row(name, w["cycles"] / per, memory=memory,
                           activity=measure.activity(w["cores"], ACTIVITY_BITS)))
    quiet, loud = (measure.window(report, LABEL["knoise"] + n) for n in (0, 1))
    if not len(quiet["each"]) == len(loud["each"]) == len(LOADS):
        raise measure.Failed(f"the run opened {len(quiet['each'])} and {len(loud['each'])} windows "
                             f"of KNoise, not {len(LOADS)}")
    for loads, alone, together in zip(LOADS, quiet["each"], loud["each"]):
        out += [job.row(f"knoise_quiet_{loads}", alone / STEPS, memory=memory),
                job.row(f"knoise_loud_{loads}", together / STEPS, memory=memory)]
    return out


class Runner:
    """Runs jobs on the kept images."""

    last = f"knoise_loud_{LOADS[-1]}"
    source = staticmethod(study.source)

    def __call__(self, job):
        cluster = config.Cluster(job.cores, latency=job.latency)
        try:
            path = study.kernel(kernel_of(job.setup), job.replication)
            report = study.run(f"suite-{len(job.cores) - 1}", path, cluster, job.replication)
        except (study.RunFailed, *study.TROUBLES) as e:
            raise measure.Failed(f"{job.setup}, latency {job.latency}, link order {job.replication}: {e}") from None
        return [{**r, "image": study.image(path)} for r in rows(job, report, cluster.memory())]


def jobs(setups, numbers):
    """What is to be run, so that an early end leaves something of everything: replication by
    replication. `numbers`: see DEFAULTS.
    """
    out = []
    for r in range(max(numbers.values())):
        if r < numbers["--replications"]:
            out += [measure.Job(s, [SETUPS[s][0], *["u-core"] * 3], r) for s in setups]
        if r < numbers["--large"]:
            out.append(measure.Job("k-opt", ["k-core", *["u-core"] * 7], r))
        if r < numbers["--slow"]:
            out += [measure.Job(s, [SETUPS[s][0], *["u-core"] * 3], r, latency) for latency in SLOW
                    for s in SLOW_SETUPS]
        if r < numbers["--dse"]:
            out += measure.effect_jobs(r)
        if r < numbers["--caches"]:
            out += measure.cache_jobs(r, (0, *SLOW))
    return list({j.key(): j for j in out}.values())


def parse(argv):
    """(set-ups, numbers of replications)."""
    chosen = {"--setups": ",".join(SETUPS), **{k: str(v) for k, v in DEFAULTS.items()}}
    for option, value in zip(argv[::2], argv[1::2]):
        if option not in chosen:
            raise ValueError(f"unknown option '{option}'")
        chosen[option] = value
    setups = chosen.pop("--setups").split(",")
    for s in setups:
        if s not in SETUPS:
            raise ValueError(f"'{s}' is not one of {', '.join(SETUPS)}")
    if len(argv) % 2 or not all(n.isdecimal() for n in chosen.values()):
        raise ValueError(f"options have a value; {', '.join(DEFAULTS)} a number")
    numbers = {k: int(v) for k, v in chosen.items()}
    if max(numbers.values()) < 1:
        raise ValueError("at least 1 replication of something")
    return setups, numbers


def sweep(wanted, now, say):
    """Measure what is missing of some jobs for the source `now`; returns the file of rows."""
    return measure.sweep(wanted, Runner(), now, say=say, kept=cycles.kept()[0])


def main(argv):
    """Exit status 2 for a bad command line, 1 if something is missing or a run failed."""
    try:
        wanted = jobs(*parse(argv))
    except ValueError as e:
        print(e, __doc__, sep="\n", file=sys.stderr)
        return 2
    try:
        path = sweep(wanted, study.source(), lambda t: print(t, file=sys.stderr, flush=True))
        print(f"{path}\n{cycles.keep(path)} rows kept in {os.path.relpath(cycles.STORED, rtl.ROOT)}")
    except (measure.Failed, rtl.Missing, kept.Damaged) as e:
        print(e, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(rtl.STOPPED, file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
