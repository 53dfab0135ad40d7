# SPDX-License-Identifier: MIT
"""The front command with real programs on real machines: statuses, crashes, interrupts, the compile
cache. Needs both ports built.
"""

import functools
import os
import random
import signal
import subprocess
import sys
import time

import pytest

import patience
import rooms
import wrapper
from ui import BUILD, ROOT

ATOLL = os.path.join(ROOT, "atoll")
pytestmark = [pytest.mark.slow]
PORTS = ("hosted", "riscv64")
MOMENTS, LATEST_S = 6, 0.6	# at which a run is interrupted
# a shell that starts us in the background, or nohup, has them ignored, and so would what we start
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int counter;
int main(int argc, char **argv)
{
	int rank, size, sum, level;
	const char *what = argc > 1 ? argv[1] : "hello";
	/* of a job whose other threads might send, nobody knows that it is a deadlock */
	MPI_Init_thread(&argc, &argv, strcmp(what, "hang") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	counter++;
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!strcmp(what, "hello"))
		printf("rank %d of %d: sum %d, counter %d, %s\n", rank, size, sum, counter, argc > 2 ? argv[2] : "-");
	if (!strcmp(what, "env") && rank == 0)
		printf("COLOUR=%s\n", getenv("COLOUR"));
	if (!strcmp(what, "exit") && rank == size - 1)
		exit(7);
	if (!strcmp(what, "crash") && rank == size - 1)
		*(volatile int *)8 = 1;
	if (!strcmp(what, "abort") && rank == 0)
		MPI_Abort(MPI_COMM_WORLD, 9);
	if (!strcmp(what, "read")) {
		char line[100] = "nothing\n";
		if (fgets(line, sizeof(line), stdin) != NULL || rank > 0)
			printf("rank %d read %s", rank, line);
	}
	if (!strcmp(what, "sum")) {
		static unsigned char bytes[50000];
		unsigned long total = 0, count = 0, n;
		while ((n = fread(bytes, 1, sizeof(bytes), stdin)) > 0)
			for (unsigned long i = 0; i < n; i++, count++)
				total = total * 31 + bytes[i];
		printf("rank %d: %lu bytes, %lx\n", rank, count, total);
	}
	if (!strcmp(what, "copy")) {
		int c;
		while ((c = getchar()) != EOF)
			putchar(c);
	}
	if (!strcmp(what, "both"))
		for (int i = 0; i < 20; i++) {
			printf("out %d %d\n", rank, i);
			fflush(stdout);
			fprintf(stderr, "err %d ", rank);
			fprintf(stderr, "%d\n", i);
		}
	if (!strcmp(what, "busy")) {
		char c;
		if (rank == 0 && read(0, &c, 1) != 1)
			exit(3);
		for (int i = 0; rank > 0 && i < 200; i++)
			MPI_Sendrecv_replace(&sum, 1, MPI_INT, 1 + rank % (size - 1), 3, 1 + (rank + size - 3) % (size - 1), 3,
				MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1) {
			printf("done\n");
			fflush(stdout);
		}
	}
	if (!strcmp(what, "hang")) {
		printf("waiting\n");
		fflush(stdout);
		MPI_Recv(&sum, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
"""


@pytest.fixture(scope="module", autouse=True)
def built():
    assert atoll("build", timeout=600).returncode == 0


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("system") / "prog.c"
    path.write_text(PROGRAM)
    return path


def atoll(*argv, timeout=120):
    return patience.run([ATOLL, *map(str, argv)], capture_output=True, text=True, timeout=timeout,
                        stdin=subprocess.DEVNULL)


def machine_of(front):
    """Process ids of the machine that the front command `front` runs: its descendants alone, for
    other tests run machines meanwhile.
    """
    parents, machines = {}, []
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            with open(f"/proc/{pid}/stat") as f:
                parents[pid] = int(f.read().rsplit(")", 1)[1].split()[1])
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
        except OSError:
            continue
        if any(w.startswith(BUILD.encode()) and w.endswith((b"/atoll-host", b"/boot.elf")) for w in words):
            machines.append(pid)

    def below(pid):
        while pid > 1 and pid != front.pid:
            pid = parents.get(pid, 0)
        return pid == front.pid

    return [pid for pid in machines if below(pid)]


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("policy", ["compact", "scatter"])
def test_ranks_have_private_globals_and_find_one_another(source, port, policy):
    p = atoll("run", "-n", 6, "--port", port, "--map", policy, "--timeout", 60, source, "hello", "two words")
    assert p.returncode == 0, p.stderr + p.stdout
    assert sorted(p.stdout.splitlines()) == [f"rank {r} of 6: sum 15, counter 1, two words"
                                             for r in range(6)] and p.stderr == ""


@pytest.mark.parametrize("port", PORTS)
def test_the_environment_is_passed_on(source, port):
    p = atoll("run", "--port", port, "--env", "COLOUR=deep blue", "--timeout", 60, source, "env")
    assert p.returncode == 0 and p.stdout == "COLOUR=deep blue\n"


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("what, status", [("exit", 7), ("abort", 9), ("crash", 128 + signal.SIGSEGV)])
def test_the_programs_status_is_ours(source, port, what, status):
    p = atoll("run", "-n", 4, "--port", port, "--timeout", 60, source, what)
    assert p.returncode == status, p.stderr + p.stdout
    if what == "crash":
        assert "SIGSEGV" in p.stderr and "main" in p.stdout + p.stderr


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whoever_ends_the_front_command_ends_the_machine(source, port, sig):
    p = subprocess.Popen([ATOLL, "run", "-n", "4", "--port", port, str(source), "hang"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert p.stdout.readline() == "waiting\n"
    machine = machine_of(p)
    assert machine
    p.send_signal(sig)
    patience.communicate(p, 30)
    assert p.returncode == (130 if sig != signal.SIGKILL else -9)
    assert patience.until(lambda: not any(map(alive, machine)), 10), [pid for pid in machine if alive(pid)]


def marked(mark):
    """Processes, zombies apart, that have this in their environment."""
    out = []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                out += [int(pid)] if mark.encode() in f.read() else []
        except OSError:
            pass
    return out


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("front", [(), ("--front",)])
def test_an_interrupt_at_any_moment_leaves_nothing(source, port, front):
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    rng, mark = random.Random(seed), f"ATOLL_MARK_{os.getpid()}_{seed}"
    atoll("run", "-n", 1, "--port", port, source)		# compiled, and its start is known
    for n in range(MOMENTS):
        p = subprocess.Popen([ATOLL, *front, "run", "-n", "4", "--port", port, str(source), "hang"],
                             stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                             env=dict(os.environ, **{mark: "1"}), start_new_session=True)
        time.sleep(rng.random() ** 2 * LATEST_S)		# not to wait for anything: to choose a moment
        os.killpg(p.pid, rng.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)))
        said = patience.communicate(p, 60)[1]
        where = f"SEED={seed}, moment {n}: status {p.returncode}: {said}"
        assert p.returncode in (130, -signal.SIGINT, -signal.SIGTERM,
                                -signal.SIGHUP) or "Fatal Python error" in said, where
        assert patience.until(lambda: not marked(mark), 10), where


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_standard_stream_that_is_closed_changes_nothing_else(source, port, closed):
    p = subprocess.run(["/bin/sh", "-c", f'exec "$0" run -n 2 --port {port} "$1" exit {closed}', ATOLL, str(source)],
                       stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert p.returncode == 7 and "Traceback" not in p.stderr, p.stderr


@pytest.mark.parametrize("port", PORTS)
def test_output_that_finds_no_room_is_said_and_fails(source, port):
    """The front command passes riscv64's on; a rank of the hosted port writes by itself."""
    with open("/dev/full", "wb") as full:
        p = subprocess.run([ATOLL, "run", "-n", "2", "--port", port, str(source)],
                           stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                           text=True, check=False)
    why = {"riscv64": "was lost: No space left on device", "hosted": "rank 0: standard output was lost"}
    assert p.returncode == 1 and why[port] in p.stderr, p.stderr


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_leaves_no_machine(source, port, sig):
    code = ("import sys; sys.path.insert(0, sys.argv[1]); import rooms, demo, main\n"
            "main.dispatch = lambda argv: demo.run(sys.argv[2], sys.argv[3], 'hang')\nsys.exit(main.main())\n")
    p = subprocess.Popen([sys.executable, "-I", "-c", code, rooms.TOOLS, port,
                          str(source)], stderr=subprocess.PIPE, text=True)
    assert patience.until(lambda: machine_of(p), 60)
    machine = machine_of(p)
    p.send_signal(sig)
    assert patience.communicate(p, 60)[1].endswith("atoll: interrupted\n") and p.returncode == 130
    assert patience.until(lambda: not any(map(alive, machine)), 10), machine


@pytest.mark.parametrize("port", PORTS)
def test_a_hang_ends_in_a_dump(source, port):
    p = atoll("run", "-n", 4, "--port", port, "--timeout", 3, source, "hang")
    assert p.returncode == 124 and "no end after 3 s" in p.stderr
    assert ("hart   0: pc" if port == "riscv64" else "atoll-host") in p.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only the same user's processes can be ended")
def test_a_cluster_that_is_killed_is_noticed(source):
    p = subprocess.Popen([ATOLL, "run", "-n", "4", "--machine", "hosted-4x4", "--map", "scatter",
                          str(source), "hang"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    assert p.stdout.readline() == "waiting\n"
    os.kill(max(machine_of(p)), signal.SIGKILL)
    out, err = patience.communicate(p, 30)
    assert p.returncode not in (0, None) and "atoll: " in err + out


def test_a_source_is_compiled_once(source, tmp_path):
    header = tmp_path / "number.h"
    header.write_text("#define NUMBER 3\n")
    prog = tmp_path / "p.c"
    prog.write_text('#include "number.h"\nint main(void) { return NUMBER; }\n')
    assert atoll("run", prog).returncode == 3
    out = wrapper.cached(str(prog), "hosted")
    made = os.stat(out).st_mtime_ns
    assert atoll("run", prog).returncode == 3 and os.stat(out).st_mtime_ns == made
    header.write_text("#define NUMBER 4\n")
    assert atoll("run", prog).returncode == 4


def test_a_source_that_does_not_compile_fails_with_the_compilers_words(tmp_path):
    prog = tmp_path / "p.c"
    prog.write_text("int main(void) { return nothing; }\n")
    p = atoll("run", prog)
    assert (
        p.returncode == 1
        and "undeclared identifier 'nothing'" in p.stderr
        and "does not compile" in p.stderr.splitlines()[-1]
    )


@pytest.mark.parametrize("port", PORTS)
def test_the_wrapper_compiles_links_and_the_result_runs(source, port, tmp_path):
    obj, prog = tmp_path / "prog.o", tmp_path / "prog"
    assert atoll("mpicc", "--port", port, "-c", source, "-o", obj).returncode == 0 and obj.exists()
    assert atoll("mpicc", "--port", port, obj, "-lm", "-o", prog).returncode == 0
    p = atoll("run", "-n", 2, "--port", port, prog)
    assert p.returncode == 0 and len(p.stdout.splitlines()) == 2
    assert "#include" not in atoll("mpicc", "--port", port, "-E", source).stdout
    other = "hosted" if port == "riscv64" else "riscv64"
    p = atoll("run", "--port", other, prog)
    assert p.returncode == 2 and f"mpicc --port {other}" in p.stderr


def test_an_unknown_program_names_the_known_ones():
    p = atoll("run", "--timeout", 5, "no-such-program")
    assert p.returncode == 2 and "unknown program 'no-such-program'" in p.stderr and p.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["gone.c", "./gone"])
def test_a_program_that_is_not_there_is_one_line(name):
    p = atoll("run", name)
    assert p.returncode == 2 and "no such file" in p.stderr.lower() and p.stderr.count("\n") == 1


def test_two_runs_at_once_do_not_disturb_each_other(source):
    runs = [subprocess.Popen([ATOLL, "run", "-n", "3", str(source)], stdout=subprocess.PIPE, text=True)
            for _ in range(4)]
    assert [(patience.communicate(r, 60)[0].count("\n"), r.returncode) for r in runs] == [(3, 0)] * 4


@pytest.mark.parametrize("port, machine", [("hosted", "hosted-4x4"), ("riscv64", "riscv-4x4")])
def test_standard_input_reaches_rank_0_and_no_other_cluster(source, port, machine):
    argv = [ATOLL, "run", "-n", "4", "--port", port, "--machine", machine, "--map", "scatter",
            "--timeout", "60", str(source), "read"]
    p = patience.run(argv, input="first line\nsecond line\n", capture_output=True, text=True, timeout=120)
    assert p.returncode == 0 and p.stderr == ""
    assert sorted(p.stdout.splitlines()) == ["rank 0 read first line"] + [f"rank {r} read nothing" for r in range(1, 4)]


@pytest.mark.parametrize("port", PORTS)
def test_without_standard_input_a_program_reads_nothing(source, port):
    p = patience.run(f"exec {ATOLL} run --port {port} {source} read <&-", shell=True,
                     capture_output=True, text=True, timeout=120)
    assert p.returncode == 0 and p.stdout == "" and p.stderr == ""


@pytest.mark.parametrize("port", PORTS)
def test_a_megabyte_of_any_bytes_arrives_in_full(source, port):
    data = random.Random(1).randbytes(1 << 20)
    total = functools.reduce(lambda t, b: (t * 31 + b) & (1 << 64) - 1, data)
    p = patience.run([ATOLL, "run", "-n", "1" if port == "hosted" else "4", "--port", port, "--map",
                      "scatter", source, "sum"], input=data, capture_output=True, timeout=300)
    assert p.returncode == 0 and f"rank 0: {len(data)} bytes, {total:x}".encode() in p.stdout, p.stdout + p.stderr


@pytest.mark.parametrize("port", PORTS)
def test_standard_output_says_any_bytes(source, port):
    data = bytes(range(256)) * 20 + b"\x10e1;\x10\n\x10" + random.Random(2).randbytes(5000)
    p = patience.run([ATOLL, "run", "--port", port, source, "copy"], input=data, capture_output=True, timeout=120)
    assert p.returncode == 0 and p.stdout == data and p.stderr == b""


@pytest.mark.parametrize("port", PORTS)
def test_standard_error_is_apart_in_whole_lines_and_in_order(source, port):
    p = atoll("run", "-n", 6, "--port", port, "--map", "scatter", "--timeout", 100, source, "both")
    assert p.returncode == 0
    for name, text in (("out", p.stdout), ("err", p.stderr)):
        if (name, port) == ("err", "hosted"):	# pieces of lines go straight to the host
            continue
        lines = text.splitlines()
        assert len(lines) == 120
        for rank in range(6):
            assert [line for line in lines
                    if line.startswith(f"{name} {rank} ")] == [f"{name} {rank} {i}" for i in range(20)]


@pytest.mark.parametrize("port", PORTS)
def test_input_that_nobody_reads_stays_where_it_is(source, port, tmp_path):
    (tmp_path / "in").write_text("first line\nrest\n")
    with open(tmp_path / "in") as f:
        p = patience.run([ATOLL, "run", "--port", port, source, "hello"], stdin=f,
                         capture_output=True, text=True, timeout=120)
        assert p.returncode == 0 and os.lseek(f.fileno(), 0, os.SEEK_CUR) == 0


def test_a_rank_that_waits_for_input_stops_no_other_and_can_be_interrupted(source):
    ours, theirs = os.pipe()
    p = subprocess.Popen([ATOLL, "run", "-n", "5", "--port", "riscv64", "--timeout", "100", "--map",
                          "scatter", str(source), "busy"], stdin=ours, stdout=subprocess.PIPE)
    os.close(ours)
    assert p.stdout.readline() == b"done\n"
    p.send_signal(signal.SIGINT)
    assert patience.wait(p, 60) == 130 and machine_of(p) == []
    os.close(theirs)


FILE_PROGRAM = r"""
#include <stdio.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char bytes[1000];
		size_t n, sum = 0;
		FILE *f = fopen(argv[i], "rb");
		while (f && (n = fread(bytes, 1, sizeof(bytes), f)) > 0)
			for (size_t k = 0; k < n; k++)
				sum = sum * 31 + (unsigned char)bytes[k];
		printf("%s %zx\n", argv[i], f ? sum : 0);
	}
	return 0;
}
"""


def test_files_of_the_host_are_there_at_the_start(tmp_path):
    data = random.Random(3).randbytes(30000)
    total = functools.reduce(lambda t, b: (t * 31 + b) & (1 << 64) - 1, data)
    prog, host = tmp_path / "p.c", tmp_path / "host.dat"
    prog.write_text(FILE_PROGRAM)
    host.write_bytes(data)
    p = atoll("run", "--port", "riscv64", "--timeout", 100, "--file", f"{host}:/data/in.dat",
              "--file", host, prog, "/data/in.dat", "host.dat", "none")
    assert p.returncode == 0 and p.stdout.splitlines() == [f"/data/in.dat {total:x}", f"host.dat {total:x}", "none 0"]


def clusters_of(front):
    """Process ids of a hosted machine's clusters, in order."""
    def children(pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return f.read().split()
    return [int(pid) for pid in children(children(front.pid)[0])]


@pytest.mark.parametrize("victim", [0, 1, 3])
def test_a_dead_cluster_is_one_line_that_says_what_to_do(source, victim):
    p = subprocess.Popen([ATOLL, "run", "-n", "8", "--machine", "hosted-4x4", "--map", "scatter", str(source), "hang"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = [p.stdout.readline() for _ in range(8)]
    os.kill(clusters_of(p)[victim], signal.SIGKILL)
    rest = patience.communicate(p, 30)[0].splitlines()
    assert said == ["waiting\n"] * 8 and p.returncode == 1
    assert len(rest) == 1 and rest[0].startswith(f"atoll: cluster {victim} died (signal 9, "
                                                 f"Killed): ") and "use fewer ranks" in rest[0], rest
