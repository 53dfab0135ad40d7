# SPDX-License-Identifier: MIT
"""./atoll run: build a boot archive with one program, start a machine, end with the program's
status.
"""

import os

import archive
import builder
import launch
import prepared
from ui import BUILD, RUN_PORTS, Failure, Usage, check_port, take_value

HELP = """usage: ./atoll run [OPTION...] PROGRAM [ARG...]

PROGRAM is a C source (compiled once, then cached), a program built with ./atoll mpicc, or the name of one of ours.

  -n, -np N            ranks (1)
  --ranks thread|process  threads of Atoll (thread), or Linux processes under our mpiexec: also for scripts and Python
  --port P             hosted | riscv64 | or1k (hosted); or1k: programs without libc and MPI
  --machine M          see ./atoll machines (laptop; riscv64: riscv-4x4; or1k: optimsoc4)
  --map compact|scatter   how ranks are placed over clusters (compact)
  --cluster N          all ranks are in cluster N
  --channels BYTES     memory of each cluster for channels of its processes, as 256K, where the
                       machine has less
  --mpi-path opt|unopt|ipc
                       point-to-point messages within a cluster: through shared memory (opt), by the
                       protocol of five messages (unopt), or by one mailbox message, above 96 bytes
                       through a portal (ipc). For jobs on several clusters; collectives always use
                       shared memory within a cluster
  --mpi-names table|daemon|two-steps|forward
                       how ranks of several clusters find each other: by the tables of the job
                       (table), or at the first message by names that they have linked: from the
                       name daemon of their cluster (daemon), in two steps by the daemon of the
                       other cluster, or with the question forwarded to that; of programs
                       that are linked with -u transport_names_begin
  --mpi-counts         ranks say what their sends cost: messages and kernel calls
  --memory             what a job takes of each cluster's memory, and what was left
  --limit KIND=N,...   the most that the job may have in each cluster: memory (as 64M, beside its
                       programs and stacks; hosted: without libc's), threads, processes
  --repeat N           run the job N times on one machine; the status is the first that is not 0
  --end-servers        the program may end servers of the machine, for tests (servers/proc/client.h)
  --mpi-coll C=A,...   the algorithm of a collective, where it can be used:
                       allreduce=ring,bcast=binomial; list: prints all, with their costs
  --env NAME=VALUE     an environment variable of the program
  --file PATH[=NAME]   put a file into the boot archive, as files/NAME; riscv64: programs read it as
                       /NAME. Also --file PATH:/NAME
  --device KIND        riscv64: a device, driven by a process (servers/device): console (what we
                       read is typed), or random
  --share DIR[:PLACE][,ro]
                       riscv64: a folder of ours, on the machine as /share or PLACE: what programs write
                       there are real files; ro: they may only read. Up to eight
  --tree CLUSTER[:PLACE]
                       riscv64: the file server of that cluster has what is below PLACE (/n/CLUSTER),
                       and that of cluster 0 all else. Up to seven
  --rmem               each cluster gives pages of its memory to programs of all (<atoll/rmem.h>)
  --timeout S          after S seconds print what every core does, stop, exit with 124
  --icount             riscv64: deterministic instruction counting
  --count FILE         riscv64: write the counted windows between markers to FILE; without --icount
                       cores run at once, and only what a window's own core executes is exact
  --domains FILE       with --icount, on a machine with memory domains: write what the time between two
                       markers would be by a model of them (tools/plugin/domains.c)
  --span FROM:TO       with --count: also what lies between two kernel functions on two harts
                       (sender, handler), and back; TO `user`: until another hart is in user mode
  --stretches          with --count: also how long each kernel core served nobody else
  --trace FILE         hosted, riscv64: what every core did, for ui.perfetto.dev: role, thread, calls,
                       messages as arrows, the kernel's decisions; up to a million events, also after
                       Ctrl-C. A name that ends in .gz is compressed. With --icount time is
                       instructions
  --rtl                or1k: on the cycle-exact cluster instead of QEMU
  --report FILE        with --rtl: cycles and counters of the run and of its windows, as JSON
  --seed N             with --rtl: number of the replication; varies when each core leaves reset
  --debug              riscv64: say by name which of Linux's calls programs miss, once in each process
  --bare               or1k, riscv64: the program is the machine's first process, without servers
  --kernel IMAGE       or1k: another build of the kernel, a path without .elf
  --keep DIR           leave boot record, archive and command line in DIR
  -v, --verbose        messages of the kernels
"""

