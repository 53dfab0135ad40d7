# SPDX-License-Identifier: MIT
"""The library for process ranks under sanitizers: a part of the test list, with data fetched and
with data sent in chunks.

Builds build/address and build/thread. Arguments choose sanitizers; with --all, the whole test list,
each program both ways. A sanitizer sees one process: with --ranks, the whole test list by threads
of one process (ranks.c), clusters and all. Of that some programs are run always, under the thread
sanitizer.
"""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scenario  # noqa: E402
from scenario import ROOT, Wrong, call, install, must  # noqa: E402
import testlist  # noqa: E402

SANITIZERS = {"address": "address,undefined", "thread": "thread"}
REPORTS = ("Sanitizer", "runtime error:")
PROGRAMS = (("environment", 3), ("errors", 2), ("pt2pt_sizes", 2), ("pt2pt_sizes", 4),
            ("pt2pt_order", 5), ("pt2pt_posted", 3), ("straight", 4),
            ("isend_storm", 5), ("flood", 5), ("sendrecv_ring", 3), ("probe", 4), ("partitioned", 3),
            ("collectives", 5),
            ("coll_random", 3, "41", "3", "each"), ("barrier_many", 8), ("chunks", 3), ("started", 3, "2"),
            ("allocated", 3), ("threads", 2), ("threads_random", 2, "1"), ("threads_random", 3, "2", "40"),
            ("threads_woken", 2), ("threads_random", 3, "5", "40"),
            ("differ", 3, "1", "steps=25"), ("differ", 4, "2", "steps=25", "bytes=20000"))
# by threads of one process: program, ranks, ranks in each cluster, arguments
AS_THREADS = (("threads_random", 3, 3, "5"), ("threads_random", 6, 2, "6"), ("threads_random", 4, 1, "8"),
              ("threads_woken", 4, 1), ("started", 3, 3, "2"), ("differ", 6, 2, "3", "steps=25"))
CHUNKS = ("pt2pt_sizes", "isend_storm", "collectives", "differ")
# 64 and more ranks say nothing new, and their shadows fill the memory
RANKS_MOST = 16
# the whole list is run beside other work; four gigabytes are slow
WHOLE_PATIENCE_S = 600
CLUSTERS = 4
# programs whose ranks have a libc, or an environment, each
NOT_AS_THREADS = ("globals", "outside")


def make_command(name):
    """What builds for a sanitizer, and where."""
    return ["make", "-s", "-C", ROOT, "PORT=process", f"SAN={SANITIZERS[name]}",
            f"PYTHON={sys.executable}"], os.path.join(ROOT, "build", name, "process")


def build(name, programs):
    """Library, mpiexec and these programs; returns the folder."""
    make, out = make_command(name)
    subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
    install.install(os.path.join(out, "prefix"), out)
    targets = sorted({os.path.join(os.path.relpath(out, ROOT), "tests", p) for p in programs})
    subprocess.run(make + targets, check=True, stdout=subprocess.DEVNULL)
    return out


def whole_list():
    """Every line of the test list that process ranks run."""
    return [(e.program, e.ranks, *e.args, int(e.exit)) for e in testlist.read()
            if e.machine_on("process") and e.ranks <= RANKS_MOST and not e.coll]


def clean(argv, status, env):
    """A command that ends as it should, without a report."""
    # addresses that are not randomised: the thread sanitizer wants that
    done = call(["setarch", "-R", *argv], env=env)
    must(done, status, *(("No errors",) if status == 0 else ()))
    if any(r in done.out + done.err for r in REPORTS):
        raise Wrong(str(done))


def run_one(out, what, fetch):
    """One program without a report."""
    program, ranks, *args = what
    status = args.pop() if args and isinstance(args[-1], int) else 0
    argv = [os.path.join(out, "prefix", "bin", "mpiexec"), "-n", str(ranks), os.path.join(out, "tests", program), *args]
    clean(argv, status, {"ATOLL_MPI_FETCH": "yes" if fetch else "no"})


def attempt(title, *args):
    """Run something, print a line of the test protocol; 1 if it failed."""
    begun = time.monotonic()
    try:
        args[0](*args[1:])
        print(f"ok {title}", flush=True)
        return 0
    except Wrong as e:
        print(f"FAIL {title}: after {time.monotonic() - begun:.0f} s: {str(e)[:4000]}", flush=True)
        return 1


def titled(*words):
    """The name of a test."""
    return "_".join(str(w).replace("=", "_") for w in words if w is not None)


def check(name, everything):
    """Everything under one sanitizer; the number of failures."""
    runs = whole_list() if everything else PROGRAMS
    out, failed = build(name, (what[0] for what in runs)), 0
    for what in runs:
        for fetch in (True, False) if everything or what[0] in CHUNKS else (True,):
            failed += attempt(titled(name, *what) + ("" if fetch else "_in_chunks"), run_one, out, what, fetch)
    return failed + (check_as_threads(name) if name == "thread" and not everything else 0)


def build_ranks(name, programs=()):
    """What runs ranks as threads, and these programs, or all; returns the folder."""
    make, out = make_command(name)
    folder = os.path.join(out, "ranks")
    files = [os.path.join(os.path.relpath(folder, ROOT), n) for n in ["run", *sorted({p + ".so" for p in programs})]]
    subprocess.run(make + (files if programs else ["ranks"]), check=True, stdout=subprocess.DEVNULL)
    return folder


def run_as_threads(folder, what, status=0, env=None):
    """One program, without a report."""
    program, ranks, each, *args = what
    clean(
        [os.path.join(folder, "run"), str(ranks), str(each), os.path.join(folder, program + ".so"), *args], status, env
    )


def check_as_threads(name):
    """Some programs, ranks as threads of one process; the number of failures."""
    folder = build_ranks(name, [what[0] for what in AS_THREADS])
    return sum(attempt(titled(name, "ranks", *what), run_as_threads, folder, what) for what in AS_THREADS)


def check_threads(name):
    """The whole test list, ranks as threads of one process; the number of failures."""
    folder, failed = build_ranks(name), 0
    for e in testlist.read():
        if e.machine_on("hosted") is None or e.ranks > RANKS_MOST or e.program in NOT_AS_THREADS:
            continue
        several = e.machine != "default"
        each = 1 if e.policy == "scatter" and e.ranks <= 8 else -(-e.ranks // CLUSTERS) if several else e.ranks
        # what hangs from a rank's state is found in processes; here that goes with the thread
        env = {k: v for k, v in (("ATOLL_MPI_PATH", e.path), ("ATOLL_MPI_COLL", e.coll),
                                 ("ASAN_OPTIONS", "detect_leaks=0")) if v}
        failed += attempt(titled(name, "ranks", e.program, e.ranks, each, e.path, e.coll, *e.args),
                          run_as_threads, folder, (e.program, e.ranks, each, *e.args), int(e.exit), env)
    return failed


def main(argv):
    """Exit status 0 if nothing failed."""
    names = [a for a in argv if not a.startswith("--")] or list(SANITIZERS)
    if len(names) < len(argv):
        scenario.PATIENCE_S = WHOLE_PATIENCE_S
    if "--ranks" in argv:
        return 1 if sum(check_threads(n) for n in names) else 0
    return 1 if sum(check(n, "--all" in argv) for n in names) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
