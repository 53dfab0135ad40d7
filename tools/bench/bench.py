# SPDX-License-Identifier: MIT
"""./atoll bench: run benchmarks and report rows. Each benchmark is bench/ROOM/NAME.toml beside the
program that it runs.

    description = "ping-pong between two ranks"
    source = "002 6.2"
    program = "pingpong"              default: NAME
    ports = ["hosted", "riscv64"]     default: both; or1k too if it needs neither libc nor MPI
    ranks = [2]                       one number or several
    machine = {hosted = "laptop", riscv64 = "riscv-4x4"}    default; lists are run in turn
    map = ["compact", "scatter"]      default: compact
    repetitions = 5                   rows with the same name and params become one: median of the values, n = how many
    args = ["--size", "{size}"]       {NAME} is a parameter
    files = []                        put into the boot archive
    options = []                      of ./atoll run, beside those that the above make
    [parameters]                      the grid: every combination is run
    size = [8, 1024]
    [quick]                           replaces parameters with --quick

`bare = ["NAME"]` names tests of tests/kernel that `program` may be: they are the first process of
every cluster, without servers.

A program reports by lines `row NAME VALUE UNIT [KEY=VALUE...]`. A value of 0 ranks is the front
command's own measure:
    probe = "wall" | "footprint"      instead of rows: wall clock of the whole run; sizes of the kernel image

With --icount a riscv64 machine runs under `-icount shift=3,sleep=off` and the counting plugin; the
windows between markers become rows:
    [[icount]]
    name = "local_call"
    label = 16                        marker label of the windows, 0: without
    count = "insns"                   or total (with the other harts), path (of total, those that wait for one
                                      another), busiest (the other hart that has most), others, kernel, user,
                                      polls, entries, interrupts
    per = 1                           operations in a window, or the parameter that says how many
    count = "stretch"                 with `stretches = true`: how long a kernel core served nobody
                                      else, the longest of each part of the kernel above `least` and
                                      the longest of all, in the phase after marker `label` (0:
                                      before any)
    span = "FROM:TO"                  beside them, ways from one kernel function to another on
                                      another hart (run's --span); a row counts send, receive,
                                      one_way, sender, receiver or round_trip of them

With --rtl an or1k machine is the cycle-exact cluster, and the program its first process; cycles of
its windows become rows, which only vary from repetition to repetition by when each core leaves
reset:
    [[rtl]]
    name = "r_kcall"
    label = 17
    per = 100                         operations in a window, or the parameter that says how many
    count = "cycles"                  of each window; or least, most; longer: how many windows took more than the
                                      shortest; exceptions: of the window's core, in all of them
"""

import itertools
import importlib
import json
import os
import re
import statistics
import subprocess
import tempfile
import time
import tomllib

import builder
import launch
import machine as machines
import programs
import run
import setup
from ui import BUILD, ROOT, RUN_PORTS, Failure, Steps, Usage, check_port, say, take_value

HELP = """usage: ./atoll bench [--port P] [--machine M] [--icount | --rtl] [--quick] [--once]
                     [--json FILE] [--list] [NAME...]

Runs the benchmarks of bench/ (all, or those named) and prints a table; --json writes the rows
{"name", "params", "value", "unit", "port", "machine", "n"} ("-" for stdout). --icount counts
instructions on riscv64, --rtl cycles of the co-designed cluster (or1k). --quick measures fewer
points, --once each of them once instead of taking a median. ./atoll bench mpi --peers
compares our MPI with others on this machine, coll --table finds out which algorithms collectives
should use here, --paper makes the experiments of seed 000, --roles those of seed 004, --build that of seed
003, --mixed compares the kernel's choice of cores with a fixed one (--help tells more).
"""
KEYS = {"description", "source", "program", "ports", "ranks", "machine", "map", "repetitions",
        "args", "files", "options", "parameters", "quick", "probe",
        "icount", "span", "stretches", "bare", "rtl", "timeout_s"}
SPAN_COUNTS = {"send", "receive", "one_way", "sender", "receiver", "round_trip"}
FOLDER = os.path.join(ROOT, "bench")
ROW = re.compile(r"row (\S+) (-?[0-9.eE+-]+) (\S+)((?: [^\s=]+=\S*)*)\s*$")


