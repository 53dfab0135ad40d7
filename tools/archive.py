# SPDX-License-Identifier: MIT
"""Write and read a boot archive: a cpio "newc" image. Standard library only.

Every cluster reads it in place, so file data starts on a page boundary where a name can be padded
for it: a loader may then map text straight from the archive. (The name field of cpio newc may end
in any number of zero bytes.)
"""

ALIGN = 4096
TRAILER = "TRAILER!!!"
LINK = 0o120777
LINK_LEAST = 256		# bytes of what is worth a link


class ArchiveError(Exception):
    """A member that cannot be stored, or a damaged archive."""


def _header(mode, size, namesize, ino):
    fields = (ino, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, namesize, 0)
    return b"070701" + b"".join(b"%08X" % f for f in fields)


def _member(at, name, data, mode, ino, align):
    """Bytes of one member that starts at offset `at` of the archive."""
    raw = name.encode() + b"\0"
    head = 110
    end = at + head + len(raw)
    if align:
        raw += b"\0" * (-end % ALIGN)
    else:
        raw += b"\0" * (-end % 4)
    namesize = len(raw)
    out = _header(mode, len(data), namesize, ino) + raw + data
    return out + b"\0" * (-len(out) % 4), at + head + namesize


def pack(members):
    """Make an archive of (name, bytes) pairs.
    Returns its bytes and a dict name -> offset of the data. What comes under several names is stored
    once: the others are symbolic links.
    """
    parts, offsets, first, at = [], {}, {}, 0
    for ino, (name, data) in enumerate(members, 1):
        if name in offsets:
            raise ArchiveError(f"{name} is twice in the boot archive")
        if not name or name.startswith("/") or name == TRAILER or "\0" in name:
            raise ArchiveError(f"'{name}' cannot be a name in the boot archive")
        known = first.setdefault(data, name) if len(data) > LINK_LEAST else name
        if known != name:
            part, offsets[name] = _member(at, name, b"/" + known.encode(), LINK, ino, False)[0], offsets[known]
        else:
            part, offsets[name] = _member(at, name, data, 0o100755, ino, data[:4] == b"\x7fELF")
        parts.append(part)
        at += len(part)
    parts.append(_member(at, TRAILER, b"", 0, 0, False)[0])
    return b"".join(parts), offsets


def unpack(image):
    """Return the (name, bytes) pairs of an archive."""
    out, at = [], 0
    while True:
        if image[at:at + 6] != b"070701" or len(image) < at + 110:
            raise ArchiveError(f"no cpio newc header at offset {at}")
        mode, size, namesize = (int(image[at + i:at + i + 8], 16) for i in (14, 54, 94))
        name = image[at + 110:at + 110 + namesize].split(b"\0")[0].decode()
        data = at + 110 + namesize
        data += -data % 4
        if name == TRAILER:
            return out
        if data + size > len(image):
            raise ArchiveError(f"{name} is cut short")
        content = image[data:data + size]
        out.append((name, dict(out)[content[1:].decode()] if mode == LINK else content))
        at = data + size + (-(data + size) % 4)


def job_text(program, ranks, policy, args=(), env=(), places=()):
    """The text of etc/job: one `key value` per line, after a line that says how many line ends the
    value has if there are any.

    `places`: (cluster, first application core, number of them, bytes of memory) for each cluster
    that takes ranks.
    """
    lines = [("program", program), ("ranks", str(ranks)), ("map", policy)]
    lines += [("cluster", " ".join(map(str, place))) for place in places]
    lines += [("arg", a) for a in args] + [("env", e) for e in env]
    for key, value in lines:
        if "\0" in value:
            raise ArchiveError(f"a zero byte in {key} {value!r} cannot be passed to a program")
    return "".join((f"ends {n}\n" if (n := v.count("\n")) else "") + f"{k} {v}\n" for k, v in lines).encode()


def limits_text(limit, repeat, may=(), only=None):
    """More lines of etc/job: the most of each kind that it may have in a cluster, how often it is
    run, what else it may do, and the place, as in job_text, of the cluster that all its ranks are in.
    """
    lines = [f"only {' '.join(map(str, only))}\n"] if only else []
    lines += [f"limit {kind} {most}\n" for kind, most in sorted(limit.items())]
    lines += [f"repeat {repeat}\n"] * (repeat > 1)
    return "".join(lines + [f"may {what}\n" for what in may]).encode()
