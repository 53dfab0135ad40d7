# SPDX-License-Identifier: MIT
"""The picture of ./atoll bench --build: the three figures of seed 003, with what a model of memory domains
says; nothing in it was measured. usage: buildplot.py CSV PNG
"""

import csv
import sys

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

from paperplot import COLOURS, INK, PUBLISHED, SOFT, STYLE  # noqa: E402

COLOUR = {"amp": COLOURS[0], "ampbadcol": PUBLISHED, "smp": COLOURS[2], "smpcol0": COLOURS[3], "ampcol0": INK}
FIGURES = (("near and far cores", ("amp", "ampbadcol")), ("all cores, all memory", ("smp", "smpcol0", "amp")),
           ("memory of domain 0", ("amp", "ampcol0")))


def read(path):
    """{(policy, metric): [(cores, mean, low, high)]}, {cores: numbers of executions}, and the compilations of each."""
    out, counts, compilations = {}, {}, 0
    with open(path, encoding="utf-8", newline="") as f:
        for r in csv.DictReader(f):
            out.setdefault((r["policy"], r["metric"]), []).append(
                (int(r["cores"]), float(r["mean"]), float(r["low"]), float(r["high"])))
            counts.setdefault(int(r["cores"]), set()).add(int(r["n"]))
            compilations = int(r["compilations"])
    return out, counts, compilations


def shares(data, policies):
    """{policy: [(cores, percent of the lines that were fetched from other domains)]}"""
    return {p: [(near[0], 100 * far[1] / (near[1] + far[1])) for near, far in zip(data[p, "near"], data[p, "far"])
                if near[1] + far[1]] for p in policies if (p, "near") in data}


def draw(axes, points, label, colour):
    """A line, and at each of its points the interval, which those of one execution do not have."""
    x, mean, low, high = zip(*points)
    axes.plot(x, [m / 1e6 for m in mean], "-o", color=colour, ms=3, lw=1.2, label=label)
    for at, below, above in zip(x, low, high):
        if above > below:
            axes.errorbar(at, (below + above) / 2e6, yerr=(above - below) / 2e6, fmt="none", ecolor=colour, capsize=3,
                          lw=1)


def label_of(cores, counts):
    """A number of cores, and how often it was executed."""
    n = sorted(counts[cores])
    return f"{cores}\nn={n[0]}" + (f" to {n[-1]}" if len(n) > 1 else "")


def main(source, target):
    """Draw it."""
    data, counts, compilations = read(source)
    ticks = sorted({p[0] for points in data.values() for p in points})
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(2, 3, figsize=(10, 5.6), sharex=True, sharey="row")
        for column, (title, policies) in enumerate(FIGURES):
            for policy in policies:
                if (policy, "time") in data:
                    draw(axes[0][column], data[policy, "time"], policy, COLOUR[policy])
            for policy, points in shares(data, policies).items():
                axes[1][column].plot(*zip(*points), "-o", color=COLOUR[policy], ms=3, lw=1.2, label=policy)
            axes[0][column].set(title=f"Figure {column + 1}: {title}", xscale="log")
            axes[0][column].legend()
            axes[1][column].set(xlabel="cores that work; n: executions", ylim=(-3, 103))
            axes[1][column].set_xticks(ticks, [label_of(t, counts) for t in ticks])
            axes[1][column].minorticks_off()
        axes[0][0].set(ylabel="modelled time, million instructions")
        axes[0][0].set_ylim(bottom=0)
        axes[1][0].set(ylabel="lines from other domains, %")
        figure.suptitle(f"Parallel build, {compilations} compilations, modelled; means, 95 % intervals where n > 1",
                        fontsize=10)
        figure.text(0.01, 0.005, "Modelled, not measured: counted instructions; a line takes 100 from the own domain, "
                    "more from others (machines/nix32.toml).", fontsize=7, color=SOFT)
        figure.tight_layout(rect=(0, 0.02, 1, 1))
        figure.savefig(target, dpi=110)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
