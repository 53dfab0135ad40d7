# SPDX-License-Identifier: MIT
"""The hosted port as a whole: how machines end, and that nothing is left behind. Needs the hosted
port built.

Each test starts build/hosted/atoll-host with the real kernel, the servers and
tests/hosted/hosted_rank.c.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import archive  # noqa: E402
import bootrec  # noqa: E402
import machine as machines  # noqa: E402
import patience  # noqa: E402

BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"), "hosted")
HOST = os.path.join(BUILD, "atoll-host")
PATIENCE_S = 60
ALLOWED = {"memcpy", "memset", "memmove", "memcmp", "clock_gettime", "__ehdr_start", "_GLOBAL_OFFSET_TABLE_"}


def shape(clusters, cores, megabytes=64):
    """A service cluster, then equal clusters of one kernel core and some application cores."""
    made = [machines.Cluster(["KC", "TC"], 64 << 20)]
    made += [machines.Cluster(["KC"] + ["AC"] * cores, megabytes << 20) for _ in range(clusters)]
    return machines.Machine("test", "test", ["hosted"],
                            machines.read_noc({"mailbox_ports": 128, "portal_ports": 128}), made)


def read(name):
    """Bytes of a built program."""
    with open(os.path.join(BUILD, name), "rb") as f:
        return f.read()


def write_files(folder, m, ranks, args, repeat=1):
    """Boot record and archive of a job of hosted_rank, or of another program named `:NAME` first;
    the launcher's command line.
    """
    program, args = (args[0][1:], args[1:]) if args[0][0] == ":" else ("hosted_rank", args)
    members = [(n, read(n)) for n in ("bin/name", "bin/proc", "bin/rmem")] + [("bin/rank", read("tests/" + program))]
    text = archive.job_text("bin/rank", ranks, "compact", args, [], m.places()) + archive.limits_text({}, repeat)
    members.append(("etc/job", text))
    image, offsets = archive.pack(members)
    layout = bootrec.Layout(m, "hosted", len(image))
    record = bootrec.write(m, "hosted", layout,
                           (dict(members)["bin/proc"], "bin/proc", offsets["bin/proc"]), bootrec.QUIET)
    for name, data in (("record", record), ("archive", image)):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
    return [HOST, "--record", os.path.join(folder, "record"), "--archive", os.path.join(folder, "archive")]


class Run:
    """A machine that was started; after end() its status and output."""

    def __init__(self, ranks, args, m=None, extra=(), repeat=1):
        with tempfile.TemporaryDirectory(prefix="atoll-hosted-") as folder:
            m = m or shape(1, 2)
            argv = write_files(folder, m, ranks, args, repeat) + list(extra)
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=subprocess.STDOUT)
            self.output = ""
            self._wait_for_clusters(len(m.clusters))

    def _wait_for_clusters(self, n):
        """Until all have started: then the files may go, since an archive that is mapped stays."""
        while self.process.poll() is None and len(children(self.process.pid)) < n:
            time.sleep(0.001)

    def wait_for(self, text, times=1):
        """Read output until `text` came so many times."""
        while self.output.count(text) < times:
            line = self.process.stdout.readline().decode(errors="replace")
            assert line, f"ended without '{text}': {self.output}"
            self.output += line

    def end(self, limit_s=PATIENCE_S):
        """Collect the rest."""
        self.output += patience.communicate(self.process, limit_s)[0].decode(errors="replace")
        self.status = self.process.returncode


def children(pid):
    """Child processes of a process, in the order of their start (cluster 0 first)."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(p) for p in f.read().split()]
    except OSError:
        return []


@contextlib.contextmanager
def running(ranks, args, **more):
    """A machine whose processes are known; afterwards none of them may be there, nor anything in
    /dev/shm.
    """
    shm = set(os.listdir("/dev/shm"))
    run = Run(ranks, args, **more)
    pids = [run.process.pid] + children(run.process.pid)
    run.clusters = pids[1:]
    try:
        yield run
    finally:
        if run.process.poll() is None:
            run.process.kill()
            run.process.communicate()
    assert gone(pids), f"left behind: {pids}"
    assert set(os.listdir("/dev/shm")) <= shm


def gone(pids):
    """Have all these processes ended? An orphan takes a moment to be reaped by whoever adopts it.
    """
    return patience.until(lambda: not any(alive(p) for p in pids), PATIENCE_S)


def alive(pid):
    """Does the process run (a zombie does not)?"""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def simple(ranks, args, **more):
    """Run a machine to its end."""
    with running(ranks, args, **more) as run:
        run.end()
    return run


def test_sixteen_ranks_have_private_data():
    run = simple(16, ["private"])
    assert run.status == 0 and "FAIL" not in run.output, run.output


