# SPDX-License-Identifier: MIT
"""The picture of ./atoll bench --build: the three figures of seed 003, with what a model of memory domains
says; nothing in it was measured. usage: buildplot.py CSV PNG
"""

import csv
import sys

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

from paperplot import COLOURS, INK, PUBLISHED, SOFT, STYLE, line  # noqa: E402

COLOUR = {"amp": COLOURS[0], "ampbadcol": PUBLISHED, "smp": COLOURS[2], "smpcol0": COLOURS[3], "ampcol0": INK}
FIGURES = (("near and far cores", ("amp", "ampbadcol")), ("all cores, all memory", ("smp", "smpcol0", "amp")),
           ("memory of domain 0", ("amp", "ampcol0")))


def read(path):
    """{(policy, metric): [(cores, mean, low, high)]}, the executions of the points, and the compilations of each."""
    out, counts, compilations = {}, set(), 0
    with open(path, encoding="utf-8", newline="") as f:
        for r in csv.DictReader(f):
            out.setdefault((r["policy"], r["metric"]), []).append(
                (int(r["cores"]), float(r["mean"]), float(r["low"]), float(r["high"])))
            counts.add(int(r["n"]))
            compilations = int(r["compilations"])
    return out, counts, compilations


def shares(data, policies):
    """{policy: [(cores, percent of the lines that were fetched from other domains)]}"""
    return {p: [(near[0], 100 * far[1] / (near[1] + far[1])) for near, far in zip(data[p, "near"], data[p, "far"])
                if near[1] + far[1]] for p in policies if (p, "near") in data}


def main(source, target):
    """Draw it."""
    data, counts, compilations = read(source)
    ticks = sorted({p[0] for points in data.values() for p in points})
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(2, 3, figsize=(10, 5.6), sharex=True, sharey="row")
        for column, (title, policies) in enumerate(FIGURES):
            for policy in policies:
                if (policy, "time") in data:
                    line(axes[0][column], data[policy, "time"], policy, COLOUR[policy], scale=1e-6)
            for policy, points in shares(data, policies).items():
                axes[1][column].plot(*zip(*points), "-o", color=COLOUR[policy], ms=3, lw=1.2, label=policy)
            axes[0][column].set(title=f"Figure {column + 1}: {title}", xscale="log")
            axes[0][column].legend()
            axes[1][column].set(xlabel="cores that work", ylim=(-3, 103))
            axes[1][column].set_xticks(ticks, [str(t) for t in ticks])
            axes[1][column].minorticks_off()
        axes[0][0].set(ylabel="modelled time, million instructions")
        axes[0][0].set_ylim(bottom=0)
        axes[1][0].set(ylabel="lines from other domains, %")
        n = str(min(counts)) if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
        figure.suptitle(f"Parallel build, {compilations} compilations, modelled: {n} executions each, 95 % intervals",
                        fontsize=10)
        figure.text(0.01, 0.005, "Modelled, not measured: counted instructions; a line takes 100 from the own domain, "
                    "more from others (machines/nix32.toml).", fontsize=7, color=SOFT)
        figure.tight_layout(rect=(0, 0.02, 1, 1))
        figure.savefig(target, dpi=110)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
