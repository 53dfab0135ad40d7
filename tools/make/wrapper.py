# SPDX-License-Identifier: MIT
"""./atoll mpicc and cc: the compiler with our headers and libraries, as compiler wrappers behave;
and the compile cache of `run`.
"""

import os
import sys

import builder
from ui import BUILD, ROOT, Failure, check_port, take_value

HELP = """usage: ./atoll {name} [--port hosted|riscv64] [COMPILER OPTION...] FILE...

Compiles and links {what}; static, position-independent, with its own libc. Every option of the compiler works.

  --port P               hosted (default) or riscv64
  -show                  print the whole command and do nothing
  -showme:compile, -show-compile-info     only what compiling adds
  -showme:link, -show-link-info           only what linking adds
"""

TARGETS = {"hosted": "x86_64-linux-musl", "riscv64": "riscv64-linux-musl"}
INPUTS = (".c", ".o", ".a", ".s", ".S", ".i", ".so")
OUTPUTS = ("-o", "-MF", "-MT", "-MQ", "-Xlinker", "-soname")	# what follows them is no input
NO_LINK = ("-c", "-E", "-S", "-M", "-MM", "-fsyntax-only")


def compile_flags(port):
    """What compiling needs."""
    return ["-target", TARGETS[port], "-fPIE", "-fno-sanitize=undefined", "-fno-omit-frame-pointer",
            "-I" + os.path.join(BUILD, port, "include")]


def link_flags(port, mpi=True):
    """What linking adds, after the user's own."""
    lib = os.path.join(BUILD, port, "lib")
    names = ["libmpi_abi.a"] * mpi + ["libatoll.a"]
    # the stack size in the program is what its libc gives to further threads
    return ["-pie", "-static", "-Wl,-z,stack-size=131072"] + [os.path.join(lib, n) for n in names] + ["-lm"]


def command(argv, port, mpi=True):
    """The compiler's command line for the user's arguments."""
    import setup
    out = [setup.zig(), "cc"] + compile_flags(port)
    if not any(a.startswith("-O") for a in argv):
        out.append("-O2")
    out += argv
    if not any(a in NO_LINK for a in argv) and any(not a.startswith("-") for a in argv):
        out += link_flags(port, mpi)
    return out


def _split(argv):
    """Take our own options out. Returns (port, what to show or None, the rest)."""
    port, show, rest, i = "hosted", None, [], 0
    while i < len(argv):
        a = argv[i]
        if a == "--port" or a.startswith("--port="):
            port, i = take_value(argv, i, "--port")
            continue
        if a in ("-show", "-showme", "--showme", "-compile-info", "-link-info"):
            show = "all" if "info" not in a else a[1:].split("-")[0]
        elif a in ("-showme:compile", "--showme:compile", "-show-compile-info"):
            show = "compile"
        elif a in ("-showme:link", "--showme:link", "-show-link-info"):
            show = "link"
        else:
            rest.append(a)
        i += 1
    return check_port(port), show, rest


def main(argv, name):
    """Becomes the compiler; returns only for -show and --help."""
    mpi = name == "mpicc"
    if not argv or argv[0] in ("-h", "--help"):
        print(HELP.format(name=name, what="an MPI program" if mpi else "a program without MPI"), end="")
        return 0 if argv else 2
    port, show, rest = _split(argv)
    if show is None or show == "all":
        import setup
        setup.ensure("run")
        line = command(rest, port, mpi)
    if show:
        import shlex
        part = {"all": lambda: line, "compile": lambda: compile_flags(port),
                "link": lambda: link_flags(port, mpi)}[show]()
        print(shlex.join(part))
        return 0
    check_inputs(rest)
    ensure_libraries(port)
    sys.stdout.flush()
    os.execv(line[0], line)


def check_inputs(args):
    """The compiler's own words about a file that is not there are hard to understand."""
    for before, a in zip([""] + args, args):
        if a.endswith(INPUTS) and a[0] != "-" and before not in OUTPUTS and not os.path.exists(a):
            raise Failure(f"{a}: no such file")


def ensure_libraries(port):
    """Headers and libraries of a port are there and current."""
    if not builder.is_current(port):
        builder.make(port, ("libs",))


def freestanding(source):
    """Compile one C source for `run` on or1k, which has no libc: kernel calls, <atoll/...> and the
    compiler's own headers. Returns the program.
    """
    import subprocess
    out = os.path.join(BUILD, "or1k", "cache-" + os.path.basename(source)[:-2])
    if subprocess.run(["make", "-C", ROOT, "-s", "PORT=or1k", "freestanding",
                       f"SOURCE={os.path.abspath(source)}", f"PROGRAM={out}"],
                      stdin=subprocess.DEVNULL, check=False).returncode:
        raise Failure(f"{source} does not compile; the compiler's words are above")
    return out


def _digest(path):
    import hashlib
    try:
        with open(path, "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()
    except OSError:
        return None


def _fresh(deps_file):
    """True if every file that the cached program was made from still has its content."""
    try:
        with open(deps_file, encoding="utf-8") as f:
            lines = [line.rstrip("\n").split(" ", 1) for line in f]
    except OSError:
        return False
    return bool(lines) and all(_digest(path) == digest for digest, path in lines)


def made_from(source, port):
    """Every file that decides what cached() says: what it keeps, and what the program was made
    from.
    """
    folder = _folder(source, port)
    deps = os.path.join(folder, "deps")
    with open(deps, encoding="utf-8") as f:
        return [os.path.join(folder, "program"), deps] + [line.rstrip("\n").split(" ", 1)[1] for line in f]


def _folder(source, port):
    import hashlib
    key = hashlib.sha256(f"{port}\n{os.path.realpath(source)}".encode()).hexdigest()[:20]
    return os.path.join(BUILD, "cache", key)


def _read_deps(path):
    """Files named by a compiler's dependency file."""
    with open(path, encoding="utf-8") as f:
        text = f.read().replace("\\\n", " ")
    return [p for p in text.split(":", 1)[1].split() if p]


def cached(source, port):
    """Compile one C source for `run`, or find it compiled.
    Keyed by path and content of everything it includes. Returns the program.
    """
    real, folder = os.path.realpath(source), _folder(source, port)
    out, deps = os.path.join(folder, "program"), os.path.join(folder, "deps")
    if os.path.exists(out) and _fresh(deps):
        return out
    import subprocess
    os.makedirs(folder, exist_ok=True)
    temp = f"{out}.{os.getpid()}"
    line = command(["-g", "-MMD", "-MF", temp + ".d", "-o", temp, source], port)
    # before they are read: another build may replace them
    libraries = {f: _digest(f) for f in link_flags(port) if f.endswith(".a")}
    p = subprocess.run(line, stdin=subprocess.DEVNULL)
    if p.returncode:
        raise Failure(f"{source} does not compile; the compiler's words are above")
    digests = {f: _digest(f) for f in [real] + _read_deps(temp + ".d")} | libraries
    with open(temp + ".deps", "w", encoding="utf-8") as f:
        f.writelines(f"{digest} {os.path.abspath(path)}\n" for path, digest in digests.items())
    os.replace(temp, out)
    os.replace(temp + ".deps", deps)
    os.unlink(temp + ".d")
    return out


