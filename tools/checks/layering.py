# SPDX-License-Identifier: MIT
"""Includes point down only. The build gives each room only what it may include; this says it in
words.

A header is named by its room (<kernel/am/am.h>), or belongs to a public include folder: <hal/...>,
<cpu/...>, <context.h>, <atoll/...>, <mpi.h>. The system's headers are for the Linux back ends and
for what is linked with a libc.
"""

import os
import re

from checks import source

# room -> what its files may include by name
ALLOWED = {
    "abi": {"abi"},
    "base": {"abi", "base"},
    "hal": {"abi", "base", "hal", "cpu", "context"},
    "kernel": {"abi", "base", "hal", "cpu", "context", "kernel"},
    "user": {"abi", "base", "atoll", "user", "usercpu", "context", "servers.client"},
    "servers": {"abi", "base", "atoll", "user", "usercpu", "context", "servers"},
    "mpi": {"abi", "base", "atoll", "user", "context", "servers.client", "mpi", "mpi.h"},
    "apps": {"abi", "atoll", "context", "servers.client", "mpi.h"},
    "bench": {"abi", "atoll", "context", "servers.client", "mpi.h", "hal", "cpu"},
}
# who may see a libc's or the system's headers
LIBC_ROOMS = ("hal/cpu/hosted/", "hal/cpu/coroutine/", "hal/board/linux/", "mpi/", "apps/", "bench/", "user/libc/")
FREESTANDING = {"stdint.h", "stddef.h", "stdbool.h", "stdarg.h", "limits.h", "stdalign.h",
                "stdnoreturn.h", "float.h", "iso646.h"}
BACK_END = re.compile(r"hal/(cpu|noc|board)/([^/]+)/")


def kind(name):
    """Which room or interface a header name belongs to, or None for a libc's."""
    top = name.split("/")[0]
    if name == "context.h":
        return "context"
    if re.fullmatch(r"mpi(_\w+)?\.h", name):
        return "mpi.h"
    if top == "servers":
        return "servers.client" if name.endswith(("/client.h", "/protocol.h")) else "servers"
    if "/" in name and top in ("abi", "base", "hal", "cpu", "kernel", "user", "usercpu", "atoll", "mpi"):
        return top
    return None


def _local(root, path, name):
    """The file that an include with quotes means, relative to root; None if it is not beside the
    includer.
    """
    full = os.path.normpath(os.path.join(os.path.dirname(path), name))
    return full if os.path.exists(os.path.join(root, full)) else None


def check_file(root, path):
    """Problems of one file."""
    room = path.split("/")[0]
    if room not in ALLOWED or source.is_test(path):
        return []
    problems = []
    for line, name, angle in source.includes(source.read(root, path)):
        where = f"{path}:{line}"
        target = None if angle else _local(root, path, name)
        if target:
            problems += _check_target(where, path, room, target)
            continue
        what = kind(name)
        if what is None:
            if name not in FREESTANDING and not path.startswith(LIBC_ROOMS):
                problems.append(f"{where}: {room} may not include <{name}>: only Linux back ends "
                                f"and programs see a libc")
        elif what not in ALLOWED[room] and not (what == "servers.client" and "servers" in ALLOWED[room]):
            problems.append(f"{where}: {room} may not include <{name}>: includes point down only")
        elif what == "hal" and BACK_END.match(name):
            problems.append(f"{where}: <{name}>: the back ends are not for others")
    return problems


def _check_target(where, path, room, target):
    """An include with quotes: inside the own room, and inside the own back end."""
    if target.split("/")[0] != room:
        return [f"{where}: '{target}' by a relative path: other rooms are included by name"]
    mine, theirs = BACK_END.match(path), BACK_END.match(target)
    if theirs and (not mine or mine.groups() != theirs.groups()):
        return [f"{where}: {target}: cpu, noc and board never include one another"]
    return []


def check(root):
    """Problems of the tree."""
    return [p for path in source.c_files(root) for p in check_file(root, path)]
