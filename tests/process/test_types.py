# SPDX-License-Identifier: MIT
"""Datatypes against MPICH: one program nests types at random, prints what the library says of them
and sums of what it packs, sends and converts; the same binary runs on both libraries. A seed is
printed with each difference. SEED=N tries one seed.

Prints `ok NAME`, `FAIL NAME: why` or `skip NAME: why` for each test.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from scenario import PREFIX, ROOT, WORK, Skip, Wrong, call, must, run_all, tests_of  # noqa: E402

LIB = os.path.join(PREFIX, "lib")
VENV_LIB = os.path.join(ROOT, ".venv", "lib")
TESTS = os.path.join(ROOT, "tests", "mpi")
TYPES = 150
# MPICH 5.0.2 itself ends with a signal on some types (external32 of nested structures): as many
# lines must have been compared in all
LINES_AT_LEAST = 1200


def mpich_folder():
    """Where MPICH's library is."""
    for folder, _, names in os.walk(VENV_LIB):
        if "libmpi_abi.so.1" in names:
            return folder
    raise Skip("the Python package mpich is not installed")


def build():
    """The program, linked with our library; either one can run it."""
    out = os.path.join(WORK, "types_random")
    sources = [os.path.join(TESTS, name) for name in ("types_random.c", "check.c")]
    if not os.path.exists(out):
        must(call([os.path.join(PREFIX, "bin", "mpicc"), "-O2", "-Wall", "-Wextra", "-Werror", "-o", out, *sources]), 0)
    return out


def lines_of(folder, seed):
    """Status, and what is printed before the last line."""
    done = call([build(), "--seed", str(seed), "--types", str(TYPES), "--print"], env={"LD_LIBRARY_PATH": folder})
    return done, [x for x in done.out.splitlines() if x.startswith("size ")]


def compare(seed):
    """Number of lines that both have; a difference is an error."""
    done, ours = lines_of(LIB, seed)
    must(done, 0, "No errors")
    other, theirs = lines_of(mpich_folder(), seed)
    if other.status == 0 and len(ours) != len(theirs):
        raise Wrong(f"seed {seed}: {len(ours)} types instead of {len(theirs)}")
    for number, (a, b) in enumerate(zip(ours, theirs), 1):
        if a != b and not (other.status != 0 and number == len(theirs)):
            raise Wrong(f"seed {seed}, type {number}:\n  ours   {a}\n  theirs {b}")
    return min(len(ours), len(theirs))


def test_random_types_are_the_same_to_mpich():
    given = os.environ.get("SEED")
    seeds = [int(given)] if given else range(1, 25)
    lines = sum(compare(seed) for seed in seeds)
    if not given and lines < LINES_AT_LEAST:
        raise Wrong(f"only {lines} types were compared")


if __name__ == "__main__":
    sys.exit(run_all(tests_of(sys.modules[__name__])))
