# SPDX-License-Identifier: MIT
"""Builds the bare-metal firmware of hw/test/fw: one program per .c file beside fw.c."""

import glob
import os
import shutil
import subprocess

from codesign import rtl
from rtl import build, config

CC = "or1k-elf-gcc"
FLAGS = ["-O2", "-Wall", "-Wextra", "-Werror", "-std=gnu11", "-ffreestanding", "-nostdlib",
         "-msoft-mul", "-msoft-div", f"-I{rtl.ROOT}",
         "-Wl,--no-warn-rwx-segments"]
FOLDER = os.path.join(build.HW, "test", "fw")


# two clusters: a cluster's memory, where the windows are, one window, and the memory of the machine
OWN, NOC, WINDOW, RAM = 1 << 20, 2 << 20, 1 << 16, 4 << 20
STACK = 1 << 13


def chip(cores, **options):
    """The config.Cluster of two clusters on which firmware runs."""
    made = config.Cluster(cores, clusters=2, **{"ram": RAM, **options})
    made.windows = (OWN, NOC, WINDOW)
    return made


def _places(cluster):
    """Where the linker puts what cores of two clusters share: nothing to say for one cluster."""
    if cluster is None or cluster.clusters == 1:
        return []
    stacks = OWN - STACK * len(cluster.cores)
    return [f"-Wl,--defsym={name}={at:#x}" for name,
            at in (("__near", NOC), ("__far", NOC + WINDOW), ("__stacks_at", stacks))]


def elf(name, cluster=None, macros=()):
    """Path of a program's ELF file for a cluster, or two (config.Cluster), built if anything of it
    changed. `macros`: words NAME=VALUE for what its source lets a builder choose.
    """
    if not shutil.which(CC):
        raise build.BuildError(f"the compiler {CC} is not installed: run ./atoll setup hw")
    sources = [os.path.join(FOLDER, f) for f in ("start.S", "fw.c", name + ".c")]
    files = sources + sorted(glob.glob(os.path.join(FOLDER, "*.h"))) + [os.path.join(FOLDER, "link.ld"),
                                                                        os.path.join(rtl.ROOT, "abi", "codesign.h")]
    own = _places(cluster) + [f"-D{m}" for m in macros]
    target = os.path.join(build.OUT, f"{name}-{build.digest(FLAGS[:-2] + own, files)}.elf")
    if os.path.exists(target):
        return target
    os.makedirs(build.OUT, exist_ok=True)
    part = f"{target}.{os.getpid()}"
    p = subprocess.run([CC, *FLAGS, *own, "-T", os.path.join(FOLDER, "link.ld"),
                        *sources, "-o", part], stdin=subprocess.DEVNULL,
                       capture_output=True, text=True)
    if p.returncode:
        raise build.BuildError(f"the firmware {name} does not build:\n{p.stderr}")
    os.rename(part, target)
    return target
