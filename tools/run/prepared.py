# SPDX-License-Identifier: MIT
"""Prepared starts: what `run` found out, kept under build/start for tools/start, which starts the
same again without Python.

A start hangs on files that must be the same (by device, inode, size and times) and on sources older
than what was built from them. Programs are not kept, only named: they are read when the machine
starts. Whoever reads a file and asks for its identity later may have read another version only if
it changed just now: a file that did is a reason not to keep the start. The format is told in
tools/start/prepared.c.
"""

import os
import sys
import time

import builder
import machine as machines
from ui import BUILD, ROOT

FOLDER = os.path.join(BUILD, "start")
STARTER = os.path.join(BUILD, "hosted", "atoll-start")
FORMAT = "atoll-start 1"
SETTLED_NS = 2_000_000_000	# as coarse as a file system's times may be
KEPT = 256


class Unsettled(Exception):
    """A file has changed so lately that its times do not yet tell one version from the next."""


def key(folder, args):
    """The name of a start: FNV-1a over folder and arguments, each with its NUL."""
    h = 0xcbf29ce484222325
    for byte in b"".join(os.fsencode(t) + b"\0" for t in [folder, *args]):
        h = (h ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return f"{h:016x}"


def identity(path, before_ns):
    """A file as it is, as text; it must have been so since `before_ns`."""
    try:
        s = os.stat(path)
    except OSError:
        return "-"
    if max(s.st_mtime_ns, s.st_ctime_ns) >= before_ns:
        raise Unsettled(path)
    return f"{s.st_dev}.{s.st_ino}.{s.st_size}.{s.st_mtime_ns}.{s.st_ctime_ns}"


def tools():
    """The front command itself, as far as it is loaded."""
    loaded = [getattr(m, "__file__", None) for m in list(sys.modules.values())]
    return sorted(f for f in loaded if f
                  and f.startswith(os.path.join(ROOT, "tools") + os.sep)) + [os.path.join(ROOT, "atoll"), STARTER]


def hangs_on(machine, program):
    """Files that decide what `run` does, beside those in the archive."""
    import setup
    out = tools() + [os.path.join(BUILD, "hosted", ".built"), os.path.join(BUILD, "hosted", "atoll-host"), machine]
    out += [setup.stamp("run"), os.path.join(ROOT, setup.REQUIREMENTS["run"]), os.path.abspath(program)]
    if program.endswith(".c"):
        import wrapper
        out += wrapper.made_from(program, "hosted")
    return out


def archive_items(job, before_ns):
    """A job's archive in parts: bytes, and files by name."""
    _, image, offsets = job.made
    out, at = [], 0
    for name, data in job.members:
        if name in job.files:
            begin = offsets[name]
            out += [b"bytes", image[at:begin], b"file", os.fsencode(job.files[name]),
                    identity(job.files[name], before_ns).encode()]
            at = begin + len(data)
    return out + [b"bytes", image[at:]]


def _join(items):
    """Strings with their NUL; what follows "bytes" and "record" as number, NUL, bytes."""
    out, raw = b"", False
    for item in items:
        out += b"%d\0%s" % (len(item), item) if raw else item + b"\0"
        raw = item in (b"bytes", b"record") and not raw
    return out


def describe(args, o, job, before_ns):
    """The file's content for a `run` of some arguments and the job that has been made of it."""
    machine = machines.path_of(o.machine)
    head = [FORMAT, ROOT, os.getcwd(), len(os.sched_getaffinity(0)), len(args), *args,
            os.path.join(BUILD, "hosted", "atoll-host"), sys.executable,
            job.reader, max(1, int(o.timeout * 1000)) if o.timeout else 0]
    items = [os.fsencode(str(x)) for x in head]
    for path in dict.fromkeys(hangs_on(os.path.abspath(machine), o.program)):
        items += [b"unchanged", os.fsencode(path), identity(path, before_ns).encode()]
    built = os.stat(os.path.join(BUILD, "hosted", ".built")).st_mtime_ns
    sources = builder.sources()
    items += [b"older", b"%d" % built, b"%d" % len(sources), *map(os.fsencode, sources)]
    items += [b"record", job.made[0]] + archive_items(job, before_ns)
    return _join(items + [b"end"])


def is_plain(o):
    """Is this a run that the quick start can do?"""
    return o.port == "hosted" and o.ranks == "thread" and not (o.keep or o.verbose or o.trace) and \
        os.path.exists(STARTER)


def _prune():
    """Forget the oldest half if there are many."""
    found = sorted((e.stat().st_mtime_ns, e.path) for e in os.scandir(FOLDER))
    for _, path in found[:-KEPT // 2] if len(found) > KEPT else ():
        os.unlink(path)


def keep(args, o, job, before_ns):
    """Write the start of a run that has just been made; what hinders only costs speed.
    `before_ns`: when nothing had been read yet.
    """
    try:
        text = describe(args, o, job, before_ns)
        os.makedirs(FOLDER, exist_ok=True)
        path = os.path.join(FOLDER, key(os.getcwd(), args))
        with open(f"{path}.{os.getpid()}", "wb") as f:
            f.write(text)
        os.replace(f.name, path)
        _prune()
    except (Unsettled, OSError):
        return False
    return True


def keeper(args, o, settled_ns=SETTLED_NS):
    """What launch.run shall do with a job that it has started, or None.
    To be asked before anything is read.
    """
    before_ns = time.time_ns() - settled_ns
    return (lambda job: keep(args, o, job, before_ns)) if is_plain(o) else None


def adopt(argv):
    """We were the quick start: go on with the machine that it has started.
    argv: its process, since when (ns), the pipe of its feed or -1, then run's.
    """
    import launch
    import run
    if argv[3:4] != ["run"]:
        return 2
    o = run.parse(argv[4:])
    job = launch.Job(None, o.port, [])
    job.timeout_s = o.timeout
    return launch.watch(job, launch.Started(int(argv[0]), int(argv[1]) / 1e9, int(argv[2])))
