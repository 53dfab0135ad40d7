# SPDX-License-Identifier: MIT
"""KNoise on the cluster in RTL: how much a computing thread is slowed down by others that hammer
the kernel, over the share of its operations that go to memory (seed 000 IV-A). What is left when no
kernel code runs on its core is the shared memory.

    python3 tools/rtl/noise.py [--replications N] [--cores k-core,u-core,u-core,u-core] [--noisy N]
    [--latency N]
"""

import argparse
import os
import statistics
import sys

_TOOLS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, _TOOLS)
import rooms  # noqa: E402,F401

import builder  # noqa: E402
from rtl import config, programs  # noqa: E402
from ui import Failure, Usage  # noqa: E402

QUIET, NOISY = 16, 17           # labels of bench/synth/knoise.c
OPERATIONS = 16                 # per step
STEPS = 150


def one(cluster, loads, noisy, seed):
    """(quiet cycles per step, noisy cycles per step, exceptions on the computing core in the
    window, its waiting for the bus).
    """
    r = programs.report(cluster, "knoise",
                        ["--loads", str(loads), "--steps", str(STEPS), "--noisy", str(noisy)], seed=seed)
    quiet, loud = programs.window(r, QUIET), programs.window(r, NOISY)
    core = loud["cores"][loud["core"]]
    return quiet["cycles"] / STEPS, loud["cycles"] / STEPS, core["exceptions"], core["buswait"] / STEPS


def line(cluster, loads, noisy, replications):
    """One line of the table."""
    runs = [one(cluster, loads, noisy, seed) for seed in range(replications)]
    slow = [100 * (b - a) / a for a, b, _, _ in runs]
    return (
        f"{loads:>2}/{OPERATIONS}{statistics.mean(r[0] for r in runs):>12.1f}"
        f"{statistics.mean(r[1] for r in runs):>12.1f}{statistics.mean(slow):>10.2f}"
        f" %  ({min(slow):.2f} ..."
        f" {max(slow):.2f}){max(r[2] for r in runs):>8}{statistics.mean(r[3] for r in runs):>12.1f}"
    )


def main(argv):
    """Exit status 1 if a run failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--replications", type=int, default=3)
    parser.add_argument("--cores", default="k-core,u-core,u-core,u-core")
    parser.add_argument("--noisy", type=int, default=2)
    parser.add_argument("--latency", type=int, default=0)
    o = parser.parse_args(argv)
    try:
        builder.ensure("or1k")
        cluster = config.Cluster(o.cores.split(","), latency=o.latency)
        print(f"{cluster.title()}, {cluster.memory()}; 1 computes, {o.noisy} hammer the kernel; "
              f"{STEPS} steps of {OPERATIONS} operations, {o.replications} replications")
        print("loads  quiet c/step noisy c/step  slowdown                 traps  bus wait/step")
        for loads in range(0, OPERATIONS + 1, 4):
            print(line(cluster, loads, o.noisy, o.replications), flush=True)
    except (config.ConfigError, Failure, Usage) + programs.TROUBLES as e:
        print(f"noise: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
