# SPDX-License-Identifier: MIT
"""The generator of calls with wrong arguments."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import mpiwrong  # noqa: E402
from mpitable import read_table  # noqa: E402

SEND = "pt2pt Send int (const void *buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)\n"
FREE = "group Group_free int (MPI_Group *group)\n"
WIN = "window Win_fence int (int assert, MPI_Win win)\n"


def cases(text, implemented=True, wide=False):
    """{what is wrong: class} of the only row."""
    (row,) = read_table(text)
    return {what: name for what, _, name in mpiwrong.calls(row, wide, implemented)}


def test_each_argument_is_wrong_once_in_each_way():
    found = cases(SEND)
    assert found["count = -1"] == "COUNT" and found["dest = -17"] == "RANK" and found["tag = -17"] == "TAG"
    assert found["comm = MPI_COMM_NULL"] == found["comm = w.stale_comm"] == "COMM"
    assert found["datatype = MPI_DATATYPE_NULL"] == "TYPE" and found["buf = (const void *)NULL"] == "BUFFER"


def test_all_other_arguments_are_right():
    (row,) = read_table(SEND)
    for what, values, _ in mpiwrong.calls(row, False, True):
        name, value = what.split(" = ", 1)
        right = [mpiwrong.right(row, p, i, False) for i, p in enumerate(row.parameters)]
        assert [p.name for p, v, r in zip(row.parameters, values, right) if v != r] == [name] and value in values


def test_what_is_not_implemented_says_so_but_knows_its_communicator():
    found = cases(SEND, implemented=False)
    assert (
        found["all right"] == "UNSUPPORTED_OPERATION"
        and found["comm = MPI_COMM_NULL"] == "COMM"
        and "count = -1" not in found
    )


def test_handles_by_address_are_wrong_as_addresses_and_as_handles():
    found = cases(FREE)
    assert found["group = (MPI_Group *)NULL"] == "ARG" and found["group = &(MPI_Group){w.stale_group}"] == "GROUP"


def test_without_a_right_handle_only_the_handle_is_tried():
    assert set(cases(WIN).values()) == {"WIN"}


def test_both_widths_are_in_the_table():
    text = mpiwrong.table(read_table(SEND), lambda row: True)
    assert "MPI_Send(" in text and "MPI_Send_c(" in text and '"MPI_Send_c", "count = -1", MPI_ERR_COUNT' in text


def test_functions_that_need_no_open_library_are_not_called_outside():
    text = mpiwrong.outside(read_table(SEND + "info *Info_create int (MPI_Info *info)\n"
                                              "env *Wtime double (void)\nenv Finalize int (void)\n"))
    assert "MPI_Send(0, 0, 0, 0, 0, 0)" in text and "MPI_Send_c(0, 0, 0, 0, 0, 0)" in text and "MPI_Finalize()" in text
    assert "Info_create" not in text and "Wtime" not in text
