# SPDX-License-Identifier: MIT
"""Deadlocks are told, with who waits for whom, and nothing else is taken for one.

Prints `ok NAME`, `FAIL NAME: why` or `skip NAME: why` for each scenario.
"""

import os
import random
import re
import select
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from scenario import (
    MPIEXEC, PATIENCE_S, ROOT, Wrong, mpiexec, must, must_be, one_line, patience, program,
    run_all, tests_of
)  # noqa: E402

SEED = int(os.environ.get("SEED", random.SystemRandom().randrange(1 << 30)))
STATUS = 35
HEAD = "mpiexec: deadlock: all ranks wait inside MPI, no message is on its way, and nobody is left to send one"
ENDED = HEAD + ": the job is ended (--on-deadlock)"
HELPED = ("thread", "child")
BUSY = ("reads", "computes", "tests") + HELPED
LOOKS = 4


def lines_of(way, ranks=3, options=()):
    """What is said of each rank when a way of tests/process/deadlock.c ends the job."""
    done = must(mpiexec("-n", str(ranks), *options, program("deadlock.c"), way), STATUS)
    lines = done.err.splitlines()
    must_be(lines[0], ENDED, f"first line of {done}")
    must_be(len(lines), ranks + 1, f"lines of {done}")
    return [re.fullmatch(rf"mpiexec: rank {r} \(process \d+\) waits in (.*)", line).group(1) for r,
            line in enumerate(lines[1:])]


def test_a_ring_of_receives():
    must_be(lines_of("ring"), [f"MPI_Recv: a message from rank {r} with tag 5 on MPI_COMM_WORLD"
                               for r in (1, 2, 0)], "lines")


def test_a_single_rank():
    must_be(lines_of("ring", 1), ["MPI_Recv: a message from rank 0 with tag 5 on MPI_COMM_WORLD"], "lines")


def test_messages_of_another_tag_are_named():
    lines = [f"MPI_Recv: a message from rank {r} with tag 8 on MPI_COMM_WORLD; has arrived and is not received: "
             f"a message from rank {r} with tag 7 on MPI_COMM_WORLD" for r in (2, 0, 1)]
    must_be(lines_of("tags"), lines, "lines")


def test_sends_that_nobody_receives():
    unread = "; has arrived and is not received: a message from rank {} with tag {} on {}"
    must_be(lines_of("ssend"), [f"MPI_Ssend: that rank {(r + 1) % 3} receives a message with tag 6 on MPI_COMM_WORLD" +
                                unread.format((r + 2) % 3, 6, "MPI_COMM_WORLD") for r in range(3)], "lines")
    must_be(lines_of("long", 2), [f"MPI_Send: that rank {1 - r} receives a message with tag 9 on communicator 'halo'" +
                                  unread.format(1 - r, 9, "communicator 'halo'") for r in range(2)], "lines")


def test_several_operations():
    for r, line in enumerate(lines_of("waitall")):
        to = (r + 1) % 3
        begin = (f"MPI_Waitall: a message from rank {to} with tag 3 on MPI_COMM_WORLD; "
                 f"has also begun: that rank {to} receives a message with tag 4 on MPI_COMM_WORLD; "
                 f"has arrived and is not received")
        must_be(line[:len(begin)], begin, f"line of rank {r}")


def test_a_probe():
    must_be(lines_of("probe"), ["MPI_Probe: a message from any rank with any tag on MPI_COMM_WORLD"] * 3, "lines")


def test_a_collective_operation_that_one_rank_misses():
    first = "MPI_Recv: a message from rank 1 with tag 5 on MPI_COMM_WORLD"
    for way, name in (("barrier", "MPI_Barrier"), ("allreduce", "MPI_Allreduce"), ("finalize", "MPI_Finalize")):
        for ranks in (2, 5):
            lines = lines_of(way, ranks)
            must_be((lines[0], {re.match(r"\w+", x).group() for x in lines[1:]}), (first, {name}),
                    f"lines of {way}: {lines}")