def test_a_thousand_ranks_run_on_two_host_cpus():
    run = simple(1000, ["private"], m=shape(9, 2, 256))
    assert run.status == 0 and "FAIL" not in run.output, run.output


def test_hosts_without_the_thread_pointer_instruction_run_the_same():
    run = simple(16, ["private"], extra=["--no-fsgsbase"])
    assert run.status == 0 and "FAIL" not in run.output, run.output


def test_a_killed_cluster_ends_the_machine_with_a_message():
    for way in ("hang", "spin"):
        for victim in (0, 1, 2):
            with running(4, [way], m=shape(2, 2)) as run:
                run.wait_for("ready", 4)
                os.kill(run.clusters[victim], signal.SIGKILL)
                run.end()
            assert run.status == 1, run.output
            said = [line for line in run.output.splitlines() if "atoll:" in line]
            assert (
                len(said) == 1
                and f"atoll: cluster {victim} died (signal 9, Killed): if nobody killed it, the host" in said[0]
            ), run.output


def test_the_next_job_runs_where_a_cluster_was_killed():
    with running(4, ["hang"], m=shape(2, 2), repeat=3) as run:
        for turn in (1, 2):
            run.wait_for("ready", 4 * turn)
            os.kill(children(run.process.pid)[-1], signal.SIGKILL)
        run.wait_for("ready", 12)
        run.process.send_signal(signal.SIGTERM)
        run.end()
    assert run.status == 128 + signal.SIGTERM, run.output
    said = [line for line in run.output.splitlines() if "atoll:" in line]
    assert len(said) == 4 and "cluster 2 died" in said[0] and said[1].endswith("cluster 2 is started again"), run.output


def test_names_of_a_killed_cluster_are_gone_for_the_next_job():
    with running(4, ["named"], m=shape(2, 2), repeat=3) as run:
        for turn in (1, 2):
            run.wait_for("ready", 4 * turn)
            os.kill(children(run.process.pid)[-1], signal.SIGKILL)
        run.wait_for("ready", 12)
        run.process.send_signal(signal.SIGTERM)
        run.end()
    assert "FAIL" not in run.output, run.output


def test_a_cluster_that_was_started_again_has_its_servers_again():
    """All ranks keep something in the memory of all clusters, one of which is killed each time."""
    with running(4, ["far"], m=shape(2, 2), repeat=4) as run:
        for turn in (1, 2, 3):
            run.wait_for("ready", 4 * turn)
            os.kill(children(run.process.pid)[-1], signal.SIGKILL)
        run.wait_for("ready", 16)
        run.process.send_signal(signal.SIGTERM)
        run.end()
    assert "FAIL" not in run.output and run.output.count("cluster 2 is started again") == 3, run.output


def test_signals_to_the_launcher_end_everything():
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with running(2, ["spin"]) as run:
            run.wait_for("ready", 2)
            run.process.send_signal(sig)
            run.end()
        assert run.status == 128 + sig, run.output
        assert "died" not in run.output, run.output


def test_a_machine_says_what_its_cores_do_when_asked():
    with running(2, ["spin"]) as run:
        run.wait_for("ready", 2)
        run.process.send_signal(signal.SIGUSR1)
        run.wait_for("atoll: cluster", 5)
        run.process.send_signal(signal.SIGQUIT)
        run.end()
    assert run.status == 128 + signal.SIGQUIT, run.output
    for line in ("cluster 1 core 1 runs a user thread at", "cluster 1 core 2 runs a user thread at",
                 "cluster 0 core 0 waits"):
        assert run.output.count(line) == 2, run.output


def pins(pid):
    """Host CPUs to which a process has pinned threads of its own name (cores)."""
    out = []
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/status", encoding="utf-8") as f:
            allowed = re.search(r"Cpus_allowed_list:\s*(\S+)", f.read()).group(1)
        if allowed.isdecimal() and len(os.sched_getaffinity(0)) > 1:
            out.append(int(allowed))
    return out


def test_two_machines_never_pin_cores_to_the_same_cpu():
    with running(2, ["spin"]) as one, running(2, ["spin"]) as two:
        one.wait_for("ready", 2)
        two.wait_for("ready", 2)
        taken = pins(one.clusters[1]) + pins(two.clusters[1])
        assert len(taken) == len(set(taken)), taken


def test_clusters_do_not_survive_their_launcher():
    with running(2, ["spin"]) as run:
        run.wait_for("ready", 2)
        run.process.kill()
        run.end()


def test_a_crash_names_rank_cause_address_and_core():
    with running(2, ["fault", "1"]) as run:
        run.end()
    assert run.status == 128 + signal.SIGSEGV, run.output
    assert re.search(r"rank 1 crashed: .*0x1230.*write_wild.*cluster 1 core [12]", run.output), run.output