REPEAT_MAX = 1000000	# servers/proc/job.h
LIMITS = ("memory", "threads", "processes")
SERVERS = ("name", "proc", "personality", "file", "device", "rmem")
DEFAULT_MACHINE = {"hosted": "laptop", "riscv64": "riscv-4x4", "or1k": "optimsoc4"}
VALUED = {"-n": "n", "-np": "n", "--port": "port", "--machine": "machine", "--map": "map",
          "--mpi-names": "mpi_names", "--mpi-path": "mpi_path",
          "--mpi-coll": "mpi_coll", "--env": "env", "--file": "file",
          "--timeout": "timeout", "--keep": "keep", "--count": "count", "--span": "span",
          "--report": "report", "--seed": "seed", "--kernel": "kernel", "--ranks": "ranks",
          "--limit": "limit", "--repeat": "repeat", "--device": "device", "--share": "share", "--tree": "tree",
          "--trace": "trace", "--domains": "domains", "--cluster": "cluster", "--channels": "channels"}
FLAGS = {"--icount": "icount", "--rtl": "rtl", "--mpi-counts": "mpi_counts", "--memory": "memory",
         "--stretches": "stretches", "--end-servers": "end_servers", "--rmem": "rmem",
         "--bare": "bare", "--debug": "debug", "-v": "verbose", "--verbose": "verbose"}


class Options:
    """What the command line asks for."""

    def __init__(self):
        self.n, self.port, self.machine, self.map, self.timeout, self.keep = "1", "hosted", None, "compact", "0", None
        self.env, self.file, self.icount, self.verbose, self.count, self.span = [], [], False, False, None, None
        self.mpi_names = "table"
        self.mpi_path, self.mpi_coll, self.mpi_counts, self.memory = "opt", None, False, False
        self.stretches, self.rtl, self.bare, self.report, self.seed, self.kernel = False, False, False, None, "0", None
        self.ranks, self.program, self.args = "thread", None, []
        self.trace, self.domains, self.cluster, self.channels = None, None, None, None
        self.limit, self.repeat, self.device, self.share, self.tree, self.end_servers = {}, "1", [], [], [], False
        self.rmem = self.debug = False


def parse(argv):
    """Options before the program; everything after it belongs to the program."""
    o, i = Options(), 0
    while i < len(argv) and argv[i].startswith("-") and argv[i] != "--":
        name = argv[i].split("=", 1)[0] if argv[i].startswith("--") else argv[i]
        if name in VALUED:
            value, i = take_value(argv, i, name)
            if name in ("--env", "--file", "--device", "--share", "--tree"):
                getattr(o, VALUED[name]).append(value)
            elif name == "--limit":
                o.limit.update(_limits(value))
            else:
                setattr(o, VALUED[name], value)
        elif argv[i] in FLAGS:
            setattr(o, FLAGS[argv[i]], True)
            i += 1
        else:
            raise Usage(f"unknown option '{argv[i]}': ./atoll run --help lists them")
    if i < len(argv) and argv[i] == "--":
        i += 1
    if i >= len(argv):
        raise Usage("no program given: ./atoll run [-n N] PROGRAM [ARG...]")
    o.program, o.args = argv[i], argv[i + 1:]
    _check(o)
    return o


def _limits(text):
    """'memory=1M,threads=4' -> {"memory": 1048576, "threads": 4}."""
    import machine
    out = {}
    for word in text.split(","):
        kind, _, value = word.partition("=")
        try:
            out[kind] = machine.parse_bytes(value, "") if kind == "memory" else int(value)
        except (machine.MachineError, ValueError):
            out[kind] = 0
        if kind not in LIMITS or not 0 < out[kind] < 1 << (63 if kind == "memory" else 32):
            raise Usage(f"--limit needs memory=SIZE, threads=N or processes=N, not '{word}'")
    return out


