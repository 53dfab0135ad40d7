# SPDX-License-Identifier: MIT
"""Calls with one wrong argument each, for every function of the table, and the error class that the
standard names for it; and a call of each function that needs an open library.

What is wrong comes from a parameter's type and name, as a reader of the standard would say it; the
bindings' own rules are not used. All other arguments are right, on a communicator of one rank. A
function that is not implemented must say so.
"""

import re

SKIPPED = ("Init", "Init_thread", "Finalize", "Abort", "Pcontrol")
# handle -> (class, right value, wrong values)
HANDLES = {
    "MPI_Comm": ("COMM", "MPI_COMM_SELF", ("MPI_COMM_NULL", "w.stale_comm", "(MPI_Comm)w.group", "(MPI_Comm)GARBAGE")),
    "MPI_Group": ("GROUP", "w.group", ("MPI_GROUP_NULL", "w.stale_group", "(MPI_Group)w.cart", "(MPI_Group)GARBAGE")),
    "MPI_Datatype": ("TYPE", "MPI_INT", ("MPI_DATATYPE_NULL", "(MPI_Datatype)w.group", "(MPI_Datatype)GARBAGE")),
    "MPI_Op": ("OP", "MPI_SUM", ("MPI_OP_NULL", "w.stale_op", "(MPI_Op)GARBAGE")),
    "MPI_Info": ("INFO", "w.info", ("w.stale_info", "(MPI_Info)w.group", "(MPI_Info)GARBAGE")),
    "MPI_Errhandler": ("ERRHANDLER", "MPI_ERRORS_RETURN",
                       ("MPI_ERRHANDLER_NULL", "w.stale_errhandler", "(MPI_Errhandler)GARBAGE")),
    "MPI_Request": ("REQUEST", "MPI_REQUEST_NULL", ("(MPI_Request)w.group", "(MPI_Request)GARBAGE")),
    "MPI_Win": ("WIN", None, ("MPI_WIN_NULL", "(MPI_Win)w.group", "(MPI_Win)GARBAGE")),
    "MPI_File": ("FILE", None, ("(MPI_File)w.group", "(MPI_File)GARBAGE")),
    "MPI_Session": ("SESSION", "w.session",
                    ("MPI_SESSION_NULL", "w.stale_session", "(MPI_Session)w.group", "(MPI_Session)GARBAGE")),
}
# functions that take a handle by its address and look at what is there: name -> parameter, wrong
# values beside garbage
BY_ADDRESS = {
    "Comm_free": ("comm", ("MPI_COMM_NULL", "MPI_COMM_WORLD", "w.stale_comm")),
    "Comm_disconnect": ("comm", ("MPI_COMM_NULL",)),
    "Group_free": ("group", ("MPI_GROUP_NULL", "w.stale_group")),
    "Op_free": ("op", ("MPI_OP_NULL", "MPI_SUM", "w.stale_op")),
    "Info_free": ("info", ("MPI_INFO_NULL", "w.stale_info")),
    "Errhandler_free": ("errhandler", ("MPI_ERRHANDLER_NULL", "w.stale_errhandler")),
    "Type_free": ("datatype", ("MPI_DATATYPE_NULL", "MPI_INT")), "Type_commit": ("datatype", ("MPI_DATATYPE_NULL",)),
    "Request_free": ("request", ("MPI_REQUEST_NULL",)), "Wait": ("request", ()), "Test": ("request", ()),
    "Session_finalize": ("session", ("MPI_SESSION_NULL", "w.stale_session")),
    "Start": ("request", ("MPI_REQUEST_NULL",)), "Cancel": ("request", ("MPI_REQUEST_NULL",)),
}
MESSAGES = ("pt2pt", "buffer", "persist", "probe", "partitioned")
COLLECTIVES = ("coll", "icoll", "pcoll")
COUNTS = ("count", "sendcount", "recvcount", "incount", "outcount")
BUFFERS = ("buf", "sendbuf", "recvbuf", "inbuf", "outbuf", "buffer")
COUNTED = MESSAGES + COLLECTIVES + ("neighbor", "pack", "type", "earlier", "request")
# what may be NULL: the standard gives it a meaning, or allows it
OPTIONAL = re.compile(
    r"status$|array_of_statuses|argv?$|argc|weights|array_of_errcodes|(copy|delete)(_attr)?_fn$|extra_state|"
    r"baseptr|base$|buffer$|buffer_addr|attribute_val|location|logical_|_rank$|invec|buf$|_fn$|_addr$|value$"
)
INTEGERS = {"count": "1", "n": "1", "ndims": "1", "nnodes": "1", "errorcode": "MPI_ERR_ARG",
            "errorclass": "MPI_ERR_ARG", "size": "1", "partitions": "1",
            "comm_keyval": "w.keyval", "keyval": "w.keyval", "maxdims": "1", "valuelen": "4", "logical_size": "4"}
