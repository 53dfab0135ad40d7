# SPDX-License-Identifier: MIT
"""Where the RTL of the public mor1kx core is: its Python packages, each version in a folder of its
own in .venv, never in the tree.

5.0.post130 is the RTL of the paper's OpTiMSoC; 5.2.post151 is the newest and serves as a
cross-check.
"""

import glob
import hashlib
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VENV = os.path.join(ROOT, ".venv")
PACKAGE = "pythondata-cpu-mor1kx"
VERSIONS = ("5.0.post130", "5.2.post151")
PAPER = VERSIONS[0]
STOPPED = "stopped: what was finished is kept, the same command goes on behind it"


class Missing(Exception):
    """A tool or package is not there; the message says how to get it."""


def target(version, base=None):
    """Where a version is installed (by `./atoll setup hw`)."""
    if version not in VERSIONS:
        raise Missing(f"the core version {version} is not known: use one of {', '.join(VERSIONS)}")
    return os.path.join(base or os.path.join(VENV, "hw"), f"{PACKAGE}-{version}")


def folder(version=PAPER, base=None):
    """The folder with the core's Verilog files; real path, because the synthesiser does not follow
    links. Missing if not installed.
    """
    path = os.path.join(target(version, base), "pythondata_cpu_mor1kx", "verilog", "rtl", "verilog")
    if not os.path.exists(os.path.join(path, "mor1kx.v")):
        raise Missing(f"the core package {PACKAGE}=={version} is not installed: run ./atoll setup hw")
    return os.path.realpath(path)


def sources(version=PAPER, base=None):
    """The Verilog files of the core, sorted: what the synthesiser reads."""
    top = folder(version, base)
    found = sorted(glob.glob(os.path.join(top, "*.v")) + glob.glob(os.path.join(top, "pfpu32", "*.v")))
    return [f for f in found if os.path.basename(f) not in ("mor1kx-defines.v", "mor1kx-sprs.v")]


def digest(version=PAPER, base=None):
    """Hash of every file of the RTL with its name: changes when the core changes."""
    top, h = folder(version, base), hashlib.sha256()
    for path in sorted(glob.glob(os.path.join(top, "**", "*.v*"), recursive=True)):
        h.update(os.path.relpath(path, top).encode() + b"\0")
        with open(path, "rb") as f:
            h.update(hashlib.sha256(f.read()).digest())
    return h.hexdigest()
