# SPDX-License-Identifier: MIT
"""./atoll shell: a shell on the machine: dash, with the tools of toybox, both unmodified. The first
use gets their sources from Debian and builds them with our compiler wrapper, into build/shell.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request

import builder
import launch
import run
from lock import Lock
from ui import BUILD, ROOT, Failure, Usage, say, take_value

HELP = """usage: ./atoll shell [OPTION...] [-c COMMAND | SCRIPT [ARG...]]

Boots a riscv64 machine and starts a shell on it, dash, with the tools of toybox in /bin: what is
typed, or the commands of standard input, of COMMAND or of the file SCRIPT. The exit status is the
shell's. The first use builds both (about a minute; their sources are got from Debian).

mpiexec -n N PROGRAM runs N ranks of an MPI program on the machine's clusters; in /bin are hello, ring,
pi, fn, gf and km.

  --machine M          riscv-4x4 (default), or another one
  --file PATH[=NAME]   put a file there, as /NAME
  --program PATH[=NAME]  put a program there, as /bin/NAME: a C source, or what was built with
                       ./atoll mpicc --port riscv64; of a folder all its programs
  --env NAME=VALUE     an environment variable
  --timeout S          after S seconds print what every core does, stop, exit with 124
"""
FOLDER = os.path.join(BUILD, "shell")
MIRROR = "http://deb.debian.org/debian/pool/main/"
TARGET = "riscv64-linux-musl"
FETCH_TIMEOUT_S = 30
# name: path below the mirror, and the SHA-256 of what is there
SOURCES = {
    "dash": ("d/dash/dash_0.5.12.orig.tar.gz", "6a474ac46e8b0b32916c4c60df694c82058d3297d8b385b74508030ca4a8f28a"),
    "toybox": ("t/toybox/toybox_0.8.9+dfsg.orig.tar.xz",
               "16fb5967531e88ca33b8c9142376987617ebe52e34e2b3f3a779603674b7d07c"),
}
# what programs look users up in
ACCOUNTS = {"passwd": "root:x:0:0:root:/:/bin/sh\n", "group": "root:x:0:\n"}
VALUED = ("--machine", "--file", "--program", "--env", "--timeout")
# programs of ours that are there
OURS = ("mpiexec", "hello", "ring", "pi", "fn", "gf", "km")


def _digest(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def source(name):
    """The archive of a program's source, which is got when it is not there."""
    where, digest = SOURCES[name]
    path = os.path.join(FOLDER, os.path.basename(where))
    if os.path.exists(path) and _digest(path) == digest:
        return path
    say(f"getting the source of {name} from {MIRROR}{where}")
    part = path + ".part"
    try:
        with urllib.request.urlopen(MIRROR + where, timeout=FETCH_TIMEOUT_S) as got, open(part, "wb") as f:
            shutil.copyfileobj(got, f)
    except (urllib.error.URLError, OSError) as e:
        raise Failure(f"cannot get {MIRROR}{where}: {e}; "
                      f"a copy of it may be put into {os.path.relpath(FOLDER, ROOT)}") from None
    if _digest(part) != digest:
        raise Failure(f"{MIRROR}{where} is not what it should be: its SHA-256 is {_digest(part)}")
    os.replace(part, path)
    return path


def _call(argv, folder, what):
    p = subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, errors="replace", check=False)
    if p.returncode:
        raise Failure(f"{what} cannot be built: {p.stdout[-2000:]}")


def _compiler(folder):
    """A file that compiles as `./atoll cc` does: configuration scripts want one word."""
    path = os.path.join(folder, "cc")
    with open(path, "w", encoding="utf-8") as f:
        f.write(f'#!/bin/sh\nexec "{os.path.join(ROOT, "atoll")}" cc --port riscv64 "$@"\n')
    os.chmod(path, 0o755)
    return path


def _keep(path):
    """A program is in our folder whole or not at all, also where a read-only one is."""
    part = os.path.join(FOLDER, os.path.basename(path) + ".part")
    shutil.copyfile(path, part)
    os.chmod(part, 0o755)
    os.replace(part, os.path.join(FOLDER, os.path.basename(path)))


def _build_dash(folder, compiler):
    _call(["./configure", f"--host={TARGET}", f"CC={compiler}", "CC_FOR_BUILD=gcc", "CFLAGS=-Os", "LDFLAGS=-s",
           "--without-libedit", "-q"],
          folder, "dash")
    _call(["make", "-s", f"-j{os.cpu_count()}"], folder, "dash")
    _keep(os.path.join(folder, "src", "dash"))


def tools_of(config, table):
    """Names of the commands that a toybox was built with: of its configuration and its table."""
    chosen = set(re.findall(r"^CONFIG_(\w+)=y$", config, re.M))
    found = re.findall(r"^USE_(\w+)\((?:NEWTOY|OLDTOY)\(([^, ]+)", table, re.M)
    return sorted(name for symbol, name in found if symbol in chosen and name != "toybox")


