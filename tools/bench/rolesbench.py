# SPDX-License-Identifier: MIT
"""./atoll bench --roles: FTQ, selfish detour, strid3 and null calls on cores of two roles, as seed 004
section 9 has them, and the proof that an application core is left alone.

On riscv64 everything runs under icount with the emulator's plugin. Between its markers the measured
core of an AC must have executed no instruction of the kernel and taken no interrupt, by the
plugin's count and by what the kernel itself has counted; a TC beside other threads is the control,
which must have some by both. A tick of time is a nanosecond there, eight of which are an
instruction of whichever core: emulated cores run in turn. Where a device interrupts, and where a
program is moved, they run at once instead: their turns are 100 ms beside a core that computes. What
the plugin counts for a window's own core is exact there, too. On the hosted port Linux is below:
runs as it is, and with the best that it has.
"""

import cmath
import csv
import hashlib
import itertools
import json
import os
import statistics
import subprocess
import tempfile

import bench
import builder
import paper
import setup
from ui import BUILD, ROOT, Failure, Steps, Usage, say, take_value

HELP = """usage: ./atoll bench --roles [--port P] [--quick] [--csv FILE] [--plot FILE]

Runs FTQ, selfish detour, strid3 and null calls on an application core (AC) and on a time-sharing core
(TC) beside other threads, as seed 004 does, and prints how much each was disturbed, FTQ also as the
source shows it (`uniq -c` of the counts without their last digit); and a program that falls back from
an AC to a TC and comes back. Exit status 1 if the kernel ran
on an AC that makes no calls (riscv64, by the kernel's and by the emulator's counts), or if the control
on a TC shows nothing. Both ports if none is named. Writes docs/roles.csv (--csv) and
docs/img/roles.png (--plot); --quick: less of each, and no picture. A run that is kept in build/paper
is not made again.
"""
MACHINE = "optimsoc8"
PROGRAMS = ("fallback", "ftq", "null_call", "selfish", "strid3")
LABEL, LOCAL, REMOTE = 16, 17, 18
COLUMNS = ("port", "benchmark", "case", "metric", "value", "unit")
# what a core or a thread is charged with by the kernel
KERNELS = ("core_ticks", "core_shot_down", "core_faults", "core_messages", "core_changes", "thread_calls",
           "thread_switches", "thread_faults")
UNIQ_LINES = 12
QUIET, CALLED, DEVICE, CONTROL = "quiet", "called", "device", "control"
FAULTS, CALLS, MOVED = "faults", "calls", "moved"
# from the claim of a device's interrupt to the next instruction of a program on another core: tools/plugin/span.h
INTERRUPT = "hal_board_interrupt:user"


class Run(paper.Run):
    """One program with its options; `expect` says what the kernel must have done to its core."""

    def __init__(self, port, program, case, options, expect=None):
        super().__init__(program, port, MACHINE, options.split(), 0)
        self.case, self.expect = case, expect

    def argv(self, extra=()):
        """The command that makes it."""
        return [os.path.join(ROOT, "atoll"), "run", "-n", "1", "--port", self.port, "--machine", self.machine,
                "--timeout", "300", *extra, self.program, *self.args]

    def key(self):
        """What its result depends on: the counter, too."""
        digest = hashlib.sha256(super().key().encode())
        with open(os.path.join(BUILD, "plugin", "libcount.so"), "rb") as f:
            digest.update(f.read())
        return digest.hexdigest()[:24]

    def make(self):
        """Its rows, series and, on riscv64, windows."""
        with tempfile.NamedTemporaryFile(prefix="atoll-roles-") as f:
            counted = ("--count", f.name) if self.port == "riscv64" else ()
            counted += ("--device", "random", "--span", INTERRUPT) if self.expect == DEVICE else \
                ("--icount",) if counted and self.expect != MOVED else ()
            p = subprocess.run(self.argv(counted), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                               errors="replace")
            if p.returncode:
                raise Failure(f"{self.program} ended with {p.returncode}: {(p.stderr or p.stdout)[-500:]}")
            lines = [json.loads(line) for line in f.read().decode().splitlines()] if counted else []
        return {"rows": {name: value for name, value, _, _ in bench.parse_rows(p.stdout)},
                "series": [[int(w) for w in line.split()[1:]] for line in p.stdout.splitlines()
                           if line.startswith(("sample ", "detour ", "stride "))],
                "windows": [w for w in lines if "window" in w],
                "device_interrupts": sum("span" in w and w["label"] == LABEL for w in lines)}


