#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generate the Fortran binding of process ranks from mpi/functions.tbl and mpi.h.

    fortran/bind.c    the routines that a Fortran compiler calls (mpi_send_, pmpi_send_, ...)
    fortran/mpif.h    the constants, for fixed and free source form
    fortran/mpi.f90   the module mpi: the same constants, and an interface for every routine

Only implemented functions get a routine, so that a configure script which links finds what there
is. What a rule cannot say is written by hand in mpi/fortran: see BY_HAND.
"""

import argparse
import re
import sys
import os

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import mpigen  # noqa: E402
from mpifiles import write  # noqa: E402
from mpitable import TableError, read_table  # noqa: E402

# C's handle type -> (word in its conversion functions, null handle)
HANDLES = {
    "MPI_Comm": ("Comm", "MPI_COMM_NULL"), "MPI_Group": ("Group", "MPI_GROUP_NULL"),
    "MPI_Datatype": ("Type", "MPI_DATATYPE_NULL"), "MPI_Op": ("Op", "MPI_OP_NULL"),
    "MPI_Request": ("Request", "MPI_REQUEST_NULL"), "MPI_Info": ("Info", "MPI_INFO_NULL"),
    "MPI_Errhandler": ("Errhandler", "MPI_ERRHANDLER_NULL"),
    "MPI_Message": ("Message", "MPI_MESSAGE_NULL"),
    "MPI_Session": ("Session", "MPI_SESSION_NULL"),
}
# routines of mpi/fortran: callbacks, indices that begin at 1, attributes, addresses of memory
BY_HAND = {
    "Init", "Init_thread", "Pcontrol", "Wtime", "Wtick", "Aint_add", "Aint_diff", "Buffer_detach",
    "Op_create", "Comm_create_errhandler", "Session_create_errhandler", "Grequest_start",
    "Comm_create_keyval", "Type_create_keyval", "Comm_get_attr", "Comm_set_attr", "Type_get_attr",
    "Type_set_attr", "Waitany", "Testany", "Waitsome", "Testsome", "Request_get_status_any",
    "Request_get_status_some", "Type_get_contents", "Info_get_string", "Session_get_nth_pset",
    "Info_create_env",
}
# no routine: C's own business, or superseded before Fortran had it
LEFT_OUT = {"Abi_get_fortran_booleans", "Abi_get_fortran_info", "Abi_set_fortran_booleans",
            "Abi_set_fortran_info", "Keyval_create", "Attr_get", "Attr_put"}
# chapters without routines: C's own, those of which only a few functions are there, and
# earlier ones, which are by hand
NO_CHAPTERS = ("convert", "tool", "window", "file", "spawn", "earlier")
# functions whose handles come in and go out
CHANGED = re.compile(r"_free$|^Comm_disconnect$|^Wait$|^Test$|^Start$|^Cancel$|^Type_commit$"
                     r"|^Session_finalize$|^Buffer_iflush$")
CHANGED_MESSAGES = {"Mrecv", "Imrecv"}
# the length of an array of handles
LENGTHS = {"array_of_requests": ("count", "incount"), "array_of_types": ("count",)}


def is_narrow(row):
    """Is a row one whose counts are default integers? The others have no routine."""
    return not row.name.endswith("_c")


def rows_of(rows, done):
    """The rows that have a routine, generated or by hand."""
    return [r for r in rows if mpigen.is_done(r, done) and r.chapter not in NO_CHAPTERS
            and is_narrow(r) and r.name not in LEFT_OUT]


class Argument:
    """How one parameter of a C function is made from what Fortran passes."""

    def __init__(self, row, p):
        self.row, self.p = row, p
        self.kind = p.declare(False)[:-len(p.name + p.array)].strip() if p.name != "..." else "..."
        self.const = self.kind.startswith("const ")
        self.base = self.kind.removeprefix("const ").rstrip("* ").strip()
        self.pointer = self.kind.endswith("*")
        self.array = bool(p.array)

    @property
    def is_handle(self):
        return self.base in HANDLES

    @property
    def is_text(self):
        return self.base == "char" and (self.pointer or self.array)

    @property
    def is_changed(self):
        """A handle that comes in, too."""
        row = self.row.name
        return bool(CHANGED.search(row)) or (row in CHANGED_MESSAGES and self.p.name == "message")

    def length(self):
        """C's text for the number of handles in an array."""
        name = self.p.name
        if name in LENGTHS:
            return "*" + next(n for n in LENGTHS[name] if self.row.find(n))
        neighbors = "eighbor" in self.row.name
        if name == "sendtypes":
            side = "destinations" if neighbors else "peers"
            return f"fortran_is_in_place(sendbuf) ? 0 : fortran_{side}(*comm)"
        return f"fortran_{'sources' if neighbors else 'peers'}(*comm)"

    def parameter(self):
        """Declaration in the routine."""
        name, const = self.p.name, "const " if self.const or self.is_input() else ""
        if self.is_text:
            return f"{const}char *{name}"
        if self.base == "void":
            return f"{const}void *{name}"
        kind = self.base if self.base in ("MPI_Aint", "MPI_Count") else "int"
        return f"{const}{kind} *{name}"

    def is_input(self):
        """A value, or an array that is only read."""
        return self.const or not (self.pointer or self.array)

    def before(self):
        """Statements before the call."""
        name, out = self.p.name, []
        if self.is_text and self.const:
            out.append(f"char *{name}_c = fortran_text_in({name}, {name}_len);")
        elif self.is_text:
            out.append(f"char {name}_c[FORTRAN_TEXT] = \"\";")
        elif self.is_handle and self.array:
            word = HANDLES[self.base][0].lower()
            out.append(f"{self.base} *{name}_c = fortran_{word}s_in({name}, {self.length()});")
        elif self.is_handle and self.pointer:
            word, null = HANDLES[self.base]
            value = f"MPI_{word}_fromint(*{name})" if self.is_changed else null
            out.append(f"{self.base} {name}_c = {value};")
        return out

    def value(self):
        """What C's function gets."""
        name = self.p.name
        if self.is_text or (self.is_handle and (self.array or self.pointer)):
            return f"&{name}_c" if self.is_handle and not self.array else f"{name}_c"
        if self.is_handle:
            return f"MPI_{HANDLES[self.base][0]}_fromint(*{name})"
        if self.base == "MPI_Status":
            return f"fortran_status({name})" if not self.const else f"(const MPI_Status *){name}"
        if self.base == "void":
            return f"fortran_buffer({name})" if self.const else f"fortran_buffer_out({name})"
        if name.endswith("weights"):
            return f"fortran_weights({name})"
        if self.p.array == "[][3]":
            return f"(int (*)[3]){name}"
        return name if self.pointer or self.array else f"*{name}"

    def after(self):
        """Statements after the call."""
        name = self.p.name
        if self.is_text and self.const:
            return [f"free({name}_c);"]
        if self.is_text:
            return [f"fortran_text_out({name}_c, {name}, {name}_len);"]
        if self.is_handle and self.array:
            word = HANDLES[self.base][0].lower()
            give = [] if self.const else [f"fortran_{word}s_out({name}, {name}_c, {self.length()});"]
            return give + [f"free({name}_c);"]
        if self.is_handle and self.pointer:
            return [f"*{name} = MPI_{HANDLES[self.base][0]}_toint({name}_c);"]
        return []

    def declare_fortran(self):
        """Lines of the interface in the module."""
        name, intent = self.p.name, "in" if self.is_input() else "inout" if self.is_changed else None
        with_intent = f", intent({intent})" if intent else ""
        if self.is_text:
            return [f"character(len=*), intent({'in' if self.const else 'out'}) :: {name}"]
        if self.base == "void":
            return [f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}", f"type(*), dimension(*) :: {name}"]
        if self.base == "MPI_Status":
            shape = "MPI_STATUS_SIZE, *" if "array" in name else "MPI_STATUS_SIZE"
            return [f"integer :: {name}({shape})"]
        kind = {"MPI_Aint": "integer(kind=MPI_ADDRESS_KIND)",
                "MPI_Count": "integer(kind=MPI_COUNT_KIND)"}.get(self.base, "integer")
        if self.is_logical():
            kind = "logical"
        many = self.array or name.endswith("weights")
        shape = "(3, *)" if self.p.array == "[][3]" else "(*)" if many else ""
        if not many and not intent and self.pointer:
            with_intent = ", intent(inout)" if name in ("position", "buflen") else ", intent(out)"
        return [f"{kind}{with_intent if not many else ''} :: {name}{shape}"]

    def is_logical(self):
        """Is an integer of C a logical of Fortran?"""
        return self.base == "int" and (self.p.name in LOGICALS or (self.row.name, self.p.name) in LOGICAL_PAIRS)


