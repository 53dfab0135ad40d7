# SPDX-License-Identifier: MIT
"""mpiexec's options as users of other MPIs type them.
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
    MPIEXEC, PATIENCE_S, WORK, call, mpiexec, must, must_be, one_line, program, run_all,
    tests_of
)  # noqa: E402
import patience  # noqa: E402

HOST = socket.gethostname()
SHOW = ("sh", "-c", "echo $PMI_RANK of $PMI_SIZE")


def hostfile(text):
    path = os.path.join(WORK, "hosts")
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return path


def ranks_of(*args):
    """How many ranks a job of these options has."""
    return len(must(mpiexec(*args, *SHOW), 0).out.splitlines())


def test_a_hostfile_gives_slots():
    path = hostfile(f"# our cluster\n\nlocalhost slots=2 max_slots=4\n{HOST}:1  # the same host\n")
    for option in ("-hostfile", "--hostfile", "-machinefile", "--machinefile", "-f"):
        must_be(ranks_of(option, path, "-n", "3"), 3, option)
    must_be(one_line(must(mpiexec("-f", path, "-n", "4", *SHOW), 2)),
            "mpiexec: 4 ranks on 3 slots: give the host more, or --oversubscribe", "message")
    must_be(ranks_of("-f", path, "--oversubscribe", "-n", "4"), 4, "oversubscribed")


def test_a_host_without_a_number_is_no_limit():
    must_be(ranks_of("--hostfile", hostfile("127.0.0.1\n"), "-n", "7"), 7, "ranks")


def test_a_hostfile_that_cannot_be_used_is_one_line():
    for text, words in (("localhost\nnode17 slots=4\n",
                         "'node17' is not this host, and only this host can be used"),
                         ("localhost slots=many\n", "not 'many'"),
                        ("localhost:0\n", "slots are a number from 1"), ("# nothing\n", "names no host")):
        must(mpiexec("-hostfile", hostfile(text), "true"), 2, words)
        one_line(mpiexec("-hostfile", hostfile(text), "true"))
    must_be(one_line(must(mpiexec("-f", "/no/such", "true"), 2)),
            "mpiexec: -f: /no/such: No such file or directory", "message")


def test_ranks_per_node_socket_and_core():
    for options in (("-ppn", "3"), ("--map-by", "ppr:3:node"), ("-perhost", "3"), ("-npernode", "3"),
                    ("-N", "3"), ("--map-by=ppr:3:node",)):
        must_be((ranks_of(*options), ranks_of(*options, "-n", "2")), (3, 2), str(options))
        one_line(must(mpiexec(*options, "-n", "4", *SHOW), 2))
        must_be(ranks_of(*options, "--oversubscribe", "-n", "4"), 4, str(options))
    cores, sockets = set(), set()
    for cpu in os.sched_getaffinity(0):
        where = []
        for name in ("physical_package_id", "core_id"):
            with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/{name}", encoding="ascii") as f:
                where.append(f.read())
        cores.add(tuple(where))
        sockets.add(where[0])
    must_be((ranks_of("--map-by", "ppr:2:core"), ranks_of("--map-by", "ppr:2:socket")),
            (2 * len(cores), 2 * len(sockets)), "ranks")
    for bad in ("ppr:2:moon", "ppr:2", "ppr:x:node", "ppr:0:node"):
        one_line(must(mpiexec("--map-by", bad, "true"), 2))


def test_bindings_are_reported_rank_by_rank():
    done = must(mpiexec("-n", "2", "--bind-to", "none", "--report-bindings", "true"), 0)
    free = len(os.sched_getaffinity(0))
    must_be(done.err.splitlines(),
            [f"mpiexec: rank {r} on {HOST} is not bound: it runs on any of {free} processors"
             for r in range(2)], "lines")
    done = must(mpiexec("-n", "1", "--bind-to", "core", "--report-bindings", "--quiet", "python3",
                        "-c", "import os; print(*os.sched_getaffinity(0))"), 0)
    said = re.fullmatch(rf"mpiexec: rank 0 on {re.escape(HOST)} is (not bound: .*|bound to "
                        rf"processor (\d+) \(socket \d+, core \d+\))\n", done.err)
    must_be(said is not None, True, done.err)
    if said.group(2):
        must_be(done.out.split(), [said.group(2)], "processor")


def test_the_environment_can_be_chosen():
    show = ("sh", "-c", "echo ${ONE-no} ${TWO-no} ${THREE-no}")
    env = {"ONE": "1", "TWO": "2"}
    for options, seen in (((), "1 2 no"), (("-envall",), "1 2 no"), (("-genvall",), "1 2 no"),
                          (("-envnone",), "no no no"), (("-genvnone",), "no no no"),
                          (("-envlist", "TWO,THREE"), "no 2 no"), (("-genvlist", "ONE"), "1 no no"),
                          (("-envnone", "-env", "THREE", "3"), "no no 3"),
                          (("-genvnone", "-x", "ONE=7"), "7 no no"),
                          (("-envnone", "-envall"), "1 2 no"), (("-genvnone", "-envlist", "TWO"), "no 2 no")):
        must(call([MPIEXEC, *options, *show], env=env), 0, seen)
    done = must(call([MPIEXEC, "-envnone", *show, ":", *show], env=env), 0)
    must_be(sorted(done.out.splitlines()), ["1 2 no", "no no no"], "of two programs")


def test_a_program_without_environment_joins_its_job():
    must_be(len(must(mpiexec("-n", "2", "-envnone", program("once.c")), 0).out.splitlines()), 2, "lines")


def test_lines_are_tagged_under_each_name():
    for option in ("-l", "-prepend-rank", "--tag-output"):
        done = must(mpiexec("-n", "2", option, "echo", "word"), 0)
        must_be(sorted(done.out.splitlines()), ["[0] word", "[1] word"], option)


def test_a_job_that_takes_too_long_is_ended():
    for args, env in ((("--timeout", "1"), {}), ((), {"MPIEXEC_TIMEOUT": "1"})):
        done = must(call([MPIEXEC, *args, "-n", "3", program("hold.c")], env=env), 124)
        must_be(one_line(done), "mpiexec: no end after 1 s: the job is ended", "message")
    must(mpiexec("--timeout", "1000", "-n", "2", "true"), 0)
    for bad in ("0", "-1", "soon"):
        one_line(must(mpiexec("--timeout", bad, "true"), 2))


def test_input_goes_where_it_is_sent():
    show = ("-n", "3", "sh", "-c", "echo $PMI_RANK $(cat | wc -c)")
    for option in ("-s", "-stdin", "--stdin"):
        for where, seen in (("all", [300000] * 3), ("none", [0] * 3), ("0", [300000, 0, 0]), ("2", [0, 0, 300000])):
            done = must(mpiexec(option, where, *show, stdin=b"x" * 300000), 0)
            must_be(sorted(done.out.splitlines()), [f"{r} {n}" for r, n in enumerate(seen)], f"{option} {where}")
    for bad in ("3", "-1", "most"):
        one_line(must(mpiexec("-s", bad, *show), 2))


def test_who_has_read_enough_holds_nobody_up():
    done = must(mpiexec("-s", "all", "-n", "3", "sh", "-c", "test $PMI_RANK = 1 || cat | wc -c",
                        stdin=b"x" * 1000000), 0)
    must_be(done.out.split(), ["1000000"] * 2, "bytes")


def test_input_that_does_not_end_ends_with_the_job():
    with subprocess.Popen([MPIEXEC, "-s", "all", "-n", "2", "true"], stdin=subprocess.PIPE) as p:
        must_be(patience.wait(p, PATIENCE_S), 0, "status")


def test_quiet_still_says_what_fails():
    must_be(one_line(must(mpiexec("-q", "./nothing"), 127)), "mpiexec: ./nothing: No such file or directory", "message")


def test_what_is_not_known_is_one_line():
    for option in ("--mca", "-bootstrap", "--no-such=1", "-"):
        done = mpiexec(option, "x") if option != "-" else mpiexec("--", )
        one_line(must(done, 2))


def test_the_help_names_them():
    text = must(mpiexec("--help"), 0).out
    for word in ("-hostfile", "-machinefile", "-f", "--report-bindings", "ppr:N:UNIT", "-ppn",
                 "-envlist", "-envnone", "-envall", "-prepend-rank", "--timeout",
                 "--version", "--quiet", "-stdin", "--on-deadlock"):
        must_be(word in text, True, word)
    for option in ("-V", "--version", "-version"):
        must(mpiexec(option), 0, "job protocol")


def listener():
    """A launcher's socket of our own: (socket, its name)."""
    name = f"atoll-job-{os.getpid()}-test"
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.bind("\0" + name)
    s.listen()
    s.settimeout(PATIENCE_S)
    return s, name


