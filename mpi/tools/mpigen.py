#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generate from mpi/functions.tbl what every binding of the MPI library repeats.

    include/mpi_functions.h   prototypes of MPI_X and PMPI_X
    include/mpi_impl.h        struct args_X and impl_X, what mpi/api defines
    mpi/bind_CHAPTER.c        the bindings: MPI_X, PMPI_X and their large-count twins
    mpi/missing.c             the same of all functions that are not implemented: a file of its own,
                              so that programs can be linked without
    link/mpi_abi.c            the names of the implemented functions, for the library that programs
                              are linked with (ADR 0038)
    include/mpi_wrong.h       calls with a wrong argument each, for the test of what they return
    include/mpi_outside.h     a call of each function that needs an open library, for the test of
                              what it says without one
    mpi-status.md             which functions there are, by chapter; `make status` puts it into docs

A function is implemented if a file of mpi/api defines impl_X, or names it in FORMS; the others answer that they are not
supported.
"""

import argparse
import glob
import os
import re
import sys
import textwrap

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import mpibind  # noqa: E402
import mpiwrong  # noqa: E402
from mpifiles import write  # noqa: E402
from mpitable import TableError, read_table  # noqa: E402

HEAD = "/* SPDX-License-Identifier: MIT\n *\n * %s\n * Generated from mpi/functions.tbl: do not edit.\n */\n"
DEFINITION = re.compile(r"^impl_(\w+)\(", re.M)
FORMS = re.compile(r"^FORMS\((\w+), (\w+), ", re.M)   # of mpi/api/coll.c: also the first one with _init
DIRECT = re.compile(r"^direct_([A-Z]\w+)\(", re.M)


def implemented_in(folder):
    """Names of the functions that the C files of a folder define."""
    out = set()
    for path in sorted(glob.glob(os.path.join(folder, "*.c"))):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        out.update(DEFINITION.findall(text))
        for blocking, started in FORMS.findall(text):
            out.update((blocking, started, blocking + "_init"))
    return out


def direct_in(folder):
    """Names of the functions that have a fast path."""
    out = set()
    for path in sorted(glob.glob(os.path.join(folder, "direct*.h"))):
        with open(path, encoding="utf-8") as f:
            out.update(DIRECT.findall(f.read()))
    return out


def is_done(row, done):
    """Is a row implemented?"""
    return row.name in done or row.chapter == "convert"


def prototypes(rows):
    """Text of mpi_functions.h."""
    out = [HEAD % "Prototypes of the MPI functions and of their profiling twins."]
    out.append("#ifndef ATOLL_MPI_FUNCTIONS_H\n#define ATOLL_MPI_FUNCTIONS_H\n")
    for prefix in ("MPI_", "PMPI_"):
        out += [f"{row.result} {prefix}{row.symbol(wide)}({row.arguments(wide)});" for row in rows
                for wide in row.widths]
        out.append("")
    out.append("#endif\n")
    return "\n".join(out)


def implementations(rows):
    """Text of mpi_impl.h."""
    out = [HEAD % "What the bindings call: the arguments, checked and resolved, and the functions of mpi/api."]
    out.append("#ifndef MPI_IMPL_H\n#define MPI_IMPL_H\n\n#include <mpi/api/call.h>\n")
    out += [mpibind.structure(row) + mpibind.implementation(row) for row in rows if not mpibind.is_simple(row)]
    out += [mpibind.implementation(row) for row in rows if mpibind.is_simple(row) and row.chapter != "convert"]
    out.append("#endif\n")
    return "\n".join(out)


def bindings(rows, chapter, done, direct=()):
    """Text of bind_CHAPTER.c: what is implemented."""
    out = [HEAD % f"Bindings of the chapter '{chapter}'.",
           "#include <mpi_impl.h>\n#include <mpi/api/direct.h>\n#include <mpi/api/direct_coll.h>\n"]
    out += [mpibind.binding(row, wide, True, row.name in direct)
            for row in rows if row.chapter == chapter and is_done(row, done) for wide in row.widths]
    return "\n".join(out)


def missing(rows, done):
    """Text of missing.c: what is not implemented, of all chapters."""
    out = [HEAD % "Bindings that answer that they are not supported.", "#include <mpi_impl.h>\n"]
    out += [mpibind.binding(row, wide, False) for row in rows if not is_done(row, done) for wide in row.widths]
    return "\n".join(out)


def link_names(rows, done):
    """Text of link/mpi_abi.c: functions that do nothing, with the names of what is implemented."""
    out = [HEAD % "What a program can be linked with; never loaded: libmpi_abi.so.1 is, which has "
                  "the functions themselves."]
    for name in (row.symbol(wide) for row in rows if is_done(row, done) for wide in row.widths):
        out.append(f"void PMPI_{name}(void);\nvoid PMPI_{name}(void) {{}}\n"
                   f"void MPI_{name}(void) __attribute__((weak, alias(\"PMPI_{name}\")));")
    return "\n".join(out) + "\n"


def status(rows, done):
    """Text of mpi-status.md."""
    count = sum(len(r.widths) for r in rows)
    there = sum(len(r.widths) for r in rows if is_done(r, done))
    out = ["# MPI functions", "",
           "Made by `make status` from `mpi/functions.tbl` and from what `mpi/api` defines.", "",
           f"{there} of {count} functions are implemented, each with its PMPI twin. The others are not linked with "
           "programs; programs linked elsewhere find them and get `MPI_ERR_UNSUPPORTED_OPERATION`.",
           "", "| chapter | implemented | not yet |", "|---|---|---|"]
    for chapter in dict.fromkeys(row.chapter for row in rows):
        mine = [row for row in rows if row.chapter == chapter]
        here = sum(is_done(row, done) for row in mine)
        out.append(f"| {chapter} | {here} of {len(mine)} | {len(mine) - here or ''} |")
    out += ["", "Names with `_c` have a twin with large counts."]
    for chapter in dict.fromkeys(row.chapter for row in rows):
        mine = [row for row in rows if row.chapter == chapter]
        for words, some in (("implemented", [r for r in mine if is_done(r, done)]),
                            ("not yet", [r for r in mine if not is_done(r, done)])):
            if some:
                names = [f"`MPI_{r.name}`" + (" `_c`" if len(r.widths) > 1 else "") for r in some]
                out += ["", f"**{chapter}, {words}:** " + ", ".join(names)]
    lines = (line if line.startswith("|") else
             textwrap.fill(line, 100, break_on_hyphens=False, break_long_words=False) for line in out)
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--table", default="mpi/functions.tbl")
    parser.add_argument("--api", default="mpi/api", help="folder of the implementations")
    parser.add_argument("--out", required=True, help="folder of generated files (build/gen)")
    args = parser.parse_args()
    try:
        with open(args.table, encoding="utf-8") as f:
            rows = read_table(f.read())
    except (OSError, TableError) as error:
        print(f"{args.table}: {error}", file=sys.stderr)
        return 1
    done = implemented_in(args.api)
    direct = direct_in(args.api)
    unknown = (done | direct) - {row.name for row in rows}
    if unknown:
        print(f"{args.api}: impl_{sorted(unknown)[0]}: there is no such function in {args.table}", file=sys.stderr)
        return 1
    write(f"{args.out}/include/mpi_functions.h", prototypes(rows))
    write(f"{args.out}/include/mpi_impl.h", implementations(rows))
    write(f"{args.out}/include/mpi_wrong.h",
          HEAD % "Calls with one wrong argument each." + mpiwrong.table(rows, lambda row: is_done(row, done)))
    write(f"{args.out}/include/mpi_outside.h", HEAD % "Calls that need an open library." + mpiwrong.outside(rows))
    for chapter in dict.fromkeys(row.chapter for row in rows):
        write(f"{args.out}/mpi/bind_{chapter}.c", bindings(rows, chapter, done, direct))
    write(f"{args.out}/mpi/missing.c", missing(rows, done))
    write(f"{args.out}/link/mpi_abi.c", link_names(rows, done))
    write(f"{args.out}/mpi-status.md", status(rows, done))
    return 0


if __name__ == "__main__":
    sys.exit(main())