def _channels(text):
    import machine
    try:
        return machine.NOC["channels"][1]({"channels": text}, "channels", "--channels")
    except machine.MachineError as e:
        raise Usage(str(e)) from None


def _machine(o):
    """The machine, as the options want it."""
    m = launch.load_machine(o.machine, o.port)
    _only(o, m)
    if o.channels is not None:
        m.noc["channel_bytes"] = max(m.noc["channel_bytes"], _channels(o.channels))
    return m


def _only(o, machine):
    """Where --cluster says that all ranks are; None: nothing."""
    if o.cluster is None:
        return None
    if not o.cluster.isdecimal() or int(o.cluster) >= len(machine.clusters) or not machine.place(int(o.cluster)):
        raise Usage(f"--cluster {o.cluster}: machine {machine.name} has no such cluster that takes ranks")
    return machine.place(int(o.cluster))


def _check(o):
    check_port(o.port, RUN_PORTS)
    if not o.n.isdecimal() or int(o.n) < 1:
        raise Usage(f"-n needs a number of ranks, not '{o.n}'")
    o.n = int(o.n)
    if not o.repeat.isdecimal() or not 1 <= int(o.repeat) <= REPEAT_MAX:
        raise Usage(f"--repeat needs a number from 1 to {REPEAT_MAX}, not '{o.repeat}'")
    o.repeat = int(o.repeat)
    if (o.limit or o.repeat > 1) and (o.bare or o.ranks != "thread"):
        raise Usage("--limit and --repeat are for jobs of thread ranks")
    if o.map not in ("compact", "scatter"):
        raise Usage(f"unknown mapping '{o.map}': use compact or scatter")
    if o.mpi_path not in ("opt", "unopt", "ipc"):
        raise Usage(f"unknown path '{o.mpi_path}': use opt, unopt or ipc")
    if o.mpi_path != "opt":
        o.env.append(f"ATOLL_MPI_PATH={o.mpi_path}")
    if o.mpi_names not in ("table", "daemon", "two-steps", "forward"):
        raise Usage(f"unknown way '{o.mpi_names}' of --mpi-names: use table, daemon, two-steps or forward")
    if o.mpi_names != "table":
        o.env.append(f"ATOLL_MPI_NAMES={o.mpi_names}")
    if o.mpi_counts:
        o.env.append("ATOLL_MPI_COUNTS=1")
    if o.memory:
        o.env.append("ATOLL_MEMORY=1")
    if o.mpi_coll:
        o.env.append(f"ATOLL_MPI_COLL={o.mpi_coll}")
    for pair in o.env:
        if "=" not in pair[1:]:
            raise Usage(f"--env needs NAME=VALUE, not '{pair}'")
    try:
        o.timeout = float(o.timeout)
    except ValueError:
        raise Usage(f"--timeout needs seconds, not '{o.timeout}'") from None
    if not 0 <= o.timeout < 1e9 or (o.icount and o.port != "riscv64"):
        raise Usage("--icount is for --port riscv64" if o.icount else "--timeout needs a positive number")
    if o.count and o.port != "riscv64":
        raise Usage("--count is for --port riscv64")
    if (o.domains or o.stretches) and not o.icount:
        raise Usage("--domains and --stretches need --icount")
    if (o.span or o.stretches) and not o.count:
        raise Usage("--span and --stretches need --count")
    if o.trace and (o.port not in ("hosted", "riscv64") or o.bare or o.count or o.ranks == "process"):
        raise Usage("--trace is for jobs of thread ranks with --port hosted or riscv64, without --count")
    _check_devices(o)
    _check_or1k(o)
    if o.ranks not in ("thread", "process"):
        raise Usage(f"unknown kind of ranks '{o.ranks}': use thread or process")
    if o.ranks == "thread":
        o.machine = o.machine or DEFAULT_MACHINE[o.port]
        if o.cluster is not None or o.channels is not None:
            _machine(o)
    if o.cluster is not None and o.bare:
        raise Usage("--cluster is for jobs, not for --bare")