def test_ranks_with_processors_of_their_own():
    must_be(lines_of("ring", 2, ("--bind-to", "core", "--quiet")),
            [f"MPI_Recv: a message from rank {1 - r} with tag 5 on MPI_COMM_WORLD" for r in range(2)], "lines")


class Busy:
    """A job that waits for something outside MPI."""

    def __init__(self, way, ranks=3, lines=1):
        self.way = way
        argv = [MPIEXEC, "-n", str(ranks), program("helped.c" if way in HELPED else "deadlock.c"), way]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, "ATOLL_DEADLOCK_LOOK_MS": "50"})
        self.seen = "".join(self.process.stdout.readline() for _ in range(lines))
        must_be("ready\n" in self.seen, True, way)
        self.before = self.sleeps()

    def sleeps(self):
        """How often mpiexec has slept: with nothing else to do, once for each look."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", f.read()).group(1))

    def wait_for_looks(self):
        """mpiexec must have looked several times, and must not have ended the job."""
        while self.sleeps() - self.before < LOOKS + 2:
            if select.select([self.process.stderr], [], [], 0.02)[0]:
                raise Wrong(f"{self.way}: {self.process.stderr.readline()}")

    def end(self):
        """Let it go on to its end."""
        out, err = patience.communicate(self.process, PATIENCE_S, "go\n")
        return self.process.returncode, out, err


def test_whoever_is_busy_outside_mpi_is_in_no_deadlock():
    jobs = [Busy(way) for way in BUSY]
    for job in jobs:
        job.wait_for_looks()
    for job in jobs:
        status, _, err = job.end()
        # a child ends rank 0 in the middle of MPI
        must_be((status, "deadlock" in err), (1 if job.way == "child" else 0, False), f"{job.way}: {err}")


def test_whoever_is_stopped_is_in_no_deadlock_before_it_goes_on():
    job = Busy("late", ranks=2, lines=2)
    pid = int(re.search(r"rank 1 is (\d+)", job.seen).group(1))
    os.kill(pid, signal.SIGSTOP)
    job.process.stdin.write("go\n")
    job.process.stdin.flush()
    job.wait_for_looks()
    os.kill(pid, signal.SIGCONT)
    status, _, err = job.end()
    must_be((status, err.splitlines()[0]), (STATUS, ENDED), "status and first line")


def test_it_is_told_once_and_the_job_goes_on_if_that_is_wanted():
    for how in (("--on-deadlock", "report"), ("--on-deadlock=report",)):
        argv = [MPIEXEC, "-n", "2", *how, program("deadlock.c"), "ring"]
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "ATOLL_DEADLOCK_LOOK_MS": "20"}) as p:
            must_be(p.stderr.readline(), HEAD + "\n", "first line")
            p.stderr.readline()
            p.stderr.readline()
            p.terminate()
            must_be((p.stderr.read(), patience.wait(p, PATIENCE_S)), ("", 143), "more, and status")


def test_nobody_looks_if_that_is_wanted():
    done = must(mpiexec("-n", "2", "--timeout", "2", program("deadlock.c"), "ring",
                        env={"MPIEXEC_ON_DEADLOCK": "ignore", "ATOLL_DEADLOCK_LOOK_MS": "20"}), 124)
    must_be(one_line(done), "mpiexec: no end after 2 s: the job is ended", "message")
    one_line(must(mpiexec("--on-deadlock", "maybe", "true"), 2))


def test_programs_that_end_well_are_never_taken_for_one():
    dice = random.Random(SEED)
    for name in ("isend_storm", "flood", "collectives", "pt2pt_order", "probe", "comms", "modes",
                 "overtaken", "sessions", "intercomms", "threads"):
        ranks = {"intercomms": 5, "comms": 7}.get(name, dice.choice((3, 4, 6)))
        done = mpiexec("-n", str(ranks), os.path.join(ROOT, "build", "process", "tests", name),
                       env={"ATOLL_DEADLOCK_LOOK_MS": "1"})
        must_be(done.status, 0, f"seed {SEED}: {done}")


if __name__ == "__main__":
    print(f"seed {SEED}", flush=True)
    sys.exit(run_all(tests_of(sys.modules["__main__"])))
