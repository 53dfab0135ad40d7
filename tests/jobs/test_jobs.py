# SPDX-License-Identifier: MIT
"""Jobs on the whole system, both ports: how ranks end, what their libc does, the servers. Needs
both ports built.

Prints `ok NAME` or `FAIL NAME: why` for each scenario; arguments choose ports (hosted riscv64).
"""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "tests", "process")]
import rooms  # noqa: E402,F401
import patience  # noqa: E402
import setup  # noqa: E402
import wrapper  # noqa: E402
from probes import AC_CHECK_FUNC, ADDRESS, CHECK_FUNCTION_EXISTS, PROBED  # noqa: E402

BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
PATIENCE_S = 60
MACHINE = {"hosted": "hosted-4x4", "riscv64": "riscv-4x4"}

# how rank 4 of 6 ends -> status of the job, what is said
ENDS = [
    ("return", 7, "bye from rank 4"),
    ("exit", 8, "bye from rank 4"),
    ("_exit", 9, ""),
    ("final", 7, "bye from rank 4"),
    ("mpi_return", 7, "rank 4 ended with status 7 before MPI_Finalize\n"),
    ("mpi_zero", 1, "rank 4 ended with status 0 before MPI_Finalize\n"),
    ("mpi_exit", 8, "rank 4 ended with status 8 before MPI_Finalize\n"),
    ("mpi__exit", 9, "rank 4 ended with status 9 before MPI_Finalize\n"),
    ("abort", 134, "rank 4 aborted"),
    ("job_abort", 10, ""),
    ("crash", 139, "rank 4 crashed: bad address written, address 0x10, in explode+"),
    ("jump", 139, "rank 4 crashed: bad address executed, address 0x10, at 0x10 outside the program"),
    ("illegal", 132, "rank 4 crashed: illegal instruction"),
]

# what says the same here and on Linux: name of the scenario, program
AS_ON_LINUX = [
    ("fork", "fork"), ("paths_from_open_directories", "at"),
    ("standard_streams_can_be_closed", "closed"), ("wrong_arguments", "errnos"),
    ("queued_signals", "queued"), ("mappings_in_the_place_of_others", "replaced"),
    ("memory_without_rights", "protected"), ("mappings_behind_the_ends_of_files", "behind"),
    ("kinds_of_waits", "childwaits"), ("waiting_for_children", "sigchld"),
    ("pieces_in_pipes", "pieces"), ("shared_memory", "shared"), ("semaphores", "semaphores"),
    ("sockets", "sockets"), ("descriptors_in_messages", "rights"),
    ("message_queues", "queues"), ("process_groups", "pgroups"),
    ("processor_time", "times"), ("locks_of_files", "filelocks"), ("limits", "limits"),
    ("signals", "signals"), ("seldom_calls", "calls"), ("events", "events"),
    ("symbolic_links", "symlinks"), ("pipes_with_names", "fifos"),
]


class Wrong(Exception):
    """What a run did instead."""


def run(port, ranks, program, *args, options=(), machine=None):
    """Run a job. Returns (status, output)."""
    path = program if os.path.isabs(program) else os.path.join(BUILD, port, "tests", program)
    argv = [os.path.join(ROOT, "atoll"), "run", "-n", str(ranks), "--port", port, "--machine", machine or MACHINE[port],
            "--timeout", str(PATIENCE_S), *options, path, *args]
    r = patience.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                     timeout=PATIENCE_S + 60, check=False)
    return r.returncode, r.stdout.decode(errors="replace")


def large_archive(port):
    """A boot archive that is larger than all that a cluster of 2 MB may otherwise have addresses of."""
    with tempfile.NamedTemporaryFile(prefix="atoll-archive-") as f:
        f.truncate(40 << 20)
        return run(port, 1, "brief", machine="mppa256", options=("--file", f"{f.name}=large"))


