#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generate from the files of mpi/coll and from mpi/coll/table.tbl which algorithms of collectives
there are and which is used when.

    include/mpi_coll_algorithms.h   the declarations of all algorithms
    include/mpi_coll_table.h   lists of algorithms, and for each collective and mapping the rows of the table
    include/mpi_coll_names.h   the names of all algorithms, for tests

A file defines an algorithm if it says `const struct algorithm mpi_algorithm_COLLECTIVE_NAME`, or one
of each collective if it says that in a macro, of `##name##`; its cost is in a comment between it and
the one before, or the head of the file says that of all.
Algorithms whose definitions follow one another have one cost. Rows of the table:

    collective mapping ranks bytes blocking started      up to so many ranks and bytes (-: any
                                                         number); see the table's own head
"""

import argparse
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from mpifiles import write  # noqa: E402

FOLDER = "mpi/coll"
KINDS = ("barrier", "bcast", "gather", "scatter", "allgather", "alltoall", "reduce", "allreduce",
         "reduce_scatter", "scan", "exscan")
# blocking calls whose blocks differ, of which not all ranks know the sizes; the algorithms are
# those of the collective
UNEVEN = {"gatherv": "gather", "scatterv": "scatter", "allgatherv": "allgather", "alltoallv": "alltoall"}
ROWS = KINDS + tuple(UNEVEN)
MAPPINGS = ("cluster", "clusters", "spread", "process")
ANY = "-"
EACH = ("alltoall", "reduce_scatter")
SLOTS_BYTES, SLOT_MIN, SLOT_MAX = 131072, 64, 4096  # of mpi/coll/locality.c
DEFINITION = re.compile(r"^\t?const struct algorithm mpi_algorithm_(##name##_)?(\w+)", re.M)
MEETS = re.compile(r"\.run = ")
FITS = re.compile(r"\.fits = ")
COST = re.compile(r"^ \* Cost: (.*?)\n \*(?:/|\n)", re.M | re.S)
HEAD = (
    "/* SPDX-License-Identifier: MIT\n *\n * Algorithms of collectives, and where they are used.\n * Generated from"
    " mpi/coll: do not edit.\n */\n"
)


class TableError(Exception):
    """A table or a name that cannot be used."""


class Algorithm:
    """One algorithm of one collective."""

    def __init__(self, kind, name, body, cost):
        self.kind, self.name, self.cost = kind, name, cost
        self.meets = bool(MEETS.search(body))
        self.general = not self.meets and not FITS.search(body)


class Row:
    """A row of the table: bounds are numbers, or None."""

    def __init__(self, kind, mapping, ranks, size, blocking, started):
        self.kind, self.mapping, self.ranks, self.bytes, self.blocking, self.started = (
            kind, mapping, ranks, size, blocking, started
        )


def split_name(word):
    """(collective, algorithm) of a name such as reduce_scatter_pairwise."""
    for kind in sorted(KINDS, key=len, reverse=True):
        if word.startswith(kind + "_"):
            return kind, word[len(kind) + 1:]
    raise TableError(f"mpi_algorithm_{word}: no collective is called so")


def _cost_in(text):
    """The last cost that a text says, or None."""
    said = COST.findall(text)
    return " ".join(said[-1].replace("\n *", " ").split()) if said else None


def algorithms_of(path, text):
    """All algorithms that a C file defines."""
    head, rest = text.split("*/", 1)
    of_all, cost, last, out = _cost_in(head + "*/"), None, 0, []
    for m in DEFINITION.finditer(rest):
        between = rest[last:m.start()]
        if between.strip() or cost is None:
            cost = _cost_in(between) or of_all
        if cost is None:
            raise TableError(f"{path}: says no cost of {m.group(2)}")
        last = rest.index(";", m.end()) + 1
        found = [(kind, m.group(2)) for kind in KINDS] if m.group(1) else [split_name(m.group(2))]
        out += [Algorithm(*words, rest[m.end():last], cost) for words in found]
    return out


def algorithms_in(folder):
    """All algorithms that the C files of a folder define, by collective, then by name."""
    out = []
    for path in glob.glob(os.path.join(folder, "*.c")):
        with open(path, encoding="utf-8") as f:
            out += algorithms_of(path, f.read())
    return sorted(out, key=lambda a: (KINDS.index(a.kind), a.name))


def read_rows(text):
    """The rows of a table."""
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        if len(words) != 6 or words[0] not in ROWS or words[1] not in MAPPINGS or not all(w == ANY
                                                                                          or w.isdecimal()
                                                                                          for w in words[2:4]):
            raise TableError(f"line {number}: expected: collective mapping ranks bytes blocking started")
        rows.append(Row(words[0], words[1], *[None if w == ANY else int(w) for w in words[2:4]], *words[4:]))
    return rows


def _ascends(rows):
    """Do the bounds of some rows go up, bytes within ranks, each to 'any'?"""
    largest = float("inf")
    last = (0, 0)
    for r in rows:
        now = (r.ranks if r.ranks is not None else largest, r.bytes if r.bytes is not None else largest)
        if now <= last or (now[0] > last[0] > 0 and last[1] != largest):
            return False
        last = now
    return last == (largest, largest)


def central_most(kind, ranks):
    """Bytes of a block that central barriers take of up to so many ranks (None: any number), where a
    rank's slot holds a block for each; None: their bound is no matter of ranks.
    """
    if kind not in EACH:
        return None
    slot = SLOT_MAX
    while ranks is not None and slot > SLOT_MIN and slot * ranks > SLOTS_BYTES:
        slot //= 2
    return slot // ranks if ranks is not None else 0


def check(rows, algorithms):
    """Refuse names that are not there, gaps and disorder."""
    known = {(a.kind, a.name): a for a in algorithms}
    known.update({(kind, a.name): a for kind, of in UNEVEN.items() for a in algorithms if a.kind == of})
    for r in rows:
        for name in (r.blocking, r.started):
            if (r.kind, name) not in known:
                raise TableError(f"{r.kind} {r.mapping}: there is no algorithm '{name}'")
        if known[r.kind, r.started].meets:
            raise TableError(f"{r.kind} {r.mapping}: '{r.started}' is for blocking calls only")
        most = central_most(r.kind, r.ranks)
        if r.blocking == "central" and most is not None and (r.bytes is None or r.bytes > most):
            raise TableError(f"{r.kind} {r.mapping} {r.ranks or ANY}: central takes blocks of {most} bytes at most")
        if r.kind in UNEVEN and r.bytes is not None:
            raise TableError(f"{r.kind} {r.mapping}: not all ranks know how many bytes there are")
    for kind in ROWS:
        for mapping in MAPPINGS:
            if not _ascends([r for r in rows if (r.kind, r.mapping) == (kind, mapping)]):
                raise TableError(f"{kind} {mapping}: bounds must go up, bytes within ranks, and end with '{ANY} {ANY}'")


def declarations(algorithms):
    """Text of mpi_coll_algorithms.h."""
    lines = "".join(f"extern const struct algorithm mpi_algorithm_{a.kind}_{a.name};\n" for a in algorithms)
    return HEAD + "#ifndef MPI_COLL_ALGORITHMS_H\n#define MPI_COLL_ALGORITHMS_H\n\n" + lines + "\n#endif\n"


def header(rows, algorithms):
    """Text of mpi_coll_table.h."""
    out = [HEAD, "#ifndef MPI_COLL_TABLE_H\n#define MPI_COLL_TABLE_H\n\n#include <mpi/coll/algorithm.h>\n"]
    out.append("static const char *const coll_kind_names[] = {" +
               ", ".join(f'[COLL_{k.upper()}] = "{k}"' for k in KINDS) + "};\n")
    for kind in KINDS:
        mine = [a.name for a in algorithms if a.kind == kind]
        out.append(f"static const struct algorithm *const algorithms_{kind}[] = {{")
        out += [f"\t&mpi_algorithm_{kind}_{name}," for name in mine]
        # one text, not an address for each: every rank has addresses of its own
        out.append("};\nstatic const char algorithm_names_" + kind + "[] =\n\t" +
                   " ".join(f'"{name}\\0"' for name in mine) + ";")
    out.append("\nstatic const struct algorithm *const *const coll_algorithms[] = {")
    out += [f"\t[COLL_{k.upper()}] = algorithms_{k}," for k in KINDS]
    out.append("};\n\n/* Their names in the same order, each with its NUL; an empty one ends them. "
               "*/\nstatic const char *const coll_algorithm_names[] = {")
    out += [f"\t[COLL_{k.upper()}] = algorithm_names_{k}," for k in KINDS]
    out.append("};\n\nstruct choice {\n\tint ranks;\t\t\t/* up to so many */\n\tuint64_t bytes;\n"
               "\tuint8_t blocking;\t\t/* numbers in the list of the collective's algorithms: no "
               "addresses, so that ranks share the table */\n"
               "\tuint8_t started;\n};\n")
    out.append("enum mapping { " + ", ".join(f"MAPPING_{m.upper()}" for m in MAPPINGS) + ", MAPPINGS };\n")
    out.append("static const struct choice coll_rows[] = {")
    first, at = {}, 0
    for kind in ROWS:
        number = {name: i for i, name in enumerate(a.name for a in algorithms if a.kind == UNEVEN.get(kind, kind))}
        for mapping in MAPPINGS:
            mine = [r for r in rows if (r.kind, r.mapping) == (kind, mapping)]
            first[kind, mapping], at = at, at + len(mine)
            out.append(f"\t/* {kind}, {mapping} */")
            out += [f"\t{{{'INT32_MAX' if r.ranks is None else r.ranks}, "
                    f"{'UINT64_MAX' if r.bytes is None else r.bytes}, "
                    f"{number[r.blocking]}, {number[r.started]}}},"
                    for r in mine]
    # numbers of rows, no addresses: every rank has addresses of its own
    out.append("};\n\nstatic const uint16_t coll_choices[][MAPPINGS] = {")
    out += [f"\t[COLL_{k.upper()}] = {{" + ", ".join(f"[MAPPING_{m.upper()}] = {first[k, m]}"
                                                     for m in MAPPINGS) + "}," for k in KINDS]
    out.append("};\n\nstatic const uint16_t coll_uneven[][MAPPINGS] = {")
    out += [f"\t[COLL_{of.upper()}] = {{" + ", ".join(f"[MAPPING_{m.upper()}] = {first[k, m]}"
                                                      for m in MAPPINGS) + "}," for k, of in UNEVEN.items()]
    out.append("};\n\n#endif\n")
    return "\n".join(out)


def names(algorithms):
    """Text of mpi_coll_names.h."""
    words = "".join(f'\t"{a.kind}={a.name}",\n' for a in algorithms)
    return HEAD + "\nstatic const char *const coll_names[] = {\n" + words + "};\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--folder", default=FOLDER)
    parser.add_argument("--out", required=True, help="folder of generated files (build/gen)")
    args = parser.parse_args()
    table = os.path.join(args.folder, "table.tbl")
    try:
        algorithms = algorithms_in(args.folder)
        with open(table, encoding="utf-8") as f:
            rows = read_rows(f.read())
        check(rows, algorithms)
    except (OSError, TableError) as error:
        print(f"{table}: {error}", file=sys.stderr)
        return 1
    write(f"{args.out}/include/mpi_coll_algorithms.h", declarations(algorithms))
    write(f"{args.out}/include/mpi_coll_table.h", header(rows, algorithms))
    write(f"{args.out}/include/mpi_coll_names.h", names(algorithms))
    return 0


if __name__ == "__main__":
    sys.exit(main())
