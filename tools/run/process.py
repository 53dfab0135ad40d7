# SPDX-License-Identifier: MIT
"""./atoll run --ranks process: the program as ordinary Linux processes under our mpiexec, with
libmpi_abi.so.1.
"""

import os
import subprocess
import time

import install
from ui import BUILD, ROOT, Usage, say

KNOWN = ("apps", "bench")


def source_named(name):
    """The source of one of our programs, or None."""
    for room in KNOWN:
        for folder, _, names in os.walk(os.path.join(ROOT, room)):
            if f"{name}.c" in names:
                return os.path.join(folder, f"{name}.c")
    return None


def compile_program(source, prefix):
    """Compile a C source with the other sources of its folder that belong to it; keyed by its path.
    Returns the program.
    """
    import hashlib
    real = os.path.realpath(source)
    folder = os.path.join(BUILD, "cache", "process-" + hashlib.sha256(real.encode()).hexdigest()[:20])
    out, deps = os.path.join(folder, "program"), os.path.join(folder, "program.d")
    if _is_fresh(out, deps):
        return out
    os.makedirs(folder, exist_ok=True)
    temp, started = f"{out}.{os.getpid()}", time.time_ns()
    p = subprocess.run([os.path.join(prefix, "bin", "mpicc"), "-g", "-O2", "-MMD", "-MF", deps,
                        "-o", temp, source, "-lm"], stdin=subprocess.DEVNULL)
    if p.returncode:
        raise Usage(f"{source} does not compile; the compiler's words are above")
    os.utime(temp, ns=(started, started))	# what changed since was perhaps not read
    os.replace(temp, out)
    return out


def _is_fresh(out, deps):
    try:
        made = os.stat(out).st_mtime_ns
        with open(deps, encoding="utf-8") as f:
            names = f.read().replace("\\\n", " ").split(":", 1)[1].split()
        return all(os.stat(n).st_mtime_ns < made for n in names)
    except (OSError, IndexError):
        return False


def find_program(name, prefix):
    """What to run for a .c file, one of our names, a path or a command."""
    if name.endswith(".c"):
        if not os.path.isfile(name):
            raise Usage(f"{name}: no such file")
        return compile_program(name, prefix)
    if "/" in name or os.path.exists(name):
        return os.path.abspath(name)
    source = source_named(name)
    return compile_program(source, prefix) if source else name


def check(o):
    """Options that make no sense here."""
    for given, option in ((o.port != "hosted", "--port riscv64"), (o.machine, "--machine"),
                          (o.icount, "--icount"), (o.count, "--count"),
                          (o.keep, "--keep"), (o.file, "--file"), (o.map != "compact", "--map scatter"),
                          (o.cluster is not None, "--cluster"), (o.channels is not None, "--channels")):
        if given:
            raise Usage(f"{option} is for ranks that are threads, not for --ranks process")


def run(o):
    """Run a job; its exit status, or 124 if it took too long (after a dump of what every rank
    does).
    """
    check(o)
    prefix = install.ensure()
    argv = [os.path.join(prefix, "bin", "mpiexec"), "-n", str(o.n)]
    for pair in o.env:
        argv += ["-x", pair]
    argv += ["--", find_program(o.program, prefix), *o.args]
    if not o.timeout:
        os.execv(argv[0], argv)
    p = subprocess.Popen(argv, process_group=0 if not os.isatty(0) else None)
    try:
        if os.environ.get("ATOLL_PATIENT"):
            import patience
            patience.communicate(p, o.timeout)
            return p.returncode
        return p.wait(o.timeout)
    except subprocess.TimeoutExpired:
        import dump
        say(f"no end after {o.timeout:g} s; what every process does:\n{dump.hosted(os.getpgid(p.pid))}")
    p.terminate()
    p.wait()
    return 124
