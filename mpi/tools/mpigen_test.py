# SPDX-License-Identifier: MIT
"""The generator of the MPI bindings: what it refuses and what it writes."""

import os
import re
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import mpibind  # noqa: E402
import mpigen  # noqa: E402
from mpitable import TableError, read_table  # noqa: E402

MPI = os.path.join(HERE, "..")
TABLE = os.path.join(MPI, "functions.tbl")
SEND = "pt2pt Send int (const void *buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)\n"


def row_of(text):
    """The only row of a table."""
    return read_table(text)[0]


def whole_table():
    """The rows of the real table."""
    with open(TABLE, encoding="utf-8") as f:
        return read_table(f.read())


def test_a_row_gives_chapter_name_result_and_parameters():
    row = row_of("# words\n\nenv *Wtime double (void)\n")
    assert (row.chapter, row.name, row.result, row.parameters, row.any_time) == ("env", "Wtime", "double", [], True)


@pytest.mark.parametrize("line", ["env Init", "env Init int void", "env Init long (void)",
                                  "Init int (void)", "env Init int (int *)"])
def test_a_line_that_is_no_row_is_refused(line):
    with pytest.raises(TableError):
        read_table(line)


@pytest.mark.parametrize("first, second",
                         [("Init int (void)", "Init int (void)"), ("X int (COUNT n)", "X_c int (int n)")])
def test_a_function_stands_in_the_table_once(first, second):
    with pytest.raises(TableError, match="line 2"):
        read_table(f"env {first}\ncoll {second}\n")


def test_every_function_has_a_prototype_and_a_profiling_twin():
    rows = read_table("env Wtime double (void)\n" + SEND)
    text = mpigen.prototypes(rows)
    assert "double MPI_Wtime(void);" in text and "double PMPI_Wtime(void);" in text
    assert (
        "int MPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);"
        in text
    )
    assert "ALSO_AS_MPI(Wtime);" in mpigen.bindings(rows, "env", {"Wtime"})
    assert "Wtime" not in mpigen.bindings(rows, "coll", {"Wtime"})


def test_a_function_with_a_fast_path_tries_it_first():
    text = mpigen.bindings(read_table(SEND), "pt2pt", {"Send"}, {"Send"})
    given = "Send(buf, count, datatype, dest, tag, comm)"
    for call in (given, given.replace("Send", "Send_c")):
        assert (
            f"if (!direct_alone())\n\t\treturn shared_{call};\n\treturn direct_{given} ? MPI_SUCCESS : ordinary_{call};"
            in text
        )
    assert text.count(f"\tmpi_rank_lock_shortly(self, &self->lock);\n\tdone = "
                      f"direct_{given};\n\tmpi_rank_unlock_shortly(self, &self->lock);") == 2
    assert "ordinary_Send_c(const void *buf, MPI_Count count" in text and "ALSO_AS_MPI(Send_c);" in text
    assert "direct_Send" not in mpigen.bindings(read_table(SEND), "pt2pt", {"Send"})


def test_a_message_is_checked_in_the_order_communicator_values_buffer():
    assert mpibind.checks(row_of(SEND)) == [
        "call_comm(&call, comm, &a.comm)", "call_committed(&call, datatype, &a.datatype)",
        "call_count(count)", "call_dest(a.comm, dest)",
        "call_send_tag(tag)", "call_buffer(buf, count, a.datatype)"]


def test_a_receive_may_be_from_anybody_with_any_tag():
    text = (
        "pt2pt Recv int (void *buf, COUNT count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status"
        " *status)"
    )
    found = mpibind.checks(row_of(text))
    assert (
        "call_source(a.comm, source)" in found
        and "call_recv_tag(tag)" in found
        and not [c for c in found if "status" in c]
    )


