# SPDX-License-Identifier: MIT
"""The MPI test list: tests/mpi/testlist, one program per line, run on both ports and as process
ranks under mpiexec.

    program ranks [machine=NAME] [policy=compact|scatter] [path=opt|unopt|ipc] [coll=C=A,...]
    [exit=STATUS] [port=PORT] [timeout=S] [args...]

NAME is a class of machines (below) or a machine; PORT is hosted, riscv64 or process. What names a
machine is not for process ranks. A test exits with 0 and says "No errors", or exits with STATUS.
"""

import os
import shlex

import machine as machines
import results
from ui import BUILD, PORTS, ROOT, Usage

PATH = os.path.join(ROOT, "tests", "mpi", "testlist")
TIMEOUT_S = 120
PASSED = "No errors"

KEYS = ("machine", "policy", "path", "coll", "exit", "port", "timeout")
# what a line asks for -> the machine of each port; a port without one is left out
ALL = PORTS + ("process",)
CLASSES = {
    "default": {"hosted": "laptop", "riscv64": "riscv-4x4"},
    "4x4": {"hosted": "hosted-4x4", "riscv64": "riscv-4x4"},
    "1": {"hosted": "riscv-1", "riscv64": "riscv-1"},
    "16x4": {"riscv64": "riscv-16x4"},
    "288": {"riscv64": "riscv-288"},
}


class Entry:
    """One line of the list."""

    def __init__(self, program, ranks):
        self.program, self.ranks, self.args = program, ranks, []
        self.machine, self.policy, self.exit, self.port, self.timeout = (
            "default", None, "0", ",".join(ALL), str(TIMEOUT_S)
        )
        self.path = self.coll = None

    def machine_on(self, port):
        """The machine's name on a port, or None."""
        if port not in self.port.split(","):
            return None
        if port == "process":
            return "linux" if self.machine == "default" and not self.policy else None
        if self.machine in CLASSES:
            return CLASSES[self.machine].get(port)
        return self.machine if port in machines.load(self.machine).ports else None


def parse_line(line, where):
    """An Entry, or None for an empty line."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError as e:
        raise Usage(f"{where}: {e}") from None
    if not words:
        return None
    if len(words) < 2 or not words[1].isdecimal() or int(words[1]) < 1:
        raise Usage(f"{where}: expected: program ranks [key=value...] [args...]")
    e, rest = Entry(words[0], int(words[1])), words[2:]
    while rest and "=" in rest[0] and not rest[0].startswith("-"):
        key, value = rest.pop(0).split("=", 1)
        if key not in KEYS:
            raise Usage(f"{where}: unknown key '{key}'")
        setattr(e, key, value)
    e.args = rest
    late = [w for w in rest if w.partition("=")[0] in KEYS and "=" in w]
    if late:
        raise Usage(f"{where}: '{late[0]}' stands behind an argument, so that the program would get it")
    _check(e, where)
    return e


def _check(e, where):
    if e.machine not in CLASSES and e.machine not in machines.names():
        raise Usage(f"{where}: unknown machine '{e.machine}': use one of {', '.join(CLASSES)} or a machine's name")
    if not e.exit.isdecimal() or not e.timeout.isdecimal():
        raise Usage(f"{where}: exit and timeout are numbers")
    if e.policy not in (None, "compact", "scatter"):
        raise Usage(f"{where}: policy is compact or scatter")


def read(path=PATH):
    """All entries of a list."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        found = [parse_line(line, f"{os.path.basename(path)}:{n}") for n, line in enumerate(f, 1)]
    return [e for e in found if e]


def judge(e, run):
    """What is wrong with a run, or None."""
    if run.timed_out or run.status == 124:
        return f"no end after {e.timeout} s"
    if run.status != int(e.exit):
        return f"exit status {run.status} instead of {e.exit}"
    if e.exit == "0" and PASSED not in run.output:
        return f"does not say '{PASSED}'"
    return None


def run_entry(name, e, port):
    """One program on one machine."""
    path = os.path.join(BUILD, port, "tests", e.program)
    if not os.path.exists(path):
        return [results.Result(name, "failed", f"{e.program} was not built for {port}")]
    if port == "process":
        argv = [os.path.join(BUILD, "process", "prefix", "bin", "mpiexec"), "-n", str(e.ranks)]
        argv += ["-x", f"ATOLL_MPI_COLL={e.coll}"] if e.coll else []
    else:
        argv = [os.path.join(ROOT, "atoll"), "run", "-n", str(e.ranks), "--port", port, "--machine",
                e.machine_on(port), "--timeout", e.timeout]
        argv += ["--map", e.policy] if e.policy else []
        argv += ["--mpi-path", e.path] if e.path else []
        argv += ["--mpi-coll", e.coll] if e.coll else []
    r = results.call(argv + [path] + e.args, int(e.timeout) + 60)
    why = judge(e, r)
    if why:
        return [results.Result(name, "failed", f"{why}\n{results.last_lines(r.output, 60)}", r.seconds)]
    return [results.Result(name, "passed", "", r.seconds)]


def tasks(entries=None):
    """A task per entry and port."""
    out, seen = [], {}
    for e in read() if entries is None else entries:
        for port in ALL:
            machine = e.machine_on(port)
            if machine is None:
                continue
            name = ".".join(["mpi", port, e.program, str(e.ranks), machine] + [w for w in (e.policy, e.path) if w])
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1:
                name += f".{seen[name]}"
            out.append(results.Task(name, lambda n=name, e=e, p=port: run_entry(n, e, p)))
    return out
