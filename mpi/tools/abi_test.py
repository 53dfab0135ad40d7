# SPDX-License-Identifier: MIT
"""Our mpi.h against the mpi_abi.h of MPICH 5 (Python package mpich), where that is installed.

Both headers are compiled into a program that prints every constant; the prototypes of our functions
are declared twice in one program, which the compiler refuses if they differ. ATOLL_MPI_ABI_H may
name the other header.
"""

import os
import re
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from mpitable import read_table  # noqa: E402

MPI = os.path.join(HERE, "..")


def other_header():
    """Path of mpi_abi.h, or None."""
    named = os.environ.get("ATOLL_MPI_ABI_H")
    candidates = [named] if named else [os.path.join(p, "include", "mpi_abi.h") for p in (sys.prefix, sys.base_prefix)]
    return next((p for p in candidates if os.path.exists(p)), None)


pytestmark = pytest.mark.skipif(other_header() is None, reason="the Python package mpich is not installed")


@pytest.fixture(name="generated")
def fixture_generated(tmp_path):
    """Folder with the generated headers."""
    tool = os.path.join(HERE, "mpigen.py")
    subprocess.run([sys.executable, tool, "--table", os.path.join(MPI, "functions.tbl"), "--out",
                    str(tmp_path)], check=True)
    return tmp_path / "include"


def read(path):
    """Text of a header without its comments."""
    with open(path, encoding="utf-8") as f:
        return re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)


def constants(text):
    """Names of the constants that a header defines."""
    names = re.findall(r"^#define\s+(MPI_\w+)\s+\S", text, re.M)
    for body in re.findall(r"enum[\w\s]*\{(.*?)\}", text, re.S):
        names += re.findall(r"(MPI_\w+)\s*=", body)
    return list(dict.fromkeys(names))


def run_c(tmp_path, name, source, flags):
    """Compile and run a program; its output."""
    path, exe = tmp_path / (name + ".c"), tmp_path / name
    path.write_text(source)
    subprocess.run(["cc", "-std=gnu11", "-w", *flags, "-o", str(exe), str(path)], check=True)
    return subprocess.run([str(exe)], capture_output=True, text=True, check=True).stdout.splitlines()


def printer(header, names):
    """A program that prints constants and the layout of a status."""
    lines = "".join(f'\tprintf("{n} %lld\\n", (long long)({n}));\n' for n in names)
    layout = "".join(f'\tprintf("{f} %zu\\n", offsetof(MPI_Status, {f}));\n'
                     for f in ("MPI_SOURCE", "MPI_TAG", "MPI_ERROR", "MPI_internal"))
    sizes = "".join(f'\tprintf("{t} %zu\\n", sizeof({t}));\n'
                    for t in ("MPI_Status", "MPI_Aint", "MPI_Offset", "MPI_Count"))
    return (
        f'#include <stddef.h>\n#include <stdio.h>\n#include "{header}"\nint'
        f' main(void)\n{{\n{lines}{layout}{sizes}\treturn 0;\n}}\n'
    )


def test_constants_and_layouts_are_those_of_the_standard_abi(tmp_path, generated):
    ours, theirs = os.path.join(MPI, "include", "mpi.h"), other_header()
    names = [n for n in constants(read(theirs)) if not re.match(r"MPI_(H_ABI|ABI_(Aint|Offset|Count))$", n)]
    assert len(names) > 350
    assert run_c(tmp_path, "ours", printer(ours, names),
                 [f"-I{generated}", f"-I{os.path.dirname(ours)}"]) == run_c(tmp_path, "theirs",
                                                                            printer(theirs, names), [])


def test_prototypes_are_those_of_the_standard_abi(tmp_path):
    with open(os.path.join(MPI, "functions.tbl"), encoding="utf-8") as f:
        rows = read_table(f.read())
    ours = [(row.result, row.symbol(wide), row.arguments(wide)) for row in rows
            for wide in row.widths if row.chapter != "earlier"]
    again = "".join(f"{result} {prefix}{name}({args});\n" for result, name,
                    args in ours for prefix in ("MPI_", "PMPI_"))
    run_c(tmp_path, "twice", f'#include "{other_header()}"\n{again}int main(void)\n{{\n\treturn 0;\n}}\n', [])
    declared = set(re.findall(r"^[\w ]+[ *](MPI_\w+)\(", read(other_header()), re.M))
    assert {"MPI_" + name for _, name, _ in ours} == declared
