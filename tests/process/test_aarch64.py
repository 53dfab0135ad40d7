# SPDX-License-Identifier: MIT
"""The library for process ranks on aarch64: built by a cross compiler, each rank a Linux process
under an emulator, started by our mpiexec.

Prints `ok NAME`, `FAIL NAME: why` or `skip NAME: why` for each test.
"""

import functools
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from scenario import PREFIX, ROOT, WORK, call, mpiexec, must, must_be, run_all, tests_of  # noqa: E402
import setup  # noqa: E402

TESTS = os.path.join(ROOT, "tests", "mpi")
LIB = os.path.join(ROOT, "build", "aarch64", "process", "lib")
SYSTEM = "/usr/aarch64-linux-gnu"
# what the processor or the emulator could break: order of stores, atomics, alignment, signed
# characters, shared memory, copies from process to process
PROGRAMS = [("environment", 1), ("pt2pt_sizes", 2), ("pt2pt_posted", 3), ("overtaken", 4),
            ("modes", 3), ("probe", 3), ("flood", 3), ("straight", 5),
            ("collectives", 5), ("comms", 7), ("intercomms", 5), ("partitioned", 2),
            ("topologies", 6), ("types_sent", 2), ("types_pairs", 2),
            ("attributes", 2), ("errhandlers", 2), ("sessions", 3), ("threads", 3), ("wrong", 2)]


def build(name):
    """A program of tests/mpi for aarch64."""
    out = os.path.join(WORK, f"aarch64.{name}")
    source = os.path.join(TESTS, name + ".c")
    with open(source, encoding="utf-8") as f:
        helpers = [os.path.join(TESTS, h + ".c") for h in re.findall(r'#include "(\w+)\.h"', f.read())]
    sources = [source] + [h for h in helpers if os.path.exists(h)]
    flags = ["-O1", "-D_GNU_SOURCE", f"-I{PREFIX}/include", f"-I{ROOT}/build/gen/include"]
    must(call([*setup.aarch64_compiler(), *flags, "-o", out, *sources, f"-L{LIB}", "-lmpi_abi", "-lm", "-pthread"]), 0)
    return out


def run(name, ranks):
    """It must end well under the emulator."""
    emulator = ["qemu-aarch64", "-L", SYSTEM, "-E", f"LD_LIBRARY_PATH={LIB}"]
    must(mpiexec("-n", str(ranks), *emulator, build(name)), 0, "No errors")


def test_exports_are_the_functions_of_the_standard():
    with open(os.path.join(PREFIX, "include", "mpi.h"), encoding="utf-8") as f:
        declared = set(re.findall(r"\b(P?MPI_\w+)\(", f.read()))
    table = must(call(["readelf", "-W", "--dyn-syms", os.path.join(LIB, "libmpi_abi.so.1")]), 0).out
    # value, size, FUNC, binding, DEFAULT, section, name
    have = {w[7] for w in map(str.split, table.splitlines()) if len(w) == 8 and w[3] == "FUNC"
            and w[5] == "DEFAULT" and w[6] != "UND"}
    must_be(len(have & declared), 1344, "functions of the standard")
    must_be({n for n in have if re.match("P?MPI_", n)} - declared, set(), "others")


if __name__ == "__main__":
    runs = [(f"test_{name}_{ranks}", functools.partial(run, name, ranks)) for name, ranks in PROGRAMS]
    sys.exit(run_all(tests_of(sys.modules["__main__"]) + runs))
