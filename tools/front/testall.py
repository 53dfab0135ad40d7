# SPDX-License-Identifier: MIT
"""./atoll test: set up, build every port, run every test, end with "N passed, N failed"."""

import os
import re
import shlex
import time

import check
import machine as machines
import models
import results
import setup
from ui import BUILD, ROOT, Usage, say

HELP = """usage: ./atoll test [-v] [GROUP...]

Runs every test; with names, only the groups that start with one of them:
  check unit python hal coroutine model boot kernel hosted mpi
Ends with "N passed, N failed" and exit status 0 only if nothing failed. In CI (environment variable CI) a skipped test fails.
"""
RUN_TIMEOUT_S = 120
BOOT_TIMEOUT_S = 400
CORO_TIMEOUT_S = 600
TESTLIST = os.path.join(ROOT, "tests", "mpi", "testlist")

# machine classes of the test list: what a test asks for -> the machine of each port
CLASSES = {
    "small": {"hosted": "laptop", "riscv64": "riscv-4x4"},
    "one": {"hosted": "nix32", "riscv64": "optimsoc4"},
    "single": {"riscv64": "riscv-1"},
    "clusters": {"hosted": "hosted-4x4", "riscv64": "riscv-4x4"},
    "many": {"hosted": "hosted-4x4", "riscv64": "riscv-16x4"},
    "chip": {"riscv64": "riscv-288"},
}


class Entry:
    """One line of the test list."""

    def __init__(self, program, ranks, cls):
        self.program, self.ranks, self.cls = program, ranks, cls
        self.args, self.options, self.status, self.expect, self.timeout_s = [], [], 0, None, RUN_TIMEOUT_S


def parse_line(line, where):
    """`program ranks class [key=value...] [-- args]`; keys: status, expect, timeout, map, port. None for an empty line."""
    words = shlex.split(line, comments=True)
    if not words:
        return None
    if len(words) < 3 or not words[1].isdecimal():
        raise Usage(f"{where}: expected: program ranks machine-class [key=value...] [-- args]")
    e = Entry(words[0], int(words[1]), words[2])
    e.ports = [p for p in ("hosted", "riscv64")]
    rest = words[3:]
    if "--" in rest:
        rest, e.args = rest[:rest.index("--")], rest[rest.index("--") + 1:]
    for word in rest:
        key, eq, value = word.partition("=")
        if not eq:
            e.args.append(word)
        elif key == "status":
            e.status = int(value)
        elif key == "expect":
            e.expect = value
        elif key == "timeout":
            e.timeout_s = int(value)
        elif key == "map":
            e.options += ["--map", value]
        elif key == "port":
            e.ports = value.split(",")
        else:
            raise Usage(f"{where}: unknown key '{key}'")
    return e


def read_testlist(path=TESTLIST):
    """Entries of the test list."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        lines = [(f"{os.path.relpath(path, ROOT)}:{n}", line) for n, line in enumerate(f, 1)]
    return [e for e in (parse_line(line, where) for where, line in lines) if e]


def machine_for(e, port):
    """The machine that an entry's class means on a port; None where the class has none."""
    if e.cls in machines.names():
        return e.cls if port in machines.load(e.cls).ports else None
    if e.cls not in CLASSES:
        raise Usage(f"test list: unknown machine class '{e.cls}': use one of {', '.join(CLASSES)} or a machine's name")
    return CLASSES[e.cls].get(port)


def find(program, port):
    """A test program or one of our programs."""
    for folder in ("tests", "bin"):
        path = os.path.join(BUILD, port, folder, program)
        if os.path.exists(path):
            return path
    return None


def run_entry(name, e, port, machine):
    """One program on one machine."""
    path = find(e.program, port)
    if path is None:
        return [results.Result(name, "failed", f"{e.program} was not built for {port}")]
    argv = [os.path.join(ROOT, "atoll"), "run", "-n", str(e.ranks), "--port", port, "--machine", machine, "--timeout", str(e.timeout_s)]
    r = results.call(argv + e.options + [path] + e.args, e.timeout_s + 60)
    why = None
    if r.timed_out or r.status == 124:
        why = f"no end after {e.timeout_s} s"
    elif r.status != e.status:
        why = f"exit status {r.status} instead of {e.status}"
    elif e.expect and e.expect not in r.output:
        why = f"does not say '{e.expect}'"
    elif any(line.startswith("FAIL") for line in r.output.splitlines()):
        why = "says FAIL"
    if why:
        return [results.Result(name, "failed", f"{why}\n{results.last_lines(r.output, 60)}", r.seconds)]
    return [results.Result(name, "passed", "", r.seconds)]