def _check_devices(o):
    for device in o.device:
        if device not in ("console", "random"):
            raise Usage(f"unknown device '{device}': use console or random")
    if o.rmem and (o.port not in ("hosted", "riscv64") or o.bare or o.ranks == "process"):
        raise Usage("--rmem is for jobs of thread ranks with --port hosted or riscv64")
    for option, given in (("--device", o.device), ("--share", o.share), ("--tree", o.tree)):
        if given and (o.port != "riscv64" or o.bare):
            raise Usage(f"{option} is for jobs with --port riscv64")
    if o.debug and (o.port != "riscv64" or o.bare):
        raise Usage("--debug is for jobs with --port riscv64")
    if len(set(o.device)) < len(o.device):
        raise Usage("--device: one of each kind")
    if o.share:
        import share
        o.share = share.parse_all(o.share)
        if len(o.share) + ("random" in o.device) > share.SHARES_MAX:
            raise Usage("--share and --device: the machine has room for eight devices")
    if o.tree:
        import trees
        o.tree = trees.parse_all(o.tree, o.share)


def _check_or1k(o):
    if (o.rtl or o.kernel) and o.port != "or1k":
        raise Usage("--rtl and --kernel are for --port or1k")
    if o.bare and o.port not in ("or1k", "riscv64"):
        raise Usage("--bare is for --port or1k and riscv64")
    if (o.report or o.seed != "0") and not o.rtl:
        raise Usage("--report and --seed need --rtl")
    if not o.seed.isdecimal():
        raise Usage(f"--seed needs a number, not '{o.seed}'")
    if o.bare and o.n != 1:
        raise Usage("--bare runs one program: no -n with it")
    if o.kernel:
        o.kernel = os.path.abspath(o.kernel)


def is_ours(path):
    """Is this the name of one of our programs, not a file?"""
    return not (path.endswith(".c") or "/" in path or _is_elf(path))


def check_there(path, port):
    """Refuse a program that is not there, before anything is built for it."""
    if not path:
        raise Usage("the program's name is empty: give a .c file, a program built with ./atoll "
                    "mpicc, or a program's name")
    if os.path.isdir(path) and "/" in path:
        raise Usage(f"{path} is a folder, not a program")
    if not is_ours(path):
        if not os.path.isfile(path):
            raise Usage(f"{path}: no such file")
    elif path in SERVERS or not os.path.exists(builder.program_path(port, path)):
        _check_name(path, port)


def _check_name(name, port):
    import programs
    known = programs.names(port)
    if name in known:
        return
    if os.path.isfile(name):
        raise Usage(f"{name} is not a program: give a .c file, a program built with ./atoll mpicc, or a program's name")
    import difflib
    near = difflib.get_close_matches(name.lower(), known, 1)
    hint = f" (is {near[0]} meant?)" if near else ""
    raise Usage(f"unknown program '{name}'{hint}: give a .c file, a program built with ./atoll "
                f"mpicc, or one of: {' '.join(known)}")


def find_program(o):
    """(name in the archive, bytes, path) of the program to run."""
    path = o.program
    check_there(path, o.port)
    if path.endswith(".c"):
        import wrapper
        path = wrapper.freestanding(path) if o.port == "or1k" else wrapper.cached(path, o.port)
    elif is_ours(path):
        path = builder.program_path(o.port, path)
    try:
        with open(path, "rb") as f:
            data = f.read()
    except OSError as e:
        raise Usage(f"{path}: {e.strerror}") from None
    launch.check_program(o.program, data, o.port)
    name = os.path.basename(o.program)
    return (name[:-2] if name.endswith(".c") else name), data, os.path.abspath(path)


def _is_elf(path):
    try:
        with open(path, "rb") as f:
            return f.read(4) == b"\x7fELF"
    except OSError:
        return False


def extra_files(specs):
    """Members for --file PATH[=NAME], and their paths."""
    out, paths = [], {}
    for spec in specs:
        path, _, name = spec.replace(":/", "=", 1).partition("=")
        try:
            with open(path, "rb") as f:
                out.append((f"files/{name or os.path.basename(path)}", f.read()))
        except OSError as e:
            raise Usage(f"--file {path}: {e.strerror}") from None
        paths[out[-1][0]] = os.path.abspath(path)
    return out, paths


