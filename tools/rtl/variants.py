# SPDX-License-Identifier: MIT
"""Clusters beyond those that the tests build: other versions of the core, more and other cores,
data caches, two clusters. Runs the firmware on each.

    python3 tools/rtl/variants.py [NAME...]
"""

import os
import re
import sys

_TOOLS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, _TOOLS)
import rooms  # noqa: E402,F401

from rtl import build, config, firmware, simulator  # noqa: E402

K3U = ["k-core", "u-core", "u-core", "u-core"]
# name -> (cores, options, whether caches without invalidation show old data; None for two clusters,
# which have no caches)
VARIANTS = {
    "newest": (K3U, {"core": "5.2.post151"}, False),
    "four-u": (["u-core"] * 4, {}, False),
    "eight": (["k-core"] + ["u-core"] * 7, {}, False),
    "one": (["i-core"], {}, False),
    "two": (["simple-serial-nodiv-nomul-nofpu-8way", "satcounter-serial-div-mul-nofpu-4way"], {}, False),
    "slow": (K3U, {"latency": 7}, False),
    "snooped": (K3U, {"data_cache": "snooped"}, False),
    "plain": (K3U, {"data_cache": "plain"}, True),
    "flash": (K3U, {"data_cache": "plain", "coherence": "flash"}, True),
    "refill": (K3U, {"tlb_refill": "hardware"}, False),
    "chip": (K3U, {}, None),
    "chip-newest": (["u-core"] * 2, {"core": "5.2.post151"}, None),
    "chip-slow": (["i-core", "k-core", "u-core"], {"latency": 7}, None),
}


def trouble(name):
    """What went wrong with a variant, or None; prints its cycles."""
    cores, options, stale = VARIANTS[name]
    chip = stale is None
    cluster = firmware.chip(cores, **options) if chip else config.Cluster(cores, ram=1 << 20, **options)
    cycles = {}
    for program in ("stress", "far" if chip else "coherence"):
        r = simulator.run_captured(cluster, firmware.elf(program, cluster),
                                   options=simulator.Options(max_cycles=10_000_000, seed=3))
        if r.status:
            return f"{program} ended with {r.status}:\n{r.output}"
        cycles[program] = r.counters["cycles"]
    title = f"{name:<11} {cluster.title()}, {cluster.memory()}, core {cluster.core}: " + ", ".join(
        f"{p} {n} cycles" for p, n in cycles.items()
    )
    if chip:
        print(title, flush=True)
        return None
    found = [int(n) for n in re.findall(r"stale words .*: (\d+)", r.output)]
    expected = [stale, False, False, stale and cluster.coherence != "flash", False, stale]
    if [n > 0 for n in found] != expected:
        return f"stale words {found}:\n{r.output}"
    print(f"{title}, stale {found[0]}", flush=True)
    return None


def main(names):
    """Exit status 1 if a variant does not do what it should."""
    failed = 0
    for name in names or VARIANTS:
        if name not in VARIANTS:
            print(f"variants: unknown '{name}': use some of {', '.join(VARIANTS)}", file=sys.stderr)
            return 2
        try:
            why = trouble(name)
        except (simulator.SimulatorError, build.BuildError) as e:
            why = str(e)
        if why:
            failed = 1
            print(f"{name}: {why}", file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