def _build_toybox(folder, compiler):
    _call(["make", "-s", "defconfig"], folder, "toybox")
    _call(["make", "-s", f"-j{os.cpu_count()}", f"CC={compiler}", "HOSTCC=gcc", "CFLAGS=-Os", "NOSTRIP=1"],
          folder, "toybox")
    with open(os.path.join(folder, ".config"), encoding="utf-8") as f:
        config = f.read()
    with open(os.path.join(folder, "generated", "newtoys.h"), encoding="utf-8") as f:
        names = tools_of(config, f.read())
    with open(os.path.join(FOLDER, "toybox.tools"), "w", encoding="utf-8") as f:
        f.write("\n".join(names) + "\n")
    _keep(os.path.join(folder, "toybox"))


BUILDS = {"dash": _build_dash, "toybox": _build_toybox}


def _is_current(name):
    """Is a program there, linked with the library that is there now?"""
    path, library = os.path.join(FOLDER, name), os.path.join(BUILD, "riscv64", "lib", "libatoll.a")
    return os.path.exists(path) and os.stat(path).st_mtime_ns >= os.stat(library).st_mtime_ns


def ensure():
    """Build what is not there, or was linked with another library of ours."""
    os.makedirs(FOLDER, exist_ok=True)
    builder.ensure_run("riscv64", OURS)
    with Lock(os.path.join(FOLDER, ".lock"), "building the shell"):
        for name, text in ACCOUNTS.items():
            if not os.path.exists(os.path.join(FOLDER, name)):
                with open(os.path.join(FOLDER, name), "w", encoding="ascii") as f:
                    f.write(text)
        for name, build in BUILDS.items():
            if _is_current(name):
                continue
            path = source(name)
            say(f"building {name}")
            with tempfile.TemporaryDirectory(prefix="atoll-shell-") as folder:
                with tarfile.open(path) as tar:
                    tar.extractall(folder)
                inside, = os.listdir(folder)
                build(os.path.join(folder, inside), _compiler(folder))


def _is_program(path):
    with open(path, "rb") as f:
        return f.read(4) == b"\x7fELF"


def programs_of(spec):
    """(path, name) of each program that an option --program names."""
    path, _, name = spec.partition("=")
    if os.path.isdir(path):
        entries = (os.path.join(path, entry) for entry in sorted(os.listdir(path)))
        found = [(entry, os.path.basename(entry)) for entry in entries if os.path.isfile(entry) and _is_program(entry)]
        if name or not found:
            raise Usage(f"--program {spec}: a folder with programs, without a name for it")
        return found
    if not os.path.isfile(path):
        raise Usage(f"--program {path}: no such file")
    if path.endswith(".c"):
        import wrapper
        return [(wrapper.cached(path, "riscv64"), name or os.path.basename(path)[:-2])]
    with open(path, "rb") as f:
        launch.check_program(path, f.read(), "riscv64")
    return [(path, name or os.path.basename(path))]


def parse(argv):
    """(options for ./atoll run, the shell's arguments, files, programs)."""
    options, files, programs, i = [], [], [], 0
    machine = "riscv-4x4"
    while i < len(argv) and argv[i] != "-c" and argv[i].startswith("-"):
        option = argv[i].split("=", 1)[0]
        if option not in VALUED:
            raise Usage(f"unknown option '{argv[i]}': ./atoll shell --help lists them")
        value, i = take_value(argv, i, option)
        if option == "--machine":
            machine = value
        elif option == "--program":
            programs.append(value)
        else:
            options += [option, value]
    rest = argv[i:]
    if rest[:1] == ["-c"]:
        if len(rest) < 2:
            raise Usage("-c needs a command")
    elif rest:
        name = os.path.basename(rest[0])
        files, rest = [f"{rest[0]}={name}"], [name] + rest[1:]
    elif sys.stdin.isatty():
        rest = ["-i"]
    return ["--machine", machine, *options], rest, files, programs


def main(argv):
    """Exit status: the shell's."""
    if argv and argv[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0
    options, arguments, files, programs = parse(argv)
    ensure()
    with open(os.path.join(FOLDER, "toybox.tools"), encoding="utf-8") as f:
        names = f.read().split()
    toybox, dash = os.path.join(FOLDER, "toybox"), os.path.join(FOLDER, "dash")
    files += [f"{os.path.join(FOLDER, name)}=etc/{name}" for name in ACCOUNTS]
    files += [f"{toybox}=bin/{name}" for name in ["toybox", *names]] + [f"{dash}=bin/sh"]
    files += [f"{builder.program_path('riscv64', name)}=bin/{name}" for name in OURS]
    files += [f"{path}=bin/{name}" for spec in programs for path, name in programs_of(spec)]
    given = [word for spec in files for word in ("--file", spec)]
    return run.main(["--port", "riscv64", "-n", "1", "--env", "PATH=/bin", *given, *options, dash, *arguments])
