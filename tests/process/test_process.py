# SPDX-License-Identifier: MIT
"""mpiexec and process ranks: start, output, environment, and every way in which a rank, the job or
the launcher can end.

Prints `ok NAME`, `FAIL NAME: why` or `skip NAME: why` for each scenario.
"""

import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from scenario import (
    Job, MPIEXEC, PATIENCE_S, PREFIX, WORK, Wrong, call, mpiexec, must, must_be, one_line,
    program, run_all, tests_of, tool
)  # noqa: E402
import patience  # noqa: E402

SEED = int(os.environ.get("SEED", random.SystemRandom().randrange(1 << 30)))


def test_ranks_know_each_other_and_close_what_they_opened():
    done = must(mpiexec("-n", "5", program("once.c")), 0)
    must_be(sorted(done.out.splitlines()),
            [f"rank {r} of 5, sum 10, Atoll MPI, open 1, X=-" for r in range(5)], "output")


def test_a_program_without_mpiexec_is_a_single_rank():
    must(call([program("once.c")]), 0, "rank 0 of 1, sum 0, Atoll MPI, open 0")


def test_several_programs_share_a_job():
    done = must(mpiexec("-n", "2", "-x", "X=one", program("once.c"), ":", "-np", "1", "-env", "X",
                        "two", program("once.c"), ":",
                        "-genv", "Y", "all", "sh", "-c", "X=$Y exec " + program("once.c")), 0)
    must_be([x.rsplit(" ", 1)[1] for x in sorted(done.out.splitlines())],
            ["X=one", "X=one", "X=two", "X=all"], "X of each rank")


def test_each_program_of_a_job_knows_its_number_and_its_initial_error_handler():
    early = program("early.c")
    done = must(mpiexec("-initial-errhandler", "mpi_errors_return", early, ":", "-n", "2", early,
                        ":", "--initial-errhandler=mpi_errors_abort", early), 0)
    must_be(sorted(done.out.splitlines()),
            ["rank 0: program 0, world return, self return", "rank 1: program 1, world fatal, self fatal",
                                            "rank 2: program 1, world fatal, self fatal",
                                            "rank 3: program 2, world abort, self abort"], "output")
    one_line(must(mpiexec("-initial-errhandler", "ignore", early), 2))


def test_an_error_before_the_start_goes_to_the_initial_error_handler():
    early = program("early.c")
    must(mpiexec(early, "early"), 1, "MPI_Session_finalize: invalid session")
    must(mpiexec("-initial-errhandler", "mpi_errors_return", early, "early"), 0, "class 60",
         "rank 0: program 0, world return")


def test_a_function_before_the_start_or_after_the_end_is_named():
    outside = os.path.join(os.path.dirname(PREFIX), "tests", "outside")
    must(call([outside, "each"]), 0, "No errors")
    must(call([outside]), 0, "No errors")
    done = must(call([outside, "before", "0"]), 1)
    must_be(done.err, "MPI rank 0: MPI_Abort was called before MPI_Init: call MPI_Init, "
                      "MPI_Init_thread or MPI_Session_init first\n", "message")


def test_programs_of_a_script_are_jobs_one_after_the_other():
    once = program("once.c")
    done = must(mpiexec("-n", "3", "sh", "-c", f"{once}; {once}; {once}"), 0)
    must_be(len([x for x in done.out.splitlines() if "of 3, sum 3" in x]), 9, "lines")


def test_environment_names_rank_and_size():
    names = ("PMI_RANK", "PMI_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
             "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE")
    done = must(mpiexec("-n", "2", "sh", "-c", "echo " + " ".join("$" + n for n in names)), 0)
    must_be(sorted(done.out.splitlines()), ["0 2 0 2 0 2", "1 2 1 2 1 2"], "environment")


def test_working_folder():
    must(mpiexec("-wdir", WORK, "pwd"), 0, os.path.realpath(WORK))
    done = must(mpiexec("-n", "2", "--wdir", "/nowhere", "pwd"), 127)
    must_be(one_line(done), "mpiexec: /nowhere: No such file or directory", "message")