# arrays and what says how many elements they have ("": the communicator), by name, or by chapter
# and name
LENGTHS = {"array_of_requests": "count", "array_of_blocklengths": "count",
           "array_of_displacements": "count", "array_of_types": "count", "dims": "ndims",
           "periods": "ndims", "indx": "nnodes", "ranks": "n", "ranks1": "n", "ranks2": "n",
           "ranges": "n", "array_of_sizes": "ndims",
           "array_of_subsizes": "ndims", "array_of_starts": "ndims", "array_of_gsizes": "ndims",
           "array_of_distribs": "ndims",
           "array_of_dargs": "ndims", "array_of_psizes": "ndims", "sendcounts": "", "recvcounts": "",
           "sdispls": "", "rdispls": "", "displs": "", ("topo", "coords"): "maxdims"}
POINTER = re.compile(r"(const )?(\w+) ?\*+$")
COMM_OF = {"Cart": "w.cart", "Graph": "w.graph", "Dist": "w.dist"}


def plain(p, wide):
    """C type of a parameter without its name."""
    return p.declare(wide)[: -len(p.name + p.array)].strip()


def right_comm(row):
    """A communicator that a function is for."""
    if row.chapter == "neighbor":
        return "w.cart"
    if row.chapter == "topo" and "create" not in row.name and "map" not in row.name:
        return COMM_OF.get(re.match(r"[A-Z][a-z]*",
                                    row.name.replace("dims", "").replace("dim", "")).group(0), "MPI_COMM_SELF")
    return "MPI_COMM_SELF"


def right(row, p, place, wide):
    """A right value for a parameter, or None if there is none."""
    kind = plain(p, wide)
    if not p.array and kind == "MPI_Comm":
        return right_comm(row)
    if not p.array and kind == "MPI_Errhandler" and row.chapter == "session":
        return "w.session_handler" if row.name.startswith("Session") else "w.handler"   # it gets the errors
    if not p.array and kind in HANDLES:
        return HANDLES[kind][1]
    if kind == "MPI_Message":
        return "MPI_MESSAGE_NULL"
    if p.array == "[][3]":
        return f"(int (*)[3])w.room[{place}]"
    if p.array and p.name.endswith("counts"):
        return f"({kind} *)w.{'wide_ones' if 'MPI_Count' in kind else 'ones'}"
    if p.array and kind == "const MPI_Datatype" and p.name in ("sendtypes", "recvtypes"):
        return "w.types"
    if p.array or POINTER.match(kind):
        if kind == "const char *":
            return '"text"'
        if "function" in kind.lower():
            return f"({kind})nothing"
        return f"({kind}{' *' if p.array else ''})w.room[{place}]"
    if p.name in COUNTS:
        return "1"
    return INTEGERS.get(p.name, "0")


def wrong_number(row, p):
    """Wrong values of a number: [(value, class)]."""
    chapter = row.chapter
    if p.name in COUNTS and chapter in COUNTED:
        return [("-1", "COUNT")]
    if chapter in MESSAGES and p.name == "dest":
        return [("1", "RANK"), ("-17", "RANK"), ("MPI_ANY_SOURCE", "RANK")]
    if chapter in MESSAGES and p.name == "source":
        return [("1", "RANK"), ("-17", "RANK")]
    if chapter in MESSAGES and p.name in ("tag", "sendtag", "recvtag"):
        return [("-17", "TAG")]
    if chapter in COLLECTIVES and p.name == "root":
        return [("1", "ROOT"), ("-17", "ROOT")]
    if chapter == "topo" and p.name == "rank":
        return [("1", "RANK"), ("-1", "RANK")]
    if p.name == "partitions":
        return [("-1", "ARG")]
    if row.name in ("Comm_create_group", "Intercomm_create") and p.name == "tag":
        return [("-1", "TAG")]
    if row.name == "Intercomm_create" and p.name in ("local_leader", "remote_leader"):
        return [("1", "RANK"), ("-1", "RANK")]
    if p.name in ("comm_keyval", "keyval", "type_keyval", "win_keyval") and chapter == "attr":
        return [("MPI_KEYVAL_INVALID", "KEYVAL"), ("4711", "KEYVAL")]
    if chapter == "group" and p.name == "n":
        return [("-1", "ARG")]
    if chapter == "error" and p.name in ("errorcode", "errorclass"):
        return [("-1", "ARG"), ("99999", "ARG")]
    return []


