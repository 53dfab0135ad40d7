# SPDX-License-Identifier: MIT
"""./atoll bench --paper: the experiments of seed 000 (Table I, Figures 6 to 8) and its benchmark
`comm`, with the parameters that it gives, as one table and one picture.

On riscv64 every run is counted by the emulator's plugin under icount: instructions of the kernel's
core and of the others, ways into the kernel, interrupts. A run repeats exactly, so replications
differ by a seed by which threads begin one after the other. On the hosted port times are measured;
the table has their mean and a 95 % interval. What was run is kept by what it was run from
(programs, kernel, arguments), so that a table that was cut off goes on where it was.
"""

import csv
import hashlib
import json
import os
import statistics
import subprocess
import tempfile

import builder
import bench
import setup
from ui import BUILD, ROOT, Failure, Steps, Usage, say, take_value

HELP = """usage: ./atoll bench --paper [--port P] [--quick] [--csv FILE] [--json FILE] [--plot FILE]

Runs Buffer (1 to 7 pairs, objects of 1 to 8 KB), KNoise (1 to 14 of 14 threads compute), Fork-Join
(1 to 14 threads) and the communication of clusters (ping-pong, broadcast, gather, allgather by
mailboxes, portals and sync points), as seed 000 does. riscv64: instructions, three seeds. hosted:
times, ten runs, 95 % intervals; they mean little for more threads than this machine has processors.
--quick: one run of each, with fewer points. Both ports if none is named. Writes docs/paper000.csv
(--csv) and docs/img/paper000.png (--plot); a run that is kept in build/paper is not made again.
"""
KEPT = os.path.join(BUILD, "paper")
PAIRS, OBJECTS, SIZES, TEAM, ROUNDS, FORKS = 7, 32, (1024, 2048, 4096, 8192), 14, 3, 10
PATTERNS = ("pingpong", "broadcast", "gather", "allgather")
COLUMNS = ("benchmark", "port", "metric", "x", "series", "mean", "low", "high", "n", "unit")
# of Student's t, two-sided 95 %, by degrees of freedom
T95 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13)


class Run:
    """One run of one program; `seed` tells replications apart."""

    def __init__(self, program, port, machine, args, seed, ranks=1):
        self.program, self.port, self.machine = program, port, machine
        self.args, self.seed, self.ranks = args, seed, ranks

    def argv(self, extra=()):
        """The command that makes it."""
        return [os.path.join(ROOT, "atoll"), "run", "-n", str(self.ranks), "--port", self.port,
                "--machine", self.machine, "--map", "scatter", "--timeout", "300", *extra,
                self.program, *self.args, *(["--seed", str(self.seed)] if self.port == "riscv64" else [])]

    def key(self):
        """What its result depends on."""
        digest = hashlib.sha256(json.dumps([self.argv()[1:], self.seed]).encode())
        kernel = "kernel.elf" if self.port == "riscv64" else "atoll-host"
        for path in (os.path.join(BUILD, self.port, kernel), builder.program_path(self.port, self.program)):
            with open(path, "rb") as f:
                digest.update(f.read())
        return digest.hexdigest()[:24]

    def make(self):
        """Its rows and, on riscv64, windows."""
        with tempfile.NamedTemporaryFile(prefix="atoll-paper-") as f:
            counted = ("--icount", "--count", f.name) if self.port == "riscv64" else ()
            p = subprocess.run(self.argv(counted), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                               errors="replace")
            if p.returncode:
                raise Failure(f"{self.program} ended with {p.returncode}: {(p.stderr or p.stdout)[-500:]}")
            windows = [json.loads(line) for line in f.read().decode().splitlines()] if counted else []
        return {"rows": bench.parse_rows(p.stdout), "windows": [w for w in windows if "window" in w]}

    def is_kept(self):
        """Is there a result?"""
        return os.path.exists(os.path.join(KEPT, self.key() + ".json"))

    def result(self):
        """The same, from what is kept if it is there."""
        path = os.path.join(KEPT, self.key() + ".json")
        if not self.is_kept():
            found = self.make()
            with open(path + ".part", "w", encoding="utf-8") as f:
                json.dump(found, f)
            os.replace(path + ".part", path)
        with open(path, encoding="utf-8") as f:
            return json.load(f)


