# SPDX-License-Identifier: MIT
"""The kernel of today beside that of the study: the tree's own kernel in the paper's set-ups, on
the same clusters, a few link orders each.

    .venv/bin/python3 tools/codesign/today.py [REPLICATIONS]

The figures of the study belong to the kernel that is kept (images.py), and stay as they are when
the kernel changes. This measures what the change did. The rows go to build/codesign/today.json with
the hashes of the texts that they belong to; the report shows them if the tree is still that.
"""

import json
import os
import sys

TOOLS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TOOLS)
import rooms  # noqa: E402,F401
from codesign import cycles, freeze, kept, layout, measure, rtl, rtlbench, sources, study  # noqa: E402
from rtl import config, programs  # noqa: E402
from ui import Failure, Usage  # noqa: E402

STORED = os.path.join(rtl.ROOT, "build", "codesign", "today.json")
SETUPS = ("u", "k", "u-opt", "k-opt")
REPLICATIONS = 3


def kernel(setup, seed):
    """Path without ending of the tree's kernel for a set-up, linked in the order of a seed."""
    name = rtlbench.kernel_of(setup)
    path = freeze.loose(name)
    own = layout.own_order() if rtlbench.has_own_order(name) else ""
    return layout.link(path, layout.SCRIPT, os.path.join(os.path.dirname(path), f"kernel-order{seed}"), seed, own)


def run(job):
    """Rows of one run of the tree's kernel and program."""
    cluster = config.Cluster(job.cores, latency=job.latency, ram=rtlbench.MEMORY)
    try:
        report = programs.report(cluster, rtlbench.program(), rtlbench.words(len(job.cores) - 1),
                                 seed=job.replication, kernel=kernel(job.setup, job.replication),
                                 extra=["--max-cycles", str(study.MAX_CYCLES)])
    except (Failure, Usage, freeze.BuildFailed, layout.LinkError, *programs.TROUBLES) as e:
        raise measure.Failed(f"the kernel of today, {job.setup}, link order {job.replication}: {e}") from None
    return rtlbench.rows(job, report, cluster.memory())


def measured(replications, say, run_one=run, path=STORED):
    """Measure and store; returns the rows."""
    rooms, rows = sources.rooms(), []
    for r in range(replications):
        for setup in SETUPS:
            say(f"kernel of today: {setup}, link order {r}")
            rows += [{**row, "source": "today"}
                     for row in run_one(measure.Job(setup, [rtlbench.SETUPS[setup][0], *["u-core"] * 3], r))]
    if sources.rooms() != rooms:
        raise measure.Failed("the sources changed while they were measured: start again")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"rooms": rooms, "rows": rows}, f)
    return rows


def read(rooms, path=STORED):
    """The rows of a tree with these hashes, or none."""
    try:
        with open(path, encoding="utf-8") as f:
            found = json.load(f)
    except (OSError, ValueError):
        return []
    return found["rows"] if found["rooms"] == rooms else []


def beside(rows, study_rows):
    """[(benchmark, set-up, Summary of the study, Summary of today)] of what both measured."""
    ours, theirs = cycles.summarise(rows), cycles.summarise(study_rows)
    return [(key[0], key[1], theirs[key], found) for key, found in ours.items() if key in theirs
            and not key[0].startswith("knoise")]


def main(argv):
    """Exit status 2 for a bad command line, 1 if something failed."""
    if len(argv) > 1 or not all(a.isdecimal() and int(a) for a in argv):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        rows = measured(int(argv[0]) if argv else REPLICATIONS, lambda t: print(t, file=sys.stderr, flush=True))
        for benchmark, setup, then, now in beside(rows, cycles.kept()[0]):
            print(f"{benchmark:<10} {setup:<6} study {then.mean:>10.1f} ({then.n}), today "
                  f"{now.mean:>10.1f} ({now.n}): {now.mean / then.mean:.3f}")
    except (measure.Failed, rtl.Missing, kept.Damaged) as e:
        print(e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