LOGICALS = {"flag", "reorder", "periods", "remain_dims", "commute", "weighted"}
LOGICAL_PAIRS = {("Intercomm_merge", "high")}


def arguments(row):
    """All arguments of a row."""
    return [Argument(row, p) for p in row.parameters]


def signature(row, args):
    """Parameters of the routine: Fortran's, the error, and the lengths of texts."""
    out = [a.parameter() for a in args] + ["int *ierror"]
    return ", ".join(out + [f"size_t {a.p.name}_len" for a in args if a.is_text])


def routine(row, prefix):
    """C text of one routine."""
    args = arguments(row)
    lines = [s for a in args for s in a.before()]
    call = f"*ierror = {prefix}_{row.name}({', '.join(a.value() for a in args)});"
    after = [s for a in args for s in a.after()]
    name = f"{prefix}_{row.name}_".lower()
    body = "".join(f"\t{s}\n" for s in lines) + ("\n" if lines else "") + f"\t{call}\n"
    return f"void\n{name}({signature(row, args)})\n{{\n{body}{''.join(f'{chr(9)}{s}{chr(10)}' for s in after)}}}\n"


def bindings(rows):
    """Text of bind.c."""
    out = [mpigen.HEAD % "The routines that Fortran calls.", "#include <stdlib.h>\n#include <mpi/fortran/fortran.h>\n",
           '#pragma GCC diagnostic ignored "-Wmissing-prototypes"\n']
    return "\n".join(out + [routine(r, p) for r in rows if r.name not in BY_HAND for p in ("MPI", "PMPI")])


