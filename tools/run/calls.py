# SPDX-License-Identifier: MIT
"""The names of Linux's system calls on riscv64, as the compiler's headers have them: with --debug the machine
says by name which of them a program misses (user/personality/unknown.c).
"""

import os
import re

import setup

MEMBER, NAME_BYTES = "etc/calls", 32	# user/include/atoll/personality.h
HEADER = os.path.join("lib", "libc", "include", "riscv-linux-any", "asm", "unistd_64.h")


def names():
    """{number: name}."""
    path = os.path.join(os.path.dirname(setup.zig()), HEADER)
    with open(path, encoding="ascii") as f:
        return {int(number): name for name, number in re.findall(r"^#define __NR_(\w+) (\d+)$", f.read(), re.M)}


def member():
    """The file of the boot archive: a name of NAME_BYTES with its zeros for each number."""
    known = names()
    return MEMBER, b"".join(known.get(number, "").encode().ljust(NAME_BYTES, b"\0")
                            for number in range(max(known) + 1))