class Bench:
    """One benchmark's description."""

    def __init__(self, path, table):
        self.path, self.name = path, os.path.basename(path)[:-5]
        unknown = set(table) - KEYS
        if unknown:
            raise Usage(f"{os.path.relpath(path, ROOT)}: unknown key '{sorted(unknown)[0]}'")
        self.table = table

    def get(self, key, default=None):
        """A value of the description."""
        return self.table.get(key, default)

    def machines(self, port):
        """Machines to run on."""
        value = self.get("machine", {}).get(port, run.DEFAULT_MACHINE[port])
        return value if isinstance(value, list) else [value]

    def points(self, quick):
        """Every combination of parameters as a dict."""
        grid = dict(self.get("parameters", {}))
        if quick:
            grid.update(self.get("quick", {}))
        names = list(grid)
        values = [v if isinstance(v, list) else [v] for v in grid.values()]
        return [dict(zip(names, combination)) for combination in itertools.product(*values)]


def load_all():
    """All benchmarks by name."""
    out = {}
    for folder, _, names in sorted(os.walk(FOLDER)):
        for n in sorted(names):
            if n.endswith(".toml"):
                path = os.path.join(folder, n)
                try:
                    with open(path, "rb") as f:
                        b = Bench(path, tomllib.load(f))
                except tomllib.TOMLDecodeError as e:
                    raise Usage(f"{os.path.relpath(path, ROOT)}: {e}") from None
                out[b.name] = b
    return out


class Shot:
    """One run of a benchmark's program."""

    def __init__(self, bench, port, machine, params):
        self.bench, self.port, self.machine, self.params = bench, port, machine, params

    def command(self, extra=()):
        """`./atoll run` with everything it needs."""
        b, p = self.bench, self.params
        program = b.get("program", b.name).format(**p)
        bare = program in b.get("bare", ())
        argv = [os.path.join(ROOT, "atoll"), "run", "-n", str(1 if bare else p.get("ranks", 1)),
                "--port", self.port, "--machine", self.machine,
                "--map", p.get("map", "compact"), "--timeout", str(b.get("timeout_s", 300)), *extra]
        for f in b.get("files", []):
            argv += ["--file", os.path.join(ROOT, f)]
        argv += b.get("options", [])
        if bare:
            return argv + ["--bare",
                           os.path.join(BUILD, self.port, "tests", "kernel",
                                        program)] + [a.format(**p) for a in b.get("args", [])]
        return argv + [program] + [a.format(**p) for a in b.get("args", [])]

    def run(self, extra=()):
        """(output, wall seconds)."""
        start = time.monotonic()
        p = subprocess.run(self.command(extra), stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, errors="replace")
        seconds = time.monotonic() - start
        if p.returncode:
            said = [line for line in (p.stderr or p.stdout).splitlines() if "building" not in line]
            raise Failure(f"benchmark {self.bench.name} ended with {p.returncode}: {' '.join(said[-3:])}")
        return p.stdout, seconds

    def row(self, name, value, unit, params, n):
        """A row in the common form."""
        return {"name": name, "params": {**self.params, **params}, "value": value, "unit": unit,
                "port": self.port, "machine": self.machine, "n": n}


def parse_rows(text):
    """(name, value, unit, params) of a program's output."""
    out = []
    for line in text.splitlines():
        m = ROW.match(line)
        if m:
            params = dict(w.split("=", 1) for w in m.group(4).split())
            out.append((m.group(1), float(m.group(2)), m.group(3), params))
    return out


def merge(shot, samples):
    """Rows of several runs: median over the runs."""
    groups = {}
    for name, value, unit, params in samples:
        groups.setdefault((name, unit, tuple(sorted(params.items()))), []).append(value)
    return [shot.row(name, _tidy(statistics.median(v)), unit, dict(params), len(v))
            for (name, unit, params), v in groups.items()]


def _tidy(value):
    return int(value) if value == int(value) else float(f"{value:.6g}")


def per_of(spec, params):
    """Operations in a window."""
    per = spec.get("per", 1)
    return params[per] if isinstance(per, str) else per


def parse_windows(lines, specs, params):
    """(name, value, unit, params) for the plugin's windows and spans."""
    windows = [json.loads(line) for line in lines if line.startswith("{")]
    out = []
    for spec in specs:
        what = spec.get("count", "insns")
        if what == "stretch":
            continue
        kind = "span" if what in SPAN_COUNTS else "window"
        for w in windows:
            if kind not in w or w["label"] != spec.get("label", 0):
                continue
            others = [o["user"] + o["kernel"] for o in w.get("others", ())]
            value = sum(others) if what == "others" else max(others, default=0) if what == "busiest" else w[what]
            out.append((spec["name"], value / per_of(spec, params), spec.get("unit", "instructions"), {"count": what}))
    return out