DEFINE = re.compile(r"^#define (MPI_\w+)\s+(?:MPI_HANDLE_\(\w+, )?(-?0x[0-9a-f]+|-?\d+|MPI_\w+)\)?$", re.M)
ENUM = re.compile(r"^\t(MPI_\w+) = (-?0x[0-9a-fA-F]+|-?\d+),?$", re.M)


def constants(header):
    """{name: value} of the constants of mpi.h that Fortran has, too."""
    out = {}
    for name, value in DEFINE.findall(header) + ENUM.findall(header):
        if name.startswith(("MPI_T_", "MPI_F_", "MPI_ABI_")):
            continue
        number = out.get(value) if value.startswith("MPI_") else int(value, 0)
        if number is not None:
            # C counts the final NUL of a text
            out[name] = number - 1 if name.startswith("MPI_MAX_") else number
    out.update({"MPI_STATUS_SIZE": 8, "MPI_SOURCE": 1, "MPI_TAG": 2, "MPI_ERROR": 3, "MPI_ADDRESS_KIND": 8,
                "MPI_COUNT_KIND": 8, "MPI_OFFSET_KIND": 8, "MPI_INTEGER_KIND": 4})
    return out


SENTINELS = """      integer MPI_BOTTOM, MPI_IN_PLACE
      integer MPI_STATUS_IGNORE(MPI_STATUS_SIZE)
      integer MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)
      integer MPI_ERRCODES_IGNORE(1)
      integer MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1)
      common /mpi_fortran_bottom/ MPI_BOTTOM
      common /mpi_fortran_in_place/ MPI_IN_PLACE
      common /mpi_fortran_status_ignore/ MPI_STATUS_IGNORE
      common /mpi_fortran_statuses_ignore/ MPI_STATUSES_IGNORE
      common /mpi_fortran_errcodes_ignore/ MPI_ERRCODES_IGNORE
      common /mpi_fortran_unweighted/ MPI_UNWEIGHTED
      common /mpi_fortran_weights_empty/ MPI_WEIGHTS_EMPTY
"""
NULL_FUNCTIONS = [f"MPI_{k}{w}_FN" for k in ("COMM_", "TYPE_", "") for w in ("NULL_COPY", "DUP", "NULL_DELETE")]
FUNCTIONS = """      double precision MPI_WTIME, MPI_WTICK, PMPI_WTIME, PMPI_WTICK
      external MPI_WTIME, MPI_WTICK, PMPI_WTIME, PMPI_WTICK
      integer(kind=MPI_ADDRESS_KIND) MPI_AINT_ADD, MPI_AINT_DIFF
      external MPI_AINT_ADD, MPI_AINT_DIFF
"""


