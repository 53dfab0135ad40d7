# SPDX-License-Identifier: MIT
"""./atoll bench --build: the experiment of seed 003: a parallel build of about 100 C files by a compiler
that runs on the machine, from files in memory, with different numbers of cores and the policies of
placement side by side.

No host of ours has several memory domains, so time is modelled: the emulator counts what each core
executes and which lines it fetches from which domain (tools/plugin/domains.c says the model and what
is not in it). A run repeats exactly; executions differ by the order in which make starts compilers.
What has run is kept by all that its result depends on, so that a table that was cut off goes on where it was.
"""

import csv
import functools
import hashlib
import itertools
import json
import os
import subprocess
import tempfile
import time

import builder
import domains
import machine as machines
import packages
import paper
import setup
import shell
from ui import BUILD, ROOT, Failure, Steps, Usage, say, take_value

HELP = """usage: ./atoll bench --build [OPTION...]

Builds Lua from its C files in three ways (102 compilations, 3 links) on a riscv64 machine with memory domains,
by GNU make and TinyCC, and prints what that would take by a model of memory domains. The first use builds
both. A run that is kept in build/paper is not made again; what is missing of the executions says the table.

  --files N            of the 34 files only the first N, and no links
  --executions N       executions for each policy and number of cores (50)
  --cores N,...        cores that work (4,8,16,32); the others are idle
  --policies P,...     of tools/machine.py (all)
  --seconds S          begin no further run after S seconds
  --machine M          nix32 (default), or another one of one cluster with memory domains
  --csv FILE, --plot FILE  docs/build003.csv and docs/img/build003.png
  --quick              one execution of nine compilations on two numbers of cores, and no picture
"""
MACHINE, CORES, EXECUTIONS = "nix32", (4, 8, 16, 32), 50
HERE = os.path.join(ROOT, "tools", "bench")
PACKAGES, SCRIPTS = ("dash", "tcc", "make", "lua-source"), ("build.sh", "build.mk")
COLUMNS = ("policy", "cores", "compilations", "metric", "mean", "low", "high", "n", "unit")
METRICS = (("time", "instructions"), ("insns", "instructions"), ("near", "lines"), ("far", "lines"))
VALUED = ("--files", "--executions", "--cores", "--policies", "--seconds", "--machine", "--csv", "--plot")
WAYS, FILES = 3, 34
TIMEOUT_S = 3000


class Run(paper.Run):
    """One execution."""

    def __init__(self, machine, policy, cores, seed, files):
        super().__init__("mark", "riscv64", f"{machine}@{policy}", [], seed)
        self.policy, self.cores, self.files = policy, cores, files

    def argv(self, extra=()):
        """The command that makes it."""
        script = [os.path.join(HERE, name) for name in SCRIPTS]
        goal = ["all"] if self.files == FILES else ["objects", f"FILES={self.files}"]
        arguments = [SCRIPTS[0], self.cores, machines.load(self.machine).cores(), self.seed, *goal]
        return [os.path.join(ROOT, "atoll"), "run", *shell.command(
            brought(), [f"{path}={os.path.basename(path)}" for path in script],
            ["--machine", self.machine, "--icount", "--timeout", str(TIMEOUT_S), *extra], map(str, arguments))]

    def key(self):
        """What its result depends on: the system, the compiler and what it compiles, and the model; no paths."""
        m = machines.load(self.machine).clusters[0]
        of = [self.cores, self.seed, self.files, machines.POLICIES[self.policy], m.roles, m.mem_bytes, m.domains,
              m.far_cost, domains.MISS, domains.TURNS, contents()]
        return hashlib.sha256(repr(of).encode()).hexdigest()[:24]

    def make(self):
        """What the model says of it."""
        with tempfile.NamedTemporaryFile(prefix="atoll-build-") as f:
            p = subprocess.run(self.argv(("--domains", f.name)), stdin=subprocess.DEVNULL, capture_output=True,
                               text=True, errors="replace")
            windows = [json.loads(line) for line in f.read().decode().splitlines()]
        made = WAYS * self.files
        if p.returncode or p.stdout.split() != [str(made)] or len(windows) != 1:
            raise Failure(f"the build on {self.cores} cores of {self.machine} ended with {p.returncode} and "
                          f"{len(windows)} windows: {(p.stderr + p.stdout)[-500:]}")
        return windows[0]


@functools.cache
def brought():
    """What the machine has: {name there: path here}."""
    return shell.brought(PACKAGES, (), [builder.program_path("riscv64", "mark")])


@functools.cache
def contents():
    """A digest of everything that runs, and of what is compiled."""
    digest = hashlib.sha256()
    of = brought() | {path: path for path in (
        *(os.path.join(HERE, name) for name in SCRIPTS), domains.PLUGIN,
        *(os.path.join(BUILD, "riscv64", name) for name in ("kernel.bin", "boot.elf", "bin/name", "bin/proc",
                                                            "bin/personality", "bin/file")))}
    for name, path in sorted(of.items()):
        with open(path, "rb") as f:
            digest.update(b"%d %s\n" % (os.path.getsize(path), os.path.basename(name).encode()) + f.read())
    return digest.hexdigest()