def parse_stretches(lines, specs):
    """(name, value, unit, params) for the plugin's stretches: of each phase the longest, and all
    that are longer than `least`.
    """
    import stretches
    found, out = stretches.read(lines), []
    for spec in specs:
        if spec.get("count") != "stretch":
            continue
        of_phase = [s for s in found if s.label == spec.get("label", 0)]
        for s in of_phase[:1] + [s for s in of_phase[1:] if s.insns > spec.get("least", 0)]:
            where = {"in": s.part, "most": f"{s.most}:{s.share:.0%}", "from": s.began, "to": s.ended}
            out.append((spec["name"], s.insns, "instructions", where))
    return out


def parse_report(report, specs, params):
    """(name, value, unit, params) for the windows of a run in RTL."""
    out = []
    for spec in specs:
        what = spec.get("count", "cycles")
        for w in report["windows"]:
            if w["label"] != spec["label"] or not w["times"]:
                continue
            if what in ("exceptions", "longer"):
                value = w["cores"][w["core"]][what] if what == "exceptions" else sum(e > w["least"] for e in w["each"])
                out.append((spec["name"], value, "windows" if what == "longer" else what, {"count": what}))
                continue
            value = w["cycles"] / w["times"] if what == "cycles" else w[what]
            out.append((spec["name"], value / per_of(spec, params), "cycles",
                        {"count": what} if "count" in spec else {}))
    return out


def shoot_rtl(shot):
    """All rows of one point on the cluster in RTL."""
    samples = []
    with tempfile.TemporaryDirectory(prefix="atoll-rtl-") as folder:
        path = os.path.join(folder, "report")
        for seed in range(shot.bench.get("repetitions", 1)):
            shot.run(["--rtl", "--bare", "--seed", str(seed), "--report", path])
            with open(path, encoding="utf-8") as f:
                samples += parse_report(json.load(f), shot.bench.get("rtl", []), shot.params)
    return merge(shot, samples)


def shoot(shot, icount, rtl=False):
    """All rows of one point."""
    b = shot.bench
    if rtl:
        return shoot_rtl(shot)
    if icount:
        with tempfile.NamedTemporaryFile(prefix="atoll-count-") as f:
            shot.run(["--icount", "--count", f.name] + (["--span", b.get("span")] if b.get("span")
                                                        else []) + ["--stretches"] * b.get("stretches", False))
            lines = f.read().decode().splitlines()
        specs = b.get("icount", [])
        return merge(shot, parse_windows(lines, specs, shot.params) + parse_stretches(lines, specs))
    if b.get("probe") == "footprint":
        return footprint(shot)
    samples = []
    for _ in range(b.get("repetitions", 1)):
        text, seconds = shot.run()
        samples += parse_rows(text)
        if b.get("probe") == "wall":
            samples.append((b.name, seconds * 1000, "ms", {}))
    if not samples:
        raise Failure(f"benchmark {b.name} reported no row")
    return merge(shot, samples)


def footprint(shot):
    """Sizes of the kernel image and of what runs beside it, in bytes."""
    tool = "riscv64-unknown-elf-size" if shot.port == "riscv64" else "size"
    image = os.path.join(BUILD, shot.port, "kernel.elf" if shot.port == "riscv64" else "atoll-host")
    rows = []
    for name, path in [("kernel", image)] + [(n, os.path.join(BUILD, shot.port, "bin", n))
                                             for n in ("name", "proc", "personality")]:
        if os.path.exists(path):
            out = subprocess.run([tool, "-A", path], capture_output=True, text=True, check=True).stdout
            size = {m.group(1): int(m.group(2)) for m in re.finditer(r"^(\.\S+)\s+(\d+)\s+\d+", out, re.M)}
            for part, sections in (("text", (".text", ".init", ".plt")),
                                   ("rodata", (".rodata", ".eh_frame", ".eh_frame_hdr")),
                                   ("data", (".data", ".data.rel.ro", ".got", ".sdata")), ("bss", (".bss", ".sbss"))):
                value = sum(v for k, v in size.items() if any(k == s or k.startswith(s + ".") for s in sections))
                rows.append(shot.row("footprint", value, "B", {"image": name, "part": part}, 1))
    return rows


def shots_of(b, ports, machine, quick):
    """Everything that one benchmark runs."""
    out = []
    for port in ports:
        if port not in b.get("ports", ["hosted", "riscv64"]):
            continue
        ranks, maps = b.get("ranks", 1), b.get("map", "compact")
        outer = itertools.product(ranks if isinstance(ranks, list) else [ranks],
                                  maps if isinstance(maps, list) else [maps])
        for (n, policy), m in itertools.product(list(outer), [machine] if machine else b.machines(port)):
            for params in b.points(quick):
                fixed = {"ranks": n} if "ranks" not in params else {}
                if isinstance(maps, list):
                    fixed["map"] = policy
                out.append(Shot(b, port, m, {**fixed, **params}))
    return out


