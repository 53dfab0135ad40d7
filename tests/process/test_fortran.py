# SPDX-License-Identifier: MIT
"""Fortran: programs with mpif.h and with the module mpi, compiled by the installed mpifort; and
every routine is there.

Prints `ok NAME`, `FAIL NAME: why` or `skip NAME: why` for each test.
"""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from scenario import HERE, PREFIX, ROOT, WORK, call, mpiexec, must, must_be, run_all, tests_of  # noqa: E402

MPIFORT = os.path.join(PREFIX, "bin", "mpifort")
# functions for keys of datatypes: a profiler has nothing to see in them
TYPE_FUNCTIONS = {"mpi_type_null_copy_fn_", "mpi_type_dup_fn_", "mpi_type_null_delete_fn_"}
GENERATED = os.path.join(ROOT, "build", "gen", "fortran", "bind.c")


def compiled(name, *flags):
    """A program of tests/process/fortran, with every check that the compiler has."""
    out = os.path.join(WORK, name.replace(".", "-"))
    must(call([MPIFORT, "-g", "-O1", *flags, "-J", WORK, "-o", out, os.path.join(HERE, "fortran", name)]), 0)
    return out


def test_a_program_with_the_module_runs():
    path = compiled("everything.f90", "-Wall", "-fcheck=all", "-std=f2018")
    for ranks in (1, 2, 5):
        must_be(must(mpiexec("-n", str(ranks), path), 0).out, "No errors\n", f"output of {ranks} ranks")


def test_a_program_with_mpif_h_runs():
    path = compiled("earlier.f", "-Wno-argument-mismatch")
    for ranks in (1, 3):
        must_be(must(mpiexec("-n", str(ranks), path), 0).out, "No errors\n", f"output of {ranks} ranks")


def test_a_wrong_argument_is_the_compiler_s_error():
    source = os.path.join(WORK, "wrong.f90")
    with open(source, "w", encoding="utf-8") as f:
        f.write("program wrong\n  use mpi\n  integer :: ierror\n  call MPI_Barrier(1.5, ierror)\nend program\n")
    done = call([MPIFORT, "-c", "-o", os.devnull, source])
    must_be((done.status != 0, "Type mismatch in argument" in done.err), (True, True), str(done))


def test_every_routine_is_exported_with_its_profiling_twin():
    with open(GENERATED, encoding="utf-8") as f:
        names = set(re.findall(r"^(p?mpi_\w+_)\(", f.read(), re.M))
    symbols = must(call(["nm", "-D", "--defined-only", os.path.join(PREFIX, "lib", "libmpi_fortran.so.1")]), 0).out
    found = {line.split()[-1] for line in symbols.splitlines()}
    must_be(sorted(names - found), [], "routines that are missing")
    must_be(len(names) > 500, True, "number of routines")
    twins = {n for n in found if re.match(r"mpi_\w+_$", n) and not n.startswith("mpi_fortran_")} - TYPE_FUNCTIONS
    must_be(sorted(n for n in twins if "p" + n not in found), [], "routines without a twin")


def test_the_wrapper_shows_what_it_does():
    done = must(call([MPIFORT, "-show", "a.f90"]), 0, "gfortran", "-lmpi_fortran", "-lmpi_abi")
    must_be(done.out.count("\n"), 1, "lines")
    must(call([os.path.join(PREFIX, "bin", "mpif77"), "--version"]), 0, "GNU Fortran")


if __name__ == "__main__":
    sys.exit(run_all(tests_of(sys.modules["__main__"])))
