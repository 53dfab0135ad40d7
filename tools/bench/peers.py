# SPDX-License-Identifier: MIT
"""./atoll bench mpi --peers: the same sources with our MPI and with others, side by side in one
run.

Each round runs every program once with every library, one after the other, so that a slow minute of
the machine hits all. Programs report the fastest of many short rounds of their own; of the rounds
here the table gives the minimum and the median, and the ratio to the better peer.

What was measured is written run by run (--log), so that a comparison that was cut off goes on where
it was (--resume), and ends with the last whole round that fits into the time it may take. A library
that fails or takes too long at something is not asked again, and the table says so.
"""

import json
import os
import re
import statistics
import subprocess
import time

import builder
import install
import wrapper
from ui import BUILD, ROOT, Failure, Steps, Usage, say, take_value

HELP = """usage: ./atoll bench mpi --peers [--rounds N] [--minutes M] [--quick]
                     [--only LIBRARY,...] [--json FILE] [--plot DIR] [--log FILE] [--resume]

Installs MPICH and Open MPI into build/peers and compares them with thread ranks and process ranks of ours:
ping-pong, streams, message rate, collectives at 2 ranks, the same for a program that asks for
MPI_THREAD_MULTIPLE ("_multiple"), non-blocking collectives, barrier and allreduce at 16 and 64 ranks,
starting a job, memory.

Writes each run to build/peers/log.jsonl (--log) as it ends, the table's rows to
build/peers/rows.json (--json), plots to build/peers/plots (--plot). 5 rounds, or as many whole ones
as fit into 25 minutes. --resume goes on with the log that is there; the libraries must be the same.
"""
FOLDER = os.path.join(BUILD, "peers")
LIBRARIES = ("thread", "process", "openmpi", "mpich")
PEERS = ("openmpi", "mpich")
# not those that compare two calls of one library
ROW = re.compile(r"row (\w+) (\S+) (\S+) bytes=(\d+)")
TIMEOUT_S = 90
MORE_IS_BETTER = ("GB/s", "M/s")
# (program, ranks, arguments); quick leaves out what is slow
SHOTS = [("pairs", 2, []), ("collectives", 2, []), ("collectives", 16, ["--only-small", "1", "--rounds", "8"]),
         ("collectives", 64, ["--only-small", "1", "--rounds", "4"]),
         ("pairs", 2, ["--multiple", "1", "--max", "65536"]), ("collectives", 2, ["--multiple", "1"]),
         ("nonblocking", 2, []), ("nothing", 2, []), ("nothing", 16, []),
         ("weight", 1, []), ("weight", 2, []), ("weight", 8, [])]
QUICK = [("pairs", 2, ["--max", "65536", "--rounds", "20"]), ("collectives", 2, ["--rounds", "10"]),
         ("pairs", 2, ["--multiple", "1", "--max", "65536", "--rounds", "20"]),
         ("collectives", 2, ["--multiple", "1", "--rounds", "10"]),
         ("nonblocking", 2, ["--rounds", "10"]), ("nothing", 2, [])]


def _python():
    return os.path.join(FOLDER, "venv", "bin", "python3")


def ensure_peers():
    """Install the other libraries into an environment of their own."""
    wanted = os.path.join(ROOT, "requirements-peers.txt")
    stamp = os.path.join(FOLDER, ".installed")
    if os.path.exists(stamp) and os.stat(stamp).st_mtime_ns >= os.stat(wanted).st_mtime_ns:
        return
    say("installing MPICH and Open MPI into build/peers")
    with open(wanted, encoding="utf-8") as f:
        lines = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    # both packages bring a bin/mpicc, so each has an environment of its own
    _install("venv", [line for line in lines if not line.startswith("openmpi")])
    _install("venv-openmpi", [line for line in lines if line.startswith("openmpi")])
    open(stamp, "w").close()


def _install(name, packages):
    folder = os.path.join(FOLDER, name)
    for argv in (["python3", "-m", "venv", folder],
                 [os.path.join(folder, "bin", "python3"), "-m", "pip", "install", "-q", *packages]):
        p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if p.returncode:
            raise Failure(f"cannot install {' '.join(packages)}: {p.stdout[-2000:]}")


