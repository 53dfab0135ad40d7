# SPDX-License-Identifier: MIT
"""Long messages of process ranks to ranks that compute: what one rank does outside of MPI stops
nobody who is inside.

Prints `ok NAME`, `FAIL NAME: why` or `skip NAME: why` for each scenario.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from scenario import WORK, mpiexec, must, must_be, program, run_all, tests_of  # noqa: E402


def pulled(ranks, how, *options):
    """Run tests/process/pulled.c in one way; every rank comes to its end."""
    file = os.path.join(WORK, f"computed-{how}-{'-'.join(options)}")
    done = must(mpiexec("-n", str(ranks), "--timeout", "30", *options, program("pulled.c"), how, file), 0)
    must_be(sorted(done.out.splitlines()), [f"rank {r} is done" for r in range(ranks)], "output")


def test_a_receiver_that_computes_does_not_stop_the_sender_s_other_receivers():
    pulled(3, "line", "-x", "ATOLL_MPI_FETCH=no")


def test_a_receiver_that_will_compute_takes_the_data_at_once():
    pulled(2, "early")


if __name__ == "__main__":
    sys.exit(run_all(tests_of(sys.modules["__main__"])))
