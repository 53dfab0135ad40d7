# SPDX-License-Identifier: MIT
"""mpi4py.futures on ranks that are there from the start (MPICommExecutor): many small tasks,
results in order, errors, large results.
"""

import sys

from mpi4py import MPI
from mpi4py.futures import MPICommExecutor

TASKS = 400


def collatz(n):
    steps = 0
    while n != 1:
        n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
    return steps


def block(n):
    return bytes([n % 256]) * (n * 10000)


def broken(n):
    raise KeyError(n)


def main():
    with MPICommExecutor(MPI.COMM_WORLD, root=0) as pool:
        if pool is None:
            return
        found = list(pool.map(collatz, range(1, TASKS), chunksize=7))
        assert found == [collatz(n) for n in range(1, TASKS)]
        waiting = {pool.submit(block, n): n for n in range(40)}
        assert all(f.result() == block(n) for f, n in waiting.items())
        try:
            pool.submit(broken, 3).result()
            sys.exit("no error came back")
        except KeyError as e:
            assert e.args == (3,)
        print("sum of steps", sum(found), "workers", pool.num_workers)


main()
