# SPDX-License-Identifier: MIT
"""Random programs against MPICH, a bounded number (differ.py goes on for ever). SEED=N tries one
seed.

Prints `ok NAME`, `FAIL NAME: why` or `skip NAME: why` for each test.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from differ import mpich, ours, threads, try_seed  # noqa: E402
from scenario import Wrong, run_all, tests_of  # noqa: E402

STEPS = 40
SEEDS = range(1, 8)
# MPICH 5.0.2 does not finish every program; it must have finished most of them
COMPARED_AT_LEAST = 0.9


def compare(libraries, ranks, seeds, args=()):
    """A number of seeds."""
    given = os.environ.get("SEED")
    compared = there = 0
    for seed in [int(given)] if given else seeds:
        n, of = try_seed(libraries, mpich(), ranks, seed, STEPS, args)
        compared, there = compared + n, there + of
    if not given and compared < COMPARED_AT_LEAST * there:
        raise Wrong(f"only {compared} of {there} sums could be compared")


def test_two_processes():
    compare(ours(), 2, SEEDS)


def test_three_processes():
    compare(ours(), 3, SEEDS)


def test_four_processes():
    compare(ours(), 4, SEEDS)


def test_threads_of_one_cluster():
    compare([threads()], 3, (101, 102))


def test_threads_of_several_clusters():
    compare([threads(machine="hosted-4x4")], 4, (103, 104))


def test_threads_of_riscv():
    compare([threads("riscv64", "riscv-4x4")], 3, (105,), ("bytes=8000",))


if __name__ == "__main__":
    sys.exit(run_all(tests_of(sys.modules["__main__"])))