def mpi_tasks():
    """The test list on both ports."""
    out, seen = [], {}
    for e in read_testlist():
        for port in e.ports:
            machine = machine_for(e, port)
            if machine is None:
                continue
            name = f"mpi.{port}.{e.program}.{e.ranks}.{machine}"
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1:
                name += f".{seen[name]}"
            out.append(results.Task(name, lambda n=name, e=e, p=port, m=machine: run_entry(n, e, p, m)))
    return out


def hal_tasks():
    """The contract tests on each back end."""
    import haltest
    return haltest.tasks()


def coroutine_tasks():
    """Every program of tests/coroutine: thousands of seeds, and their mutation controls."""
    folder = os.path.join(BUILD, "coroutine")
    out = []
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK) and name != "hal-test":
            out.append(results.program_task(f"coroutine.{name}", [path], CORO_TIMEOUT_S))
    return out


KERNEL_MACHINES = (("1", "4", "KC"), ("1", "4", "TC"))


def kernel_tasks():
    """The kernel's tests run as init of small machines: clusters, cores, role of core 0 - or what the test's head says (`machine:`)."""
    script, out = os.path.join(ROOT, "tests", "kernel", "boot.py"), []
    for port in ("hosted", "riscv64"):
        folder = os.path.join(BUILD, port, "tests", "kernel")
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if os.path.isfile(os.path.join(folder, name)) and os.access(os.path.join(folder, name), os.X_OK):
                for shape in _shapes(name):
                    group = f"kernel.{port}.{name}." + "x".join(shape[:2]) + "".join(shape[2:3])
                    argv = [os.path.join(setup.VENV, "bin", "python3"), script, port, name, *shape]
                    out.append(results.program_task(group, argv, RUN_TIMEOUT_S))
    return out


def _shapes(name):
    """Machines of one kernel test: lines `machine: CLUSTERS CORES [ROLE [MEGABYTES]]` in its head."""
    try:
        with open(os.path.join(ROOT, "tests", "kernel", name + ".c"), encoding="utf-8") as f:
            found = re.findall(r"^\W*machine:((?: +\w+)+)", f.read(4000), re.M)
    except OSError:
        found = []
    return [tuple(m.split()) for m in found] or KERNEL_MACHINES


def boot_tasks():
    """Boot scenarios with a stand-in kernel."""
    script = os.path.join(ROOT, "tests", "boot", "test_boot.py")
    if not os.path.exists(script):
        return []
    python = os.path.join(setup.VENV, "bin", "python3")
    return [results.program_task("boot", [python, script], BOOT_TIMEOUT_S)]


def hosted_tasks():
    """The hosted port as a whole: how machines end."""
    script = os.path.join(ROOT, "tests", "hosted", "test_hosted.py")
    return [results.program_task("hosted", [os.path.join(setup.VENV, "bin", "python3"), script], RUN_TIMEOUT_S)]


def all_tasks():
    """(group, tasks), the longest first so that two workers end together."""
    return [
        ("boot", boot_tasks()), ("kernel", kernel_tasks()), ("hosted", hosted_tasks()),
        ("coroutine", coroutine_tasks()), ("mpi", mpi_tasks()), ("model", models.tasks()),
        ("hal", hal_tasks()), ("unit", check.unit_tasks()), ("check", check.text_tasks()),
        ("python", [check.pytest_task(("tools", "mpi/tools"))]),
    ]


def main(argv):
    """Exit status 0 if nothing failed."""
    if argv and argv[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0
    names = [a for a in argv if a != "-v"]
    groups = ("check", "unit", "python", "hal", "coroutine", "model", "boot", "kernel", "hosted", "mpi")
    for n in names:
        if n.split(".")[0] not in groups:
            raise Usage(f"unknown test group '{n}': use some of {', '.join(groups)}")
    start = time.monotonic()
    setup.ensure("dev")
    builds = check.build_tasks() + [check.build_task("build.riscv64", "riscv64"), check.build_task("build.coroutine", "coroutine"),
                                    check.build_task("build.plugin", "hosted", ("plugin",))]
    found = results.run_all("building", builds, 1, "-v" in argv)
    chosen = [t for group, tasks in all_tasks() for t in tasks
              if not names or any(group == n or t.name.startswith(n) for n in names)]
    if names and not chosen:
        raise Usage(f"no test is called {' or '.join(names)}")
    found += results.run_all("testing", chosen, verbose="-v" in argv)
    slow = sorted(found, key=lambda r: -r.seconds)[:5]
    say("slowest: " + ", ".join(f"{r.name} {r.seconds:.0f} s" for r in slow))
    say(f"{time.monotonic() - start:.0f} s in all")
    return results.summary(found)
