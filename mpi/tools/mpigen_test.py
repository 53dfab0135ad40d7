# SPDX-License-Identifier: MIT
"""The generator of the MPI bindings: what it refuses and what it writes."""

import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import mpigen  # noqa: E402

TABLE = os.path.join(HERE, "..", "functions.tbl")


def test_a_row_gives_chapter_name_result_and_arguments():
    assert mpigen.read_table("# words\n\nenv Wtime double (void)\n") == [("env", "Wtime", "double", "void")]


@pytest.mark.parametrize("line", ["env Init", "env Init int void", "env Init long (void)", "Init int (void)"])
def test_a_line_that_is_no_row_is_refused(line):
    with pytest.raises(mpigen.TableError):
        mpigen.read_table(line)


def test_a_function_stands_in_the_table_once():
    with pytest.raises(mpigen.TableError, match="line 2"):
        mpigen.read_table("env Init int (void)\ncoll Init int (void)\n")


def test_every_function_has_a_prototype_and_a_profiling_twin():
    rows = mpigen.read_table("env Wtime double (void)\n")
    text = mpigen.prototypes(rows)
    assert "double MPI_Wtime(void);" in text and "double PMPI_Wtime(void);" in text
    assert "#pragma weak MPI_Wtime = PMPI_Wtime" in mpigen.twins(rows, "env")
    assert "pragma" not in mpigen.twins(rows, "coll")


def test_each_chapter_of_the_table_is_a_file_that_defines_all_its_functions():
    with open(TABLE, encoding="utf-8") as f:
        rows = mpigen.read_table(f.read())
    for chapter in {row[0] for row in rows}:
        with open(os.path.join(HERE, "..", "api", chapter + ".c"), encoding="utf-8") as f:
            text = f.read()
        for _, name, _, _ in (row for row in rows if row[0] == chapter):
            assert f"\nPMPI_{name}(" in text, f"api/{chapter}.c does not define PMPI_{name}"


def test_what_does_not_change_is_not_written_again(tmp_path):
    argv = [sys.executable, os.path.join(HERE, "mpigen.py"), "--table", TABLE, "--out", str(tmp_path)]
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
