# SPDX-License-Identifier: MIT
"""Links one or1k kernel with its functions in other orders: a cache of one way sees other conflicts
in each.

The kernel comes as one relocatable file in which each function has a section of its own (`make
PORT=or1k loose`). A seed decides the order of all functions and how many empty cache lines lie
before them. A kernel built with an order of its own (TUNE_LAYOUT) keeps it for the functions that
it names, as that order is the optimisation; where they begin and how all others lie comes from the
seed. Two kernels with one seed lie alike as far as they have the same functions.
"""

import os
import random
import shutil
import subprocess

import elf
from codesign import rtl

LINKER = "or1k-elf-ld"
LINES = 256                     # of 32 bytes: a whole direct-mapped cache of 8 KB
SCRIPT = os.path.join(rtl.ROOT, "hal", "cpu", "or1k", "kernel.ld")
FIRST = (".text.hot.trap",)     # has its place in hal/cpu/or1k/kernel.ld
MOVED = 0x1000000               # where an image is linked a second time (tools/rebase.py)


class LinkError(Exception):
    """An image cannot be linked; what the linker said."""


def version():
    """The linker's own words about itself."""
    if not shutil.which(LINKER):
        raise LinkError(f"the linker {LINKER} is not installed: run ./atoll setup hw")
    return subprocess.run([LINKER, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def own_order():
    """The order that a kernel built with TUNE_LAYOUT keeps."""
    with open(os.path.join(os.path.dirname(SCRIPT), "order", "hot", "order.ld"), encoding="utf-8") as f:
        return f.read()


def functions(path):
    """Names of the sections with code of a relocatable kernel, sorted."""
    return sorted({n for n in elf.read(path).section_names() if (n == ".text" or n.startswith(".text."))
                   and n not in FIRST})


def order(names, seed, own=""):
    """Text of order.ld: an own order if there is one, and all functions as a seed has them."""
    rng, names = random.Random(seed), sorted(names)
    lines = rng.randrange(LINES)
    rng.shuffle(names)
    return f". += {32 * lines};\n{own}\n" + "".join(f"*({n})\n" for n in names)


def command(kernel, script, folder, out, at):
    """The linker's command line; as mk/or1k.mk links, and without what only debuggers read."""
    return [LINKER, "-static", "--gc-sections", "--build-id=none", "--no-warn-rwx-segments",
            "--no-warn-execstack", "-n", "--strip-debug", "-L", folder,
            "-T", script, "--defsym", f"IMAGE_AT={at:#x}", "-o", out, kernel]


def link(kernel, script, target, seed, own=""):
    """Link the relocatable `kernel` to target.elf and target-moved.elf with the linker script and
    an own order (text); returns `target`.
    """
    folder = f"{target}.{os.getpid()}"
    os.makedirs(folder, exist_ok=True)
    try:
        with open(os.path.join(folder, "order.ld"), "w", encoding="ascii") as f:
            f.write(order(functions(kernel), seed, own))
        for end, at in (("-moved.elf", MOVED), (".elf", 0)):
            out = os.path.join(folder, "image.elf")
            p = subprocess.run(command(kernel, script, folder, out, at), stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, errors="replace", check=False)
            if p.returncode:
                raise LinkError(f"{kernel} does not link in order {seed}:\n" + "\n".join(p.stderr.splitlines()[-12:]))
            os.replace(out, target + end)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return target
