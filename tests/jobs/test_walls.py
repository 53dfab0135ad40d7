# SPDX-License-Identifier: MIT
"""No job starves the servers or the job after it, and none is asked in a server's place. Needs both
ports built.

Prints `ok NAME` or `FAIL NAME: why` for each scenario; arguments choose ports (hosted riscv64).
`with SERVER=PROGRAM OPTION...` runs a machine on which a server is another program.
"""

import collections
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import launch  # noqa: E402
import patience  # noqa: E402
import run as front  # noqa: E402
from test_jobs import BUILD, MACHINE, PATIENCE_S, Wrong, expect, main, ranks_say_ok, run  # noqa: E402

SMALL = "mppa256"		# its compute clusters have 2 MB
ALL = ("threads", "processes", "memory")
PORTS_OF_SERVERS = {"hosted": ("0",), "riscv64": ("0", "2")}


def run_with(swap, argv):
    """`run` on a machine on which one server is another program; its exit status."""
    name, _, other = swap.partition("=")
    o = front.parse(argv)
    job = front.make_job(o)
    with open(os.path.join(BUILD, o.port, other), "rb") as f:
        data = f.read()
    job.members = [(n, data if n == name else old) for n, old in job.members]
    return launch.run(job)


def swapped(port, swap, ranks, program, *args):
    """(status, output) of a job on such a machine."""
    argv = [sys.executable, os.path.abspath(__file__), "with", swap, "-n", str(ranks), "--port",
            port, "--machine", MACHINE[port],
            "--map", "scatter", "--timeout", str(PATIENCE_S), os.path.join(BUILD, port, "tests", program), *args]
    r = patience.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                     timeout=PATIENCE_S + 60, check=False)
    return r.returncode, r.stdout.decode(errors="replace")


def same_each_time(text, pattern, clusters, jobs):
    """What each cluster says in every job, but for the first, which has found a fresh machine."""
    found = collections.defaultdict(list)
    for cluster, what in re.findall(pattern, text):
        found[cluster].append(what)
    if len(found) != clusters or any(len(v) != jobs or len(set(v[1:])) != 1 for v in found.values()):
        raise Wrong(f"not {clusters} times the same in {jobs} jobs: {dict(found)}\n{text}")


# KB: on how many pages the kernel's small pieces of a cluster with servers lie is a matter of their order
PIECES_KB = 8


def as_much_each_time(text, clusters, jobs):
    """Free memory before each job but the first."""
    found = collections.defaultdict(list)
    for cluster, kb in re.findall(r"memory: cluster (\d+), .* (\d+) free before the job", text):
        found[cluster].append(int(kb))
    if len(found) != clusters or any(
            len(v) != jobs or max(v[1:]) - min(v[1:]) > (PIECES_KB if cluster == "0" else 0)
            for cluster, v in found.items()):
        raise Wrong(f"not {clusters} times as much in {jobs} jobs: {dict(found)}\n{text}")


def jobs_leave_all(port, machine, ranks, what, jobs=3):
    """Each job takes all that there is, and ends; the next one finds as much: threads, processes,
    ports, frames.
    """
    have = run(port, ranks, "eat", *what, machine=machine,
               options=("--map", "scatter", "--memory", "--repeat", str(jobs)))
    ranks_say_ok(have, ranks)
    if have[1].count("ok rank ") != jobs * ranks:
        raise Wrong(f"not every rank of {jobs} jobs has ended well\n{have[1]}")
    same_each_time(have[1], r"found cluster (\d+) job \d+: (.*)", ranks, jobs)
    as_much_each_time(have[1], ranks, jobs)


def limits_hold(port):
    """A job gets what its limits say, and not more."""
    most = {"threads": 9, "processes": 4, "memory": 1024}
    have = run(port, 4, "eat", *ALL, options=("--map", "scatter", "--limit", "threads=9,processes=4,memory=1M"))
    ranks_say_ok(have, 4)
    for what, n, kb in re.findall(r"ate rank \d+ job 1: (\w+): (\d+), (\d+) KB", have[1]):
        if int(kb if what == "memory" else n) >= most[what]:
            raise Wrong(f"{what}: {n}, {kb} KB\n{have[1]}")


def together(ranks):
    """The processes of a job in a cluster have no more than its limits together."""
    have = run("riscv64", ranks, "together", "2048", "24", "12", options=(
        "--map", "scatter", "--limit", "memory=2M,threads=24,processes=12"))
    ranks_say_ok(have, ranks)


def files_stay(port):
    have = run(port, 3, "again", options=("--map", "scatter", "--repeat", "3"))
    expect(have, 0)
    if have[1].count("ok rank ") != 9:
        raise Wrong(have[1])


def fails_twice(port):
    have = run(port, 2, "plain", "3", options=("--repeat", "2"))
    expect(have, 3)
    if have[1].count("plain: ") != 4:
        raise Wrong(have[1])


def ends_again(port):
    """Another program that ends at once is started in a server's place."""
    have = swapped(port, "bin/name=bin/proc", 6, "names")
    expect(have, 1, "the server bin/name has ended with status 1, and is started again\n",
           "the server bin/name has ended with status 1, and with it the machine\n")
    if have[1].count("is started again") != 4:
        raise Wrong(have[1])


def scenarios(port):
    ports = PORTS_OF_SERVERS[port]
    for what in ALL:
        yield f"a_job_that_takes_all_{what}_leaves_them_to_the_next", lambda w=what: jobs_leave_all(
            port, MACHINE[port], 4, (w,)
        )
    yield "a_job_that_takes_everything_leaves_it_to_the_next", lambda: jobs_leave_all(port, MACHINE[port], 4, ALL)
    yield "in_small_clusters_too", lambda: jobs_leave_all(port, SMALL, 16, ALL, 2)
    yield "limits_hold", lambda: limits_hold(port)
    yield "a_job_that_its_limit_of_threads_keeps_from_starting_says_so", \
        lambda: expect(run(port, 12, "plain", options=("--limit", "threads=2")), 1,
                       "table full (the job has a limit of threads)")
    yield "a_job_that_its_limit_of_memory_keeps_from_starting_says_so", \
        lambda: expect(run(port, 12, "plain", options=("--limit", "memory=8K")), 1,
                       "out of memory (the job has a limit of memory)")
    yield "a_job_that_fails_is_followed_by_the_next", lambda: fails_twice(port)
    if port == "riscv64":
        yield "files_stay_from_job_to_job", lambda: files_stay(port)
        for ranks in (1, 3):
            yield f"processes_of_a_job_of_{ranks}_have_its_limits_together", lambda n=ranks: together(n)
    yield "no_rank_takes_a_servers_port", lambda: ranks_say_ok(run(port, 6, "thief", *ports,
                                                                   options=("--map", "scatter")), 6)
    yield "no_rank_takes_a_servers_port_in_small_clusters", \
        lambda: ranks_say_ok(run(port, 16, "thief", *ports, machine=SMALL, options=("--map", "scatter")), 16)
    yield "no_rank_takes_the_port_of_a_server_that_does_not_listen", \
        lambda: ranks_say_ok(swapped(port, "bin/name=bin/rmem", 6, "thief", *ports), 6)
    yield "a_server_that_ends_again_and_again_is_the_machines_end", lambda: ends_again(port)


if __name__ == "__main__":
    if sys.argv[1:2] == ["with"]:
        sys.exit(run_with(sys.argv[2], sys.argv[3:]))
    sys.exit(main(sys.argv[1:], scenarios))
