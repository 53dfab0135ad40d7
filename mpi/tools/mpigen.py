#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generate from mpi/functions.tbl what every binding of the MPI library repeats.

    include/mpi_functions.h         prototypes of MPI_X and PMPI_X
    include/mpi_twins_CHAPTER.h     the weak names MPI_X of the chapter's definitions PMPI_X
    mpi-status.md                   the functions that exist, by chapter
"""

import argparse
import os
import re
import sys

LINE = re.compile(r"(\w+)\s+(\w+)\s+(int|double)\s+\((.*)\)$")
HEAD = "/* SPDX-License-Identifier: MIT\n *\n * %s\n * Generated from mpi/functions.tbl: do not edit.\n */\n"


class TableError(Exception):
    """A line of the table that cannot be used; the message names it."""


def read_table(text):
    """Return [(chapter, name, result, arguments)], in the table's order."""
    rows, names = [], set()
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        match = LINE.match(line)
        if not match:
            raise TableError(f"line {number}: expected: chapter name result (arguments)")
        row = match.groups()
        if row[1] in names:
            raise TableError(f"line {number}: MPI_{row[1]} is there already")
        names.add(row[1])
        rows.append(row)
    return rows


def prototypes(rows):
    """Text of mpi_functions.h."""
    out = [HEAD % "Prototypes of the MPI functions and of their profiling twins."]
    out.append("#ifndef MPI_FUNCTIONS_H\n#define MPI_FUNCTIONS_H\n")
    for prefix in ("MPI_", "PMPI_"):
        out += [f"{result} {prefix}{name}({args});" for _, name, result, args in rows]
        out.append("")
    out.append("#endif\n")
    return "\n".join(out)


def twins(rows, chapter):
    """Text of mpi_twins_CHAPTER.h."""
    out = [HEAD % f"Weak names of the chapter '{chapter}': a program may define them itself and call the PMPI_ functions."]
    out += [f"#pragma weak MPI_{name} = PMPI_{name}" for c, name, _, _ in rows if c == chapter]
    return "\n".join(out) + "\n"


def status(rows):
    """Text of mpi-status.md."""
    out = ["# MPI functions", "", f"{len(rows)} functions, each with its PMPI twin.", ""]
    for chapter in dict.fromkeys(row[0] for row in rows):
        out += [f"## {chapter}", ""]
        out += [f"- `MPI_{name}`" for c, name, _, _ in rows if c == chapter]
        out.append("")
    return "\n".join(out)


def write(path, text):
    """Write a file unless it says so already (so that nothing is rebuilt for nothing)."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            if f.read() == text:
                return
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--table", default="mpi/functions.tbl")
    parser.add_argument("--out", required=True, help="folder of generated files (build/gen)")
    args = parser.parse_args()
    try:
        with open(args.table, encoding="utf-8") as f:
            rows = read_table(f.read())
    except (OSError, TableError) as error:
        print(f"{args.table}: {error}", file=sys.stderr)
        return 1
    write(f"{args.out}/include/mpi_functions.h", prototypes(rows))
    for chapter in dict.fromkeys(row[0] for row in rows):
        write(f"{args.out}/include/mpi_twins_{chapter}.h", twins(rows, chapter))
    write(f"{args.out}/mpi-status.md", status(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
