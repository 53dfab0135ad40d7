# SPDX-License-Identifier: MIT
"""./atoll bench coll --table: every algorithm of every collective over sizes, ranks and mappings,
and from that mpi/coll/table.tbl.

A row of the table holds up to half way (geometrically) to the next number of ranks, or size, that
was measured. For a blocking call it names the fastest algorithm; for the others the fastest of
those that are schedules. Neighbouring rows that say the same become one, and an algorithm stays in
use until another one is faster by more than the noise.
"""

import json
import math
import os
import re
import subprocess
import sys
import time

import builder
import install
import process
from ui import BUILD, ROOT, Failure, Steps, Usage, say, take_value

sys.path.insert(0, os.path.join(ROOT, "mpi", "tools"))

import colltable  # noqa: E402

HELP = """usage: ./atoll bench coll --table [--only COLLECTIVE,...] [--mappings MAPPING,...]
                     [--from FILE,...] [--json FILE] [--rounds N] [--quick]

Measures every algorithm of every collective on this computer and writes mpi/coll/table.tbl, from
which the library chooses (build after that).
--only and --mappings leave all other rows of the table as they are. --json keeps what was measured,
--from makes the table from such files (of several runs the shortest time counts).
Mappings: cluster (all ranks in one), clusters (several of them), spread (each rank in its own),
process (process ranks).
"""
TABLE = os.path.join(ROOT, "mpi", "coll", "table.tbl")
ROW = re.compile(r"row (\S+) (\S+) us bytes=(\d+)")
TIMEOUT_S = 540
NOISE = 1.2
# mapping -> what is run: (ranks, options of ./atoll run, largest message or buffer)
POINTS = {
    "cluster": [(2, [], 1 << 21), (8, [], 1 << 20), (64, [], 1 << 18), (256, [], 1 << 15)],
    "clusters": [(8, ["--machine", "hosted-4x4"], 1 << 18), (12, ["--machine", "hosted-4x4"], 1 << 18)],
    "spread": [(4, ["--machine", "hosted-4x4", "--map", "scatter"], 1 << 18)],
    "process": [(2, ["--ranks", "process"], 1 << 21), (8, ["--ranks", "process"], 1 << 20),
                (64, ["--ranks", "process"], 1 << 17)],
}
INTRO = """# Which algorithm a collective uses. Written by ./atoll bench coll --table; another
# computer may want another table.
#
# {how}
#
# Columns: collective; mapping (cluster: all ranks in one; clusters: in several; spread: each in its
# own; process: process ranks); the row holds up to so many ranks, and bytes of the operand or of a
# block (-: any number); algorithm of a blocking call, and of all others. An algorithm that cannot
# do what is asked (blocks of different sizes, operations that do not commute) is replaced by the
# collective's general one. The last rows are for blocks that differ (alltoallv: of alltoallw, too),
# in blocking calls; all others take the general one. They are kept as they are.
"""


def measure(mapping, point, kinds, rounds):
    """[(collective, mapping, ranks, bytes, algorithm, us)] of one point."""
    ranks, options, most = point
    lists = {}
    for a in colltable.algorithms_in(os.path.join(ROOT, "mpi", "coll")):
        lists.setdefault(a.kind, []).append(a.name)
    out = []
    for kind in kinds:
        argv = [os.path.join(ROOT, "atoll"), "run", "-n", str(ranks), *options, "coll_choice", kind,
                ",".join(lists[kind]),
                "--most", str(most), "--rounds", str(rounds)]
        p = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           timeout=TIMEOUT_S, errors="replace", check=False)
        if p.returncode:
            raise Failure(f"{' '.join(argv)} ended with {p.returncode}: {p.stderr.strip()[-300:]}")
        out += [(kind, mapping, ranks, int(m.group(3)), m.group(1), float(m.group(2)))
                for m in map(ROW.match, p.stdout.splitlines()) if m]
    return out


FLAGS_RANKS = 16    # FLAGS_RANKS_MAX of mpi/coll/flags.h


def between(low, high):
    """The bound between two values that were measured."""
    return round(math.sqrt(low * high))


def between_ranks(low, high):
    """The same of ranks. More than FLAGS_RANKS cannot do all that fewer can."""
    return min(between(low, high), FLAGS_RANKS) if low <= FLAGS_RANKS else between(low, high)


def fastest(times, held):
    """Of {algorithm: us}, the fastest; the one that is in use stays unless it is clearly slower."""
    best = min(times, key=times.get)
    return held if held in times and times[held] <= NOISE * times[best] else best


def rows_of(samples, kind, mapping, meets):
    """Rows (colltable.Row) for one collective and mapping from what was measured.

    `meets`: algorithms of blocking calls only."""
    rows = []
    mine = [s for s in samples if s[:2] == (kind, mapping)]
    ranks = sorted({s[2] for s in mine})
    for i, n in enumerate(ranks):
        sizes = sorted({s[3] for s in mine if s[2] == n})
        bound, part, held = (between_ranks(n, ranks[i + 1]) if i + 1 < len(ranks) else None), [], (None, None)
        most = colltable.central_most(kind, bound)
        for j, size in enumerate(sizes):
            times = {s[4]: s[5] for s in mine if s[2:4] == (n, size) and (
                s[4] != "central" or most is None or size <= most)}
            held = (fastest(times, held[0]), fastest({k: v for k, v in times.items() if k not in meets}, held[1]))
            up_to = between(size, sizes[j + 1]) if j + 1 < len(sizes) else None
            if held[0] == "central" and most is not None:
                up_to = min(up_to or most, most)
            if part and (part[-1].blocking, part[-1].started) == held:
                part[-1].bytes = up_to
            else:
                part.append(colltable.Row(kind, mapping, bound, up_to, *held))
        # the same as for fewer ranks?
        last = [r for r in rows if r.ranks == rows[-1].ranks]
        if [_says(r) for r in last] == [_says(r) for r in part]:
            for r in last:
                r.ranks = bound
        else:
            rows += part
    return rows