def plan(ports, quick):
    """All runs, with the series that each belongs to."""
    out = []
    sizes, team = (SIZES[:1], 3) if quick else (SIZES, TEAM)
    for port in ports:
        counted = port == "riscv64"
        clusters, chip = (16, "riscv-16x4") if counted and not quick else (4, "riscv-4x4" if counted else "hosted-4x4")
        for seed in range(1, 2 if quick else 4 if counted else 11):
            for size in sizes:
                out.append((str(size), Run("buffer", port, "crowd", [
                    "--every", "1", "--slots", "16", "--objects", str(OBJECTS), "--bytes", str(size), "--to",
                    "2" if quick else str(PAIRS)], seed)))
            out.append(("", Run("knoise", port, "crowd", [
                "--steps", "63", "--to", str(team), "--team", str(team)], seed)))
            out += [(over, Run("comm", port, chip, ["--over", over, "--bytes", "1024", "--rounds",
                                                    str(ROUNDS if counted else 100)], seed, clusters))
                    for over in ("mailbox", "portal", "sync")]
            out.append(("", Run("fork_join", port, "crowd", ["--threads", "1", "--to", str(team), "--rounds",
                                                                str(FORKS)], seed)))
    return out


def home(window):
    """Instructions of the kernel's core, hart 0, while another's window was open."""
    return sum(o["user"] + o["kernel"] for o in window["others"] if o["hart"] == 0)


def counts_of(result, name, parameter, windows_of):
    """Values of the parameter, in the order in which the program reported `name`; each has
    windows_of(value) windows.
    """
    values = [int(params[parameter]) for row, _, _, params in result["rows"] if row == name]
    wanted = sum(windows_of(v) for v in values)
    if not values or len(result["windows"]) != wanted:
        raise Failure(f"{name}: {len(result['windows'])} windows instead of {wanted}")
    return values


def of_buffer(result):
    """(metric, x, value, unit) of the windows: one per number of pairs."""
    for pairs, w in zip(counts_of(result, "buffer", "pairs", lambda _: 1), result["windows"]):
        transfers = pairs * OBJECTS
        yield "kernel core", pairs, home(w) / transfers, "instructions/transfer"
        yield "all cores", pairs, w["total"] / transfers, "instructions/transfer"


def of_knoise(result):
    """The windows of x computing threads without noise, then the same with noise, for each x."""
    windows = result["windows"]
    for x in counts_of(result, "knoise", "computing", lambda n: 2 * n):
        quiet, noise, windows = windows[:x], windows[x:2 * x], windows[2 * x:]
        if [w["label"] for w in quiet + noise] != [16] * x + [17] * x:
            raise Failure(f"knoise: the windows of {x} computing threads are not what they should be")
        yield "efficiency", x, 100 * sum(w["insns"] for w in quiet) / sum(w["insns"] for w in noise), "%"
        for metric in ("kernel", "entries", "interrupts"):
            yield f"{metric} on computing cores", x, sum(w[metric] for w in noise), "instructions" if \
                metric == "kernel" else metric


def of_fork_join(result):
    """Pairs of windows, spawn and join, FORKS of them for each number of threads: their median, for
    servers that still start are in the first.
    """
    threads = counts_of(result, "spawn", "threads", lambda _: 2 * FORKS)
    for i, x in enumerate(threads):
        of_x = result["windows"][2 * FORKS * i:2 * FORKS * (i + 1)]
        for label, name in ((16, "spawn"), (17, "join")):
            yield name, x, statistics.median(w["total"] for w in of_x if w["label"] == label), "instructions"


def of_comm(result):
    """One window for each pattern."""
    for pattern, w in zip(PATTERNS, result["windows"], strict=True):
        yield pattern, 0, w["total"] / ROUNDS, "instructions/round"


COUNTED = {"buffer": of_buffer, "knoise": of_knoise, "fork_join": of_fork_join, "comm": of_comm}


