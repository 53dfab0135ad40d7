# SPDX-License-Identifier: MIT
"""Who trusts whom: launcher and ranks of other users, memory that is not as agreed, process numbers
of other namespaces, shared processors.

Prints `ok NAME`, `FAIL NAME: why` or `skip NAME: why` for each scenario.
"""

import os
import re
import socket
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from scenario import (
    MPIEXEC, PATIENCE_S, Job, Skip, Wrong, call, mpiexec, must, must_be, patience, program,
    run_all, tests_of, tool
)  # noqa: E402

NOBODY = 65534
VERSION = int(re.search(r"job protocol (\d+)", mpiexec("--version").out).group(1))
WELCOME, REFUSED = 0, 2

# takes the name argv[1] as another user, and answers whoever asks as mpiexec would
IMPOSTOR = """
import os, socket, struct, sys
os.setuid(int(sys.argv[2]))
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
s.bind("\\0" + sys.argv[1])
s.listen()
print("ready", flush=True)
rank = s.accept()[0]
print("asked" if rank.recv(8) else "left alone", flush=True)
"""
KNOCK = """
import os, socket, struct, sys
os.setuid(int(sys.argv[2]))
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
s.connect("\\0" + sys.argv[1])
s.sendall(struct.pack("II", int(sys.argv[3]), 0))
print(struct.unpack("II", s.recv(24)[:8])[1])
"""


def as_root():
    """Only root becomes somebody else."""
    if os.geteuid() != 0:
        raise Skip("only root can act as another user")


def rank_environment(name):
    """What mpiexec tells rank 0 of 1."""
    return {**os.environ, "ATOLL_JOB": name, "ATOLL_RANK": "0", "ATOLL_RANKS": "1", "ATOLL_APP": "0"}


def test_a_rank_asks_no_launcher_of_another_user():
    as_root()
    name = f"atoll-test-{os.getpid()}-impostor"
    with subprocess.Popen([sys.executable, "-c", IMPOSTOR, name, str(NOBODY)], stdout=subprocess.PIPE, text=True) as p:
        must_be(p.stdout.readline(), "ready\n", "impostor")
        done = call([program("once.c")], env=rank_environment(name))
        must_be(p.stdout.read(), "left alone\n", "what the impostor got")
    must_be((done.status != 0, "who answers in mpiexec's place is another user" in done.err), (True, True), str(done))


def test_mpiexec_lets_no_rank_of_another_user_in():
    as_root()
    job = Job(1, program("hold.c"))
    with open("/proc/net/unix", encoding="ascii") as f:
        name = re.search(rf"@(atoll-job-{job.process.pid}-\w+)", f.read()).group(1)
    done = call([sys.executable, "-c", KNOCK, name, str(NOBODY), str(VERSION)])
    job.process.terminate()
    job.end()
    must_be(done.out, f"{REFUSED}\n", str(done))


def bytes_of_a_segment():
    """Size of the memory that a job of one rank has."""
    job = Job(1, program("hold.c"))
    folder, size = f"/proc/{job.process.pid}/fd", 0
    for fd in os.listdir(folder):
        if "memfd:atoll-job" in os.readlink(f"{folder}/{fd}"):
            size = os.stat(f"{folder}/{fd}").st_size
    job.process.terminate()
    job.end()
    return size


def launcher_that_gives(size, said):
    """A rank that is welcomed with memory of a size that is told as another one, or may change: how
    it ends.
    """
    name = f"atoll-test-{os.getpid()}-launcher"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        s.bind("\0" + name)
        s.listen()
        with subprocess.Popen([program("once.c")], env=rank_environment(name), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as p:
            memory = os.memfd_create("atoll-job", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            os.ftruncate(memory, size)
            with s.accept()[0] as rank:
                must_be(struct.unpack("II", rank.recv(8)), (VERSION, 0), "request")
                socket.send_fds(rank, [struct.pack("IIiIQ", VERSION, WELCOME, 0, 0, said)], [memory])
                out, err = patience.communicate(p, PATIENCE_S)
            os.close(memory)
    return p.returncode, out, err


def test_a_rank_takes_no_memory_that_is_not_as_agreed():
    size = bytes_of_a_segment()
    must_be(size > 1 << 32, True, f"{size} bytes")
    for given in (4096, size):
        status, out, err = launcher_that_gives(given, size)
        if status <= 0 or "mpiexec's memory is not as agreed" not in err:
            raise Wrong(f"{given} bytes: status {status}\n{out}\n{err}")


def test_data_is_fetched_from_the_peer_and_from_nobody_who_has_its_number():
    nested = program("nested.c")
    if call([tool("unshare"), "-pf", "true"]).status != 0:
        raise Skip("unshare -p is not allowed")
    done = must(mpiexec("-n", "1", nested, ":", "-n", "1", "unshare", "-pf", nested, env={"ATOLL_MPI_FETCH": "yes"}), 0)
    if "numbers cannot be chosen" in done.out:
        raise Skip("process numbers cannot be chosen")
    must_be(done.out, "the data of rank 0\n", "received")


def test_a_share_of_the_processors_time_binds_to_none():
    with open("/proc/self/cgroup", encoding="ascii") as f:
        group = re.search(r"^0::(/\S*)", f.read(), re.M)
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("there is only one processor")
    if group is None or call([tool("unshare"), "-m", "mount", "-t", "tmpfs", "none", "/sys/fs/cgroup"]).status != 0:
        raise Skip("unshare -m is not allowed, or there are no control groups of the second kind")
    folder = "/sys/fs/cgroup" + group.group(1)
    limit = f"mount -t tmpfs none /sys/fs/cgroup && mkdir -p {folder} && echo '100000 100000' > {folder}/cpu.max"
    done = must(call(["unshare", "-m", "sh", "-c", f"{limit} && exec {MPIEXEC} -n 1 --report-bindings true"]), 0)
    must_be("rank 0 on" in done.err and "is not bound" in done.err, True, str(done))


if __name__ == "__main__":
    sys.exit(run_all(tests_of(sys.modules["__main__"])))