def wrong_pointer(row, p, wide):
    """Wrong values of a pointer: [(value, class)]."""
    kind = plain(p, wide)
    out = []
    if row.name in BY_ADDRESS and BY_ADDRESS[row.name][0] == p.name:
        handle = kind.rstrip(" *")
        for value in BY_ADDRESS[row.name][1] + (f"({handle})GARBAGE",):
            out.append((f"&({handle}){{{value}}}", HANDLES[handle][0]))
    if (
        row.chapter in MESSAGES + COLLECTIVES
        and p.name in BUFFERS
        and row.chapter != "probe"
        and "attach" not in row.name
    ):
        counts = [q.name for q in row.parameters if q.name in COUNTS and not q.array]
        if counts and "detach" not in row.name:
            out.append((f"({kind})NULL", "BUFFER"))
    elif not OPTIONAL.search(p.name) and (row.name, p.name) != ("Session_get_nth_pset",
                                                                "pset_name") and "function" not in kind:
        out.append((f"({kind})NULL", "ARG"))
    return out


def wrong_array(row, p):
    """Wrong values of an array: NULL where one element is wanted."""
    length = LENGTHS.get(p.name, LENGTHS.get((row.chapter, p.name)))
    if length is None or (length and (row.find(length) is None
                                      or INTEGERS.get(length, "1" if length in COUNTS else "0") != "1")):
        return []
    return [("NULL", "ARG")]


def wrong(row, p, wide):
    """Wrong values of a parameter: [(value, class)]."""
    kind = plain(p, wide)
    if p.array:
        return wrong_array(row, p)
    if kind in HANDLES:
        name, _, values = HANDLES[kind]
        if kind == "MPI_Info" and row.chapter == "info":
            values = ("MPI_INFO_NULL",) + values
        if row.name in ("Comm_get_name", "Type_get_name"):
            values = values[1:]  # MPI_COMM_NULL and MPI_DATATYPE_NULL have one
        if row.name in ("File_call_errhandler", "File_get_errhandler", "File_set_errhandler") or kind != "MPI_File":
            return [(v, name) for v in values]
        return [(v, name) for v in ("MPI_FILE_NULL",) + values]
    if POINTER.match(kind):
        return wrong_pointer(row, p, wide)
    return wrong_number(row, p)


def calls(row, wide, implemented):
    """[(what is wrong, arguments, class)] of a function."""
    values = [right(row, p, i, wide) for i, p in enumerate(row.parameters)]
    missing = [i for i, v in enumerate(values) if v is None]
    out = []
    for i, p in enumerate(row.parameters):
        if [m for m in missing if m != i]:
            continue
        for value, name in wrong(row, p, wide):
            if implemented or (plain(p, wide) == "MPI_Comm" and name == "COMM" and row.name != "Intercomm_create"):
                out.append((f"{p.name} = {value}", values[:i] + [value] + values[i + 1:], name))
    if not implemented and not missing:
        out.append(("all right", values, "UNSUPPORTED_OPERATION"))
    return out


def table(rows, is_done):
    """Text of mpi_wrong.h."""
    functions, entries = [], []
    for row in rows:
        if (
            row.name in SKIPPED
            or row.chapter in ("tool", "convert")
            or row.result != "int"
            or any(p.name == "..." for p in row.parameters)
        ):
            continue
        for wide in row.widths:
            for what, values, name in calls(row, wide, is_done(row)):
                number = len(entries)
                functions.append(f"static int\nwrong_{number}(void)\n"
                                 f"{{\n\treturn MPI_{row.symbol(wide)}({', '.join(values)});\n}}\n")
                quoted = what.replace('"', "'")
                entries.append(f'\t{{"MPI_{row.symbol(wide)}", "{quoted}", MPI_ERR_{name}, wrong_{number}}},')
    return "\n".join(["#ifndef MPI_WRONG_H\n#define MPI_WRONG_H\n"] + functions +
                     ["static const struct wrong wrongs[] = {"] + entries + ["};\n\n#endif\n"])


def outside(rows):
    """Text of mpi_outside.h. Every argument is 0, which fits all types: nobody may look at them."""
    functions, entries = [], []
    for row in rows:
        if row.any_time or row.result != "int":
            continue
        for wide in row.widths:
            name = f"MPI_{row.symbol(wide)}"
            arguments = ", ".join("0" for p in row.parameters)
            functions.append(f"static int\noutside_{len(entries)}(void)\n{{\n\treturn {name}({arguments});\n}}\n")
            entries.append(f'\t{{"{name}", outside_{len(entries)}}},')
    return "\n".join(["#ifndef MPI_OUTSIDE_H\n#define MPI_OUTSIDE_H\n"] + functions +
                     ["static const struct outside outsides[] = {"] + entries + ["};\n\n#endif\n"])