def test_lines_of_ranks_never_mix():
    done = must(mpiexec("-n", "6", program("lines.c")), 0)
    lines = [x for x in done.out.splitlines() if x != "end"]
    must_be(len(lines), 6 * 300, "lines")
    for r in range(6):
        mine = [x for x in lines if f"of rank {r}:" in x]
        must_be([re.fullmatch(rf"line {i} of rank {r}: a{{{i % 50}}}\.", x) is not None for i,
                 x in enumerate(mine)], [True] * 300, f"lines of {r}")


def test_lines_can_be_tagged():
    done = must(mpiexec("-n", "2", "--tag-output", "sh", "-c", "echo one; echo two; echo three >&2"), 0)
    must_be(sorted(done.out.splitlines()), ["[0] one", "[0] two", "[1] one", "[1] two"], "output")
    must_be(sorted(done.err.splitlines()), ["[0] three", "[1] three"], "errors")


def test_a_line_as_long_as_a_megabyte():
    done = must(mpiexec("-n", "2", "sh", "-c", "head -c 900000 /dev/zero | tr '\\0' $PMI_RANK; echo"), 0)
    must_be(sorted(len(set(x)) for x in done.out.splitlines()), [1, 1], "letters per line")


def test_input_goes_to_rank_zero():
    done = must(mpiexec("-n", "3", "sh", "-c", "echo $PMI_RANK $(cat | md5sum)", stdin=b"x" * 300000), 0)
    empty = call(["md5sum", "/dev/null"]).out.split()[0]
    must_be([x.split()[1] == empty for x in sorted(done.out.splitlines())], [False, True, True], "who got nothing")


def test_nobody_reads_the_output():
    for ranks in (1, 2):
        done = must(call(["sh", "-c", f"{PREFIX}/bin/mpiexec -n {ranks} yes | head -1"]), 0)
        must_be((done.out, done.err), ("y\n", ""), "output and errors")


def test_output_that_cannot_be_written_is_a_failure():
    done = must(call(["sh", "-c", f"{PREFIX}/bin/mpiexec -n 2 echo > /dev/full"]), 1)
    must_be(one_line(done), "mpiexec: cannot write the output of the ranks: No space left on device", "message")


def test_streams_may_be_closed():
    once, show = program("once.c"), "cat; echo end $PMI_RANK"
    done = must(call(["sh", "-c", f"{PREFIX}/bin/mpiexec -n 2 sh -c '{show}' <&-"]), 0)
    must_be((sorted(done.out.splitlines()), done.err), (["end 0", "end 1"], ""), "output and errors")
    must(call(["sh", "-c", f"{PREFIX}/bin/mpiexec -n 2 {once} <&- >&-"]), 0)
    must(call(["sh", "-c", f"{PREFIX}/bin/mpiexec -n 2 {once} <&- >&- 2>&-"]), 0)
    must(call(["sh", "-c", f"{PREFIX}/bin/mpiexec -n 2 no-such-program <&- >&- 2>&-"]), 127)
    must(mpiexec("-n", "2", "sh", "-c", f"{once} <&- >&- 2>&-"), 0)


