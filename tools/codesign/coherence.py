# SPDX-License-Identifier: MIT
"""Seed 000's co-design question on the RTL: what selective invalidation saves over a full
shoot-down where no hardware keeps data caches coherent.

    .venv/bin/python3 tools/codesign/coherence.py [--replications N] [--latencies 0,10,30]
    [--systems none,snooped,...]

The real kernel on one K-Core and three U-Cores, one boot with all benchmarks per memory system,
latency of the memory and replication (its own link order and phase). Rows are kept in
hw/results/coherence.csv as soon as they are there; a sweep that was killed goes on behind them.
Rows of another source (study.py: kept kernels, program, RTL) are never mixed with new ones: they
are measured again.
"""

import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import rooms  # noqa: E402,F401
from codesign import kept, measure, page, rtl, study  # noqa: E402
from codesign.page import Cell, esc  # noqa: E402
from codesign.rtlbench import LABEL  # noqa: E402
from rtl import build, config  # noqa: E402

STORED = os.path.join(rtl.ROOT, "hw", "results", "coherence.csv")
FIELDS = ("source", "system", "latency", "benchmark", "replication", "cycles", "dcache_misses", "instructions")
CORES = ["k-core", "u-core", "u-core", "u-core"]
LATENCIES = (0, 10, 30)
WAYS = ("none", "whole", "flash", "lines", "drop")      # CACHES of mk/tune.mk
# system -> (data caches, how the kernel mends them, words for tables)
SYSTEMS = {
    "none": ("none", None, "no data cache"),
    "snooped": ("snooped", None, "snooped data caches"),
    "whole": ("plain", "whole", "full shoot-down by software"),
    "flash": ("plain", "flash", "full shoot-down at once"),
    "lines": ("plain", "lines", "lines by software"),
    "drop": ("plain", "drop", "lines by hardware"),
}
# the command line of one boot, and row -> (window, its cycles are per this many)
CALLS, ROUNDS, USERS, OBJECTS = 30, 4, 3, 8
WORDS = [str(w) for w in ("kcalls", "--calls", CALLS, "fork_join", "--threads", USERS, "--rounds",
                          ROUNDS, "buffer", "--pairs", 1, "--objects", OBJECTS)]
ROWS = {"l_kcall": (LABEL["kcalls"], CALLS), "r_kcall": (LABEL["kcalls"] + 1, CALLS),
        "spawn": (LABEL["fork_join"], ROUNDS * USERS),
        "join": (LABEL["fork_join"] + 1, ROUNDS * USERS), "buffer": (LABEL["buffer"], OBJECTS)}
TITLES = {"l_kcall": "local call", "r_kcall": "remote call", "spawn": "create a thread",
          "join": "join a thread", "buffer": "pass a buffer"}


def read(path=STORED):
    """Rows of the file, numbers as numbers; none if it does not exist."""
    return [{**r, "latency": int(r["latency"]), "replication": int(r["replication"]),
             **{k: float(r[k]) for k in ("cycles", "dcache_misses", "instructions")}}
            for r in kept.read_rows(path)]


def write(rows, path=STORED):
    """The whole file anew, or not at all."""
    kept.write_rows(path, FIELDS,
                    sorted(rows, key=lambda r: (list(SYSTEMS).index(r["system"]), r["latency"],
                                                list(TITLES).index(r["benchmark"]), r["replication"])))


def source():
    """The source of rows that would be measured now: the kept kernels for every memory system, the
    program, the RTL and the model of a flash.
    """
    return build.digest([study.source("caches/", "caches/")], [build.FLASH])


def measured(system, latency, replication):
    """Rows of one run, without their source."""
    caches, mend, _ = SYSTEMS[system]
    cluster = config.Cluster(CORES, latency=latency, data_cache=caches, coherence=mend)
    try:
        report = study.run("caches", study.kernel(mend or "none", replication, "caches"), cluster, replication)
    except (study.RunFailed, *study.TROUBLES) as e:
        raise measure.Failed(f"{system}, latency {latency}, link order {replication}: {e}") from None
    out = []
    for name, (label, per) in ROWS.items():
        w = measure.window(report, label)
        total = {k: sum(c[k] for c in w["cores"]) / per for k in ("dcache_misses", "instructions")}
        out.append({"system": system, "latency": latency, "benchmark": name,
                    "replication": replication, "cycles": round(w["cycles"] / per, 2),
                    **{k: round(v, 2) for k, v in total.items()}})
    return out


def not_again(rows, job, run=measured):
    """Run a kept run again: rows that do not come out as they are kept, in words."""
    want = {r["benchmark"]: r for r in rows if (r["system"], r["latency"], r["replication"]) == job}
    again = {r["benchmark"]: r for r in run(*job)}
    return [f"{b}: kept {want.get(b)}, now {again.get(b)}" for b in {**want, **again}
            if {k: v for k, v in want.get(b, {}).items() if k != "source"} != again.get(b)]


