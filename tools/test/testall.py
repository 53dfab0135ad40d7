# SPDX-License-Identifier: MIT
"""./atoll test: set up, build every port, run every test, end with "N passed, N failed"."""

import glob
import os
import re
import time

import check
import haltest
import install
import models
import or1k
import results
import setup
import testlist
from ui import BUILD, PORTS, ROOT, Usage, say

HELP = """usage: ./atoll test [-v] [-jN] [GROUP...]

Runs every test; with names, only the groups that start with one of them, and builds only what these need:
  check unit python hal coroutine model analysis boot kernel hosted jobs same apps mpi codesign bench docs mpi4py
  programs
mpi4py: some of its suite is run always, all of it at 1, 2 and 4 ranks only when it is named.
same: some commands of programs of others, beside Linux, are run always, all of them only when it is named.
coroutine, hw.chip, hw.cluster: with more seeds when they are named (coroutine.all: only these).
programs: MPI programs of others (docs/programs.md), only when they are named: programs.hpcc, or all.
-jN: N tests, or compilers, at a time, instead of 2.
Ends with "N passed, N failed" and exit status 0 only if nothing failed. In CI (environment variable
CI) a skipped test fails.
"""
RUN_TIMEOUT_S = 120
SCRIPT_TIMEOUT_S = 600
LONG_TIMEOUT_S = 3600
CORO_TIMEOUT_S = 600


# Programs of tests/coroutine whose own number of seeds takes long: how many are tried always, from
# the first on. Their mutation controls fail within 600 seeds (tests/coroutine/test_mutants.py), or
# 400, for ikc_restart 1,600 (mutation.c).
FEWER_SEEDS = {
    **dict.fromkeys(("ikc_channel", "ikc_mailbox", "ikc_portal", "ikc_restart", "ikc_sync", "kernel_am"), 3000),
    **dict.fromkeys(("kernel_alarm", "kernel_fault", "kernel_handler", "kernel_kill", "kernel_large",
                     "kernel_memory", "kernel_moves", "kernel_private", "kernel_revoke",
                     "kernel_threads", "kernel_views", "kernel_wait"), 600),
}


def coroutine_tasks():
    """Every program of tests/coroutine: many seeds, and their mutation controls."""
    folder = os.path.join(BUILD, "coroutine")
    out = []
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK) and name != "hal-test":
            argv = [path, str(FEWER_SEEDS[name])] if name in FEWER_SEEDS else [path]
            out.append(results.program_task(f"coroutine.{name}", argv, CORO_TIMEOUT_S))
    return out


def coroutine_long_tasks():
    """The same programs with all their seeds."""
    folder = os.path.join(BUILD, "coroutine")
    return [results.program_task(f"coroutine.all.{n}", [os.path.join(folder, n)], CORO_TIMEOUT_S)
            for n in FEWER_SEEDS]


def install_prefix():
    """What is built for process ranks, installed as a user would: the tests use nothing else."""
    start = time.monotonic()
    install.ensure()
    return [results.Result("build.prefix", "passed", "", time.monotonic() - start)]


def aarch64_variables():
    """Variables of make for the library of process ranks on another processor:
    tests/process/test_aarch64.py.
    """
    return f"CC={' '.join(setup.aarch64_compiler())}", f"BUILD={os.path.relpath(os.path.join(BUILD, 'aarch64'), ROOT)}"


KERNEL_PORTS = ("hosted", "riscv64", "or1k")
KERNEL_MACHINES = (("1", "4", "KC"), ("1", "4", "TC"))


# What is drawn is the same on every port, and slowest on or1k; more calls: tests/fuzz/at_length.py.
FEWER_CALLS = {("or1k", "fuzz"): {"CALLS": "10000"}, ("or1k", "rolerandom"): {"CALLS": "500"}}