def test_buffers_of_collectives_are_left_to_the_implementation():
    row = row_of("coll Bcast int (void *buffer, COUNT count, MPI_Datatype datatype, int root, MPI_Comm comm)")
    assert mpibind.checks(row) == ["call_comm(&call, comm, &a.comm)", "call_root(a.comm, root)"]
    assert "MPI_Datatype datatype;" in mpibind.structure(row) and "struct comm *comm;" in mpibind.structure(row)


def test_outputs_are_narrowed_and_counts_in_arrays_keep_their_width():
    row = row_of("x Y int (const COUNT counts[], COUNT *size, EXTENT *extent)")
    narrow, wide = mpibind.binding(row, False, True), mpibind.binding(row, True, True)
    assert "*size = narrow_int(size_wide);" in narrow and "*extent = narrow_aint(extent_wide);" in narrow
    assert "narrow" not in wide and "a.counts = NUMBERS(counts);" in wide and "call.large = true;" in wide


def test_what_is_not_implemented_says_so_through_the_error_handler():
    text = mpibind.binding(row_of(SEND), False, False)
    assert (
        "err = MPI_ERR_UNSUPPORTED_OPERATION;" in text
        and "call_comm(&call, comm, &a.comm)" in text
        and "impl_" not in text
    )


def test_what_is_not_implemented_stands_apart_and_has_no_name_to_link_with():
    rows = read_table("env Wtime double (void)\n" + SEND)
    for done, here, apart in (({"Wtime"}, ["Wtime"], ["Send", "Send_c"]),
                              ({"Wtime", "Send"}, ["Wtime", "Send", "Send_c"], [])):
        bound = "".join(mpigen.bindings(rows, chapter, done) for chapter in ("env", "pt2pt"))
        assert re.findall(r"ALSO_AS_MPI\((\w+)\)", bound) == here
        assert re.findall(r"ALSO_AS_MPI\((\w+)\)", mpigen.missing(rows, done)) == apart
        names = re.findall(r"void (P?MPI_\w+)\(void\)(?: \{\}| __attr)", mpigen.link_names(rows, done))
        assert names == [prefix + name for name in here for prefix in ("PMPI_", "MPI_")]


def test_the_table_has_all_functions_of_the_standard():
    rows = [row for row in whole_table() if row.chapter != "earlier"]
    assert sum(len(row.widths) for row in rows) == 662
    assert sum(1 for row in rows if row.widths == (False, True)) == 157		# and the two whose twins have other parameters


def test_what_is_defined_is_in_the_table():
    assert mpigen.implemented_in(os.path.join(MPI, "api")) <= {row.name for row in whole_table()}


def test_a_definition_without_a_row_is_refused(tmp_path):
    (tmp_path / "x.c").write_text("int\nimpl_Nonsense(struct call *call)\n")
    argv = [sys.executable, os.path.join(HERE, "mpigen.py"), "--table", TABLE, "--api",
            str(tmp_path), "--out", str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "impl_Nonsense" in done.stderr and done.stderr.count("\n") == 1


def test_what_does_not_change_is_not_written_again(tmp_path):
    argv = [sys.executable, os.path.join(HERE, "mpigen.py"), "--table", TABLE, "--api",
            os.path.join(MPI, "api"), "--out", str(tmp_path)]
    subprocess.run(argv, check=True)
    path = tmp_path / "include" / "mpi_functions.h"
    before = path.stat().st_mtime_ns
    subprocess.run(argv, check=True)
    assert path.stat().st_mtime_ns == before


def test_a_table_with_a_fault_ends_with_one_line(tmp_path):
    bad = tmp_path / "bad.tbl"
    bad.write_text("env Init\n")
    argv = [sys.executable, os.path.join(HERE, "mpigen.py"), "--table", str(bad), "--out", str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1


def test_the_status_page_is_that_of_the_library():
    with open(os.path.join(MPI, "..", "docs", "mpi-status.md"), encoding="utf-8") as f:
        assert f.read() == mpigen.status(whole_table(),
                                         mpigen.implemented_in(os.path.join(MPI, "api"))), "make status writes it anew"