def sweep(jobs, now, path=STORED, run=measured, say=print, current=None):
    """Measure what the file does not have of the source `now`. Rows of other sources go when the
    first new one comes.

    current() is the source of what would be measured at the moment; a change of it ends the sweep.
    """
    rows = [r for r in read(path) if r["source"] == now]
    have = {(r["system"], r["latency"], r["replication"]) for r in rows}
    missing = [j for j in jobs if j not in have]
    for i, job in enumerate(missing, 1):
        if current and current() != now:
            raise measure.Failed("the sources changed while they were measured: start again")
        say(f"coherence {i}/{len(missing)}: {SYSTEMS[job[0]][2]}, latency {job[1]}, replication {job[2]}")
        rows += [{"source": now, **r} for r in run(*job)]
        write(rows, path)
    return rows


def medians(rows):
    """{(system, latency, benchmark): (median cycles, median misses, replications)}."""
    groups = {}
    for r in rows:
        groups.setdefault((r["system"], r["latency"], r["benchmark"]), []).append(r)
    return {k: (statistics.median(r["cycles"] for r in g),
                statistics.median(r["dcache_misses"] for r in g), len(g)) for k, g in groups.items()}


def table(found, latency):
    """One table: benchmarks over memory systems at one latency; '-' where nothing was measured."""
    rows = []
    for name, title in TITLES.items():
        cells = [found.get((s, latency, name)) for s in SYSTEMS]
        whole, *others = cells[-4:]
        rows.append([title, *(f"{page.number(c[0])} ({c[1]:.0f})" if c else "-" for c in cells),
                     *(f"{x[0] / whole[0]:.2f}" if x and whole else "-" for x in others)])
    count = {n for (_, at, _), (_, _, n) in found.items() if at == latency}
    return page.table([[Cell(f"latency {latency}", "group"), Cell("coherent", "group", 2),
                        Cell("not coherent", "group", 4), Cell("against the whole", "group", 3)],
                       ["", "no data cache", "snooped", "whole", "at once", "lines", "hardware",
                        "at once", "lines", "hardware"]], rows,
                      "One replication." if count == {1}
                      else f"Medians of {' to '.join(map(str, sorted({min(count), max(count)})))} replications.")


def section(path=STORED):
    """The report's part on data caches that nobody keeps coherent."""
    head, rows = "<h3>Data caches without coherence: selective invalidation or a full shoot-down</h3>", read(path)
    if not rows:
        return head + page.note("Not measured yet: <code>python3 tools/codesign/coherence.py</code>.")
    found = medians(rows)
    return (head + "<p>Seed 000 asks for hardware that invalidates selectively instead of shooting "
                   "the whole cache down. One K-Core and three U-Cores with write-through data "
            "caches of 8 KB that nobody keeps coherent, and the kernel made coherent in four ways: "
            "who acquires forgets its whole cache, set by set as this core can or at once "
            "as a model of it does, or by software the lines of what it acquires, or who publishes "
            "has the lines dropped by hardware in all other caches. Beside it the cluster without "
            "data caches and with snooped ones.</p>"
            + "".join(table(found, n) for n in sorted({r["latency"] for r in rows}))
            + f'<p class="caption">Cycles, and lines filled in parentheses; each replication with '
              f'its own link order and phase; source {esc(rows[0]["source"])}. Where caches are not coherent '
            "the writable pages of programs are not cached.</p>")


def parse(argv):
    """Jobs (system, latency, replication), replication by replication."""
    chosen = {"--replications": "3", "--latencies": ",".join(map(str, LATENCIES)), "--systems": ",".join(SYSTEMS)}
    for option, value in zip(argv[::2], argv[1::2]):
        if option not in chosen:
            raise ValueError(f"unknown option '{option}'")
        chosen[option] = value
    systems, latencies = chosen["--systems"].split(","), chosen["--latencies"].split(",")
    if len(argv) % 2 or not chosen["--replications"].isdecimal() or not all(n.isdecimal()
                                                                            and int(n) < 256 for n in latencies):
        raise ValueError("options have a value; --replications a number, --latencies numbers up to 255")
    for s in systems:
        if s not in SYSTEMS:
            raise ValueError(f"'{s}' is not one of {', '.join(SYSTEMS)}")
    return [(s, int(n), r) for r in range(int(chosen["--replications"])) for n in latencies for s in systems]


def main(argv):
    """Exit status 2 for a bad command line, 1 if something is missing or a run failed."""
    try:
        jobs = parse(argv)
    except ValueError as e:
        print(e, __doc__, sep="\n", file=sys.stderr)
        return 2
    try:
        now = source()
        rows = sweep(jobs, now, say=lambda t: print(t, file=sys.stderr, flush=True), current=source)
    except (kept.Damaged, measure.Failed, rtl.Missing) as e:
        print(e, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(rtl.STOPPED, file=sys.stderr)
        return 130
    for (system, latency, name), (cycles, misses, n) in sorted(medians(rows).items(), key=lambda x: (x[0][1], x[0][2])):
        print(f"latency {latency:>2}  {name:<8} {system:<8} {cycles:>10.1f} cycles  {misses:>7.1f} lines filled  ({n})")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