def plan_riscv64(quick):
    """All runs on the emulator."""
    ftq = "--quanta " + ("520" if quick else "2560")
    selfish = "--ms " + ("60" if quick else "1000")
    strid3 = "--n 64 --strides 64 --step 8" if quick else ""
    for program, size in (("ftq", ftq), ("selfish", selfish), ("strid3", strid3)):
        yield program, "AC", f"{size} --on ac --beside daemons", QUIET
        yield program, "TC, daemons", f"{size} --on tc --beside daemons", None if program == "strid3" else CONTROL
        yield program, "TC, a thread", f"{size} --on tc --beside thread", CONTROL if program != "strid3" or \
            not quick else None
    yield "ftq", "AC, others call", f"{ftq} --on ac --beside daemons --callers 3", CALLED
    yield "ftq", "AC, a device interrupts", f"{ftq} --on ac --beside daemons --device random", DEVICE
    yield "ftq", "AC, faulting", f"{ftq} --on ac --fault yes", FAULTS
    yield "strid3", "AC, 2 MB", f"{strid3} --on ac --pages large", QUIET
    yield "strid3", "AC, faulting", f"{strid3} --on ac --fault yes", FAULTS
    yield "strid3", "TC, faulting", f"{strid3} --on tc --fault yes", FAULTS
    yield "strid3", "AC, prints inside", f"{strid3} --on ac --print inside", CALLS
    yield "strid3", "TC, prints inside", f"{strid3} --on tc --print inside", CALLS
    yield "null_call", "AC", "--on ac", CALLS
    yield "null_call", "TC", "--on tc", CALLS
    yield "fallback", "AC, TC, AC", "--slices " + ("100" if quick else "1000"), MOVED


def plan_hosted(quick):
    """All runs above Linux."""
    ftq = "--unit 512 --quanta " + ("100" if quick else "2560")
    selfish = "--ms " + ("20" if quick else "1000")
    strid3 = "--n 64 --strides 64 --step 8" if quick else "--repeat 20"
    for program, size in (("ftq", ftq), ("selfish", selfish)):
        yield program, "AC", f"{size} --on ac"
        yield program, "AC, best", f"{size} --on ac --best yes"
        yield program, "TC, daemons", f"{size} --on tc --beside daemons"
    for pages, text in (("small", "4 KB"), ("large", "2 MB")):
        yield "strid3", f"AC, best, {text}", f"{strid3} --on ac --best yes --pages {pages}"
    yield "strid3", "AC", f"{strid3} --on ac"
    yield "strid3", "AC, best, faulting", f"{strid3} --on ac --best yes --fault yes"
    yield "strid3", "AC, best, prints inside", f"{strid3} --on ac --best yes --print inside"
    yield "null_call", "AC", "--on ac --calls " + ("50" if quick else "10000")


def plan(ports, quick):
    """All runs."""
    made = {"riscv64": plan_riscv64, "hosted": plan_hosted}
    return [Run(port, *p) for port in ports for p in made[port](quick)]


# --- the proof ---

def disturbances(run, result):
    """What the kernel has done to the measured core: (by its own counts, by the emulator's)."""
    rows, windows = result["rows"], [w for w in result["windows"] if w["label"] == LABEL]
    if len(windows) != 1 or not windows[0]["user"]:
        raise Failure(f"{run.program}, {run.case}: {len(windows)} windows, instead of one in which it worked")
    return {k: int(rows[k]) for k in KERNELS}, {k: windows[0][k] for k in ("kernel", "entries", "interrupts")}


def calls_of_others(result):
    """Ways into the kernel of the other cores while the window was open."""
    return sum(o["entries"] for w in result["windows"] if w["label"] == LABEL for o in w["others"])


def why_wrong(expect, own, plugin, others):
    """What is not as it must be; None: nothing."""
    if expect in (CALLED, DEVICE) and not others:
        return "no other core called the kernel meanwhile" if expect == CALLED else "no device has interrupted"
    if expect in (QUIET, CALLED, DEVICE) and (any(own.values()) or any(plugin.values())):
        return "the kernel ran on an application core"
    if expect == CONTROL and not (sum(own.values()) and plugin["kernel"] and plugin["interrupts"]):
        return "the control shows no interrupt, so the proof could not fail"
    if expect == FAULTS and not own["core_faults"] == own["thread_faults"] == plugin["interrupts"] > 0:
        return "the kernel and the emulator count different faults"
    if expect == CALLS and not plugin["entries"] >= own["thread_calls"] > 0:
        return "the kernel and the emulator count different calls"
    return None


def prove(run, result):
    """Fail unless the kernel and the emulator agree on what `expect` says."""
    if run.expect == MOVED:
        prove_moved(run, places(result))
        return
    own, plugin = disturbances(run, result)
    others = result["device_interrupts"] if run.expect == DEVICE else calls_of_others(result)
    wrong = why_wrong(run.expect, own, plugin, others)
    if wrong:
        raise Failure(f"{run.program}, {run.case}: {wrong}: {own}, {plugin}")


# --- a program that falls back to another core ---

