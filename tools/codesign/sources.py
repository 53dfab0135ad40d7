# SPDX-License-Identifier: MIT
"""What measured cycles depend on, as hashes.

source  decides: the RTL of the cluster and of the core, the simulator's version, the kernel images of all set-ups and the benchmarks' program, as they
        are loaded, and its command line. A commit that changes none of these leaves it as it is.
rooms   is quick to compute, without a compiler: a hash of the text (without comments) of each folder that an image or the cluster is made of. If all
        are equal, so is the source; if one differs, only a build tells.
"""

import hashlib
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import elf  # noqa: E402
from codesign import rtl  # noqa: E402
from rtl import build  # noqa: E402

ROOMS = ("abi", "base", "hal/include", "hal/cpu/or1k", "hal/noc", "hal/board/or1k", "kernel", "user", "bench/synth", "mk", "Makefile")
CODE = (".c", ".h", ".S", ".sv", ".v", ".ld", ".vlt")
HEADER = 52                     # bytes of a 32-bit ELF file
CLUSTER = "hw/rtl"              # of this room only the cluster's own files count
OTHERS = re.compile(r"/(hosted|riscv64|coroutine|personality|libc|boot)/")     # what or1k does not build
COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def image(path):
    """Hash of what is loaded of an ELF file: neither symbols nor paths of the build, and not the file's header, which says how long those are."""
    h, found = hashlib.sha256(), elf.read(path)
    data = bytes(HEADER) + found.data[HEADER:]
    for s in found.segments:
        h.update(f"{s.vaddr:x} {s.mem_bytes:x} ".encode() + data[s.offset:s.offset + s.file_bytes])
    return h.hexdigest()


def source(images, words):
    """The source of rows: 16 digits. `images` are the ELF files of the kernels and the program, `words` its command line."""
    return build.digest([rtl.digest(), build.VERSION, *map(image, images), *words, *map(_text, build.cluster_sources())], [])


def _text(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    if path.endswith(CODE):
        text = COMMENTS.sub(" ", text)
    else:
        text = re.sub(r"(?m)^#.*$", "", text)
    return " ".join(text.split())


def _files(path):
    if os.path.isfile(path):
        return [path]
    found = sorted(os.path.join(d, n) for d, _, names in os.walk(path) for n in names if not n.endswith((".pyc", "_test.c", ".md")))
    return [p for p in found if not OTHERS.search(p)]


def rooms(root=rtl.ROOT, cluster=None):
    """{room: hash of its text}."""
    found = {room: _files(os.path.join(root, room)) for room in ROOMS}
    found[CLUSTER] = build.cluster_sources() if cluster is None else cluster
    out = {}
    for room, paths in found.items():
        h = hashlib.sha256()
        for path in paths:
            h.update(os.path.relpath(path, root).encode() + b"\0" + _text(path).encode() + b"\0")
        out[room] = h.hexdigest()[:12]
    return out


def changed(kept, now):
    """The rooms whose text differs, in words; "" for none."""
    return ", ".join(r for r in now if kept.get(r) != now[r])
