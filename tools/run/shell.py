# SPDX-License-Identifier: MIT
"""./atoll shell: a shell on the machine: dash, with the tools of toybox, both unmodified; and other
programs that are asked for (packages.py).
"""

import os
import sys

import builder
import launch
import packages
import run
import share
from ui import Usage, take_value

HELP = """usage: ./atoll shell [OPTION...] [-c COMMAND | SCRIPT [ARG...]]

Boots a riscv64 machine and starts a shell on it, dash, with the tools of toybox in /bin: what is
typed, or the commands of standard input, of COMMAND or of the file SCRIPT. The exit status is the
shell's. The first use builds both (about a minute; their sources are got from Debian).

mpiexec -n N PROGRAM runs N ranks of an MPI program on the machine's clusters; top shows what processes
take, with the role of their cores and their calls; in /bin are hello, ring,
pi, fn, gf and km.

  --with NAME,...      more programs: {names}
                       (tcc: with a C library to link with; lua-source: Lua as C files and its tests)
  --machine M          riscv-4x4 (default), or another one; the shell is in the cluster with the most
                       memory, jobs of mpiexec where ranks are
  --file PATH[=NAME]   put a file there, as /NAME
  --program PATH[=NAME]  put a program there, as /bin/NAME: a C source, or what was built with
                       ./atoll mpicc --port riscv64; of a folder all its programs
  --share DIR[:PLACE][,ro]
                       a folder of ours, on the machine as /share or PLACE, where programs read and write
                       real files; ro: they may only read. Up to eight
  --tree CLUSTER[:PLACE]
                       the file server of that cluster has what is below PLACE (/n/CLUSTER), and that of
                       cluster 0 all else. Up to seven
  --env NAME=VALUE     an environment variable
  --debug              say by name which of Linux's calls programs miss, once in each process
  --trace FILE         what every core did, for ui.perfetto.dev (./atoll run --help)
  --icount, --domains FILE  as ./atoll run --help says
  --timeout S          after S seconds print what every core does, stop, exit with 124
"""
ALWAYS = ("dash", "toybox")
FLAGS = ("--debug", "--icount")
VALUED = ("--machine", "--file", "--program", "--env", "--timeout", "--trace", "--domains", "--with",
          "--share", "--tree")
# programs of ours that are there
OURS = ("mpiexec", "top", "hello", "ring", "pi", "fn", "gf", "km")


def _chosen(value):
    """The names of --with."""
    names = value.split(",")
    for name in names:
        if name not in packages.PACKAGES:
            raise Usage(f"no program is called '{name}': there are {', '.join(packages.PACKAGES)}")
    return names


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
    """(options for ./atoll run, the shell's arguments, files, programs, packages)."""
    options, files, programs, more, i = [], [], [], [], 0
    machine, flags = "riscv-4x4", []
    while i < len(argv) and argv[i] != "-c" and argv[i].startswith("-"):
        option = argv[i].split("=", 1)[0]
        if argv[i] in FLAGS:
            flags.append(argv[i])
            i += 1
            continue
        if option not in VALUED:
            raise Usage(f"unknown option '{argv[i]}': ./atoll shell --help lists them")
        value, i = take_value(argv, i, option)
        if option == "--machine":
            machine = value
        elif option == "--program":
            programs.append(value)
        elif option == "--with":
            more += _chosen(value)
        else:
            options += [option, value]
    share.parse_all([value for option, value in zip(options[::2], options[1::2]) if option == "--share"])
    rest = argv[i:]
    if rest[:1] == ["-c"]:
        if len(rest) < 2:
            raise Usage("-c needs a command")
    elif rest:
        name = os.path.basename(rest[0])
        files, rest = [f"{rest[0]}={name}"], [name] + rest[1:]
    elif sys.stdin.isatty():
        rest = ["-i"]
    return ["--machine", machine, *flags, *options], rest, files, programs, list(dict.fromkeys([*ALWAYS, *more]))


def room(machine):
    """Options by which a shell has room on a machine: in the cluster with the most memory, with channels for the
    processes of its pipes and jobs."""
    return ["--cluster", str(launch.load_machine(machine, "riscv64").roomiest()), "--channels", "1M"]


def brought(names, ours, programs):
    """{name there: path here} of packages, programs of ours, and others by their specs; of two of one name
    the later one."""
    found = {name: path for package in names for path, name in packages.files(package)}
    found |= {f"bin/{name}": builder.program_path("riscv64", name) for name in ours}
    return found | {f"bin/{name}": path for spec in programs for path, name in programs_of(spec)}


def command(found, files, options, arguments):
    """What ./atoll run is given for a shell with what is brought and other files."""
    specs = [*files, *(f"{path}={name}" for name, path in found.items())]
    given = [word for spec in specs for word in ("--file", spec)]
    dash = os.path.join(packages.tree("dash"), "bin", "dash")
    return ["--port", "riscv64", "-n", "1", "--env", "PATH=/bin", *given, *options, dash, *arguments]


def main(argv):
    """Exit status: the shell's."""
    if argv and argv[0] in ("-h", "--help"):
        print(HELP.format(names=", ".join(sorted(set(packages.PACKAGES) - set(ALWAYS)))), end="")
        return 0
    options, arguments, files, programs, names = parse(argv)
    packages.ensure(names, OURS)
    machine = options[1]
    return run.main(command(brought(names, OURS, programs), files, [*room(machine), *options], arguments))
