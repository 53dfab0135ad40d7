# SPDX-License-Identifier: MIT
"""Build a port with make, only if a source is newer than the last build.

Two marks in build/PORT say since when what is current: `.built` what runs programs (kernel,
servers, libraries) and every program that is in bin/, `.whole` everything. Nobody needs the lock
who finds what he needs current.
"""

import os
import sys

from lock import Lock
from ui import BUILD, ROOT, Failure, Steps, Usage, check_port, say

SOURCES = ("abi", "base", "hal", "kernel", "user", "servers", "mpi", "apps", "bench", "mk",
           "tests/mpi", "tests/hal", "tools/start")
FILES = ("Makefile", "tools/kcallgen.py", "tools/kcalltext.py")
HELP = {"build": "usage: ./atoll build [PORT...]\n\n"
                 "Builds ports, hosted and riscv64 if none is named: kernel, servers, libraries, programs.\n",
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


def is_current(port, whole=False):
    """True if what runs programs of the port, or the whole port, was built after the last change of
    a source.
    """
    try:
        made = os.stat(os.path.join(BUILD, port, ".whole" if whole else ".built")).st_mtime_ns
    except OSError:
        return False
    if any(os.path.exists(os.path.join(ROOT, f)) and os.stat(os.path.join(ROOT, f)).st_mtime_ns > made for f in FILES):
        return False
    return not any(newest(os.path.join(ROOT, d), made) for d in SOURCES)


def mark(port, started_ns, whole):
    """Note that a build that began at `started_ns` has ended well."""
    for name in (".built", ".whole")[:1 + whole]:
        path = os.path.join(BUILD, port, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        part = f"{path}.{os.getpid()}"
        open(part, "w").close()
        os.utime(part, ns=(started_ns, started_ns))
        os.replace(part, path)


def lock(what, variables=()):
    """The lock of the folder that a build writes: build/, or what BUILD=...
    in the variables of make names.
    """
    folder = next((os.path.join(ROOT, v[len("BUILD="):]) for v in variables if v.startswith("BUILD=")), BUILD)
    return Lock(os.path.join(folder, ".lock"), what)


def command(port, targets, variables, more=()):
    """make's command line."""
    return ["make", "-C", ROOT, "--no-print-directory", *more, f"PORT={port}", *variables, *targets]


def _environment():
    return {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}


def is_step(line):
    """Does make begin a step with this line?"""
    return line.startswith("  ") and line[2:4].isupper()


def count_steps(port, targets, variables):
    """How many steps make would take now."""
    import subprocess
    out = subprocess.run(command(port, targets, variables, ["-n", "-k"]), env=_environment(),
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, errors="replace").stdout
    return sum(line.startswith("printf '  %-6s %s") for line in out.splitlines())


class Build:
    """One make: run() shows its progress and returns its status; `words` is what the compilers
    said.
    """

    def __init__(self, port, targets=(), variables=(), jobs=0, keep_going=False):
        self.port, self.targets, self.variables = port, targets, variables
        self.more = [f"-j{jobs or len(os.sched_getaffinity(0))}"] + ["-k"] * keep_going
        self.steps, self.words = None, []

    def run(self, hold, quiet=False):
        """Build, with the lock `hold`; whatever interrupts us ends everything that make has
        started.
        """
        import signal
        import subprocess
        total = 0 if quiet else count_steps(self.port, self.targets, self.variables)
        p = subprocess.Popen(command(self.port, self.targets, self.variables, self.more),
                             env=_environment(), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", process_group=0)
        try:
            for line in p.stdout:
                self._line(line, total, hold)
            status = p.wait()
        except BaseException:
            try:
                os.killpg(p.pid, signal.SIGTERM)	# make then removes what it has half made
            except ProcessLookupError:
                pass
            p.wait()
            raise
        if self.steps:
            self.steps.end("done" if status == 0 else "failed")
        return status

    def _line(self, line, total, hold):
        if not is_step(line):
            self.words.append(line)
        elif total:
            self.steps = self.steps or Steps(f"building {self.port}", total)
            self.steps.step(line.strip())
            hold.tell(f"building {self.port} ({self.steps.done} of {self.steps.total} steps)")


def make(port, targets=(), variables=(), quiet=False):
    """Run make for a port; shows progress, and the compiler's words only if it fails."""
    with lock(f"building {port}", variables) as hold:
        _make(port, targets, variables, hold, quiet)


def _make(port, targets, variables, hold, quiet=False):
    import time
    started, build = time.time_ns(), Build(port, targets, variables)
    if build.run(hold, quiet):
        sys.stderr.write("".join(build.words[-60:]))
        raise Failure(f"the {port} port does not build; the compiler's words are above")
    if not targets:
        mark(port, started, True)


def ensure(port):
    """Set up and build a whole port if needed."""
    import setup
    setup.ensure(port if port in setup.NEEDS else "run")
    if not is_current(port, True):
        make(port)


def program_path(port, name):
    """Where a program of ours is built."""
    return os.path.join(BUILD, port, "bin", name)


def has_programs(port, names):
    """True if a port can run now, and has these programs of ours, all current."""
    return is_current(port) and all(os.path.exists(program_path(port, n)) for n in names)


def ensure_run(port, names=()):
    """Set up and build what runs programs of a port, and these programs of ours.
    Those that were built before are kept current, too.
    """
    import setup
    import time
    setup.ensure(port if port in setup.NEEDS else "run")
    if has_programs(port, names):
        return
    with lock(f"building {port}") as hold:
        if hold.waited and has_programs(port, names):
            return
        import programs
        there = [n for n in programs.names(port) if n in names or os.path.exists(program_path(port, n))]
        started = time.time_ns()
        _make(port, ("run", *(os.path.relpath(program_path(port, n), ROOT) for n in there)), (), hold)
        mark(port, started, False)


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
