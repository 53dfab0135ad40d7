# SPDX-License-Identifier: MIT
"""Ranks of one time-sharing core on the hosted port, stopped wherever they are
(tests/hosted/ticked.c, waits.c). Needs the hosted port built.

The machines' clocks run fast, so that a thread's turn takes some microseconds.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import test_hosted as hosted  # noqa: E402
import machine as machines  # noqa: E402

SWITCHES = int(os.environ.get("SWITCHES", "100000"))


def shape(clusters=1):
    """Clusters with one core for servers and ranks."""
    made = [machines.Cluster(["KC", "TC"], 64 << 20) for _ in range(clusters)]
    return machines.Machine("test", "test", ["hosted"],
                            machines.read_noc({"mailbox_ports": 128, "portal_ports": 128}), made)


def program(ranks, args, rate=1, m=None, limit_s=hosted.PATIENCE_S, extra=()):
    """Run a program (its name first) to its end on a machine whose clock runs `rate` times as fast
    as the host's.
    """
    extra = ["--clock-rate", str(rate), *extra]
    with hosted.running(ranks, [":" + args[0], *args[1:]], m=m or shape(), extra=extra) as run:
        run.end(limit_s)
    for line in re.findall("^# .*", run.output, re.M):
        print(line)
    return run


def well(run):
    """It ended well."""
    assert run.status == 0 and "FAIL" not in run.output, run.output


def test_many_switches_in_malloc_stdio_and_vectors():
    run = program(4, ["ticked", "hold", str(SWITCHES)], 1000, limit_s=300)
    well(run)
    assert int(re.search(r"# (\d+) ticks", run.output).group(1)) >= SWITCHES, run.output


def test_many_switches_beside_threads_of_the_program():
    well(program(3, ["ticked", "hold", str(SWITCHES // 10), "threads"], 1000, limit_s=300))


def test_many_switches_without_the_thread_pointer_instruction():
    well(program(3, ["ticked", "hold", str(SWITCHES // 10)], 1000, limit_s=300, extra=["--no-fsgsbase"]))


def test_waits_in_linux_end_at_their_time_and_not_by_a_tick():
    well(program(2, ["waits", "ticks"], 100))


def test_waits_in_linux_end_at_their_time_in_a_storm_of_doorbells():
    well(program(2, ["waits", "storm"], m=hosted.shape(1, 2)))


def test_a_rank_that_waits_in_linux_leaves_its_core_to_others():
    well(program(2, ["waits", "pipe"], 100))


def test_ranks_that_compute_for_ever_keep_no_server_from_working():
    for way in ("plain", "vectors"):
        run = program(4, ["ticked", "keep", way], m=shape(2))
        assert run.status == 7, run.output


def test_cores_that_run_one_thread_have_no_timer():
    with hosted.running(2, ["spin"], m=hosted.shape(1, 3)) as run:
        run.wait_for("ready", 2)
        timed = [core for p in run.clusters for core in cores_with_timers(p)]
    assert set(timed) <= {"atoll 0.1", "atoll 1.3"}, timed


def cores_with_timers(pid):
    """Names of the threads of a process to which the timers that Linux has for it belong."""
    with open(f"/proc/{pid}/timers", encoding="ascii") as f:
        for tid in re.findall(r"^notify: signal/tid\.(\d+)$", f.read(), re.M):
            with open(f"/proc/{pid}/task/{tid}/comm", encoding="ascii") as comm:
                yield comm.read().strip()


if __name__ == "__main__":
    sys.exit(hosted.main(sys.argv[1:], globals()))
