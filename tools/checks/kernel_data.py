# SPDX-License-Identifier: MIT
"""No mutable file-scope data in the kernel: two clusters may run in one process.
Read from the object files.
"""

import os
import subprocess

# nm's letters for data that can change: initialised, zero-filled, common, small
MUTABLE = set("dDbBcCgGsS")


def read_symbols(nm_output):
    """Names of mutable objects in nm's output (lines `address letter name`, or without address)."""
    out = []
    for line in nm_output.splitlines():
        words = line.split()
        if len(words) >= 2 and words[-2] in MUTABLE and len(words[-2]) == 1:
            out.append(words[-1])
    return out


def objects(folder):
    """Object files below a folder."""
    return sorted(os.path.join(d, n) for d, _, names in os.walk(folder) for n in names if n.endswith(".o"))


def check_objects(paths, nm="nm"):
    """Problems of some object files.
    Read-only data with relocations (.data.rel.ro) is not mutable.
    """
    problems = []
    for path in paths:
        text = subprocess.run([nm, path], capture_output=True, text=True, check=True).stdout
        names = read_symbols(text)
        if names:
            names = [n for n in names if n not in _relocated_constants(path)]
        problems += [f"{path}: '{n}' is mutable and at file scope: it belongs into struct cluster" for n in names]
    return problems


def _relocated_constants(path):
    """Symbols in .data.rel.ro sections: constants that hold addresses."""
    text = subprocess.run(["objdump", "-t", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in text.splitlines() if ".data.rel.ro" in line}


def check(root, port="hosted"):
    """Problems of the kernel's objects as built for a port."""
    folder = os.path.join(root, "build", port, "k", "kernel")
    paths = objects(folder)
    if not paths:
        return [f"{folder}: no object files: build first"]
    return check_objects(paths + objects(os.path.join(root, "build", port, "k", "gen")))
