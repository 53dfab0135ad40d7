# SPDX-License-Identifier: MIT
"""A rank that dies ends the job, whatever the others wait for inside MPI, and leaves nothing; and a
flood of messages is held back.

The others wait for ever, so that nothing but the death can end the job. Prints `ok NAME`, `FAIL
NAME: why` or `skip NAME: why` for each test.
"""

import os
import re
import signal
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from scenario import Job, WORK, Wrong, mpiexec, must, must_be, one_line, program, run_all, tests_of  # noqa: E402

WAYS = ("recv", "send", "ssend", "probe", "iprobe", "barrier", "allreduce", "dup", "finalize")
# some 130 messages per sender are held in rings that exist anyhow: 1040 KiB were measured; what is
# flooded is up to 916 MiB
FLOOD_KIB = 4096


def leftovers():
    """Files of ours in the places for temporary files, and our abstract sockets."""
    found = {os.path.join(d, n) for d in ("/dev/shm", "/tmp", tempfile.gettempdir(), "/run/user/0")
             if os.path.isdir(d) for n in os.listdir(d) if "atoll" in n and not WORK.endswith(n)
             and not n.startswith("atoll-process-")}
    with open("/proc/net/unix", encoding="ascii") as f:
        return found | {x.split()[-1] for x in f if "atoll-job" in x}


def mine(names, pids):
    """Of some names, those with the number of one of the processes."""
    return sorted(n for n in names if any(str(p) in re.findall(r"\d+", n) for p in pids))


def ends(job, act, status, text):
    """Something happens to a job: its status, its one line, nothing left."""
    pids = job.pids + [job.process.pid]
    act(job)
    done = job.end()
    must_be(done.status, status, f"status of {done}")
    if text and not re.fullmatch(text, one_line(done)):
        raise Wrong(f"'{one_line(done)}' is not '{text}'")
    must_be(mine(leftovers(), pids), [], "left behind")


class Waiting(Job):
    """Ranks that wait for a victim."""

    def __init__(self, ranks, way, victim, *end):
        super().__init__(ranks, program("block.c"), way, str(victim), *end)

    def pid_of(self, rank):
        """The process of a rank."""
        for pid in self.pids:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if f"PMI_RANK={rank}".encode() in f.read().split(b"\0"):
                    return pid
        raise Wrong(f"no process is rank {rank}")


def test_a_killed_rank_ends_ranks_that_wait_in_any_function():
    for way in WAYS:
        ends(Waiting(4, way, 2), lambda job: os.kill(job.pid_of(2), signal.SIGKILL), 137,
             r"mpiexec: rank 2 \(process \d+\) was killed by signal 9 \(Killed\)")


def test_a_signal_to_the_launcher_ends_ranks_that_wait():
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)):
        ends(Waiting(3, "recv", 1), lambda job, n=number: job.process.send_signal(n), status, None)


def test_signals_that_were_ignored_stay_ignored():
    was = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        job = Waiting(2, "recv", 1)
    finally:
        signal.signal(signal.SIGHUP, was)
    job.process.send_signal(signal.SIGHUP)
    ends(job, lambda job: os.kill(job.pid_of(1), signal.SIGKILL), 137,
         r"mpiexec: rank 1 \(process \d+\) was killed by signal 9 \(Killed\)")


def end_of(*args):
    """A job that ends by itself."""
    return mpiexec("-n", "4", program("block.c"), *args)


def test_abort_is_a_signal_and_named():
    for way in ("recv", "barrier"):
        done = must(end_of(way, "1", "abort"), 134)
        if not re.fullmatch(r"mpiexec: rank 1 \(process \d+\) was killed by signal 6 \(Aborted\)", one_line(done)):
            raise Wrong(str(done))


def test_the_code_of_mpi_abort_is_the_status():
    for code in (1, 7, 255):
        must(end_of("allreduce", "3", "mpi", str(code)), code, "rank 3")


def test_abort_waits_for_no_stream_that_another_thread_holds():
    held = program("held.c", None, "-pthread")
    for stream in ("stdin", "stdout", "stderr"):
        must(mpiexec("-n", "2", held, stream), 7, "MPI_Abort(7)")
    must(mpiexec("-n", "1", held, "stdin"), 7, "said before")


def test_leaving_without_finalize_has_a_status_of_its_own_or_that_of_the_rank():
    must(end_of("probe", "0", "leave", "0"), 1, "rank 0", "without MPI_Finalize")
    must(end_of("probe", "0", "leave", "9"), 9, "rank 0")


def test_a_flood_is_held_back():
    for size in (8, 1000, 16000):
        done = must(mpiexec("-n", "4", program("flooded.c"), str(size)), 0)
        grew = int(re.search(r"grew (-?\d+) of \d+ KiB", done.out).group(1))
        if grew > FLOOD_KIB:
            raise Wrong(f"{size} bytes: {done}")


if __name__ == "__main__":
    sys.exit(run_all(tests_of(sys.modules["__main__"])))
