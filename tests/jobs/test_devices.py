# SPDX-License-Identifier: MIT
"""Devices that processes drive, on QEMU: jobs read files of the host, write some, get random bytes
and what is typed. Needs riscv64 built.

Prints `ok NAME` or `FAIL NAME: why` for each scenario.
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_jobs import BUILD, PATIENCE_S, ROOT, Wrong, expect, main, patience, ranks_say_ok, run  # noqa: E402

PROGRAM = os.path.join(BUILD, "riscv64", "tests", "devices")
BYTES = 70001
WRITTEN = 5000		# by each rank
JOBS = 12		# each leaves three files open, and a device has room for 32


def content(n):
    """What the program expects, and writes."""
    return bytes((i * 31 + i // 251) & 255 for i in range(n))


def files(ranks, *more, first=(), last=(), options=(), jobs=1):
    """Host and ranks read what the other wrote, on one cluster and across."""
    with tempfile.TemporaryDirectory(prefix="atoll-devices-") as folder:
        for name in ("given", "made"):
            os.mkdir(os.path.join(folder, name))
        with open(os.path.join(folder, "given", "data"), "wb") as f:
            f.write(content(BYTES))
        devices = [f"--device={d}" for d in (f"files={folder}", *more)]
        have = run("riscv64", ranks, "devices", *first, "files", str(BYTES), *more, *last,
                   options=("--map", "scatter", *devices, *options))
        ranks_say_ok(have, ranks)
        if have[1].count("ok rank 0\n") != jobs:
            raise Wrong(f"not {jobs} jobs: {have[1]}")
        made = os.listdir(os.path.join(folder, "made"))
        if sorted(made) != sorted(f"by-{r}.{j}" for r in range(ranks) for j in range(1, jobs + 1)):
            raise Wrong(f"the ranks made {made}")
        for name in made:
            with open(os.path.join(folder, "made", name), "rb") as f:
                if f.read() != content(WRITTEN):
                    raise Wrong(f"{name} holds something else")


def typed(text):
    """The program says again what comes from our standard input, up to a line `end`."""
    argv = [os.path.join(ROOT, "atoll"), "run", "--port", "riscv64", "--device", "console", "--timeout",
            str(PATIENCE_S), PROGRAM, "console"]
    r = patience.run(argv, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                     timeout=PATIENCE_S + 60, check=False)
    expect((r.returncode, r.stdout.decode(errors="replace")), 0, text, "ok rank 0\n")


def no_folder():
    status, said = run("riscv64", 1, "devices", options=("--device", "files=/nowhere/at/all"))
    if status == 0 or "no such folder" not in said:
        raise Wrong(f"status {status}: {said}")


def scenarios(_):
    yield "a_rank_and_the_host_read_what_the_other_wrote", lambda: files(1)
    yield "ranks_of_four_clusters_use_devices_at_once", lambda: files(8, "random")
    yield "random_bytes_differ", lambda: ranks_say_ok(
        run("riscv64", 4, "devices", "random", options=("--device", "random", "--map", "scatter")), 4)
    yield "nonsense_harms_nobody", lambda: files(8, first=("nonsense",))
    yield "what_jobs_leave_open_is_closed", \
        lambda: files(1, last=("leave",), options=("--repeat", str(JOBS)), jobs=JOBS)
    yield "what_is_typed_is_read", lambda: typed("some words\nend\n")
    yield "no_byte_that_is_typed_is_lost", \
        lambda: typed("".join(f"line {i} of many\n" for i in range(400)) + "end\n")
    yield "a_folder_that_is_not_there_is_refused", no_folder


if __name__ == "__main__":
    sys.exit(main(["riscv64"], scenarios))
