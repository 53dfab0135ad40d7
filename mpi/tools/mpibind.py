# SPDX-License-Identifier: MIT
"""The bindings: from a row of the table to the C of MPI_X, PMPI_X and the large-count twins.

A binding enters the library, checks and resolves each argument, calls impl_X(call, arguments), and
leaves through the error handler. What is checked is decided by a parameter's type and name (CHECKS
below); what needs more knowledge is left to the implementation.
"""

import re

# value handles -> (field type, checking function)
HANDLES = {
    "MPI_Comm": ("struct comm *", "call_comm"), "MPI_Group": ("struct group *", "call_group"),
    "MPI_Datatype": ("struct type *", "call_type"),
    "MPI_Info": ("struct info *", "call_info"), "MPI_Errhandler": ("struct errhandler *", "call_errhandler"),
    "MPI_Win": ("struct window *", "call_window"), "MPI_File": ("struct file *", "call_file"),
    "MPI_Session": ("struct session *", "call_session"),
}
MESSAGES = ("pt2pt", "buffer", "persist", "probe", "partitioned")			# a type must be committed, buffers are significant
COLLECTIVES = ("coll", "icoll", "pcoll", "neighbor", "window",
               "file")	# types and buffers are significant on some ranks only
COUNTS = ("count", "sendcount", "recvcount", "incount", "outcount")
COUNTED = MESSAGES + ("type", "earlier", "pack", "request", "status")
BUFFERS = {"datatype": ("buf", "count"), "sendtype": ("sendbuf", "sendcount"), "recvtype": ("recvbuf", "recvcount")}
MAY_BE_NULL = ("status", "array_of_statuses", "argc", "argv", "sourceweights", "destweights",
               "weights", "array_of_errcodes") + tuple(
    f"{prefix}{what}{suffix}_fn" for prefix,
    suffix in (("", ""), ("comm_", "_attr"), ("type_", "_attr"), ("win_", "_attr")) for what in ("copy", "delete"))
NULL_IN = {("Info_get_string", "value"), ("Session_get_nth_pset", "pset_name")}				# the same, of one function
OUTPUT = re.compile(r"(int|char|MPI_\w+|COUNT|EXTENT|DISPL) ?\*$")
INPUT_TEXT = ("const char *", "const MPI_Status *")
# significant on some ranks only; MPI_COMM_NULL and MPI_DATATYPE_NULL have names; MPI_FILE_NULL is
# no error
RAW = {("Intercomm_create", "peer_comm"), ("Intercomm_create_from_groups", "remote_group"),
       ("Comm_get_name", "comm"), ("Type_get_name", "datatype"), ("File_call_errhandler", "fh"),
       ("File_get_errhandler", "file"), ("File_set_errhandler", "file")}
# error handlers that get the errors of the call itself, and for what they must be
RAISES = {("Session_init", "errhandler"): "ERRHANDLER_SESSION",
          ("Comm_create_from_group", "errhandler"): "ERRHANDLER_COMM",
          ("Intercomm_create_from_groups", "errhandler"): "ERRHANDLER_COMM"}


def is_resolved(row, p):
    """Does a value handle arrive as a pointer to its object?"""
    if p.whole not in HANDLES or (row.name, p.name) in RAW:
        return False
    return not (p.whole == "MPI_Datatype" and row.chapter in COLLECTIVES)


def field(row, p):
    """Declaration of a member of struct args_X."""
    if p.word and p.array:
        return f"struct numbers {p.name};"
    if p.word in ("USER_FUNCTION", "CONVERSION_FUNCTION"):
        return f"void (*{p.name})(void);"
    if p.word:
        return f"{'MPI_Aint' if p.word == 'DISPL' else 'MPI_Count'} {'*' if '*' in p.type else ''}{p.name};"
    if is_resolved(row, p):
        return f"{HANDLES[p.whole][0]}{p.name};"
    if p.array == "[][3]":
        return f"{p.type} (*{p.name})[3];"
    kind = (p.type if "*" in p.type or p.array
            else p.type.removeprefix("const ")) + (" *" if p.array or p.type.endswith("_function") else "")
    return f"{kind}{'' if kind.endswith('*') else ' '}{p.name};"


def structure(row):
    """struct args_X: what the implementation of a row gets."""
    members = "".join(f"\t{field(row, p)}\n" for p in row.parameters if p.name != "...")
    return f"struct args_{row.name} {{\n{members or chr(9) + 'int nothing;' + chr(10)}}};\n"


