# SPDX-License-Identifier: MIT
"""./atoll shell: dash and toybox, unmodified, do on the machine what their users expect. Needs the
riscv64 port built; the two are built at the first use.

Prints `ok NAME` or `FAIL NAME: why` for each, and `skip` where there is no network to get them from.
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import packages  # noqa: E402
import patience  # noqa: E402
from test_jobs import PATIENCE_S, Wrong, main  # noqa: E402
from ui import Failure  # noqa: E402

SCRIPT = os.path.join(ROOT, "tests", "jobs", "shell.sh")
MPI_SCRIPT = os.path.join(ROOT, "tests", "jobs", "mpiexec.sh")
PROCESSES_SCRIPT = os.path.join(ROOT, "tests", "jobs", "processes.sh")
MPI_PROGRAMS = ("mpijob", "counts", "stray")


def run(arguments, text="", limit_s=PATIENCE_S):
    """(status, standard output, what it said besides)."""
    r = patience.run([os.path.join(ROOT, "atoll"), "shell", *arguments], input=text.encode(), capture_output=True,
                     timeout=limit_s, check=False)
    return r.returncode, r.stdout.decode(), r.stderr.decode()


def wants(have, want):
    """Are status and standard output these?"""
    if have[:2] != want:
        raise Wrong(f"status {have[0]}, not {want[0]}:\n{have[1]}{have[2]}")


def script():
    """A script says what it should."""
    with open(SCRIPT[:-2] + "expected", encoding="utf-8") as f:
        wants(run([SCRIPT]), (7, f.read()))


def command():
    """Commands may be given, and get arguments."""
    wants(run(["-c", "echo $0 $# $1; exit $1", "name", "9"]), (9, "name 1 9\n"))


def standard_input():
    """Commands come from standard input."""
    wants(run([], "for a in one two\ndo echo $a | cat\ndone\nexit 3\n"), (3, "one\ntwo\n"))


def missing():
    """A program that is not there is 127, a syntax error 2."""
    wants(run(["-c", "nothing-of-this-name"]), (127, ""))
    wants(run(["-c", "if"]), (2, ""))


def mpi_jobs():
    """MPI jobs are started at the prompt, end as they should, and leave nothing."""
    given = [word for name in MPI_PROGRAMS
             for word in ("--program", os.path.join(ROOT, "build", "riscv64", "tests", name))]
    with open(MPI_SCRIPT[:-2] + "expected", encoding="utf-8") as f:
        wants(run([*given, "--timeout", str(2 * PATIENCE_S), MPI_SCRIPT], limit_s=3 * PATIENCE_S), (0, f.read()))


def processes():
    """ps, top, pgrep and kill see the processes of all clusters."""
    given = ("--program", os.path.join(ROOT, "build", "riscv64", "tests", "mpijob"))
    with open(PROCESSES_SCRIPT[:-2] + "expected", encoding="utf-8") as f:
        wants(run([*given, PROCESSES_SCRIPT]), (0, f.read()))


TESTS = (script, command, standard_input, missing, mpi_jobs, processes)


def scenarios(port):
    """Each of them, or that it is skipped."""
    try:
        packages.ensure(("dash", "toybox"))
    except Failure as e:
        if "cannot get" not in str(e):
            raise
        for test in TESTS:
            print(f"skip {port}_{test.__name__}: no network: {e}")
        return
    for test in TESTS:
        yield test.__name__, test


if __name__ == "__main__":
    sys.exit(main(["riscv64"], scenarios))