def _input(o, files):
    """Members of a riscv64 machine: the one through which it gets its input, and the list of the
    files that it begins with.
    """
    if o.port != "riscv64":
        return []
    import streams
    listing = "".join(name.removeprefix("files/") + "\n" for name, _ in files)
    members = [(streams.INPUT, streams.first_input(bool(o.share))), ("etc/files", listing.encode())]
    if o.share:
        import share
        members += share.members(o.share)
    if o.tree:
        import trees
        members += trees.members(o.tree)
    if o.debug:
        import calls
        members.append(calls.member())
    return members


def _watched(o, machine):
    """What the counting plugin looks at beside windows."""
    out = ""
    if o.span:
        import spans
        out += spans.options(o.span)
    if o.stretches:
        import stretches
        out += stretches.options(machine)
    return out


def make_job(o):
    """The launch.Job of some options; the port must be built."""
    m = _machine(o)
    if o.n > m.ranks_max():
        raise Usage(f"{o.n} ranks are too many for machine {m.name}, which takes {m.ranks_max()}: "
                    f"use fewer, or a larger machine")
    if o.tree:
        import trees
        trees.check(o.tree, len(m.clusters))
    name, data, path = find_program(o)
    if o.bare:
        return _options(o, launch.Job(m, o.port,
                                      [("bin/init", data),
                                       ("etc/args", "".join(a + "\n" for a in o.args).encode())], "bin/init"))
    servers = [s for s in ("bin/name", "bin/proc", "bin/personality") +
               (("bin/file",) if o.port == "riscv64" else ()) +
               (("bin/device",) if o.device else ()) + (("bin/rmem",) if o.rmem else ())
               if os.path.exists(os.path.join(BUILD, o.port, s))]
    if "bin/proc" not in servers:
        raise Failure(f"build/{o.port}/bin/proc is missing: run ./atoll build {o.port}")
    try:
        text = archive.job_text(f"bin/{name}", o.n, o.map, o.args, o.env, m.places())
        text += archive.limits_text(o.limit, o.repeat, ["end-servers"] * o.end_servers, _only(o, m))
        more, paths = extra_files(o.file)
        members = launch.members_of(o.port, servers) + [(f"bin/{name}", data),
                                                        ("etc/job", text)] + more + _input(o, more)
    except archive.ArchiveError as e:
        raise Usage(str(e)) from None
    job = _options(o, launch.Job(m, o.port, members))
    job.files = {s: os.path.join(BUILD, o.port, s) for s in servers} | {f"bin/{name}": path} | paths
    return job


def _options(o, job):
    job.rtl, job.report, job.seed, job.image = o.rtl, o.report and os.path.abspath(o.report), int(o.seed), o.kernel
    job.quiet, job.icount, job.timeout_s, job.keep = not o.verbose, o.icount, o.timeout, o.keep
    job.devices, job.shares, job.trace = o.device, o.share, o.trace and os.path.abspath(o.trace)
    job.domains = o.domains and os.path.abspath(o.domains)
    if o.port in ("hosted", "riscv64") and not o.bare:
        job.reader = job.machine.places()[0][0]	# rank 0 is there, however ranks are placed
    if o.count:
        job.plugins = (f"{os.path.join(BUILD, 'plugin', 'libcount.so')},out={os.path.abspath(o.count)}" +
                       _watched(o, job.machine),)
    return job


def main(argv):
    """Exit status: the program's; 128 + signal if it was killed."""
    if argv and argv[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0
    if argv[:2] == ["--mpi-coll", "list"] or argv[:1] == ["--mpi-coll=list"]:
        import collbench
        return collbench.list_all()
    o = parse(argv)
    if o.ranks == "process":
        import process
        return process.run(o)
    keep = prepared.keeper(["run", *argv], o)
    machine = launch.load_machine(o.machine, o.port)
    if o.domains:
        import domains
        domains.check(machine)
    check_there(o.program, o.port)
    builder.ensure_run(o.port, (o.program,) if is_ours(o.program) else ())
    if o.count or (o.trace and o.port == "riscv64") or o.domains:
        builder.make("hosted", ("plugin",), quiet=True)
    return launch.run(make_job(o), keep)
