# SPDX-License-Identifier: MIT
"""Deadlocks of ranks that are threads of one cluster are told, and nothing else is taken for one.
As tests/process/test_deadlock.py.

Prints `ok NAME` or `FAIL NAME: why` for each scenario; arguments choose ports (hosted riscv64).
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_jobs import PATIENCE_S, ROOT, Wrong, expect, main, patience  # noqa: E402

PROGRAM = os.path.join(ROOT, "tests", "process", "deadlock.c")
HELPED = os.path.join(ROOT, "tests", "process", "helped.c")
STATUS, TIMED_OUT, LINES_MAX = 35, 124, 64
HEAD = "MPI: deadlock: all ranks wait inside MPI, no message is on its way, and nobody is left to send one"
ENDED = HEAD + ": the job is ended (MPIEXEC_ON_DEADLOCK)"
WORLD = "on MPI_COMM_WORLD"
PART = " (part of a collective or partitioned operation)"


def command(port, ranks, *args, options=(), program=PROGRAM):
    """How a job is started."""
    return [os.path.join(ROOT, "atoll"), "run", "-n", str(ranks), "--port", port, *options, program, *args]


def run(port, ranks, *args, options=("--timeout", str(PATIENCE_S)), **more):
    """Run a job to its end; its standard input has one line. Returns (status, output)."""
    argv = command(port, ranks, *args, options=options, **more)
    r = patience.run(argv, input=b"go\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                     timeout=PATIENCE_S + 60, check=False)
    return r.returncode, r.stdout.decode(errors="replace")


def lines_of(port, way, ranks=3, machine=None):
    """What is said of each rank when a way of the program ends the job."""
    options = ("--timeout", str(PATIENCE_S), *(("--machine", machine) if machine else ()))
    have = run(port, ranks, way, options=options)
    expect(have, STATUS, ENDED + "\n")
    said = re.findall(r"^MPI rank (\d+) waits in an MPI function: (.*)$", have[1], re.M)
    if [int(rank) for rank, _ in said] != list(range(min(ranks, LINES_MAX))) or have[1].count(HEAD) != 1:
        raise Wrong(have[1])
    if (f"MPI: and {ranks - LINES_MAX} more ranks\n" in have[1]) != (ranks > LINES_MAX):
        raise Wrong(have[1])
    return [line for _, line in said]


def same(have, want):
    """Lines are these."""
    if have != want:
        raise Wrong(f"{have}\ninstead of\n{want}")


def ring(port, ranks, machine=None):
    same(lines_of(port, "ring", ranks, machine),
         [f"a message from rank {(r + 1) % ranks} with tag 5 {WORLD}" for r in range(min(ranks, LINES_MAX))])


def ways(port):
    """What is said of messages that nobody receives, of several operations, of a probe."""
    unread = "; has arrived and is not received: a message from rank {} with tag {} on {}"
    around = [(r, (r + 1) % 3, (r + 2) % 3) for r in range(3)]
    same(lines_of(port, "tags"),
         [f"a message from rank {b} with tag 8 {WORLD}" + unread.format(b, 7, "MPI_COMM_WORLD") for _, _, b in around])
    same(lines_of(port, "ssend"),
         [f"that rank {n} receives a message with tag 6 {WORLD}" + unread.format(b, 6, "MPI_COMM_WORLD")
          for _, n, b in around])
    same(lines_of(port, "long"),
         [f"that rank {n} receives a message with tag 9 on communicator 'halo'" +
          unread.format(b, 9, "communicator 'halo'")
                                  for _, n, b in around])
    same([line.split("; has arrived")[0] for line in lines_of(port, "waitall")],
         [f"a message from rank {n} with tag 3 {WORLD}; has also begun: that rank {n} receives a "
          f"message with tag 4 {WORLD}" for _, n, _ in around])
    same(lines_of(port, "probe"), [f"a message from any rank with any tag {WORLD}"] * 3)


def collectives(port):
    """One rank misses a collective operation."""
    first, others = f"a message from rank 1 with tag 5 {WORLD}", "other ranks of a collective operation"
    for way, ranks in (("barrier", 3), ("allreduce", 3), ("finalize", 3), ("barrier", 7 if port == "hosted" else 2)):
        lines = lines_of(port, way, ranks)
        if lines[0] != first or not all(line == others or line.endswith(PART) for line in lines[1:]):
            raise Wrong(f"{way}: {lines}")


def goes_on(port, way, ranks=3, program=PROGRAM, options=()):
    """A job that ends well, and of which nothing is said."""
    have = run(port, ranks, way, program=program, options=("--timeout", str(PATIENCE_S), *options))
    expect(have, 0, "ready\n")
    if "deadlock" in have[1]:
        raise Wrong(have[1])


def ignored(port):
    have = run(port, 2, "ring", options=("--timeout", "2", "--env", "MPIEXEC_ON_DEADLOCK=ignore"))
    expect(have, TIMED_OUT)
    if "deadlock:" in have[1]:
        raise Wrong(have[1])


def reported(port):
    """It is told, and the job goes on."""
    argv = command(port, 2, "ring", options=("--env", "MPIEXEC_ON_DEADLOCK=report"))
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT,
                          stdout=subprocess.PIPE, text=True) as p:
        lines = []
        while len(lines) < 3:
            line = p.stdout.readline()
            if not line:
                raise Wrong(f"the job has ended: {lines}")
            lines += [line] * line.startswith("MPI")
        alive = p.poll() is None
        p.terminate()
        rest = p.stdout.read()
        patience.wait(p, PATIENCE_S)
    if lines[0] != HEAD + "\n" or not alive or "MPI" in rest:
        raise Wrong(f"{lines} {alive} {rest}")


def scenarios(port):
    yield "a_ring_of_two_receives", lambda: ring(port, 2)
    yield "a_single_rank", lambda: ring(port, 1)
    yield "ranks_that_share_one_core", lambda: ring(port, 5, "riscv-1")
    yield "what_each_rank_waits_for", lambda: ways(port)
    yield "a_collective_operation_that_one_rank_misses", lambda: collectives(port)
    yield "who_comes_later_is_waited_for", lambda: ring_later(port)
    yield "a_rank_that_reads_is_in_no_deadlock", lambda: goes_on(port, "reads")
    yield "a_rank_that_computes_is_in_no_deadlock", lambda: goes_on(port, "computes")
    yield "a_rank_that_tests_is_in_no_deadlock", lambda: goes_on(port, "tests")
    yield "a_rank_that_tests_while_all_others_sleep_is_in_no_deadlock", \
        lambda: goes_on(port, "tests_often", options=("--machine", "riscv-1"))
    yield "another_thread_may_send", lambda: goes_on(port, "thread", program=HELPED)
    if port == "hosted":
        yield "64_ranks", lambda: ring(port, 64)
        yield "1000_ranks", lambda: ring(port, 1000)
        yield "it_is_ignored_if_that_is_wanted", lambda: ignored(port)
        yield "it_is_told_once_and_the_job_goes_on_if_that_is_wanted", lambda: reported(port)


def ring_later(port):
    """Nothing is said before the last rank has come."""
    have = run(port, 2, "late")
    expect(have, STATUS, "ready\n", ENDED + "\n")
    if have[1].index("ready") > have[1].index(HEAD):
        raise Wrong(have[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], scenarios))