def expect(have, status, *texts):
    """Check status and texts of a run."""
    if have[0] != status:
        raise Wrong(f"status {have[0]} instead of {status}\n{have[1]}")
    for text in texts:
        if text not in have[1]:
            raise Wrong(f"does not say '{text}'\n{have[1]}")
    if "FAIL" in have[1]:
        raise Wrong(have[1])


def fails(have, text):
    """Does a run fail for this reason?"""
    if have[0] != 1 or f"FAIL rank 0: {text}" not in have[1]:
        raise Wrong(f"status {have[0]}\n{have[1]}")


def ranks_say_ok(have, ranks):
    expect(have, 0, *(f"ok rank {r}\n" for r in range(ranks)))


def no_line_is_lost(port, ranks=6, lines=1000):
    have = run(port, ranks, "chatter", str(lines))
    expect(have, 0)
    found = [line for line in have[1].splitlines() if line.startswith("line ")]
    want = {f"line {i} of rank {r} {'-' * (i * 7 % 100)}." for i in range(lines) for r in range(ranks)}
    if len(found) != len(want) or set(found) != want:
        raise Wrong(f"{len(found)} lines instead of {len(want)}; missing: {sorted(want - set(found))[:3]}; "
                    f"strange: {sorted(set(found) - want)[:3]}")


def ends(port):
    for how, status, text in ENDS:
        yield f"a_rank_ends_by_{how.strip('_')}{'_at_once' if how[0] == '_' else ''}", \
            lambda h=how, s=status, t=text: expect(run(port, 6, "ends", h, "4"), s, t)


def ends_at_once(port):
    """A rank ends the job while others are being started: in the cluster that is started first, in
    the last, and in the leader's.
    """
    for who in (3, 11, 0):
        yield f"a_job_is_ended_by_rank_{who}_while_it_is_started", \
            lambda w=who: expect(run(port, 12, "ends", "job_abort", str(w)), 10)
        yield f"rank_{who}_crashes_while_the_job_is_started", \
            lambda w=who: expect(run(port, 12, "ends", "crash", str(w)), 139, f"rank {w} crashed")


def shared_cores(port):
    """Ranks that compute for ever on every core of a cluster without a service core, the server's
    among them.
    """
    machine, ranks = ("mppa256", 16) if port == "riscv64" else ("optimsoc4x2", 6)
    yield "a_job_is_aborted_although_a_rank_computes_on_the_servers_core", \
        lambda: expect(run(port, ranks, "ends", "job_abort", "1", machine=machine), 10)


def shared_with_servers(port):
    """Programs that compute do not keep servers from answering."""
    yield "names_on_mppa256", \
        lambda: ranks_say_ok(run(port, 16, "names", machine="mppa256", options=("--map", "scatter")), 16)
    for machine, ranks in (("optimsoc4x2", 6), ("mppa256", 18)):
        yield f"servers_answer_although_programs_compute_on_{machine}", \
            lambda m=machine, n=ranks: ranks_say_ok(run(port, n, "spin", machine=m, options=("--map", "scatter")), n)


def parts_end():
    """Servers of other clusters have parts of the tree of files."""
    parts = ("--end-servers", "--map", "scatter", "--tree", "1", "--tree", "2", "--file",
             f"{os.path.join(BUILD, 'riscv64', 'tests', 'parts')}=parts")
    for ranks in (1, 2, 4):
        yield f"file_servers_of_clusters_have_parts_of_one_tree_{ranks}", \
            lambda n=ranks: expect(run("riscv64", n, "parts", options=parts), 0, f"ok rank {n - 1}")
    yield "files_in_memory_outlive_the_server_of_a_part", lambda: expect(run(
        "riscv64", 2, "outlives", "3", "40", "1", options=("--end-servers", "--map", "scatter", "--tree", "1:/tmp")),
        0, "ok rank 1")
    for ranks in (1, 3):
        yield f"servers_of_parts_are_killed_at_any_time_{ranks}", lambda n=ranks: expect(run(
            "riscv64", n, "servers_killed", "7", "60", "/n/1", "1", options=parts), 0,
            *(f"ok rank {r}: servers killed" for r in range(n)))