def kernel_tasks():
    """The kernel's tests run as init of small machines: clusters, cores, role of core 0 - or what
    the test's head says (`machine:`).
    """
    script, out = os.path.join(ROOT, "tests", "kernel", "boot.py"), []
    for port in KERNEL_PORTS:
        for name in _kernel_tests():
            for shape in _shapes(name):
                if port == "or1k" and int(shape[0]) * int(shape[1]) > or1k.CORES_MAX:
                    continue
                group = f"kernel.{port}.{name}." + "x".join(shape[:2]) + "".join(shape[2:3]) + \
                    "".join(f".connectors{n}" for n in shape[4:5] if n != "0") + \
                    "".join(f".{word}" for word in shape[6:7])
                argv = [os.path.join(setup.VENV, "bin", "python3"), script, port, name, *shape]
                env = FEWER_CALLS.get((port, name))
                out.append(results.program_task(group, argv, RUN_TIMEOUT_S, env))
    return out


def _kernel_tests():
    """Names of the programs of tests/kernel, whether they are built or not: one that cannot be
    built fails.
    """
    paths = glob.glob(os.path.join(ROOT, "tests", "kernel", "*.c"))
    return sorted({os.path.basename(p)[:-len(".c")] for p in paths} - {"ktest"})


def _shapes(name):
    """Machines of one kernel test: lines `machine: CLUSTERS CORES [ROLE [MEGABYTES
    [CONNECTORS [DOMAINS POLICY]]]]` in its head.
    """
    try:
        with open(os.path.join(ROOT, "tests", "kernel", name + ".c"), encoding="utf-8") as f:
            found = re.findall(r"^\W*machine:((?: +\w+)+)", f.read(4000), re.M)
    except OSError:
        found = []
    return [tuple(m.split()) for m in found] or KERNEL_MACHINES



def table_names(path):
    """Names of a table's entries, in its order."""
    with open(path, encoding="utf-8") as f:
        return tuple(re.findall(r"^\[([\w-]+)\]$", f.read(), re.M))


# scripts in tests/GROUP/test_*.py that are run once per argument, side by side
VARIANTS = {"bench": PORTS, "apps": PORTS, "apps.km": PORTS, "apps.paths": PORTS, "jobs": PORTS,
            "jobs.deadlock": PORTS, "jobs.walls": PORTS, "jobs.kills": ("some",),
            "hosted.sanitized": ("address", "thread"), "process.sanitized": ("address", "thread"),
            "mpi4py": ("some",), "programs": (),
            "hw.defects": ("cluster", "snooped", "plain", "chip")}
# further arguments, for which a script is run only when its group is asked for
PROGRAMS = os.path.join(ROOT, "tests", "programs", "table.toml")
AT_LENGTH = {"mpi4py": ("1", "2", "4"), "same": ("all",), "jobs.kills": ("all",), "programs": table_names(PROGRAMS),
             "hw.chip": ("all",), "hw.cluster": ("all",)}


def script_tasks():
    """Scenarios written as programs (tests/GROUP/test_NAME.py): they print the test protocol's
    lines.
    """
    python, out = os.path.join(setup.VENV, "bin", "python3"), []
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "*", "test_*.py"))):
        group, name = os.path.basename(os.path.dirname(path)), os.path.basename(path)[len("test_"):-len(".py")]
        title = group if name == group else f"{group}.{name}"
        for word in VARIANTS.get(title, (None,)):
            argv = [python, path, word] if word else [python, path]
            out.append(results.program_task(f"{title}.{word}" if word else title, argv, SCRIPT_TIMEOUT_S))
    return out


def long_tasks(names):
    """What is run only if a name means it."""
    python, out = os.path.join(setup.VENV, "bin", "python3"), coroutine_long_tasks()
    for title, words in AT_LENGTH.items():
        group, _, name = title.partition(".")
        path = os.path.join(ROOT, "tests", group, f"test_{name or group}.py")
        out += [results.program_task(f"{title}.{w}", [python, path, w], LONG_TIMEOUT_S)
                for w in words]
    return [t for t in out if any(is_meant(t.name, n) for n in names)]


def is_meant(task, name):
    """Does a name of the command line mean a task? Whole words, or the beginning of one that is no
    group's name.
    """
    return (task + ".").startswith(name + ".") or (name not in groups() and task.startswith(name))