def header(found):
    """Text of mpif.h: lines that both source forms understand."""
    out = ["!     The constants of MPI. Generated from mpi.h: do not edit.\n"]
    out += [f"      integer {n}\n      parameter ({n}={v})\n" for n, v in found.items()]
    out += [SENTINELS, FUNCTIONS] + [f"      external {n}\n" for n in NULL_FUNCTIONS]
    return "".join(out)


def interface(row):
    """Text of one routine's interface in the module."""
    args = arguments(row)
    names, line = ", ".join([a.p.name for a in args] + ["ierror"]), []
    for word in names.split(" "):
        if line and len(line[-1]) + len(word) < 80:
            line[-1] += " " + word
        else:
            line.append(word)
    text = " &\n        ".join(line)
    declared = [s for a in args for s in a.declare_fortran()] + ["integer, intent(out) :: ierror"]
    return (f"    subroutine MPI_{row.name}( &\n        {text})\n      import\n"
            + "".join(f"      {d}\n" for d in declared) + f"    end subroutine MPI_{row.name}\n")


PROCEDURES = """    function MPI_Wtime()
      double precision :: MPI_Wtime
    end function MPI_Wtime
    function MPI_Wtick()
      double precision :: MPI_Wtick
    end function MPI_Wtick
    subroutine MPI_Sizeof(x, size, ierror) bind(C, name="mpi_fortran_sizeof")
      use, intrinsic :: iso_c_binding, only: c_int
      type(*), dimension(..), intent(in) :: x
      integer(c_int), intent(out) :: size, ierror
    end subroutine MPI_Sizeof
    function MPI_Aint_add(base, disp)
      import
      integer(kind=MPI_ADDRESS_KIND) :: MPI_Aint_add
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: base, disp
    end function MPI_Aint_add
    function MPI_Aint_diff(addr1, addr2)
      import
      integer(kind=MPI_ADDRESS_KIND) :: MPI_Aint_diff
      integer(kind=MPI_ADDRESS_KIND), intent(in) :: addr1, addr2
    end function MPI_Aint_diff
"""


def module(rows, found):
    """Text of mpi.f90: routines that take functions have no interface, as any function may come."""
    plain = [r for r in rows if r.result == "int"
             and r.name not in ("Init", "Init_thread", "Pcontrol", "Grequest_start", "Op_create")
             and not r.name.endswith(("create_errhandler", "create_keyval", "_attr", "Buffer_detach", "Alloc_mem"))]
    loose = sorted({r.name for r in rows if r.result == "int"} - {r.name for r in plain})
    constants_text = "".join(f"  integer, parameter :: {n} = {v}\n" for n, v in found.items())
    return ("! The module mpi. Generated from mpi/functions.tbl and mpi.h: do not edit.\nmodule mpi\n  implicit none\n"
            + constants_text + SENTINELS + "".join(f"      external {n}\n" for n in NULL_FUNCTIONS)
            + "".join(f"      external MPI_{n}\n" for n in loose)
            + "  interface\n" + PROCEDURES + "".join(interface(r) for r in plain) + "  end interface\nend module mpi\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--table", default="mpi/functions.tbl")
    parser.add_argument("--api", default="mpi/api", help="folder of the implementations")
    parser.add_argument("--header", default="mpi/include/mpi.h")
    parser.add_argument("--out", required=True, help="folder of generated files (build/gen)")
    args = parser.parse_args()
    try:
        with open(args.table, encoding="utf-8") as f:
            rows = rows_of(read_table(f.read()), mpigen.implemented_in(args.api))
        with open(args.header, encoding="utf-8") as f:
            found = constants(f.read())
    except (OSError, TableError) as error:
        print(error, file=sys.stderr)
        return 1
    write(f"{args.out}/fortran/bind.c", bindings(rows))
    write(f"{args.out}/fortran/mpif.h", header(found))
    write(f"{args.out}/fortran/mpi.f90", module(rows, found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