def plan(o):
    """All runs, one execution of everything after the other."""
    return [Run(o.machine, policy, cores, seed, o.files) for seed in range(1, o.executions + 1)
            for cores in o.cores for policy in o.policies]


def results(runs, seconds, steps):
    """{(policy, cores): [result]} of those that are kept, or made in time."""
    out, end = {}, time.monotonic() + seconds if seconds else None
    for run in runs:
        if end is None or time.monotonic() < end or run.is_kept():
            out.setdefault((run.policy, run.cores), []).append(run.result())
            steps.step(f"{run.policy} on {run.cores} cores, execution {run.seed}")
    return out


def table(found, compilations):
    """The rows of COLUMNS."""
    return [dict(zip(COLUMNS, (policy, cores, compilations, metric,
                               *(f"{x:.6g}" for x in paper.interval([r[metric] for r in rows])), len(rows), unit)))
            for (policy, cores), rows in found.items() for metric, unit in METRICS]


def show(rows):
    """A line for each policy and number of cores."""
    for _, of in itertools.groupby(rows, lambda r: (r["policy"], r["cores"])):
        of = {r["metric"]: r for r in of}
        t = of["time"]
        lines = float(of["near"]["mean"]) + float(of["far"]["mean"])
        print(f"{t['policy']:10} {t['cores']:3} cores: {float(t['mean']) / 1e6:9.1f} million "
              f"[{float(t['low']) / 1e6:.1f}, {float(t['high']) / 1e6:.1f}], {t['n']} executions, "
              f"{100 * float(of['far']['mean']) / lines if lines else 0:.0f} % of the lines from other domains")


class Options:
    """What the command line asks for."""

    def __init__(self, argv):
        self.machine, self.quick, self.seconds = MACHINE, "--quick" in argv, "0"
        self.files, self.executions = str(FILES), str(EXECUTIONS)
        self.cores, self.policies = ",".join(map(str, CORES)), ",".join(machines.POLICIES)
        self.csv, self.plot = (os.path.join(ROOT, "docs", n) for n in ("build003.csv", "img/build003.png"))
        if self.quick:
            self.executions, self.cores, self.files, self.plot = "1", "4,16", "3", None
        i = 0
        while i < len(argv):
            name = argv[i].split("=", 1)[0]
            if name in VALUED:
                value, i = take_value(argv, i, name)
                setattr(self, name[2:], value)
            elif argv[i] in ("--build", "--quick"):
                i += 1
            else:
                raise Usage(f"unknown option '{argv[i]}': ./atoll bench --build --help lists them")
        self._check()

    def _check(self):
        try:
            m = machines.load(self.machine)
        except machines.MachineError as e:
            raise Usage(str(e)) from None
        most = len(m.clusters[0].roles)
        if len(m.clusters) != 1 or m.clusters[0].domains == 1 or "@" in self.machine:
            raise Usage("--machine needs one of one cluster with memory domains, without a policy")
        self.policies = self.policies.split(",")
        if not set(self.policies) <= set(machines.POLICIES):
            raise Usage(f"--policies are some of {', '.join(machines.POLICIES)}")
        words = self.cores.split(",")
        if not all(w.isdecimal() and 2 <= int(w) <= most for w in words):
            raise Usage(f"--cores are numbers from 2 to {most}")
        self.cores = [int(w) for w in words]
        if not self.executions.isdecimal() or int(self.executions) < 1 or not self.seconds.isdecimal():
            raise Usage("--executions and --seconds are whole numbers")
        if not self.files.isdecimal() or not 1 <= int(self.files) <= FILES:
            raise Usage(f"--files is a number from 1 to {FILES}")
        self.files = int(self.files)
        self.executions, self.seconds = int(self.executions), int(self.seconds)


def plot(path, to):
    """Draw a table."""
    subprocess.run([os.path.join(setup.VENV, "bin", "python3"), os.path.join(HERE, "buildplot.py"), path, to],
                   check=True)


def main(argv):
    """Exit status 0 if every run ended well."""
    if "--help" in argv or "-h" in argv:
        print(HELP, end="")
        return 0
    o = Options(argv)
    setup.ensure("dev" if o.plot else "run")
    builder.ensure_run("riscv64", ("mark",))
    builder.make("hosted", ("plugin",), quiet=True)
    packages.ensure(PACKAGES)
    os.makedirs(paper.KEPT, exist_ok=True)
    runs = plan(o)
    steps = Steps("build", len(runs))
    found = results(runs, o.seconds, steps)
    steps.end()
    rows = table(found, WAYS * o.files)
    show(rows)
    with open(o.csv, "w", encoding="utf-8", newline="") as f:
        writer = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    missing = len(runs) - sum(map(len, found.values()))
    if o.plot:
        plot(o.csv, o.plot)
    say(f"wrote {len(rows)} rows to {o.csv}" + (f", and {o.plot}" if o.plot else "") +
        (f"; {missing} of {len(runs)} executions are missing" if missing else ""))
    return 0