def all_tasks():
    """(group, tasks), the longest first so that two workers end together."""
    return [
        ("python", [check.pytest_task("python.system", ("-m", "slow", "tools", "mpi/tools"))]),
        ("scenario", script_tasks()),
        ("python", [check.pytest_task("python.codesign", ("-m", "not slow", "tools/codesign")),
                    check.pytest_task("python", check.FAST_TESTS)]),
        ("coroutine", coroutine_tasks()), ("kernel", kernel_tasks()), ("mpi", testlist.tasks()),
        ("model", models.tasks()),
        ("hal", haltest.tasks()), ("unit", check.unit_tasks()), ("check", check.text_tasks()),
    ]


def groups():
    """Names that may be chosen."""
    scripts = sorted({os.path.basename(os.path.dirname(p))
                      for p in glob.glob(os.path.join(ROOT, "tests", "*", "test_*.py"))})
    return ["check", "unit", "python", "hal", "coroutine", "model", "kernel", "mpi"] + scripts


def build_tasks():
    """All that tests run on, in the order in which it is built."""
    return check.build_tasks() + [
        check.build_task("build.riscv64", "riscv64"),
        *(check.build_task(f"build.{port}.tests", port, ("kerneltest",)) for port in KERNEL_PORTS),
        check.build_task("build.coroutine", "coroutine"),
        check.build_task("build.plugin", "hosted", ("plugin",)),
        results.Task("build.prefix", install_prefix), check.build_task("build.programs", "process", ("programs",)),
        check.build_task("build.aarch64", "process", ("process",), aarch64_variables()),
    ]


# The builds (as the ends of their names) that the tests below a name need; what is not here needs
# all.
KERNELS = ("hosted", "riscv64", "or1k", "hosted.tests", "riscv64.tests", "or1k.tests", "coroutine", "plugin")
NEEDS = {"check": (), "model": (), "analysis": (), "unit": ("unit",), "coroutine": ("coroutine",), "boot": KERNELS,
         "jobs": KERNELS, "same": ("riscv64",), "hal": KERNELS,
         **{f"kernel.{port}": (port, f"{port}.tests") for port in KERNEL_PORTS}, "kernel": KERNELS}


def needed_builds(names, builds):
    """Those of the tasks `builds` that the chosen tests need."""
    words = set()
    for name in names:
        known = [n for n in NEEDS if (name + ".").startswith(n + ".")]
        if not known:
            return builds
        words.update(NEEDS[max(known, key=len)])
    return [b for b in builds if not names or b.name.removeprefix("build.") in words]


TIMES = os.path.join(BUILD, "test-times")


def write_times(found, path=TIMES):
    """Write what each test program took, in seconds: first the sums of groups, then the programs,
    each the longest first.
    """
    programs = [r for r in found if r.seconds > 0]
    sums = {}
    for r in programs:
        group = ".".join(r.name.split(".")[:2])
        sums[group] = sums.get(group, 0) + r.seconds
    with open(path, "w", encoding="utf-8") as f:
        for group, seconds in sorted(sums.items(), key=lambda s: -s[1]):
            f.write(f"{seconds:8.1f}  {group}.*\n")
        for r in sorted(programs, key=lambda r: -r.seconds):
            f.write(f"{r.seconds:8.1f}  {r.name}\n")


def main(argv):
    """Exit status 0 if nothing failed."""
    if argv and argv[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0
    names = results.take_jobs(argv, ("-v",))
    for n in names:
        if n.split(".")[0] not in groups():
            raise Usage(f"unknown test group '{n}': use some of {', '.join(groups())}")
    start = time.monotonic()
    setup.ensure("dev")
    setup.ensure("hw")
    builds = needed_builds(names, build_tasks())
    found = check.run_builds(builds, "-v" in argv)
    chosen = [t for group, tasks in all_tasks() for t in tasks
              if not names or any(group == n or is_meant(t.name, n) for n in names)] + long_tasks(names)
    if names and not chosen:
        raise Usage(f"no test is called {' or '.join(names)}")
    found += results.run_all("testing", chosen, verbose="-v" in argv)
    slow = sorted(found, key=lambda r: -r.seconds)[:5]
    write_times(found)
    say("slowest: " + ", ".join(f"{r.name} {r.seconds:.0f} s" for r in slow))
    say(f"{time.monotonic() - start:.0f} s in all; of each program: {os.path.relpath(TIMES, ROOT)}")
    return results.summary(found)