def is_narrowed(p, wide):
    """Is it an output that the implementation writes as MPI_Count and the binding narrows?"""
    return (
        bool(p.word)
        and not p.array
        and p.type.endswith("*")
        and "FUNCTION" not in p.word
        and not (wide and p.word != "DISPL")
    )


def assign(row, p, wide):
    """The statement that fills the member, or None where a check does."""
    if p.name == "..." or is_resolved(row, p):
        return None
    if p.word and p.array:
        return f"a.{p.name} = NUMBERS({p.name});"
    if p.word in ("USER_FUNCTION", "CONVERSION_FUNCTION"):
        return f"a.{p.name} = (void (*)(void)){p.name};"
    if is_narrowed(p, wide):
        return f"a.{p.name} = &{p.name}_wide;"
    return f"a.{p.name} = {p.name};"


def comm_of(row):
    """Expression of the communicator whose ranks are meant."""
    p = next((p for p in row.parameters if p.whole == "MPI_Comm" and is_resolved(row, p)), None)
    return f"a.{p.name}" if p else None


def handle_checks(row):
    """Communicators first: their error handler gets what follows."""
    mine = [p for p in row.parameters if is_resolved(row, p)]
    out = []
    for p in sorted(mine, key=lambda p: (p.whole != "MPI_Comm", (row.name, p.name) not in RAISES)):
        check = HANDLES[p.whole][1]
        if (row.name, p.name) in RAISES:
            out.append(f"call_raises(&call, {RAISES[row.name, p.name]}, {p.name}, &a.{p.name})")
            continue
        if check == "call_type" and row.chapter in MESSAGES + ("pack",):
            check = "call_committed"
        if check == "call_info" and row.chapter == "info":
            check = "call_info_given"
        out.append(f"{check}(&call, {p.name}, &a.{p.name})")
    return out


def check_value(row, p):
    """The check of one value, or None."""
    comm, t = comm_of(row), p.whole
    receives = row.find("source") is not None
    if t in ("int", "COUNT", "MPI_Count") and p.name in COUNTS and row.chapter in COUNTED:
        return f"call_count({p.name})"
    if t == "int" and row.chapter in MESSAGES and comm:
        if p.name == "dest":
            return f"call_dest({comm}, {p.name})"
        if p.name == "source":
            return f"call_source({comm}, {p.name})"
        if p.name == "recvtag" or (p.name == "tag" and receives):
            return f"call_recv_tag({p.name})"
        if p.name in ("tag", "sendtag"):
            return f"call_send_tag({p.name})"
    if t == "int" and p.name == "root" and row.chapter in ("coll", "icoll", "pcoll"):
        return f"call_root({comm}, {p.name})"
    if t == "int" and p.name == "rank" and row.chapter == "topo":
        return f"call_rank({comm}, {p.name})"
    if t == "MPI_Op":
        return f"call_op(&call, {p.name})"
    if t.endswith("MPI_Request[]"):
        return f"call_array({row.parameters[0].name}, {p.name})"
    if p.name not in MAY_BE_NULL and (row.name,
                                      p.name) not in NULL_IN and not p.array and (OUTPUT.match(t) or t in INPUT_TEXT):
        return f"call_pointer({p.name})"
    return None


def check_buffer(row, p):
    """Buffer, count and type together."""
    buf, count = BUFFERS.get(p.name, (None, None))
    if row.chapter in MESSAGES and is_resolved(row, p) and row.find(buf) and row.find(count):
        return f"call_buffer({buf}, {count}, a.{p.name})"
    return None


def checks(row):
    """All checks of a row, in order."""
    out = handle_checks(row)
    out += [c for c in (check_value(row, p) for p in row.parameters) if c]
    return out + [c for c in (check_buffer(row, p) for p in row.parameters if p.whole == "MPI_Datatype") if c]


