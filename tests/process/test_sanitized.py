# SPDX-License-Identifier: MIT
"""The library for process ranks under sanitizers: a part of the test list, with data fetched and with data sent in chunks.

Builds build/address and build/thread. Arguments choose sanitizers; with --all, the whole test list, each program both ways.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from scenario import ROOT, Wrong, call, install, must  # noqa: E402
import testlist  # noqa: E402

SANITIZERS = {"address": "address,undefined", "thread": "thread"}
REPORTS = ("Sanitizer", "runtime error:")
PROGRAMS = (("environment", 3), ("errors", 2), ("pt2pt_sizes", 2), ("pt2pt_sizes", 4), ("pt2pt_order", 5), ("pt2pt_posted", 3), ("straight", 4),
            ("isend_storm", 5), ("flood", 5), ("sendrecv_ring", 3), ("probe", 4), ("collectives", 5), ("coll_random", 3, "41", "3", "each"), ("barrier_many", 8), ("chunks", 3),
            ("differ", 3, "1", "steps=25"), ("differ", 4, "2", "steps=25", "bytes=20000"))
CHUNKS = ("pt2pt_sizes", "isend_storm", "collectives", "differ")
# 64 and more ranks say nothing new, and their shadows fill the memory
RANKS_MOST = 16


def build(name):
    """Library, mpiexec and programs; returns the folder."""
    folder = os.path.join(ROOT, "build", name)
    make = ["make", "-s", "-C", ROOT, "PORT=process", f"SAN={SANITIZERS[name]}", f"PYTHON={sys.executable}"]
    subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
    out = os.path.join(folder, "process")
    install.install(os.path.join(out, "prefix"), out)
    subprocess.run(make + ["programs"], check=True, stdout=subprocess.DEVNULL)
    return out


def whole_list():
    """Every line of the test list that process ranks run."""
    return [(e.program, e.ranks, *e.args, int(e.exit)) for e in testlist.read() if e.machine_on("process") and e.ranks <= RANKS_MOST and not e.coll]


def run_one(out, what, fetch):
    """One program without a report."""
    program, ranks, *args = what
    status = args.pop() if args and isinstance(args[-1], int) else 0
    env = {"ATOLL_MPI_FETCH": "yes" if fetch else "no"}
    done = call(["setarch", "-R", os.path.join(out, "prefix", "bin", "mpiexec"), "-n", str(ranks), os.path.join(out, "tests", program), *args], env=env)
    must(done, status, *(("No errors",) if status == 0 else ()))
    if any(r in done.out + done.err for r in REPORTS):
        raise Wrong(str(done))


def check(name, everything):
    """Everything under one sanitizer; the number of failures."""
    out, failed = build(name), 0
    for what in whole_list() if everything else PROGRAMS:
        for fetch in (True, False) if everything or what[0] in CHUNKS else (True,):
            title = "_".join([name] + [str(w).replace("=", "_") for w in what]) + ("" if fetch else "_in_chunks")
            try:
                run_one(out, what, fetch)
                print(f"ok {title}", flush=True)
            except Wrong as e:
                failed += 1
                print(f"FAIL {title}: {str(e)[:4000]}", flush=True)
    return failed


def main(argv):
    """Exit status 0 if nothing failed."""
    names = [a for a in argv if a != "--all"]
    return 1 if sum(check(n, "--all" in argv) for n in names or SANITIZERS) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
