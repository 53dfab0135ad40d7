# SPDX-License-Identifier: MIT
"""./atoll bench mpi --peers: the same sources with our MPI and with others, side by side in one run.

Each round runs every program once with every library, one after the other, so that a slow minute of the machine hits all. Programs report the
fastest of many short rounds of their own; of the rounds here the table gives the minimum and the median, and the ratio to the better peer.
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

HELP = """usage: ./atoll bench mpi --peers [--rounds N] [--quick] [--only LIBRARY,...] [--json FILE] [--plot DIR]

Installs MPICH and Open MPI into build/peers and compares them with thread ranks and process ranks of ours:
ping-pong, streams, message rate, collectives at 2 ranks, barrier and allreduce at 16 and 64 ranks, starting a job, memory.
"""
FOLDER = os.path.join(BUILD, "peers")
LIBRARIES = ("thread", "process", "openmpi", "mpich")
PEERS = ("openmpi", "mpich")
ROW = re.compile(r"row (\S+) (\S+) (\S+) bytes=(\d+)")
TIMEOUT_S = 300
MORE_IS_BETTER = ("GB/s", "M/s")
# (program, ranks, arguments); quick leaves out what is slow
SHOTS = [("pairs", 2, []), ("collectives", 2, []), ("collectives", 16, ["--only-small", "1", "--rounds", "8"]),
         ("collectives", 64, ["--only-small", "1", "--rounds", "4"]), ("nothing", 2, []), ("nothing", 16, []),
         ("weight", 1, []), ("weight", 2, []), ("weight", 8, [])]
QUICK = [("pairs", 2, ["--max", "65536", "--rounds", "20"]), ("collectives", 2, ["--rounds", "10"]), ("nothing", 2, [])]


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
    for argv in (["python3", "-m", "venv", folder], [os.path.join(folder, "bin", "python3"), "-m", "pip", "install", "-q", *packages]):
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
        """Rows of one run: {(measure, ranks, bytes, unit): value}; empty if it failed or took too long."""
        program, ranks, args = shot
        begin = time.monotonic()
        try:
            p = subprocess.run(self.start(program, ranks) + args, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                               timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return {}
        seconds = time.monotonic() - begin
        if p.returncode:
            return {}
        if program == "nothing":
            return {("start_and_end", ranks, 0, "ms"): seconds * 1e3}
        return {(m.group(1), ranks, int(m.group(4)) if program != "weight" else 0, m.group(3)): float(m.group(2)) for m in ROW.finditer(p.stdout)}


def measure(libraries, shots, rounds):
    """{key: {library: [values]}}, rounds interleaved."""
    found, steps = {}, Steps("comparing", rounds * len(shots) * len(libraries))
    for number in range(rounds):
        for shot in shots:
            for lib in libraries:
                steps.step(f"round {number + 1}: {shot[0]} with {shot[1]} ranks, {lib.name}")
                for key, value in lib.run(shot).items():
                    found.setdefault(key, {}).setdefault(lib.name, []).append(value)
    steps.end()
    return found


def memory_per_rank(found):
    """The job's memory less that of a single rank, per further rank."""
    one = found.get(("job_pss", 1, 0, "kB"), {})
    for key in [k for k in found if k[0] == "job_pss"]:
        jobs = found.pop(key)
        if key[1] == 1:
            continue
        found[("memory_per_rank", key[1], 0, "kB")] = {
            lib: [(v - statistics.median(one[lib])) / (key[1] - 1) for v in values] for lib, values in jobs.items() if lib in one}


def best(values, unit):
    """The best of some values."""
    return max(values) if unit in MORE_IS_BETTER else min(values)


def ratio(key, by_library, library, pick=best):
    """Ours through the better peer's: below 1 is better for times, above 1 for rates. None: nothing to compare with."""
    peers = [pick(by_library[p], key[3]) for p in PEERS if p in by_library]
    if library not in by_library or not peers:
        return None
    return pick(by_library[library], key[3]) / best(peers, key[3])


def table(found, names):
    """Text of the table."""
    lines = [f"{'measure':<20}{'ranks':>6}{'bytes':>9} {'unit':<5}" + "".join(f"{n + ' best / median':>27}" for n in names) + "   ratio to the better peer"]
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
for name in ("half_round_trip", "written_round_trip", "stream"):
    mine = [r for r in rows if r["measure"] == name]
    if not mine:
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
"""


def rows_of(found):
    """Rows for JSON."""
    return [{"measure": k[0], "ranks": k[1], "bytes": k[2], "unit": k[3], "library": lib, "best": best(v, k[3]), "median": statistics.median(v),
             "n": len(v)} for k, libs in found.items() for lib, v in libs.items()]


def parse(argv):
    """(rounds, quick, libraries, json file, plot folder)."""
    o, i = {"--rounds": "5", "--only": ",".join(LIBRARIES), "--json": None, "--plot": None}, 0
    quick = False
    while i < len(argv):
        name = argv[i].split("=", 1)[0]
        if name in o:
            o[name], i = take_value(argv, i, name)
        elif argv[i] in ("--peers", "--quick", "mpi"):
            quick, i = quick or argv[i] == "--quick", i + 1
        else:
            raise Usage(f"unknown argument '{argv[i]}': ./atoll bench mpi --peers --help")
    names = o["--only"].split(",")
    if not o["--rounds"].isdecimal() or int(o["--rounds"]) < 1 or set(names) - set(LIBRARIES):
        raise Usage(f"--rounds needs a number, --only some of {', '.join(LIBRARIES)}")
    return int(o["--rounds"]), quick, names, o["--json"], o["--plot"]


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
    rounds, quick, names, out, plot = parse(argv)
    shots = QUICK if quick else SHOTS
    found = measure(prepare(names, shots), shots, rounds)
    memory_per_rank(found)
    print(table(found, names))
    rows = rows_of(found)
    path = out or os.path.join(FOLDER, "rows.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(rows, f, indent=1)
    if plot:
        os.makedirs(plot, exist_ok=True)
        subprocess.run([_python(), "-c", PLOT, path, plot], check=True)
    return 0