def body(row, wide, implemented):
    """Statements of a binding that returns an error class."""
    lines = ["\tstruct call call;"]
    narrowed = [p for p in row.parameters if is_narrowed(p, wide)] if implemented else []
    asserted = checks(row) if implemented else [c for c in handle_checks(row) if c.startswith("call_comm(")]
    members = implemented or bool(asserted)
    if members:
        lines.append(f"\tstruct args_{row.name} a;")
    lines += [f"\tMPI_{'Aint' if p.word == 'DISPL' else 'Count'} {p.name}_wide = 0;" for p in narrowed]
    state = "true" if row.any_time else "false"
    lines += [f"\tint err = call_enter(&call, \"MPI_{row.symbol(wide)}\", {state});", ""]
    if row.chapter == "file":
        lines.append("\tcall_for_files(&call);")
    if implemented:
        lines += [f"\t{s}" for s in (assign(row, p, wide) for p in row.parameters) if s]
        lines.append(f"\tcall.large = {'true' if wide else 'false'};")
    for c in asserted:
        lines += ["\tif (err == MPI_SUCCESS)", f"\t\terr = {c};"]
    lines += [f"\tif (err == MPI_SUCCESS && {p.name} != NULL)\n\t\t{p.name}_wide = *{p.name};"
              for p in narrowed if p.name == "position"]
    missing = "call_without_files(&call)" if row.chapter == "file" else "MPI_ERR_UNSUPPORTED_OPERATION"
    lines += ["\tif (err == MPI_SUCCESS)", f"\t\terr = {f'impl_{row.name}(&call, &a)' if implemented else missing};"]
    lines += [f"\tif (err == MPI_SUCCESS)\n\t\t*{p.name} = "
              f"{'narrow_aint' if p.word == 'EXTENT' else 'narrow_int'}({p.name}_wide);" for p in narrowed]
    used = {n for c in asserted for n in re.findall(r"\w+", c)}
    if not implemented:
        lines += [f"\t(void){p.name};" for p in row.parameters if p.name not in used and p.name != "..."]
    lines.append("\treturn call_leave(&call, err);")
    return "\n".join(lines)


def simple(row):
    """Body of the few functions that return a value."""
    names = ", ".join(p.name for p in row.parameters)
    if row.name.endswith("_toint"):
        return f"\treturn call_toint((uintptr_t){names});"
    if row.name.endswith("_fromint"):
        return f"\treturn ({row.result})call_fromint(HANDLE_{row.name[:-8].upper()}, {names});"
    return f"\treturn impl_{row.name}({names});"


def is_simple(row):
    """Does it return a value, not an error class?"""
    return row.result != "int" or row.name.endswith("_toint")


SHARED = """static __attribute__((noinline)) int
shared_%s(%s)
{
	struct mpi_rank *self = mpi_self();
	bool done;

	if (self->direct == DIRECT_NOT)
		return ordinary_%s;
	mpi_rank_lock_shortly(self, &self->lock);
	done = direct_%s;
	mpi_rank_unlock_shortly(self, &self->lock);
	return done ? MPI_SUCCESS : ordinary_%s;
}
"""


def fast_path(row, wide, text):
    """The ordinary binding as a function of its own, the fast path tried where threads share
    the library, and the binding.
    """
    given = f"({', '.join(p.name for p in row.parameters)})"
    name, call, arguments = row.symbol(wide), row.symbol(wide) + given, row.arguments(wide)
    ordinary = f"static __attribute__((noinline)) int\nordinary_{name}({arguments})\n{{\n{text}\n}}\n"
    shared = SHARED % (name, arguments, call, row.name + given, call)
    return ordinary + shared, (f"\tif (!direct_alone())\n\t\treturn shared_{call};\n"
                               f"\treturn direct_{row.name}{given} ? MPI_SUCCESS : ordinary_{call};")


def binding(row, wide, implemented, direct=False):
    """C of PMPI_X and the weak name MPI_X. `direct`: there is a direct_X."""
    name, before = row.symbol(wide), ""
    if row.chapter == "tool" and not implemented:
        text = "\n".join(f"\t(void){p.name};" for p in row.parameters) + "\n\treturn MPI_T_ERR_NOT_SUPPORTED;"
    else:
        text = simple(row) if is_simple(row) else body(row, wide, implemented)
    if direct:
        before, text = fast_path(row, wide, text)
    return f"{before}{row.result}\nPMPI_{name}({row.arguments(wide)})\n{{\n{text}\n}}\nALSO_AS_MPI({name});\n"


def implementation(row):
    """Prototype of impl_X."""
    if is_simple(row):
        return "" if row.chapter == "convert" else f"{row.result} impl_{row.name}({row.arguments(False)});\n"
    return f"int impl_{row.name}(struct call *call, const struct args_{row.name} *a);\n"
