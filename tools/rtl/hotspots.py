# SPDX-License-Identifier: MIT
"""Where the cycles of the kernel go: per function and core cycles, instructions, lines filled and
mispredictions, from the cluster in RTL.

    python3 tools/rtl/hotspots.py [--cores k-core,...] [--clusters N] [--kernel IMAGE] [--core N]
    [--top N] [--windows] [--json FILE] PROGRAM [ARG...]

Cycles between two retired instructions count for the second one's function; waiting in doze is a
line of its own. Code that no symbol of the kernel covers (the program's) is `?`. The report of
--json has every function.
"""

import argparse
import json
import os
import sys

_TOOLS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, _TOOLS)
import rooms  # noqa: E402,F401

import builder  # noqa: E402
from rtl import config, programs  # noqa: E402
from ui import Failure, Usage  # noqa: E402


def table(found, core, top):
    """Lines of text: the functions of one core, the dearest first."""
    rows = sorted((f for f in found["profile"] if f["cycles"][core]), key=lambda f: -f["cycles"][core])
    total = sum(f["cycles"][core] for f in rows) or 1
    out = [
        f"core {core}: {total} cycles",
        (
            f"{'function':<32}{'bytes':>7}{'cycles':>10}{'share':>8}{'instructions':>14}{'per insn':>9}"
            f"{'misses':>8}{'mispred.':>9}"
        ),
    ]
    for f in rows[:top]:
        n = f["instructions"][core]
        out.append(
            f"{f['function'][:31]:<32}{f['bytes']:>7}{f['cycles'][core]:>10}"
            f"{100 * f['cycles'][core] / total:>7.1f}%{n:>14}"
            f"{f['cycles'][core] / n if n else 0:>9.2f}{f['icache_misses'][core]:>8}{f['mispredicts'][core]:>9}"
        )
    return out


def main(argv):
    """Exit status 1 if the run failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cores", default="k-core,u-core,u-core,u-core")
    parser.add_argument("--clusters", type=int, default=1)
    parser.add_argument("--kernel")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--top", type=int, default=25)
    parser.add_argument("--windows", action="store_true",
                        help="only while the program measures (a window is open on some core)")
    parser.add_argument("--json")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    o = parser.parse_args(argv)
    try:
        builder.ensure("or1k")
        cluster = config.Cluster(o.cores.split(","), clusters=o.clusters)
        if not 0 <= o.core < len(cluster.cores) * o.clusters:
            raise Usage(f"there is no core {o.core} among {len(cluster.cores) * o.clusters}")
        found = programs.report(cluster, o.program, o.arguments, kernel=o.kernel,
                                extra=["--profile-windows" if o.windows else "--profile"])
    except (config.ConfigError, Failure, Usage) + programs.TROUBLES as e:
        print(f"hotspots: {e}", file=sys.stderr)
        return 1
    print("\n".join(table(found, o.core, o.top)))
    if o.json:
        with open(o.json, "w", encoding="utf-8") as f:
            json.dump(found, f)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