def of_times(program, result):
    """The rows of a run on the hosted port."""
    values = {}
    for name, value, unit, params in result["rows"]:
        x = int(params.get("pairs", params.get("threads", params.get("computing", 0))))
        values[name, x] = value
        if program == "comm":
            yield params["pattern"], 0, value / 1000, "us/round"
        elif name == "buffer_bandwidth":
            yield "bandwidth", x, value, unit
        elif name in ("spawn", "join"):
            yield name, x, value * x / 1000, "us"
        elif name == "knoise":
            yield "efficiency", x, 100 * values["knoise_quiet", x] / value, "%"
        elif name == "knoise_interrupts":
            yield "interrupts counted by the kernel", x, value, unit


def interval(values):
    """(mean, low, high): 95 %, by Student's t."""
    mean = statistics.fmean(values)
    if len(values) < 2 or len(set(values)) == 1:
        return mean, mean, mean
    half = T95[min(len(values) - 2, len(T95) - 1)] * statistics.stdev(values) / len(values) ** 0.5
    return mean, mean - half, mean + half


def table(found):
    """The rows of COLUMNS; `found` has (series, run, result)."""
    groups = {}
    for series, r, result in found:
        for name, x, value, unit in (COUNTED[r.program](result) if r.port == "riscv64" else
                                     of_times(r.program, result)):
            groups.setdefault((r.program, r.port, name, x, series, unit), []).append(value)
        for name, value, unit, params in result["rows"] if r.program == "knoise" and r.port == "riscv64" else ():
            if name == "knoise_interrupts":
                groups.setdefault((r.program, r.port, "interrupts counted by the kernel", int(params["computing"]),
                                   series, unit), []).append(value)
    out = []
    for (program, port, metric, x, series, unit), values in groups.items():
        mean, low, high = (f"{v:.6g}" for v in interval(values))
        out.append(dict(zip(COLUMNS, (program, port, metric, x, series, mean, low, high, len(values), unit))))
    return out


class Options:
    """What the command line asks for."""

    def __init__(self, argv):
        self.port, self.quick, self.json = None, False, None
        self.csv, self.plot = (os.path.join(ROOT, "docs", n) for n in ("paper000.csv", "img/paper000.png"))
        i = 0
        while i < len(argv):
            name = argv[i].split("=", 1)[0]
            if name in ("--port", "--json", "--csv", "--plot"):
                value, i = take_value(argv, i, name)
                setattr(self, name[2:], value)
                continue
            if argv[i] not in ("--paper", "--quick"):
                raise Usage(f"unknown option '{argv[i]}': ./atoll bench --paper --help lists them")
            self.quick |= argv[i] == "--quick"
            i += 1
        if self.port not in (None, "hosted", "riscv64"):
            raise Usage("--port is hosted or riscv64 here")


def main(argv):
    """Exit status 0 if every run ended well."""
    if "--help" in argv or "-h" in argv:
        print(HELP, end="")
        return 0
    o = Options(argv)
    ports = [o.port] if o.port else ["riscv64", "hosted"]
    setup.ensure("dev")
    for port in ports:
        builder.ensure_run(port, ["buffer", "comm", "fork_join", "knoise"])
    builder.make("hosted", ("plugin",), quiet=True)
    os.makedirs(KEPT, exist_ok=True)
    runs = plan(ports, o.quick)
    found, steps = [], Steps("experiments", len(runs))
    for series, r in runs:
        found.append((series, r, r.result()))
        steps.step(f"{r.program} {series} on {r.port}")
    steps.end()
    rows = table(found)
    with open(o.csv, "w", encoding="utf-8", newline="") as f:
        writer = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    if o.json:
        with open(o.json, "w", encoding="utf-8") as f:
            json.dump(rows, f, indent=1)
    if not o.quick:
        script = os.path.join(ROOT, "tools", "bench", "paperplot.py")
        subprocess.run([os.path.join(setup.VENV, "bin", "python3"), script, o.csv, o.plot], check=True)
    say(f"wrote {len(rows)} rows to {o.csv}" + ("" if o.quick else f", and {o.plot}"))
    return 0