def test_a_raised_abort_is_a_crash_of_its_rank():
    with running(2, ["abort", "1"]) as run:
        run.end()
    assert run.status == 128 + signal.SIGABRT, run.output
    assert "rank 1" in run.output, run.output


def test_a_thread_that_the_program_made_cannot_call_the_kernel():
    run = simple(4, ["stranger"])
    assert run.status == 0, run.output


def test_a_fault_of_a_thread_that_the_program_made_is_reported():
    run = simple(1, ["badthread"])
    assert run.status != 0, run.output
    assert "in a thread that the program made" in run.output and "1230" in run.output, run.output


def test_ranks_start_programs_and_survive_what_fails_there():
    run = simple(6, [":children"])
    assert run.status == 0 and "FAIL" not in run.output, run.output


def test_a_rank_that_forks_gets_an_error_that_says_what_to_do():
    run = simple(3, [":children", "fork"])
    assert run.status == 0 and "FAIL" not in run.output, run.output
    for rank in range(3):
        assert run.output.count(f"rank {rank}: fork() fails") == 1, run.output
    assert "--ranks process" in run.output, run.output


def test_memcpy_copies_what_it_should_and_nothing_beside_it():
    run = simple(1, [":copies"])
    assert run.status == 0 and "FAIL" not in run.output, run.output


def test_a_host_without_room_for_mappings_refuses_calls_and_nothing_else():
    run = simple(1, [":mappings"])
    assert run.status == 0 and "FAIL" not in run.output and "ok mappings" in run.output, run.output


def test_a_program_that_ends_its_host_process_is_named():
    run = simple(1, ["group"])
    assert run.status != 0, run.output
    assert "cluster 1 died (a program ended its process with status 5)" in run.output, run.output


def objects(*folders):
    """Object files of the kernel's side."""
    for folder in folders:
        for path, _, names in os.walk(os.path.join(BUILD, "k", folder)):
            yield from (os.path.join(path, n) for n in names if n.endswith(".o"))


def symbols(path, option):
    """Names that nm prints with an option."""
    out = subprocess.run(["nm", "--format=posix", option, path], capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in out.splitlines() if line}


def test_nothing_that_runs_with_a_users_thread_pointer_uses_libc():
    paths = list(objects("kernel", "base", "gen", "hal"))
    ours = set().union(*(symbols(p, "--defined-only") for p in paths))
    at_start = ("hal/cpu/hosted/core.c.o", "hal/cpu/hosted/host.c.o")
    for path in paths:
        if "/hal/board/" in path or path.endswith(at_start):
            continue
        foreign = symbols(path, "--undefined-only") - ours - ALLOWED
        assert not foreign, f"{os.path.relpath(path, BUILD)} uses {', '.join(sorted(foreign))}"


def refused(argv, data=None):
    """Run the launcher on a bad command line or a bad record; it must say one line and exit with 2.
    """
    with tempfile.NamedTemporaryFile() as f:
        f.write(data or b"")
        f.flush()
        done = patience.run([HOST] + [f.name if a == "FILE" else a for a in argv],
                            capture_output=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 2, done
    return done.stderr.decode()


def test_bad_arguments_and_bad_records_are_refused():
    assert "usage:" in refused([])
    assert "usage:" in refused(["--record"])
    assert "usage:" in refused(["--record", "FILE", "more"])
    assert "No such file" in refused(["--record", "/nonexistent"])
    assert "not a boot record" in refused(["--record", "FILE"], b"short")
    good = bytearray(bootrec.write(shape(1, 2), "hosted", bootrec.Layout(shape(1, 2), "hosted", 0),
                                   None, bootrec.NO_INIT))
    assert "No such file" in refused(["--record", "FILE", "--archive", "/nonexistent"], bytes(good))
    for offset, value, text in ((0, 0, "not a boot record"), (4, 99, "another version"), (12, 0, "number of clusters"),
                                (12, 65, "number of clusters"), (24, 100, "NoC windows")):
        bad = bytearray(good)
        bad[offset:offset + 4] = value.to_bytes(4, "little")
        assert text in refused(["--record", "FILE"], bytes(bad)), text


def main(names, tests):
    """Run all tests among some names, or the ones asked for."""
    failed = 0
    for name, test in sorted(tests.items()):
        if not name.startswith("test_") or (names and name[5:] not in names):
            continue
        try:
            test()
            print(f"ok {name[5:]}", flush=True)
        except Exception:
            failed = 1
            print(f"FAIL {name[5:]}: {traceback.format_exc(limit=-2)}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], globals()))