def test_a_library_says_that_mpiexec_is_another_version():
    s, name = listener()
    with s, subprocess.Popen([program("once.c")],
                             env={**os.environ, "ATOLL_JOB": name, "ATOLL_RANK": "0",
                                  "ATOLL_RANKS": "1", "ATOLL_APP": "0"},
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        with s.accept()[0] as rank:
            mine = struct.unpack("II", rank.recv(8))[0]
            rank.sendall(struct.pack("III", mine + 41, 2, 0))		# shorter than ours, too
        err = patience.communicate(p, PATIENCE_S)[1]
    must_be(f"mpiexec speaks job protocol {mine + 41}, this libmpi_abi.so.1 {mine}: take both from "
            f"one installation" in err, True, err)
    must_be(p.returncode != 0, True, "status")


OLD = """
import os, socket, struct
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
s.connect("\\0" + os.environ["ATOLL_JOB"])
s.sendall(struct.pack("I", 77) + b"and more than we know of")
print(struct.unpack("I", s.recv(4))[0])
"""


def test_mpiexec_says_that_a_library_is_another_version():
    done = must(mpiexec("-n", "2", sys.executable, "-c", OLD), 0)
    mine = done.out.split()[0]
    words = (
        f"mpiexec: a rank's libmpi_abi.so.1 speaks job protocol 77, this mpiexec {mine}: take both from one"
        " installation (PATH, LD_LIBRARY_PATH)"
    )
    must_be(one_line(done), words, "message")


if __name__ == "__main__":
    sys.exit(run_all(tests_of(sys.modules["__main__"])))
