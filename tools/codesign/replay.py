# SPDX-License-Identifier: MIT
"""Runs kept runs again and demands what is kept, to the last cycle: the simulator is deterministic,
so a row that does not come out again is wrong, or belongs to another RTL.

    .venv/bin/python3 tools/codesign/replay.py [--all | SETUP[@LATENCY]...]      one run of each
    (default: k-opt, k, k-opt@10); --all: one of each that is kept
"""

import os
import sys

TOOLS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TOOLS)
import rooms  # noqa: E402,F401
from codesign import cycles, kept, measure, rtl, rtlbench, space  # noqa: E402

USUAL = ("k-opt", "k", "k-opt@10")


def runs(rows):
    """{key of a run: {benchmark: kept row}}."""
    out = {}
    for r in rows:
        out.setdefault(measure.job_of(r).key(), {})[r["benchmark"]] = r
    return out


def chosen(rows, names):
    """Keys of one run for each SETUP[@LATENCY], the least replication first; None: of each kind of
    run that is kept. ValueError for what is not kept.
    """
    first = {}
    for key in sorted(runs(rows), key=lambda k: (k[2], len(k[1]), k)):
        first.setdefault((key[0], key[3]) if names else (key[0], key[1], key[3]), key)
    if not names:
        return list(first.values())
    wanted = [(setup, int(latency or 0)) for setup, _, latency in (n.partition("@") for n in names)]
    missing = [w for w in wanted if w not in first]
    if missing:
        raise ValueError(f"no run of {missing[0][0]} at latency {missing[0][1]} is kept")
    return [first[w] for w in wanted]


def differences(want, got):
    """Words for each figure of a run that is not as kept.
    `want`: {benchmark: kept row}, `got`: the rows of the same run now.
    """
    found = {r["benchmark"]: cycles.short({**r, "source": ""}, with_activity=1 << 30) for r in got}
    out = [f"{b}: measured now, not kept" for b in found if b not in want]
    for benchmark, row in want.items():
        row = cycles.short({**row, "source": ""}, with_activity=1 << 30)
        for key, value in row.items():
            now = found.get(benchmark, {}).get(key)
            if now != value:
                out.append(f"{benchmark}, {key}: {value if key != 'activity' else 'kept'}, now "
                           f"{now if key != 'activity' else 'another'}")
    return out


def again(rows, keys, run, say):
    """Run some kept runs; [(words of the run, differences)]."""
    have, out = runs(rows), []
    for setup, cores, replication, latency in keys:
        job = measure.Job(setup, cores, replication, latency)
        words = (
            f"{setup}, kernel on {space.title(cores[0])} of {len(cores)} cores, latency {latency}, link order"
            f" {replication}"
        )
        say(f"running again: {words}")
        out.append((words, differences(have[job.key()], run(job))))
    return out


def main(argv):
    """Exit status 1 if a run does not come out again."""
    def say(text):
        print(text, file=sys.stderr, flush=True)
    try:
        rows = cycles.kept()[0]
        found = again(rows, chosen(rows, None if argv == ["--all"] else argv or USUAL), rtlbench.Runner(), say)
    except ValueError as e:
        print(e, __doc__, sep="\n", file=sys.stderr)
        return 2
    except (measure.Failed, rtl.Missing, kept.Damaged, cycles.BadRow) as e:
        print(e, file=sys.stderr)
        return 1
    for words, wrong in found:
        print(f"{'differs' if wrong else 'equal'}  {words}", *wrong[:6], sep="\n        ")
    return int(any(wrong for _, wrong in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
