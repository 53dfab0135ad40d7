# SPDX-License-Identifier: MIT
"""Build a port with make, only if a source is newer than the last build."""

import os
import sys

from ui import BUILD, ROOT, Failure, Steps, Usage, check_port, say

SOURCES = ("abi", "base", "hal", "kernel", "user", "servers", "mpi", "apps", "bench", "mk", "tests/mpi", "tests/hal", "tools/start")
FILES = ("Makefile", "tools/kcallgen.py", "tools/kcalltext.py")
HELP = {"build": "usage: ./atoll build [PORT...]\n\nBuilds ports, hosted and riscv64 if none is named: kernel, servers, libraries, programs.\n",
        "clean": "usage: ./atoll clean\n\nRemoves build/ with everything that was built; what was installed stays.\n"}
ALL_PORTS = ("hosted", "riscv64", "coroutine", "process", "unit", "or1k")


def newest(path, limit):
    """True if the folder or anything below it changed after `limit` (nanoseconds)."""
    try:
        if os.stat(path).st_mtime_ns > limit:
            return True
        with os.scandir(path) as entries:
            for e in entries:
                if e.is_dir(follow_symlinks=False):
                    if e.name != "__pycache__" and newest(e.path, limit):
                        return True
                elif e.stat(follow_symlinks=False).st_mtime_ns > limit:
                    return True
    except OSError:
        pass
    return False


def sources():
    """Every file and folder that newest() looks at, relative to the tree."""
    out = [f for f in FILES if os.path.exists(os.path.join(ROOT, f))]
    for room in SOURCES:
        for folder, dirs, names in os.walk(os.path.join(ROOT, room)):
            dirs[:] = [d for d in dirs if d != "__pycache__"]
            out += [os.path.relpath(os.path.join(folder, n), ROOT) for n in [".", *names]]
    return out


def is_current(port):
    """True if the port was built after the last change of a source."""
    try:
        made = os.stat(os.path.join(BUILD, port, ".built")).st_mtime_ns
    except OSError:
        return False
    if any(os.path.exists(os.path.join(ROOT, f)) and os.stat(os.path.join(ROOT, f)).st_mtime_ns > made for f in FILES):
        return False
    return not any(newest(os.path.join(ROOT, d), made) for d in SOURCES)


class Lock:
    """One build of this tree at a time, or of one thing in it: another one waits."""

    def __init__(self, name=""):
        self.name = name

    def __enter__(self):
        import fcntl
        os.makedirs(BUILD, exist_ok=True)
        self.file = open(os.path.join(BUILD, f".lock{self.name}"), "w", encoding="ascii")
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *what):
        self.file.close()


def make(port, targets=(), variables=(), quiet=False):
    """Run make for a port; shows progress, and the compiler's words only if it fails."""
    with Lock():
        _make(port, targets, variables, quiet)


def _make(port, targets, variables, quiet):
    import subprocess
    import time
    started = time.time_ns()
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    argv = ["make", "-C", ROOT, "--no-print-directory", f"-j{len(os.sched_getaffinity(0))}", f"PORT={port}", *variables, *targets]
    p = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    steps, words = None, []
    try:
        for line in p.stdout:
            tool = line[2:8].rstrip()
            if line.startswith("  ") and tool.isupper():
                if steps is None and not quiet:
                    steps = Steps(f"building {port}")
                if steps:
                    steps.step(line.strip())
            else:
                words.append(line)
        status = p.wait()
    except BaseException:
        p.terminate()
        p.wait()
        raise
    if steps:
        steps.end("done" if status == 0 else "failed")
    if status:
        sys.stderr.write("".join(words[-60:]))
        raise Failure(f"the {port} port does not build; the compiler's words are above")
    if not targets:
        mark = os.path.join(BUILD, port, ".built")
        os.makedirs(os.path.dirname(mark), exist_ok=True)
        open(mark, "w").close()
        os.utime(mark, ns=(started, started))


def ensure(port):
    """Set up and build a port if needed."""
    import setup
    setup.ensure(port if port in setup.NEEDS else "run")
    if not is_current(port):
        make(port)


def main(argv, name):
    """./atoll build [PORT...] and ./atoll clean."""
    if argv and argv[0] in ("-h", "--help"):
        print(HELP[name], end="")
        return 0
    if name == "clean":
        import shutil
        if argv:
            raise Usage("usage: ./atoll clean")
        shutil.rmtree(BUILD, ignore_errors=True)
        say("removed build/")
        return 0
    for port in argv or ("hosted", "riscv64"):
        check_port(port, ALL_PORTS)
        if port in ("hosted", "riscv64", "or1k"):
            import setup
            setup.ensure(port if port in setup.NEEDS else "run")
        make(port)
    return 0