def servers_end(port):
    """The file server is killed, on purpose and at any time."""
    for ranks in (1, 3):
        yield f"a_file_server_that_is_killed_is_followed_by_another_one_{ranks}", \
            lambda n=ranks: expect(run(port, n, "lost", options=("--end-servers", "--map", "scatter", "--file",
                                                                 f"{__file__}=given")), 0, f"ok rank {n - 1}")
    for seed, ranks in ((1, 1), (2, 3)):
        yield f"files_in_memory_outlive_their_server_{seed}", \
            lambda s=seed, n=ranks: expect(run(port, n, "outlives", str(s), options=(
                "--end-servers", "--map", "scatter")), 0, f"ok rank {n - 1}")
    if port == "riscv64":
        yield from parts_end()
        yield "a_file_that_has_all_memory_outlives_its_server", \
            lambda: ranks_say_ok(run(port, 1, "outlives", "full", options=("--end-servers",)), 1)
    for seed, ranks in ((1, 1), (2, 1), (3, 3)):
        yield f"servers_are_killed_at_any_time_{seed}", \
            lambda s=seed, n=ranks: expect(run(port, n, "servers_killed", str(s), options=(
                "--end-servers", "--map", "scatter")), 0, *(f"ok rank {r}: servers killed" for r in range(n)))


def far_memory(port):
    """Programs use memory of other clusters, whose servers end."""
    rmem = ("--rmem", "--end-servers", "--map", "scatter")
    for ranks, what in ((1, "use"), (4, "use"), (4, "shared"), (1, "wrong"), (1, "killed")):
        yield f"memory_of_other_clusters_{what}_{ranks}", \
            lambda n=ranks, w=what: ranks_say_ok(run(port, n, "farmem", w, options=rmem), n)
    for ranks in (1, 4):
        yield f"a_machine_without_far_memory_says_so_{ranks}", \
            lambda n=ranks: ranks_say_ok(run(port, n, "farmem", "none", options=("--map", "scatter")), n)
    if port == "riscv64":
        yield "what_clients_had_of_a_cluster_comes_back", \
            lambda: ranks_say_ok(run(port, 1, "farmem", "back", options=rmem), 1)
        yield "clusters_of_2_mb_give_memory", lambda: ranks_say_ok(
            run(port, 6, "farmem", "use", "1", "100", machine="mppa256", options=rmem), 6)
        for seed in (1, 2):
            yield f"memory_servers_and_clients_are_killed_at_any_time_{seed}", \
                lambda s=seed: ranks_say_ok(run(port, 1, "farmem", "kills", str(s), "60", options=rmem), 1)


def zero_copy(port):
    """Buffers go from one process to another."""
    given = ("--file", f"{__file__}=given", "--end-servers")
    yield "megabytes_in_buffers_beside_bytes", lambda: ranks_say_ok(run(port, 1, "zio", "use", options=given), 1)
    if port == "hosted":
        return
    yield "nonsense_about_buffers", lambda: ranks_say_ok(run(port, 1, "zioends", "wrong"), 1)
    yield "buffers_of_a_file_server_that_is_killed", \
        lambda: ranks_say_ok(run(port, 1, "zioends", "lost", options=given), 1)
    yield "a_small_cluster_has_no_more_buffers", \
        lambda: ranks_say_ok(run(port, 1, "zio", "exhaust", machine="mppa256"), 1)
    yield "buffers_to_another_cluster_are_copied", \
        lambda: ranks_say_ok(run(port, 2, "zio", "far", options=("--map", "scatter")), 2)
    for seed in (1, 2):
        yield f"processes_with_buffers_are_killed_at_any_time_{seed}", \
            lambda s=seed: ranks_say_ok(run(port, 1, "zioends", "kills", str(s), "60"), 1)


