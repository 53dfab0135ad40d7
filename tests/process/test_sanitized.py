# SPDX-License-Identifier: MIT
"""The library for process ranks under sanitizers: a part of the test list, with data fetched and with data sent in chunks.

Builds build/address and build/thread. Arguments choose sanitizers.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from scenario import ROOT, Wrong, call, install, must  # noqa: E402

SANITIZERS = {"address": "address,undefined", "thread": "thread"}
REPORTS = ("Sanitizer", "runtime error:")
PROGRAMS = (("environment", 3), ("errors", 2), ("pt2pt_sizes", 2), ("pt2pt_sizes", 4), ("pt2pt_order", 5), ("pt2pt_posted", 3), ("straight", 4),
            ("isend_storm", 5), ("flood", 5), ("sendrecv_ring", 3), ("probe", 4), ("collectives", 5), ("barrier_many", 8))
CHUNKS = ("pt2pt_sizes", "isend_storm", "collectives")


def build(name):
    """Library, mpiexec and programs; returns the folder."""
    folder = os.path.join(ROOT, "build", name)
    make = ["make", "-s", "-C", ROOT, "PORT=process", f"SAN={SANITIZERS[name]}", f"BUILD={folder}", f"PYTHON={sys.executable}"]
    subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
    out = os.path.join(folder, "process")
    install.install(os.path.join(out, "prefix"), out)
    subprocess.run(make + ["programs"], check=True, stdout=subprocess.DEVNULL)
    return out


def run_one(out, program, ranks, fetch):
    """One program without a report."""
    env = {"ATOLL_MPI_FETCH": "yes" if fetch else "no"}
    done = must(call(["setarch", "-R", os.path.join(out, "prefix", "bin", "mpiexec"), "-n", str(ranks), os.path.join(out, "tests", program)], env=env),
                0, "No errors")
    if any(r in done.out + done.err for r in REPORTS):
        raise Wrong(str(done))


def check(name):
    """Everything under one sanitizer; the number of failures."""
    out, failed = build(name), 0
    for program, ranks in PROGRAMS:
        for fetch in (True, False) if program in CHUNKS else (True,):
            title = f"{name}_{program}_{ranks}" + ("" if fetch else "_in_chunks")
            try:
                run_one(out, program, ranks, fetch)
                print(f"ok {title}", flush=True)
            except Wrong as e:
                failed += 1
                print(f"FAIL {title}: {str(e)[:4000]}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(1 if sum(check(n) for n in sys.argv[1:] or SANITIZERS) else 0)
