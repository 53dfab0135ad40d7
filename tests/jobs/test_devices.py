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
JOBS = 12		# each leaves three files open, and a device has room for 32


def typed(text):
    """The program says again what comes from our standard input, up to a line `end`."""
    argv = [os.path.join(ROOT, "atoll"), "run", "--port", "riscv64", "--device", "console", "--timeout",
            str(PATIENCE_S), PROGRAM, "console"]
    r = patience.run(argv, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                     timeout=PATIENCE_S + 60, check=False)
    expect((r.returncode, r.stdout.decode(errors="replace")), 0, text, "ok rank 0\n")


def jobs_leave_handles():
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
    yield "what_jobs_leave_open_is_closed", jobs_leave_handles
    yield "what_is_typed_is_read", lambda: typed("some words\nend\n")
    yield "no_byte_that_is_typed_is_lost", \
        lambda: typed("".join(f"line {i} of many\n" for i in range(400)) + "end\n")


if __name__ == "__main__":
    sys.exit(main(["riscv64"], scenarios))
