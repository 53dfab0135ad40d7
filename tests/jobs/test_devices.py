# SPDX-License-Identifier: MIT
"""Devices that processes drive, on QEMU: jobs get random bytes and what is typed. Needs riscv64 built.

Prints `ok NAME` or `FAIL NAME: why` for each scenario.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_jobs import BUILD, PATIENCE_S, ROOT, Wrong, expect, main, patience, ranks_say_ok, run  # noqa: E402

PROGRAM = os.path.join(BUILD, "riscv64", "tests", "devices")
JOBS = 12		# each leaves three channels open, and a cluster has room for 16
LINES = "".join(f"line {i} of many\n" for i in range(400)) + "end\n"


def console(how):
    """The command that runs the program with a console, whose server it may end."""
    return [os.path.join(ROOT, "atoll"), "run", "--port", "riscv64", "--device", "console", "--timeout",
            str(PATIENCE_S), "--end-servers", PROGRAM, how]


def typed(text, how="console"):
    """The program says again what comes from our standard input, up to a line `end`."""
    r = patience.run(console(how), input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                     timeout=PATIENCE_S + 60, check=False)
    expect((r.returncode, r.stdout.decode(errors="replace")), 0, text, "ok rank 0\n")


def who_waited_first_is_killed():
    """Something is typed when the program says so: those that wait behind one that was killed get it."""
    with subprocess.Popen(console("waits"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        said = b""
        for line in process.stdout:
            said += line
            if line == b"type\n":
                break
        rest, _ = process.communicate(b"some words\n", timeout=PATIENCE_S + 60)
    expect((process.returncode, (said + rest).decode(errors="replace")), 0, "ok rank 0\n")


def jobs_leave_channels():
    have = run("riscv64", 1, "devices", "leave", options=("--device", "random", "--repeat", str(JOBS)))
    ranks_say_ok(have, 1)
    if have[1].count("ok rank 0\n") != JOBS:
        raise Wrong(f"not {JOBS} jobs: {have[1]}")


def scenarios(_):
    random = ("--device", "random", "--map", "scatter")
    yield "random_bytes_differ", lambda: ranks_say_ok(run("riscv64", 4, "devices", "random", options=random), 4)
    yield "ranks_of_four_clusters_use_devices_at_once", lambda: ranks_say_ok(
        run("riscv64", 8, "devices", "random", options=(*random, "--device", "console")), 8)
    yield "nonsense_harms_nobody", lambda: ranks_say_ok(run("riscv64", 8, "devices", "nonsense", "random",
                                                            options=random), 8)
    yield "what_jobs_leave_open_is_closed", jobs_leave_channels
    yield "what_is_typed_is_read", lambda: typed("some words\nend\n")
    yield "no_byte_that_is_typed_is_lost", lambda: typed(LINES)
    yield "no_byte_that_is_typed_is_lost_with_a_server", lambda: typed(LINES, "typed")
    yield "who_waits_behind_one_that_is_killed_is_served", who_waited_first_is_killed
    yield "device_servers_that_are_killed_are_followed_by_others", lambda: expect(
        run("riscv64", 1, "devices", "lost", options=("--end-servers", "--device", "random", "--device", "console")),
        0, "ok rank 0", "said\n")
    for name, options in (("", ()), ("_beside_one_that_is", ("--device", "console"))):
        yield f"a_device_that_the_machine_was_not_given_is_refused{name}", \
            lambda o=options: ranks_say_ok(run("riscv64", 8, "devices", "absent", options=("--map", "scatter", *o)), 8)
    both = ("--device", "random", "--device", "console", "--map", "scatter")
    for seed, ranks, kills, *servers in ((1, 1, 60), (2, 1, 60, "servers"), (3, 1, 60, "servers"),
                                         (4, 4, 40, "servers")):
        yield f"devices_and_who_is_killed_at_any_time_{seed}", \
            lambda s=seed, n=ranks, k=kills, e=servers: expect(
                run("riscv64", n, "devices_killed", str(s), str(k), *e, options=(*both, "--end-servers")),
                0, *(f"ok rank {r}: devices and seed {s}" for r in range(n)))


if __name__ == "__main__":
    sys.exit(main(["riscv64"], scenarios))