def places(result):
    """One after the other, the windows of all slices that a program did in one place, but the first and the last,
    in which it may have come or gone.
    """
    slices = [w for w in result["windows"] if w["label"] == LOCAL]
    return [list(same)[1:-1] for _, same in itertools.groupby(slices, lambda w: w["hart"])]


def prove_moved(run, found):
    """Fail unless it was on an AC, elsewhere, and there again, computed the same, and was left alone on the AC only."""
    harts = [of[0]["hart"] for of in found if of]
    if len(found) != 3 or len(harts) != 3 or harts[0] != harts[2]:
        raise Failure(f"{run.program}: it has been on harts {harts}")
    kernels, interrupts = ([sum(w[what] for w in of) for of in found] for what in ("kernel", "interrupts"))
    if any(kernels[::2] + interrupts[::2]) or not kernels[1] or not interrupts[1]:
        raise Failure(f"{run.program}: the kernel executed {kernels} instructions, for {interrupts} interrupts")
    if len({w["user"] for of in found[::2] for w in of} | {min(w["user"] for w in found[1])}) != 1:
        raise Failure(f"{run.program}: slices of the same work are not the same instructions")


# --- what is made of a series ---

def low_pass(counts):
    """The source's look: without the last digit, runs of equal numbers, as `uniq -c` prints them."""
    return [(len(list(same)), value) for value, same in itertools.groupby(c // 10 for c in counts)]


def transform(values):
    """The discrete Fourier transform of 2^n values."""
    n = len(values)
    if n == 1:
        return values
    even, odd = transform(values[0::2]), transform(values[1::2])
    turned = [cmath.exp(-2j * cmath.pi * k / n) * odd[k] for k in range(n // 2)]
    return [e + t for e, t in zip(even, turned)] + [e - t for e, t in zip(even, turned)]


def spectrum(counts, seconds):
    """[(Hz, amplitude in parts of the mean)] of counts that are `seconds` apart."""
    n = 1 << (len(counts).bit_length() - 1)
    mean = statistics.fmean(counts[:n])
    found = transform([c / mean - 1 for c in counts[:n]])
    return [(k / (n * seconds), 2 * abs(found[k]) / n) for k in range(1, n // 2)]


def seconds_per_tick(result):
    """Of the counter that the program read."""
    return result["rows"]["window"] / result["rows"]["window_ticks"] * 1e-9


def quantum_seconds(result):
    """The distance of most samples."""
    times = [t for t, _ in result["series"]]
    return statistics.median(b - a for a, b in zip(times, times[1:])) * seconds_per_tick(result)


def of_ftq(result):
    """(metric, value, unit) of a series of counts."""
    counts = [c for _, c in result["series"]]
    most = max(set(counts), key=counts.count)
    near = sum(1 for c in counts if abs(c - most) <= 1)
    lines = spectrum(counts, quantum_seconds(result))
    hertz, amplitude = max(lines, key=lambda x: x[1])
    yield "work in a quantum, least", min(counts), "units"
    yield "work in a quantum, most", max(counts), "units"
    yield "variance", statistics.pvariance(counts), "units^2"
    yield "one unit or less from the most frequent", 100 * near / len(counts), "%"
    yield "runs of uniq -c", len(low_pass(counts)), "runs"
    yield "strongest line", hertz, "Hz"
    yield "amplitude of it", 1e6 * amplitude, "ppm"


def of_selfish(result):
    """The same of detours."""
    lengths = [n for _, n in result["series"]]
    tick = seconds_per_tick(result)
    yield "detours", result["rows"]["selfish_detours"], "detours"
    yield "longest", max(lengths, default=0) * tick * 1e6, "us"
    yield "lost", 100 * sum(lengths) / result["rows"]["window_ticks"], "%"


def of_strid3(result):
    """The same of strides."""
    times = [n for _, n in result["series"]]
    yield "time of all strides", sum(times) * seconds_per_tick(result) * 1e3, "ms"
    yield "with what is between them", result["rows"]["window"] * 1e-6, "ms"
    yield "shortest stride", min(times) * seconds_per_tick(result) * 1e6, "us"
    yield "longest stride", max(times) * seconds_per_tick(result) * 1e6, "us"


def of_null_call(result):
    """The same of calls."""
    for name, label in (("local", LOCAL), ("remote", REMOTE)):
        of = [w for w in result["windows"] if w["label"] == label]
        for metric, key in (("own core", "insns"), ("all cores", "total"), ("one after the other", "path")):
            if of:
                yield f"{name}, {metric}", statistics.median(w[key] for w in of), "instructions"
        yield f"{name}, time", result["rows"][f"null_call_{name}"], "ns"


def of_fallback(result):
    """The same of slices in three places."""
    for place, windows in zip(("before", "meanwhile", "after"), places(result)):
        yield f"{place}, slices", len(windows), "slices"
        yield f"{place}, of the core for a slice", statistics.fmean(
            w["user"] + w["kernel"] for w in windows), "instructions"
        yield f"{place}, kernel", sum(w["kernel"] for w in windows), "instructions"
        yield f"{place}, interrupts", sum(w["interrupts"] for w in windows), "interrupts"


ANALYSES = {"fallback": of_fallback, "ftq": of_ftq, "selfish": of_selfish, "strid3": of_strid3,
            "null_call": of_null_call}


def table(found):
    """The rows of COLUMNS."""
    out = []
    for run, result in found:
        rows = [] if run.expect == DEVICE else list(ANALYSES[run.program](result))
        if run.port == "riscv64" and run.expect != MOVED:
            _, plugin = disturbances(run, result)
            rows += [(f"{k} in the window", v, "instructions" if k == "kernel" else k) for k, v in plugin.items()]
            if run.expect == CALLED:
                rows.append(("calls of others in the window", calls_of_others(result), "calls"))
            if run.expect == DEVICE:
                rows.append(("interrupts of a device in the window", result["device_interrupts"], "interrupts"))
        rows += [(k, result["rows"][k], "times") for k in KERNELS + ("below_stopped", "below_faults")
                 if result["rows"].get(k, 0) or k == "core_ticks" and k in result["rows"]]
        out += [dict(zip(COLUMNS, (run.port, run.program, run.case, name, f"{value:.6g}", unit)))
                for name, value, unit in rows]
    return out


def show(rows, found):
    """The table, a line for each run, and the series as the source shows them."""
    for key, of in itertools.groupby(rows, lambda r: (r["port"], r["benchmark"], r["case"])):
        print(f"{key[0]} {key[1]}, {key[2]}: " + ", ".join(f"{r['metric']} {r['value']} {r['unit']}" for r in of))
    for run, result in found:
        if run.program == "ftq" and run.expect != DEVICE:
            print(f"\n{run.port} ftq, {run.case}: uniq -c")
            print("\n".join(f"{n:7} {v}" for n, v in low_pass([c for _, c in result["series"]])[:UNIQ_LINES]))


def plot(found, path):
    """Draw what was found."""
    series = [{"port": r.port, "program": r.program, "case": r.case, "tick": seconds_per_tick(result),
               "series": result["series"],
               "spectrum": spectrum([c for _, c in result["series"]], quantum_seconds(result))
               if r.program == "ftq" else []} for r, result in found if r.expect not in (DEVICE, MOVED)]
    with tempfile.NamedTemporaryFile("w", prefix="atoll-roles-", suffix=".json") as f:
        json.dump(series, f)
        f.flush()
        script = os.path.join(ROOT, "tools", "bench", "rolesplot.py")
        subprocess.run([os.path.join(setup.VENV, "bin", "python3"), script, f.name, path], check=True)


class Options:
    """What the command line asks for."""

    def __init__(self, argv):
        self.port, self.quick = None, False
        self.csv, self.plot = (os.path.join(ROOT, "docs", n) for n in ("roles.csv", "img/roles.png"))
        i = 0
        while i < len(argv):
            name = argv[i].split("=", 1)[0]
            if name in ("--port", "--csv", "--plot"):
                value, i = take_value(argv, i, name)
                setattr(self, name[2:], value)
                continue
            if argv[i] not in ("--roles", "--quick"):
                raise Usage(f"unknown option '{argv[i]}': ./atoll bench --roles --help lists them")
            self.quick |= argv[i] == "--quick"
            i += 1
        if self.port not in (None, "hosted", "riscv64"):
            raise Usage("--port is hosted or riscv64 here")


def main(argv):
    """Exit status 0 if every run ended well and the proof holds."""
    if "--help" in argv or "-h" in argv:
        print(HELP, end="")
        return 0
    o = Options(argv)
    ports = [o.port] if o.port else ["riscv64", "hosted"]
    draws = not o.quick and not o.port
    setup.ensure("dev" if draws else "run")
    for port in ports:
        builder.ensure_run(port, PROGRAMS)
    builder.make("hosted", ("plugin",), quiet=True)
    os.makedirs(paper.KEPT, exist_ok=True)
    runs = plan(ports, o.quick)
    found, steps = [], Steps("roles", len(runs))
    for r in runs:
        found.append((r, r.result()))
        if r.port == "riscv64":
            prove(*found[-1])
        steps.step(f"{r.program}, {r.case} on {r.port}")
    steps.end()
    rows = table(found)
    show(rows, found)
    with open(o.csv, "w", encoding="utf-8", newline="") as f:
        writer = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    if draws:
        plot(found, o.plot)
    say(f"wrote {len(rows)} rows to {o.csv}" + (f", and {o.plot}" if draws else ""))
    return 0