def moves(port):
    """Processes go to cores of one's choice."""
    yield "processes_go_to_cores_of_ones_choice", lambda: ranks_say_ok(run(port, 1, "moves"), 1)
    yield "no_part_of_several_ranks_goes_to_a_core", lambda: ranks_say_ok(run(port, 2, "moves", "ranks"), 2)
    for seed, count in ((1, 1000), (2, 200)):
        yield f"processes_that_compute_are_moved_{seed}", \
            lambda s=seed, n=count: ranks_say_ok(run(port, 1, "moves", "many", str(s), str(n)), 1)


def programs(port):
    greeting = ("--env", "GREETING=hello")
    for n in (1, 6, 14):
        yield f"libc_of_{n}_ranks", lambda n=n: ranks_say_ok(run(port, n, "libc", "two words", options=greeting), n)
        yield f"names_of_{n}_ranks", lambda n=n: ranks_say_ok(run(port, n, "names", options=("--map", "scatter")), n)
        yield f"forged_messages_of_{n}_ranks", lambda n=n: ranks_say_ok(run(port, n, "forge",
                                                                            options=("--map", "scatter")), n)
    for n in (1, 3):
        yield f"locks_of_{n}_ranks", lambda n=n: ranks_say_ok(run(port, n, "locks"), n)
    yield "processes_by_request", lambda: ranks_say_ok(run(port, 2, "spawn", options=("--map", "scatter")), 2)
    for seed in (1, 2):
        yield f"random_requests_for_processes_{seed}", \
            lambda s=seed: expect(run(port, 1, "askfuzz", str(s)), 0, f"ok asked with seed {s}")
    for seed in (1, 2):
        yield f"names_go_with_who_is_killed_{seed}", \
            lambda s=seed: expect(run(port, 1, "namedeaths", str(s)), 0, f"ok deaths with seed {s}")
    yield "a_name_server_that_is_killed_is_followed_by_another_one", \
        lambda: expect(run(port, 1, "namedeaths", "3", "server", options=("--end-servers",)), 0,
                       "ok deaths with seed 3", "the server bin/name was ended by signal 9, and is started again")
    yield "a_program_that_may_not_ends_no_server", \
        lambda: fails(run(port, 1, "namedeaths", "3", "server"), "a name server: 0 instead of 1")
    for way in ("daemon", "two-steps", "forward"):
        yield f"ranks_find_each_other_by_names_{way.replace('-', '_')}", \
            lambda w=way: ranks_say_ok(run(port, 12, "mpinames", options=("--map", "scatter", "--mpi-names", w)), 12)
    yield "ranks_of_small_clusters_find_each_other_by_names", \
        lambda: ranks_say_ok(run(port, 32, "mpinames", "blind", machine="mppa256",
                                 options=("--map", "scatter", "--mpi-names", "daemon")), 32)
    yield "mpi_jobs_by_request", lambda: expect(run(port, 1, "askjob"), 0, "ok askjob")
    if port == "riscv64":
        yield "a_broken_pipe_ends_who_writes", lambda: expect(run(port, 1, "broken_pipe"), 141, "writes")
        yield "what_a_program_asks_about_itself", lambda: expect(run(port, 1, "self"), 0, "ok self")
        for name, program in AS_ON_LINUX:
            yield f"{name}_as_on_linux", lambda p=program: says_what_linux_says(p)
        yield all_calls_are_tried.__name__, all_calls_are_tried
        yield "programs_written_here_as_on_linux", lambda: says_what_linux_says("written", is_given=True)
        yield "who_is_killed_at_any_time_leaves_nothing", lambda: says_what_linux_says("killed")
        yield "an_archive_larger_than_clusters", lambda: expect(large_archive(port), 0)
        yield "fork_where_memory_ends", lambda: expect(run(port, 1, "fork", "full", machine="mppa256-12"), 0, "ok full")
        yield "fork_and_waitpid_where_the_window_is_full", \
            lambda: expect(run(port, 1, "no_room", machine="mppa256"), 0, "ok rank 0")
        yield "many_threads_fork_and_wait", lambda: expect(run(port, 1, "no_room", "threads"), 0, "ok rank 0")
        yield "no_fork_of_a_rank_among_others", lambda: expect(run(port, 3, "fork", "ranks"), 0, "ok ranks")
        yield "a_file_is_memory_of_one_cluster", lambda: expect(
            run(port, 2, "apart", options=("--map", "scatter")), 0, "ok rank 0\n", "ok rank 1\n",
            "atoll: mmap() fails: the file is memory of another cluster\n")
        yield "calls_that_are_missing_are_said_by_name", missing_calls
        yield "vfork_and_exec", lambda: expect(run(port, 1, "exec"), 5, "ok last")
        other = os.path.join(BUILD, port, "tests", "plain")
        yield "exec_of_a_file_that_the_machine_was_given", lambda: expect(
            run(port, 1, "exec", "other", options=("--file", f"{other}=bin/other")), 3, "plain: 2 calls, 5")
    yield "noise_to_the_servers_changes_nothing", lambda: ranks_say_ok(run(port, 8, "noise"), 8)
    yield "no_line_of_output_is_lost", lambda: no_line_is_lost(port)
    yield "a_plain_program_runs", lambda: expect(run(port, 2, "plain", "3"), 3, "plain: 2 calls, 5")


