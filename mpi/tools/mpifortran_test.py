# SPDX-License-Identifier: MIT
"""The generator of the Fortran binding."""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import mpifortran  # noqa: E402
import mpigen  # noqa: E402
from mpitable import read_table  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def row(line):
    """The row of one line of the table."""
    return read_table(line)[0]


def test_values_and_handles_are_taken_from_their_addresses():
    text = mpifortran.routine(row("pt2pt Send int (const void *buf, COUNT count, MPI_Datatype "
                                  "datatype, int dest, MPI_Comm comm)"), "MPI")
    assert (
        "mpi_send_(const void *buf, const int *count, const int *datatype, const int *dest, const int *comm, int"
        " *ierror)"
        in text
    )
    assert "MPI_Send(fortran_buffer(buf), *count, MPI_Type_fromint(*datatype), *dest, MPI_Comm_fromint(*comm))" in text


def test_a_new_handle_does_not_read_what_was_there():
    new = mpifortran.routine(row("comm Comm_dup int (MPI_Comm comm, MPI_Comm *newcomm)"), "PMPI")
    assert "MPI_Comm newcomm_c = MPI_COMM_NULL;" in new and "pmpi_comm_dup_(" in new and "PMPI_Comm_dup(" in new
    freed = mpifortran.routine(row("comm Comm_free int (MPI_Comm *comm)"), "MPI")
    assert "MPI_Comm comm_c = MPI_Comm_fromint(*comm);" in freed


def test_texts_have_their_lengths_last():
    text = mpifortran.routine(row("comm Comm_set_name int (MPI_Comm comm, const char *comm_name)"), "MPI")
    assert "(const int *comm, const char *comm_name, int *ierror, size_t comm_name_len)" in text
    assert "free(comm_name_c);" in text


def test_constants_are_those_of_c_but_for_lengths_of_texts():
    with open(os.path.join(ROOT, "mpi", "include", "mpi.h"), encoding="utf-8") as f:
        found = mpifortran.constants(f.read())
    assert found["MPI_COMM_WORLD"] == 0x101 and found["MPI_ANY_SOURCE"] == -1 and found["MPI_UNDEFINED"] == -32766
    assert found["MPI_MAX_ERROR_STRING"] == 511 and found["MPI_LONG_LONG_INT"] == found["MPI_LONG_LONG"]
    assert not [n for n in found if n.startswith("MPI_T_")]


def test_lines_of_the_header_fit_both_source_forms():
    with open(os.path.join(ROOT, "mpi", "include", "mpi.h"), encoding="utf-8") as f:
        text = mpifortran.header(mpifortran.constants(f.read()))
    assert max(map(len, text.splitlines())) <= 72
    assert all(line.startswith(("      ", "!")) for line in text.splitlines())


def test_what_is_written_by_hand_is_there_and_nothing_else():
    text = ""
    folder = os.path.join(ROOT, "mpi", "fortran")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            text += f.read()
    found = set(re.findall(r"FORTRAN_(?:ROUTINE\(|FUNCTION\(\w+, )(\w+)", text))
    with open(os.path.join(ROOT, "mpi", "functions.tbl"), encoding="utf-8") as f:
        rows = mpifortran.rows_of(read_table(f.read()), mpigen.implemented_in(os.path.join(ROOT, "mpi", "api")))
    assert {n.lower() for n in mpifortran.BY_HAND} <= found
    assert not {r.name.lower() for r in rows if r.name not in mpifortran.BY_HAND} & found
