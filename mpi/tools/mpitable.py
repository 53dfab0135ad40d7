# SPDX-License-Identifier: MIT
"""The table of MPI functions (mpi/functions.tbl): rows, parameters, and what a parameter is.

A row with a polymorphic word stands for two functions, one with counts of type int and one, called
X_c, with MPI_Count.
"""

import re

LINE = re.compile(r"(\w+)\s+(\*?)(\w+)\s+(\w+)\s+\((.*)\)$")
PARAMETER = re.compile(r"(.*?)(\w+)((?:\[\d*\])*)$")

# word -> (narrow, wide)
WORDS = {
    "COUNT": ("int", "MPI_Count"), "DISPL": ("int", "MPI_Aint"), "EXTENT": ("MPI_Aint", "MPI_Count"),
    "USER_FUNCTION": ("MPI_User_function", "MPI_User_function_c"),
    "CONVERSION_FUNCTION": ("MPI_Datarep_conversion_function", "MPI_Datarep_conversion_function_c"),
}
WORD = re.compile(r"\b(" + "|".join(WORDS) + r")\b")
RESULTS = ("int", "double", "MPI_Aint", "MPI_Comm", "MPI_Errhandler", "MPI_File", "MPI_Group",
           "MPI_Info", "MPI_Message", "MPI_Op", "MPI_Request",
           "MPI_Session", "MPI_Datatype", "MPI_Win")


class TableError(Exception):
    """A line of the table that cannot be used; the message names it."""


class Parameter:
    """One parameter of a row."""

    def __init__(self, text):
        match = PARAMETER.match(text)
        if text != "..." and not match:
            raise TableError(f"'{text}' is no parameter")
        kind, self.name, self.array = match.groups() if match else ("...", "...", "")
        self.type = kind.strip()
        found = WORD.search(self.type)
        self.word = found.group(1) if found else None

    def declare(self, wide):
        """As in a prototype."""
        if self.name == "...":
            return "..."
        kind = WORD.sub(lambda m: WORDS[m.group(1)][wide], self.type)
        return f"{kind}{'' if kind.endswith('*') else ' '}{self.name}{self.array}"

    @property
    def whole(self):
        """Type with the array's brackets, without the name: what it is."""
        return self.type + self.array


class Row:
    """One line of the table."""

    def __init__(self, groups):
        self.chapter, star, self.name, self.result, arguments = groups
        self.any_time = star == "*"
        self.parameters = [] if arguments == "void" else [Parameter(p.strip()) for p in arguments.split(",")]
        self.widths = (False, True) if any(p.word for p in self.parameters) else (False,)

    def symbol(self, wide):
        """Name without the prefix MPI_."""
        return self.name + ("_c" if wide else "")

    def arguments(self, wide):
        """Text between the parentheses of a prototype."""
        return ", ".join(p.declare(wide) for p in self.parameters) or "void"

    def find(self, name):
        """The parameter of a name, or None."""
        return next((p for p in self.parameters if p.name == name), None)


def read_table(text):
    """The rows, in the table's order."""
    rows, names = [], set()
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        match = LINE.match(line)
        if not match or match.group(4) not in RESULTS:
            raise TableError(f"line {number}: expected: chapter name result (arguments)")
        try:
            row = Row(match.groups())
        except TableError as error:
            raise TableError(f"line {number}: {error}") from None
        for wide in row.widths:
            if row.symbol(wide) in names:
                raise TableError(f"line {number}: MPI_{row.symbol(wide)} is there already")
            names.add(row.symbol(wide))
        rows.append(row)
    return rows
