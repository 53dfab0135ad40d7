# SPDX-License-Identifier: MIT
"""The tests of MPICH's test suite, built in a folder, with the mpiexec that PATH finds. usage:
mpich_tests.py DIR [NAME...]

DIR is the suite's folder (test/mpi); what its `testlist` files of the chapters below name is run,
once for each number of ranks and arguments, with at most MOST ranks. The file mpich_tests.skips
says what is left out, and why. A program that does not end is a failure. NAME: only programs whose
path begins so. Prints what fails, and at the end the numbers; exit status 0 if nothing failed.
"""

import fnmatch
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CHAPTERS = ("attr", "coll", "comm", "datatype", "errhan", "errors/attr", "errors/coll",
            "errors/comm", "errors/datatype", "errors/group", "errors/pt2pt",
            "errors/topo", "group", "info", "init", "part", "pt2pt", "threads/comm", "threads/init",
            "threads/pt2pt", "topo")
MOST = 8
LIMIT_S = 120
PASSED = "No Errors"


def read_skips():
    """What is left out, as patterns: lines `PATH...: why`."""
    out = []
    with open(os.path.join(HERE, "mpich_tests.skips"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                out += line.partition(": ")[0].split()
    return out


def read_list(top, chapter):
    """(path, ranks, arguments, exit status that is wanted: 0 or "other") of each test of a chapter.
    """
    path, seen = os.path.join(top, chapter, "testlist"), {}
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if len(words) < 2 or not words[1].isdigit() or any(w.startswith("xfail=") for w in words):
                continue            # (xfail: MPICH itself is expected to fail)
            args = [w[len("arg="):] for w in words[2:] if w.startswith("arg=")]
            ranks = int(words[1]) if int(words[1]) <= MOST else MOST
            other = "resultTest=TestStatus" in words or "resultTest=TestErrFatal" in words
            seen[f"{chapter}/{words[0]}", ranks, tuple(args)] = "other" if other else 0
    return [(*key, wanted) for key, wanted in seen.items()]


def run(top, test):
    """Why a test failed, or None."""
    path, ranks, args, wanted = test
    folder = os.path.join(top, os.path.dirname(path))
    argv = ["mpiexec", "-n", str(ranks), "./" + os.path.basename(path), *args]
    try:
        p = subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=LIMIT_S)
    except subprocess.TimeoutExpired as e:
        return f"no end after {LIMIT_S} s: " + " | ".join((e.stdout or b"").decode(errors="replace").splitlines()[-3:])
    said = p.stdout.decode(errors="replace")
    last = " | ".join(said.splitlines()[:6])[:600]
    if wanted == "other":
        return None if p.returncode > 0 else f"exit status {p.returncode}, and not another: {last}"
    if p.returncode:
        return f"exit status {p.returncode}: {last}"
    return None if re.search(PASSED, said, re.I) else f"does not say {PASSED}: {last}"


def main(argv):
    if not argv:
        print(__doc__)
        return 2
    top, names, skips = argv[0], argv[1:], read_skips()
    count = {"passed": 0, "failed": 0, "left out": 0}
    for test in [t for chapter in CHAPTERS for t in read_list(top, chapter)]:
        if names and not test[0].startswith(tuple(names)):
            continue
        if not names and any(fnmatch.fnmatchcase(test[0], s) for s in skips):
            count["left out"] += 1
            continue
        why = run(top, test) if os.path.exists(os.path.join(top, test[0])) else "was not built"
        count["failed" if why else "passed"] += 1
        if why:
            print(f"failed {test[0]} {test[1]} {' '.join(test[2])}: {why}", flush=True)
    print(", ".join(f"{n} {what}" for what, n in count.items()))
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
