# SPDX-License-Identifier: MIT
"""Folders of ours on a riscv64 machine: what --share says. QEMU serves them by 9P, and the machine's file
server finds in the boot archive where each begins.
"""

import os

from ui import Usage

MEMBER = "etc/shares"
SHARES_MAX = 8		# devices that QEMU's machine takes
MOUNT = "/share"
MOUNT_MAX = 96		# bytes, so that there is room for what lies below
TAKEN = ("bin", "dev", "proc")


class Share:
    """A folder, and where it is on the machine."""

    def __init__(self, folder, mount, is_read_only):
        self.folder, self.mount, self.is_read_only = folder, mount, is_read_only


def parse(spec):
    """HOSTDIR[:MOUNT[,ro]] or HOSTDIR,ro; a colon or comma of the folder's own name counts if it is there so."""
    folder, mount, is_read_only = spec, MOUNT, False
    if not os.path.isdir(folder) and folder.endswith((",ro", ",rw")):
        is_read_only, folder = folder.endswith(",ro"), folder[:-3]
    if not os.path.isdir(folder) and ":/" in folder:
        folder, _, mount = folder.rpartition(":/")
        mount = "/" + mount
    if not os.path.isdir(folder):
        raise Usage(f"--share {spec}: {folder} is not a folder" if os.path.exists(folder) else
                    f"--share {spec}: no such folder")
    if not os.access(folder, os.R_OK | os.X_OK):
        raise Usage(f"--share {spec}: the folder {folder} may not be read")
    return Share(os.path.realpath(folder), place("--share", spec, mount), is_read_only)


def place(option, spec, mount):
    """A place on the machine that an option names, as a plain path."""
    names = [name for name in mount.split("/") if name]
    if not names or "." in names or ".." in names or len(os.fsencode(mount)) > MOUNT_MAX or "\n" in mount \
            or any(len(os.fsencode(name)) > 59 for name in names):
        raise Usage(f"{option} {spec}: '{mount}' is no place for a folder")
    if names[0] in TAKEN:
        raise Usage(f"{option} {spec}: /{names[0]} is the machine's own")
    return "/" + "/".join(names)


def parse_all(specs):
    """The shares of a command line."""
    shares = [parse(spec) for spec in specs]
    if len(shares) > SHARES_MAX:
        raise Usage(f"--share: {SHARES_MAX} folders at most")
    check_apart("--share", shares, ", as HOSTDIR:/PLACE")
    return shares


def check_apart(option, mounted, how=""):
    """No place lies in another one."""
    for i, one in enumerate(mounted):
        for other in mounted[:i]:
            if (one.mount + "/").startswith(other.mount + "/") or (other.mount + "/").startswith(one.mount + "/"):
                raise Usage(f"{option}: {other.mount} and {one.mount} are in one another's way: "
                            f"give each a place of its own{how}")


def members(shares):
    """Where they are, for the machine."""
    return [(MEMBER, "".join(share.mount + "\n" for share in shares).encode(errors="surrogateescape"))] \
        if shares else []
