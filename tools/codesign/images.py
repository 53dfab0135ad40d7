# SPDX-License-Identifier: MIT
"""What the kept cycles were measured on, kept beside them: hw/results/images/study.tar.xz, with its
checksum in study.json.

kernels/NAME.o      a kernel of the study in one relocatable file; kernels/NAME.ld its own order of
                    functions, if it has one
caches/NAME.o       the same for data caches that nobody keeps coherent
kernel.ld           how they are linked
jobs/NAME/          what lies in the memory beside the kernel: boot record and archive with the
                    program, and job.json, which says where
text/PORT-PART.o    the code of the portable kernel and of its hardware layer, per port: what instructions.csv counts

So a kept run can be run again, and more of them, whatever the kernel of the tree has become.
Nothing here depends on the tree but the linker, the simulator and the RTL.
"""

import functools
import hashlib
import io
import json
import lzma
import os
import tarfile

from codesign import kept, rtl

FOLDER = os.path.join(rtl.ROOT, "hw", "results", "images")
PATH = os.path.join(FOLDER, "study.tar.xz")
UNPACKED = os.path.join(rtl.ROOT, "build", "codesign", "study")


def digest(members):
    """Hash of names and contents."""
    h = hashlib.sha256()
    for name in sorted(members):
        h.update(f"{name}\0{len(members[name])}\0".encode() + members[name])
    return h.hexdigest()


def pack(members):
    """The archive's bytes: the same for the same members."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(members):
            info = tarfile.TarInfo(name)
            info.size = len(members[name])
            tar.addfile(info, io.BytesIO(members[name]))
    return lzma.compress(out.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def parse(data):
    """{name: bytes} of an archive; Damaged if it is none."""
    try:
        with tarfile.open(fileobj=io.BytesIO(lzma.decompress(data))) as tar:
            return {m.name: tar.extractfile(m).read() for m in tar if m.isfile()}
    except (lzma.LZMAError, tarfile.TarError, EOFError) as e:
        raise kept.Damaged(f"no archive of images: {e}") from None


def write(members, about, path=PATH):
    """Keep members with what is known of them."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    data = pack(members)
    with open(path, "wb") as f:
        f.write(data)
    about = {"members": digest(members), **about}
    with open(about_path(path), "w", encoding="utf-8") as f:
        json.dump(about, f, indent=1)
        f.write("\n")


def about_path(path):
    """The file beside an archive."""
    return path.removesuffix(".tar.xz") + ".json"


def about(path=PATH):
    """What is known of the archive: {"members": hash, "linker", "rooms"}; {} if there is none."""
    if not os.path.exists(about_path(path)):
        return {}
    with open(about_path(path), encoding="utf-8") as f:
        return json.load(f)


@functools.lru_cache(maxsize=2)
def read(path=PATH):
    """{name: bytes}, checked; Damaged if the checksum does not fit."""
    try:
        with open(path, "rb") as f:
            members = parse(f.read())
    except FileNotFoundError:
        raise kept.Damaged(f"{os.path.relpath(path, rtl.ROOT)} is missing: tools/codesign/freeze.py makes it") from None
    if digest(members) != about(path).get("members"):
        raise kept.Damaged(f"{os.path.relpath(path, rtl.ROOT)}: its contents do not fit the "
                           f"checksum in {os.path.basename(about_path(path))}")
    return members


def folder(path=PATH, base=UNPACKED):
    """The members as files, in a folder of their hash."""
    members = read(path)
    target = os.path.join(base, digest(members)[:16])
    if not os.path.exists(os.path.join(target, ".whole")):
        for name, data in members.items():
            place = os.path.join(target, name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(f"{place}.{os.getpid()}", "wb") as f:
                f.write(data)
            os.replace(f.name, place)
        with open(os.path.join(target, ".whole"), "w", encoding="ascii"):
            pass
    return target
