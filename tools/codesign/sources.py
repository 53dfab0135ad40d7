# SPDX-License-Identifier: MIT
"""What results depend on, as hashes of images and of texts.

image   what is loaded of an ELF file.
text    a source without comments, so that what is said about code does not matter.
rooms   a hash of the text of each folder that the or1k kernel and the cluster are made of: which of
        them changed since the study's images were kept.
"""

import hashlib
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import elf  # noqa: E402
from codesign import rtl  # noqa: E402
from rtl import build  # noqa: E402

ROOMS = ("abi", "base", "hal/include", "hal/cpu/or1k", "hal/noc", "hal/board/or1k", "kernel",
         "user", "bench/synth", "mk", "Makefile")
CODE = (".c", ".h", ".S", ".sv", ".v", ".ld", ".vlt", ".cpp")
HEADER = 52                     # bytes of a 32-bit ELF file
CLUSTER = "hw/rtl"              # of this room only the cluster's own files count
OTHERS = re.compile(r"/(hosted|riscv64|coroutine|personality|libc|boot)/")     # what or1k does not build
COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def image(path):
    """Hash of what is loaded of an ELF file: neither symbols nor paths of the build, and not the
    file's header, which says how long those are.
    """
    h, found = hashlib.sha256(), elf.read(path)
    data = bytes(HEADER) + found.data[HEADER:]
    for s in found.segments:
        h.update(f"{s.vaddr:x} {s.mem_bytes:x} ".encode() + data[s.offset:s.offset + s.file_bytes])
    return h.hexdigest()


def source(images, words):
    """The source of rows that are measured with images built from the tree: 16 digits.
    `images` are ELF files, `words` the program's command line.
    """
    return build.digest([rtl.digest(), build.VERSION, *map(image, images), *words,
                         *map(text, build.cluster_sources())], [])


def text(path):
    """A source file's text without comments and with single blanks."""
    with open(path, encoding="utf-8", errors="replace") as f:
        found = f.read()
    found = COMMENTS.sub(" ", found) if path.endswith(CODE) else re.sub(r"(?m)^#.*$", "", found)
    return " ".join(found.split())


def _files(path):
    if os.path.isfile(path):
        return [path]
    found = sorted(os.path.join(d, n) for d, _,
                   names in os.walk(path) for n in names if not n.endswith((".pyc", "_test.c", ".md")))
    return [p for p in found if not OTHERS.search(p)]


def rooms(root=rtl.ROOT, cluster=None):
    """{room: hash of its text}."""
    found = {room: _files(os.path.join(root, room)) for room in ROOMS}
    found[CLUSTER] = build.cluster_sources() if cluster is None else cluster
    out = {}
    for room, paths in found.items():
        h = hashlib.sha256()
        for path in paths:
            h.update(os.path.relpath(path, root).encode() + b"\0" + text(path).encode() + b"\0")
        out[room] = h.hexdigest()[:12]
    return out


def changed(kept, now):
    """The rooms whose text differs, in words; "" for none."""
    return ", ".join(r for r in now if kept.get(r) != now[r])