def show(rows):
    """The rows as a table."""
    table = [("name", "parameters", "value", "unit", "port", "machine", "n")]
    for r in rows:
        params = " ".join(f"{k}={v}" for k, v in r["params"].items())
        table.append((r["name"], params, f"{r['value']:,}", r["unit"], r["port"], r["machine"], str(r["n"])))
    widths = [max(len(row[i]) for row in table) for i in range(7)]
    for row in table:
        cells = [c.rjust(w) if i == 2 else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())


class Options:
    """What the command line asks for."""

    def __init__(self, argv):
        self.port, self.machine, self.json, self.icount, self.quick, self.list, self.names = (
            None, None, None, False, False, False, []
        )
        self.rtl = self.once = False
        i = 0
        while i < len(argv):
            name = argv[i].split("=", 1)[0]
            if name in ("--port", "--machine", "--json"):
                value, i = take_value(argv, i, name)
                setattr(self, name[2:], value)
                continue
            if argv[i] in ("--icount", "--quick", "--once", "--list", "--rtl"):
                setattr(self, argv[i][2:], True)
            elif argv[i].startswith("-"):
                raise Usage(f"unknown option '{argv[i]}': ./atoll bench --help lists them")
            else:
                self.names.append(argv[i])
            i += 1
        if self.port:
            check_port(self.port, RUN_PORTS)
        if self.icount and self.port not in (None, "riscv64"):
            raise Usage("--icount is for --port riscv64")
        if self.rtl and (self.icount or self.port not in (None, "or1k")):
            raise Usage("--rtl is for --port or1k, and not with --icount")


def choose(o):
    """The benchmarks that are asked for."""
    known = load_all()
    for name in o.names:
        if name not in known:
            raise Usage(f"unknown benchmark '{name}': use some of {', '.join(known)}")
    if o.machine:
        try:
            machines.load(o.machine)
        except machines.MachineError as e:
            raise Usage(str(e)) from None
    chosen = [b for b in known.values() if not o.names or b.name in o.names]
    for b in chosen if o.once else ():
        b.table["repetitions"] = 1
    return chosen


# what makes an experiment of its own
EXPERIMENTS = {"--peers": "peers", "--paper": "paper", "--mixed": "mixedbench", "--build": "buildbench",
               "--roles": "rolesbench", "--table": "collbench"}


def main(argv):
    """Exit status 0 if every benchmark ran."""
    for option, module in EXPERIMENTS.items():
        if option in argv:
            return importlib.import_module(module).main(argv)
    if argv and argv[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0
    o = Options(argv)
    chosen = choose(o)
    if o.list:
        for b in chosen:
            print(f"{b.name:<16}{b.get('description', '')} ({b.get('source', '-')})")
        return 0
    ports = ["riscv64"] if o.icount else ["or1k"] if o.rtl else [o.port] if o.port else ["hosted", "riscv64"]
    shots = [s for b in chosen if (b.get("icount") or not o.icount) and (b.get("rtl") or not o.rtl)
             for s in shots_of(b, ports, o.machine, o.quick)]
    if not shots:
        raise Usage("none of these benchmarks runs like that")
    if o.json and o.json != "-":
        open(o.json, "a", encoding="utf-8").close()	# before the work, not after it
    for s in shots:
        launch.load_machine(s.machine, s.port)
    setup.ensure("hw" if o.rtl else next((p for p in ports if p in setup.NEEDS), "run"))
    for port in ports:
        builder.ensure_run(port, sorted({s.bench.get("program", s.bench.name) for s in shots
                                         if s.port == port} & set(programs.names(port))))
    if o.icount:
        builder.make("hosted", ("plugin",), quiet=True)
    for port in {s.port for s in shots if s.bench.get("bare")}:
        builder.make(port, ("kerneltest",), quiet=True)
    rows, steps = [], Steps("benchmarks", len(shots))
    for s in shots:
        rows += shoot(s, o.icount, o.rtl)
        steps.step(f"{s.bench.name} on {s.machine}")
    steps.end()
    if o.json:
        text = json.dumps(rows, indent=1) + "\n"
        if o.json == "-":
            print(text, end="")
        else:
            with open(o.json, "w", encoding="utf-8") as f:
                f.write(text)
            say(f"wrote {len(rows)} rows to {o.json}")
    if o.json != "-":
        show(rows)
    return 0