def says_what_linux_says(program, is_given=False):
    """The program says here what it says where it was made. `is_given`: it finds itself as a file."""
    path = os.path.join(BUILD, "riscv64", "tests", program)
    have = run("riscv64", 1, program, options=("--file", f"{path}={program}") if is_given else ())
    expect(have, 0, f"ok {program}")
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, program)
        subprocess.run([setup.zig(), "cc", "-target", f"{os.uname().machine}-linux-musl", "-O2", "-static", "-o", out,
                        os.path.join(ROOT, "tests", "jobs", program + ".c")], check=True)
        r = patience.run([out], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, cwd=folder,
                         check=False)
        if (r.returncode, r.stdout.decode()) != have:
            raise Wrong(f"Linux: status {r.returncode}\n{r.stdout.decode()}\nhere:\n{have[1]}")


# calls that errnos.c does not try: they end or change who makes them, or are not Linux's
NOT_TRIED = {"exit", "exit_group", "rt_sigreturn", "set_tid_address", "setsid", "clone", "fork_begin", "child_begin",
             "inherit", "zio", "execac", "rfork",
             # what Linux says depends on where the file lies
             "setxattr", "fsetxattr"}


def all_calls_are_tried():
    """errnos.c has a row of each call that the personality knows."""
    with open(os.path.join(ROOT, "user", "personality", "personality.h"), encoding="utf-8") as f:
        calls = set(re.findall(r"^\tSYS_(\w+) =", f.read(), re.MULTILINE))
    with open(os.path.join(ROOT, "tests", "jobs", "errnos.c"), encoding="utf-8") as f:
        rows = {{"newfstatat": "fstatat"}.get(name, name) for name in re.findall(r"\{CALL\((\w+)\)", f.read())}
    if len(calls) < 100 or calls - rows != NOT_TRIED:
        raise Wrong(f"not tried: {sorted(calls - rows - NOT_TRIED)}; "
                    f"tried, or none: {sorted(NOT_TRIED - (calls - rows))}")


def missing_calls():
    """Those are said by name, once in each process, with --debug alone; and answer the same without."""
    wants = [f"atoll: bin/missing, process N: there is no {name}: ENOSYS" for name in (
        "fanotify_init (system call 262)", "io_uring_setup (system call 425)", "such call (system call 511)",
        "such call (system call 3000)", "such call (system call 3000)",
        "fanotify_init (system call 262)")]
    for options, want in ((("--debug",), wants), ((), [])):
        status, text = have = run("riscv64", 1, "missing", options=options)
        expect(have, 0, "ok rank 0")
        said = [re.sub(r"process \d+", "process N", line) for line in text.splitlines() if "there is no" in line]
        if status != 0 or said != want:
            raise Wrong(text)