class Library:
    """How programs are compiled and started with one MPI."""

    def __init__(self, name):
        self.name, self.bin = name, os.path.join(FOLDER, "bin", name)
        self.env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def compile(self, program):
        """Compile bench/mpi/PROGRAM.c."""
        source, out = os.path.join(ROOT, "bench", "mpi", program + ".c"), os.path.join(self.bin, program)
        os.makedirs(self.bin, exist_ok=True)
        if self.name == "thread":
            argv = wrapper.command(["-O2", "-o", out, source], "hosted")
        else:
            argv = [self._tool("mpicc"), "-O2", "-o", out, source]
        p = subprocess.run(argv, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if p.returncode:
            raise Failure(f"{program}.c does not compile with {self.name}: {p.stderr[-2000:]}")

    def _tool(self, name):
        folder = {"process": os.path.join(BUILD, "process", "prefix"), "mpich": os.path.join(FOLDER, "venv"),
                  "openmpi": os.path.join(FOLDER, "venv-openmpi")}[self.name]
        return os.path.join(folder, "bin", name)

    def start(self, program, ranks):
        """The command that starts a job."""
        path = os.path.join(self.bin, program)
        if self.name == "thread":
            return [os.path.join(ROOT, "atoll"), "run", "-n", str(ranks), path]
        more = ["--oversubscribe"] if self.name == "openmpi" else []
        return [self._tool("mpiexec"), *more, "-n", str(ranks), path]

    def run(self, shot):
        """One run: ({(measure, ranks, bytes, unit): value}, why there is nothing or None)."""
        program, ranks, args = shot
        begin = time.monotonic()
        try:
            p = subprocess.run(self.start(program, ranks) + args, env=self.env,
                               stdin=subprocess.DEVNULL, capture_output=True, text=True,
                               timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return {}, f"took longer than {TIMEOUT_S} s"
        seconds = time.monotonic() - begin
        if p.returncode:
            return {}, f"ended with {p.returncode}: {(p.stderr.strip().splitlines() or [''])[-1][:120]}"
        if program == "nothing":
            return {("start_and_end", ranks, 0, "ms"): seconds * 1e3}, None
        return {(m.group(1), ranks, int(m.group(4)) if program != "weight" else 0,
                 m.group(3)): float(m.group(2)) for m in ROW.finditer(p.stdout)}, None


class Log:
    """The runs so far, one line of JSON each: round, program, ranks, arguments, library, seconds,
    rows, and why there are none.
    """

    def __init__(self, path, resume):
        self.path, self.runs = path, []
        if resume and os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                # a line that was cut off is measured again
                self.runs = [{"args": [], **json.loads(line)} for line in f if line.endswith("}\n")]
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(r) + "\n" for r in self.runs)

    def add(self, number, shot, library, seconds, result):
        """Another one has ended."""
        rows, why = result
        self.runs.append({"round": number, "program": shot[0], "ranks": shot[1], "args": shot[2],
                          "library": library, "seconds": round(seconds, 2),
                          "rows": [[*key, value] for key, value in rows.items()], "why": why})
        with open(self.path, "a", encoding="utf-8") as f:
            f.write(json.dumps(self.runs[-1]) + "\n")

    def done(self, number, shot, library):
        """Was this one made, or is it hopeless?"""
        mine = [r for r in self.runs if (r["program"], r["ranks"], r["args"], r["library"]) == (*shot, library)]
        return any(r["round"] == number or r["why"] for r in mine)

    def seconds(self, number):
        """What a round took."""
        return sum(r["seconds"] for r in self.runs if r["round"] == number)

    def found(self):
        """{key: {library: [values]}}"""
        out = {}
        for r in self.runs:
            for *key, value in r["rows"]:
                out.setdefault(tuple(key), {}).setdefault(r["library"], []).append(value)
        return out

    def failures(self):
        """What could not be measured, a line each."""
        return [f"{r['library']}: {' '.join([r['program'], *r['args']])} with {r['ranks']} ranks {r['why']}"
                for r in self.runs if r["why"]]


def measure(libraries, shots, rounds, log, until):
    """Rounds, interleaved; no round is begun that would not end before `until` (of time.monotonic).
    """
    steps = Steps("comparing", rounds * len(shots) * len(libraries))
    for number in range(1, rounds + 1):
        if number > 1 and time.monotonic() + log.seconds(number - 1) > until:
            say(f"comparing: no time for round {number}")
            break
        for shot in shots:
            for lib in libraries:
                if log.done(number, shot, lib.name):
                    steps.step("", 1)
                    continue
                steps.step(f"round {number} of {rounds}: {shot[0]} with {shot[1]} ranks, {lib.name}")
                begin = time.monotonic()
                result = lib.run(shot)
                log.add(number, shot, lib.name, time.monotonic() - begin, result)
    steps.end()


def memory_per_rank(found):
    """The job's memory less that of a single rank, per further rank."""
    one = found.get(("job_pss", 1, 0, "kB"), {})
    for key in [k for k in found if k[0] == "job_pss"]:
        jobs = found.pop(key)
        if key[1] == 1:
            continue
        found[("memory_per_rank", key[1], 0, "kB")] = {
            lib: [(v - statistics.median(one[lib])) / (key[1] - 1) for v in values] for lib,
            values in jobs.items() if lib in one}


def best(values, unit):
    """The best of some values."""
    return max(values) if unit in MORE_IS_BETTER else min(values)


def ratio(key, by_library, library, pick=best):
    """Ours through the better peer's: below 1 is better for times, above 1 for rates.
    None: nothing to compare with.
    """
    peers = [pick(by_library[p], key[3]) for p in PEERS if p in by_library]
    if library not in by_library or not peers:
        return None
    return pick(by_library[library], key[3]) / best(peers, key[3])


def table(found, names):
    """Text of the table."""
    lines = [f"{'measure':<20}{'ranks':>6}{'bytes':>9} {'unit':<5}" +
             "".join(f"{n + ' best / median':>27}" for n in names) + "   ratio to the better peer"]
    for key in found:
        cells = ""
        for n in names:
            v = found[key].get(n)
            cells += f"{'-':>27}" if not v else f"{f'{best(v, key[3]):.4g} / {statistics.median(v):.4g}':>27}"
        ours = [(n, ratio(key, found[key], n)) for n in names if n not in PEERS]
        cells += "   " + ", ".join(f"{n} {r:.2f}" for n, r in ours if r is not None)
        lines.append(f"{key[0]:<20}{key[1]:>6}{key[2]:>9} {key[3]:<5}{cells}")
    return "\n".join(lines)


PLOT = """
import json, sys
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
rows, folder = json.load(open(sys.argv[1])), sys.argv[2]
for name in sorted({r["measure"] for r in rows if r["ranks"] == 2}):
    mine = [r for r in rows if r["measure"] == name and r["ranks"] == 2]
    if len({r["bytes"] for r in mine}) < 2:
        continue
    plt.figure(figsize=(7, 4.5))
    for lib in sorted({r["library"] for r in mine}):
        line = sorted((max(r["bytes"], 1), r["best"]) for r in mine if r["library"] == lib)
        plt.loglog([b for b, _ in line], [v for _, v in line], marker="o", label=lib)
    plt.xlabel("bytes")
    plt.ylabel(mine[0]["unit"])
    plt.title(name.replace("_", " "))
    plt.grid(True, which="both", alpha=0.3)
    plt.legend()
    plt.tight_layout()
    plt.savefig(f"{folder}/mpi_{name}.png", dpi=110)
    plt.close()
"""


def draw(rows, folder):
    """Plots of what has several sizes, with what is installed beside the peers."""
    if not os.path.exists(_python()):
        say("no plots: they are drawn with what is installed for the peers")
        return
    os.makedirs(folder, exist_ok=True)
    if subprocess.run([_python(), "-c", PLOT, rows, folder], check=False).returncode:
        say("the plots could not be drawn")


def rows_of(found):
    """Rows for JSON."""
    return [{"measure": k[0], "ranks": k[1], "bytes": k[2], "unit": k[3], "library": lib,
             "best": best(v, k[3]), "median": statistics.median(v),
             "n": len(v)} for k, libs in found.items() for lib, v in libs.items()]


def parse(argv):
    """Options by name, and the libraries."""
    o, i = {"--rounds": "5", "--minutes": "25", "--only": ",".join(LIBRARIES),
            "--json": os.path.join(FOLDER, "rows.json"),
            "--plot": os.path.join(FOLDER, "plots"), "--log": os.path.join(FOLDER, "log.jsonl"),
            "--quick": False, "--resume": False}, 0
    while i < len(argv):
        name = argv[i].split("=", 1)[0]
        if o.get(name, False) is not False and name not in ("--quick", "--resume"):
            o[name], i = take_value(argv, i, name)
        elif argv[i] in ("--quick", "--resume"):
            o[name], i = True, i + 1
        elif argv[i] in ("--peers", "mpi"):
            i += 1
        else:
            raise Usage(f"unknown argument '{argv[i]}': ./atoll bench mpi --peers --help")
    names = o["--only"].split(",")
    if not all(o[n].isdecimal() and int(o[n]) > 0 for n in ("--rounds", "--minutes")) or set(names) - set(LIBRARIES):
        raise Usage(f"--rounds and --minutes need a number, --only some of {', '.join(LIBRARIES)}")
    return o, names


def prepare(names, shots):
    """Libraries installed and programs compiled."""
    if set(names) & set(PEERS):
        ensure_peers()
    if "thread" in names:
        builder.ensure("hosted")
    if "process" in names:
        install.ensure()
    libraries = [Library(n) for n in names]
    for lib in libraries:
        for program in dict.fromkeys(s[0] for s in shots):
            lib.compile(program)
    return libraries


def main(argv):
    """Exit status 0."""
    if "--help" in argv or "-h" in argv:
        print(HELP, end="")
        return 0
    o, names = parse(argv)
    shots = QUICK if o["--quick"] else SHOTS
    os.makedirs(FOLDER, exist_ok=True)
    libraries, log = prepare(names, shots), Log(o["--log"], o["--resume"])
    measure(libraries, shots, int(o["--rounds"]), log, time.monotonic() + 60 * int(o["--minutes"]))
    found = log.found()
    memory_per_rank(found)
    print("\n".join([table(found, names), *log.failures()]))
    with open(o["--json"], "w", encoding="utf-8") as f:
        json.dump(rows_of(found), f, indent=1)
    draw(o["--json"], o["--plot"])
    return 0