def _says(row):
    return row.bytes, row.blocking, row.started


def text_of(rows, how):
    """The table's text."""
    word = lambda n: colltable.ANY if n is None else str(n)
    lines = [INTRO.format(how=how)]
    for kind in colltable.ROWS:
        lines.append("")
        lines += [f"{r.kind:<15}{r.mapping:<10}{word(r.ranks):>5}{word(r.bytes):>9}  "
                  f"{r.blocking:<14}{r.started}" for r in rows if r.kind == kind]
    return "\n".join(lines).replace("#\n\n\n", "#\n\n") + "\n"


def shortest(paths):
    """(samples, how) of some runs; `how` is that of the last one."""
    best, how = {}, ""
    for path in paths:
        with open(path, encoding="utf-8") as f:
            kept = json.load(f)
        how = kept["how"]
        for s in kept["samples"]:
            best[tuple(s[:5])] = min(s[5], best.get(tuple(s[:5]), s[5]))
    return [(*key, us) for key, us in best.items()], how


def make_table(samples, how, o):
    """Write the table: what was measured, and the old rows of everything that was not asked for."""
    algorithms = colltable.algorithms_in(os.path.join(ROOT, "mpi", "coll"))
    with open(TABLE, encoding="utf-8") as f:
        old = colltable.read_rows(f.read())
    rows = []
    for kind in colltable.ROWS:
        meets = {a.name for a in algorithms if a.kind == kind and a.meets}
        for mapping in colltable.MAPPINGS:
            new = rows_of(samples, kind, mapping, meets) if kind in o.only and mapping in o.mappings else []
            rows += new or [r for r in old if (r.kind, r.mapping) == (kind, mapping)]
    colltable.check(rows, algorithms)
    with open(TABLE, "w", encoding="utf-8") as f:
        f.write(text_of(rows, how))
    say(f"wrote {len(rows)} rows to {os.path.relpath(TABLE, ROOT)}")


def list_all():
    """Print what run's --mpi-coll takes."""
    print("n ranks, m bytes per rank, a = time of one message, b = time per byte, g = time to combine a byte\n")
    for a in colltable.algorithms_in(os.path.join(ROOT, "mpi", "coll")):
        print(f"{a.kind + '=' + a.name:<30} {a.cost}{' (blocking calls only)' if a.meets else ''}")
    return 0


def _where():
    model = "?"
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), model)
    return f"Taken {time.strftime('%Y-%m-%d')} on {os.cpu_count()} processors, {model}; ranks measured: " + "; ".join(
        f"{m} {', '.join(str(p[0]) for p in points)}" for m, points in POINTS.items()) + "."


class Options:
    """What the command line asks for."""

    def __init__(self, argv):
        self.only, self.mappings, self.source, self.json = (
            ",".join(colltable.KINDS), ",".join(colltable.MAPPINGS), None, None
        )
        self.rounds, self.quick = "40", False
        i = 0
        while i < len(argv):
            name = argv[i].split("=", 1)[0]
            if name in ("--only", "--mappings", "--from", "--json", "--rounds"):
                value, i = take_value(argv, i, name)
                setattr(self, {"--from": "source"}.get(name, name[2:]), value)
                continue
            if argv[i] == "--quick":
                self.quick = True
            elif argv[i] not in ("coll", "--table"):
                raise Usage(f"unknown option '{argv[i]}': ./atoll bench coll --table --help lists them")
            i += 1
        self.only, self.mappings = self.only.split(","), self.mappings.split(",")
        for word, known in [(k, colltable.KINDS) for k in self.only] + [(m, colltable.MAPPINGS) for m in self.mappings]:
            if word not in known:
                raise Usage(f"unknown name '{word}': use some of {', '.join(known)}")


def main(argv):
    """Exit status 0 if everything ran."""
    if "--help" in argv or "-h" in argv:
        print(HELP, end="")
        return 0
    o = Options(argv)
    if o.source:
        make_table(*shortest(o.source.split(",")[::-1]), o)
        return 0
    points = [(m, p) for m in o.mappings for p in POINTS[m][:1 if o.quick else None]]
    builder.ensure("hosted")
    if "process" in o.mappings:
        process.compile_program(process.source_named("coll_choice"), install.ensure())
    samples, steps = [], Steps("algorithms", len(points))
    for mapping, point in points:
        samples += measure(mapping, point, o.only, 2 if o.quick else int(o.rounds))
        steps.step(f"{point[0]} ranks, {mapping}")
    steps.end()
    how = _where()
    if o.json:
        with open(o.json, "w", encoding="utf-8") as f:
            json.dump({"how": how, "samples": samples}, f, indent=0)
    if not o.quick:
        make_table(samples, how, o)
    return 0