def unlinked():
    """A program without our libraries."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "plain")
        subprocess.run([setup.zig(), "cc", "-target", "riscv64-linux-musl", "-O2", "-fPIE", "-pie",
                        "-static", "-o", out,
                        os.path.join(ROOT, "tests", "jobs", "plain.c")], check=True)
        expect(run("riscv64", 3, out, "x"), 0, "plain: 2 calls, 5")
        expect(run("riscv64", 1, out, "5"), 5, "plain: 2 calls, 5")


def fixed():
    """A program for fixed addresses can be started by others; as a job it is refused with the reason."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "plain")
        subprocess.run([setup.zig(), "cc", "-target", "riscv64-linux-musl", "-O2", "-static",
                        "-Wl,--image-base=0x10000", "-o", out,
                        os.path.join(ROOT, "tests", "jobs", "plain.c")], check=True)
        expect(run("riscv64", 1, "exec", "other", options=("--file", f"{out}=bin/other")), 3, "plain: 2 calls, 5")
        expect(run("riscv64", 1, out), 2, "is not a static position-independent program")


def refused():
    """Programs that cannot be loaded are named with the reason."""
    with tempfile.TemporaryDirectory() as folder:
        bad = os.path.join(folder, "bad")
        with open(bad, "wb") as f:
            f.write(b"\x7fELF" + bytes(100))
        status, text = run("hosted", 2, bad)
        if status not in (1, 2) or "bad" not in text:
            raise Wrong(f"status {status}\n{text}")


def links(port, folder, source, *more):
    """Does mpicc link a probe?"""
    path = os.path.join(folder, "probe.c")
    with open(path, "w", encoding="ascii") as f:
        f.write(source)
    line = wrapper.command(["-O0", "-w", "-o", path[:-2], path, *more], port)
    return patience.run(line, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S,
                        check=False).returncode == 0


def probes(port):
    """Who only links finds what is implemented, and all functions with the archive of the others.
    """
    with tempfile.TemporaryDirectory(prefix="atoll-probe-") as folder:
        for function, there in PROBED:
            for name in (function, "P" + function):
                for text in (AC_CHECK_FUNC, CHECK_FUNCTION_EXISTS, ADDRESS):
                    if links(port, folder, text.format(name=name)) != there:
                        raise Wrong(f"{name}: links or does not, other than it is implemented:\n{text}")
        rest = os.path.join(BUILD, port, "lib", "libmpi_missing.a")
        if not links(port, folder, ADDRESS.format(name="MPI_File_open"), rest):
            raise Wrong(f"MPI_File_open is not in {rest}")


def scenarios(port):
    yield "probes_that_only_link_find_what_is_implemented", lambda: probes(port)
    yield from ends(port)
    yield from ends_at_once(port)
    yield from shared_cores(port)
    yield from shared_with_servers(port)
    yield from programs(port)
    yield from far_memory(port)
    yield from zero_copy(port)
    if port == "riscv64":
        yield from servers_end(port)
        yield from moves(port)
        yield "a_rank_ends_by_the_bare_call", lambda: expect(run(port, 6, "ends", "mpi_group", "4"), 6,
                                                             "rank 4 ended with status 6 before MPI_Finalize\n")
        yield "semaphores_and_tubes_of_user_level_between_processes", lambda: ranks_say_ok(run(port, 1, "tubes"), 1)
        yield "a_program_without_our_libraries_runs", unlinked
        yield "a_program_for_fixed_addresses_runs", fixed
    else:
        yield "a_malformed_program_is_refused", refused


def main(ports, chosen=scenarios):
    """Run the scenarios of some ports (all); the exit status."""
    failed = 0
    for port in ports or ("hosted", "riscv64"):
        for name, test in chosen(port):
            try:
                test()
                print(f"ok {port}_{name}", flush=True)
            except (Wrong, subprocess.SubprocessError) as e:
                print(f"FAIL {port}_{name}: {e}", flush=True)
                failed += 1
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