def test_input_may_be_a_terminal():
    ours, theirs = os.openpty()
    with subprocess.Popen([MPIEXEC, "-n", "2", "sh", "-c", "cat; echo end $PMI_RANK"], stdin=theirs,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        os.write(ours, b"typed\n\x04")
        out, err = patience.communicate(p, PATIENCE_S)
    os.close(ours)
    os.close(theirs)
    must_be((sorted(out.decode().splitlines()), err, p.returncode),
            (["end 0", "end 1", "typed"], b"", 0), "output, errors and status")


def test_bad_usage_is_one_line_and_two():
    for args in ((), ("-n",), ("-n", "0", "true"), ("-n", "two", "true"), ("--no-such", "true"),
                 ("true", ":"), (":", "true"), ("-n", "5000", "true"),
                 ("-host", "elsewhere", "true"), ("--bind-to", "moon", "true"),
                 ("--map-by", "moon", "true"), ("-host", "localhost:2", "-n", "3", "true"),
                 ("-x", "=1", "true"), ("-genv", "A=B", "c", "true")):
        one_line(must(mpiexec(*args), 2))


def test_slots_can_be_oversubscribed():
    must(mpiexec("-host", "localhost:2", "--oversubscribe", "-n", "3", "true"), 0)
    must(mpiexec("-host", "localhost", "-n", "3", "true"), 0)


def test_help_and_version():
    must(mpiexec("--help"), 0, "usage: mpiexec")
    must(mpiexec("--version"), 0, "Atoll MPI")


def test_the_first_call_of_a_file_is_named():
    done = must(mpiexec("-n", "1", program("nofile.c", None, f"-L{PREFIX}/lib")), 0, "unsupported")
    must_be(done.err, "MPI rank 0: MPI_File_open: unsupported operation\n", "errors")


def test_heaps_are_as_large_as_the_address_space_allows():
    done = must(call(["sh", "-c", f"ulimit -v 8388608; exec {PREFIX}/bin/mpiexec -n 8 {program('once.c')}"]), 0)
    must_be(len([x for x in done.out.splitlines() if "of 8, sum 28" in x]), 8, "ranks")
    must(call(["sh", "-c", f"ulimit -v 4194304; exec {program('once.c')}"]), 0, "rank 0 of 1")


def test_a_program_that_is_not_there():
    must_be(one_line(must(mpiexec("-n", "4", "./nothing"), 127)),
            "mpiexec: ./nothing: No such file or directory", "message")
    must_be(one_line(must(mpiexec("-n", "2", "nothing"), 127)),
            "mpiexec: nothing: No such file or directory", "message")
    must_be(one_line(must(mpiexec("-n", "4", "/etc/passwd"), 126)),
            "mpiexec: /etc/passwd: Permission denied", "message")


def test_a_program_that_is_not_there_is_named_although_its_process_has_ended():
    """On one processor the process has mostly ended before mpiexec looks at what it said."""
    one = str(min(os.sched_getaffinity(0)))
    for _ in range(20):
        done = must(call(["taskset", "-c", one, MPIEXEC, "-n", "2", "nothing"]), 127)
        must_be(one_line(done), "mpiexec: nothing: No such file or directory", "message")


def test_a_program_beside_which_mpiexec_is_started():
    once = program("once.c")
    must(call([MPIEXEC, os.path.basename(once)], cwd=WORK), 0, "rank 0 of 1")
    must(mpiexec("-n", "2", "-wdir", WORK, os.path.basename(once)), 0, "rank 1 of 2")


def test_a_crash_names_rank_process_and_signal():
    done = must(mpiexec("-n", "4", program("hold.c"), "segv", "2"), 139)
    if not re.fullmatch(r"mpiexec: rank 2 \(process \d+\) was killed by signal 11 \(Segmentation fault\)",
                        one_line(done)):
        raise Wrong(str(done))


def test_a_crash_below_a_shell_is_named_too():
    done = must(mpiexec("-n", "4", "sh", "-c", program("hold.c") + " segv 2; exit $?"), 139)
    if not re.fullmatch(r"mpiexec: rank 2 \(process \d+\) was killed by signal 11 \(Segmentation fault\)",
                        one_line(done)):
        raise Wrong(str(done))


def test_leaving_without_finalize_ends_the_job():
    must(mpiexec("-n", "3", program("hold.c"), "exit", "1"), 1, "mpiexec: rank 1 (process ",
         "exited with status 0 without MPI_Finalize")


def test_leaving_without_finalize_is_a_failure_of_a_single_rank_too():
    done = must(mpiexec(program("hold.c"), "exit", "0"), 1)
    must_be(re.fullmatch(r"mpiexec: rank 0 \(process \d+\) exited with status 0 without MPI_Finalize",
                         one_line(done)) is not None, True, str(done))
    must(mpiexec("--help"), 0, "also if its status is 0: then it is 1")


def test_a_rank_that_never_joins_does_not_hold_the_others_up():
    must(mpiexec("-n", "2", program("hold.c"), ":", "-n", "1", "true"), 1,
         "mpiexec: rank 2 ended without MPI_Init, and others wait for it")


def test_exit_status_after_finalize_is_kept_and_harms_nobody():
    must(mpiexec("-n", "3", program("hold.c"), "late", "1"), 5, "mpiexec: rank 1 (process ", "exited with status 5")


def test_first_failure_of_programs_without_mpi():
    must(mpiexec("-n", "3", "sh", "-c", "exit 3"), 3, "exited with status 3")


def test_killed_ranks_end_the_job_and_leave_nothing():
    dice = random.Random(SEED)
    for n in range(12):
        ranks, wrap = dice.choice((2, 3, 8)), dice.choice(((), ("sh", "-c", '"$0" "$@"; exit $?')))
        job = Job(ranks, program("hold.c"), wrap=wrap)
        victim = dice.randrange(ranks)
        os.kill(job.pids[victim], signal.SIGKILL)
        done = job.end()
        why = f"seed {SEED}, round {n}"
        must_be(done.status, 137, why)
        must_be(re.sub(r"rank \d+", "rank", one_line(done)),
                f"mpiexec: rank (process {job.pids[victim]}) was killed by signal 9 (Killed)", why)


def test_ranks_die_with_the_launcher():
    dice = random.Random(SEED)
    for wrap in ((), ("sh", "-c", '"$0" "$@"; exit $?'), ("sh", "-c", 'sh -c "\\"$0\\"; exit 1"; exit $?')):
        for _ in range(3):
            job = Job(dice.choice((1, 2, 5)), program("hold.c"), wrap=wrap)
            job.process.kill()
            must_be(job.end().status, -9, "status")


def test_interrupting_once_asks_and_twice_ends():
    job = Job(3, program("hold.c"))
    job.process.send_signal(signal.SIGINT)
    must_be((lambda d: (d.status, d.err))(job.end()), (130, ""), "status and message")
    job = Job(3, program("hold.c"), "deaf")
    job.process.send_signal(signal.SIGINT)
    job.process.send_signal(signal.SIGINT)
    # two signals that arrive together are one: interrupt until it ends
    while job.process.poll() is None:
        job.process.send_signal(signal.SIGINT)
    must_be(job.end().status, 130, "status")


def test_a_terminal_interrupts_everybody_once():
    job = Job(2, program("hold.c"))
    os.killpg(job.process.pid, signal.SIGINT)
    must_be(job.end().status, 130, "status")


def test_termination_ends_the_job():
    for wrap in ((), ("sh", "-c", 'trap "" TERM; "$0"; exit 0')):
        job = Job(3, program("hold.c"), wrap=wrap)
        job.process.terminate()
        must_be(job.end().status, 143, "status")


def test_a_stopped_rank_is_ended_too():
    job = Job(2, program("hold.c"))
    os.kill(job.pids[0], signal.SIGSTOP)
    os.kill(job.pids[1], signal.SIGKILL)
    must_be(job.end().status, 137, "status")


def test_what_a_failed_rank_started_is_ended():
    with tempfile.NamedTemporaryFile() as f:
        must(mpiexec("-n", "2", "sh", "-c", f"(sleep 1000 & echo $! >> {f.name}); exit 4"), 4)
        for pid in f.read().split():
            if os.path.exists(f"/proc/{int(pid)}"):
                raise Wrong(f"process {pid} is left")


def test_nothing_is_left_in_shared_memory():
    must_be([x for x in os.listdir("/dev/shm") if "atoll" in x], [], "/dev/shm")
    with open("/proc/net/unix", encoding="ascii") as f:
        must_be([x for x in f if f"atoll-job-{os.getpid()}" in x], [], "sockets")


def test_ranks_keep_to_the_processors_that_are_allowed():
    first = sorted(os.sched_getaffinity(0))[0]
    show = "grep Cpus_allowed_list /proc/self/status"
    done = must(call([tool("taskset"), "-c", str(first), f"{PREFIX}/bin/mpiexec", "-n", "3", "sh", "-c", show]), 0)
    must_be({x.split()[1] for x in done.out.splitlines()}, {str(first)}, "processors")


def claim(cpu):
    """What a job holds that has bound to a processor; None if another one does."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        sock.bind(f"\0atoll-processor-{cpu}")
    except OSError:
        sock.close()
        return None
    return sock


def test_two_jobs_never_bind_to_one_core():
    """Jobs of other tests come and go meanwhile: what they have claimed says nothing."""
    allowed = os.sched_getaffinity(0)
    held = [claim(cpu) for cpu in allowed]
    done = must(mpiexec("-n", str(len(allowed)), "--bind-to", "core", "python3", "-c",
                        "import os; print(sorted(os.sched_getaffinity(0)))"), 0)
    if None not in held:
        must_be(set(done.out.splitlines()), {str(sorted(allowed))}, "processors while all are claimed")
    for sock in filter(None, held):
        sock.close()
    job = Job(len(allowed), program("hold.c"))
    mine = [os.sched_getaffinity(p) for p in job.pids]
    if all(len(m) == 1 for m in mine):
        must_be(set().union(*mine), allowed, "processors of the job")
        must_be([claim(cpu) for cpu in allowed], [None] * len(allowed), "claims beside the job")
    os.kill(job.process.pid, signal.SIGKILL)
    job.end()


def test_a_hardware_thread_for_each_rank():
    allowed = os.sched_getaffinity(0)
    job = Job(len(allowed), program("hold.c"), wrap=("--bind-to", "hwthread"))
    mine = [os.sched_getaffinity(p) for p in job.pids]
    os.kill(job.process.pid, signal.SIGKILL)
    claimed = "unbound" not in job.end().err
    if claimed:
        must_be((sorted(len(m) for m in mine), set().union(*mine)), ([1] * len(allowed), allowed),
                "processors per rank, and of all")


def test_binding_can_be_refused():
    done = must(mpiexec("-n", "1", "--bind-to", "none", "python3", "-c",
                        "import os; print(len(os.sched_getaffinity(0)))"), 0)
    must_be(int(done.out), len(os.sched_getaffinity(0)), "processors")


def test_interpreters_start_mpi_programs():
    once = program("once.c")
    code = f"import subprocess; print(subprocess.run(['{once}'], capture_output=True, text=True).stdout, end='')"
    done = must(mpiexec("-n", "2", sys.executable, "-c", code), 0)
    must_be(len([x for x in done.out.splitlines() if "of 2, sum 1" in x]), 2, "ranks")


def test_debuggers_start_ranks():
    done = must(mpiexec("-n", "2", tool("gdb"), "-q", "-batch", "-ex", "run", "--args", program("once.c")), 0)
    must_be(len(re.findall(r"of 2, sum 1", done.out)), 2, f"ranks in {done}")


def test_memory_that_nobody_asked_for_is_closed():
    job = Job(3, program("hold.c"))
    for pid in job.pids:
        with open(f"/proc/{pid}/maps", encoding="ascii") as f:
            parts = [x.split() for x in f if "atoll-job" in x]
        opened = sum(int(p[0].split("-")[1], 16) - int(p[0].split("-")[0], 16) for p in parts if p[1].startswith("rw"))
        if not 0 < opened < 16 << 20:
            raise Wrong(f"{opened} bytes of the job's memory can be read: {parts}")
    os.kill(job.process.pid, signal.SIGKILL)
    job.end()


def test_valgrind_finds_nothing():
    done = must(mpiexec("-n", "2", tool("valgrind"), "-q", "--error-exitcode=9", "--leak-check=full",
                        program("once.c")), 0)
    must_be(len(re.findall(r"of 2, sum 1", done.out)), 2, f"ranks in {done}")


if __name__ == "__main__":
    print(f"seed {SEED}", flush=True)
    sys.exit(run_all(tests_of(sys.modules["__main__"])))
