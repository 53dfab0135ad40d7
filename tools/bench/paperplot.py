# SPDX-License-Identifier: MIT
"""The picture of ./atoll bench --paper: what was measured here, and beside it what seed 000 says of
its own machine, always labelled as published. usage: paperplot.py CSV PNG
"""

import csv
import sys

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

INK, SOFT, GRID, PUBLISHED = "#1d2733", "#667380", "#e3e7eb", "#c4622d"
COLOURS = ("#0b6e7f", "#4a9dab", "#7aa63c", "#7b3f98")
STYLE = {"font.size": 8.5, "axes.edgecolor": SOFT, "axes.spines.top": False, "axes.spines.right": False,
         "axes.grid": True, "grid.color": GRID, "axes.axisbelow": True, "text.color": INK,
         "legend.frameon": False, "legend.fontsize": 7.5, "axes.titlesize": 9}
# seed 000 V-B: linear for up to 4 transfers at a time, 95 % of that for 7
BUFFER_PUBLISHED = ((1, 1), (2, 2), (3, 3), (4, 4), (7, 0.95 * 7))
KNOISE_PUBLISHED = (1, 99.1)        # 0.9 % below; the text gives no other value
WAYS = {"mailbox": "mailbox, 1 KB", "portal": "portal, 1 KB", "sync": "sync, a signal"}
SPAWN_PUBLISHED, JOIN_PUBLISHED = 5.14, 3.42    # thousand cycles a thread


def read(path):
    """{(benchmark, port, metric, series): [(x, mean, low, high)]}"""
    out = {}
    with open(path, encoding="utf-8", newline="") as f:
        for r in csv.DictReader(f):
            out.setdefault((r["benchmark"], r["port"], r["metric"], r["series"]), []).append(
                (int(r["x"]), float(r["mean"]), float(r["low"]), float(r["high"])))
    return out


def line(axes, points, label, colour, style="-o", scale=1.0):
    """A series with its intervals."""
    x = [p[0] for p in points]
    mean = [p[1] * scale for p in points]
    axes.plot(x, mean, style, color=colour, label=label, ms=3, lw=1.2)
    axes.fill_between(x, [p[2] * scale for p in points], [p[3] * scale for p in points], color=colour, alpha=0.15, lw=0)


def bound(home, total):
    """Speed-up that the counts allow, an instruction a cycle: each pair has two cores, which wait
    for the kernel's core meanwhile; that serves all pairs.
    """
    alone = home[0][1]
    own = (total[0][1] - alone) / 2 + alone / 2
    out = []
    for x, per, _, _ in home:
        value = min(x, own / per)
        out.append((x, value, value, value))
    return out


def buffer_speedup(axes, data):
    """Figure 6."""
    for colour, size in zip(COLOURS, ("1024", "2048", "4096", "8192")):
        home, total = (data.get(("buffer", "riscv64", m, size)) for m in ("kernel core", "all cores"))
        if home:
            line(axes, bound(home, total), f"{int(size) // 1024} KB, bound from counts (riscv64)", colour)
    axes.plot([1, 7], [1, 7], ":", color=SOFT, lw=1, label="optimum")
    axes.plot(*zip(*BUFFER_PUBLISHED), "s", color=PUBLISHED, ms=5, mfc="none", label="published (000 V-B, MPPA-256)")
    axes.set(title="Buffer: speed-up of bandwidth", xlabel="pairs", ylim=(0, 7.5))


def buffer_home(axes, data):
    """What one transfer costs the kernel's core."""
    for colour, size in zip(COLOURS, ("1024", "2048", "4096", "8192")):
        points = data.get(("buffer", "riscv64", "kernel core", size))
        if points:
            line(axes, points, f"{int(size) // 1024} KB", colour)
    axes.set(title="Buffer: kernel core, riscv64", xlabel="pairs", ylabel="instructions a transfer")
    axes.set_ylim(bottom=0)


def knoise(axes, data):
    """Figure 7."""
    points = data.get(("knoise", "riscv64", "efficiency", ""))
    if points:
        line(axes, points, "instructions, riscv64", COLOURS[0])
    axes.plot(*KNOISE_PUBLISHED, "s", color=PUBLISHED, ms=5, mfc="none", label="published (000 V-B, cycles, MPPA-256)")
    axes.set(title="KNoise: efficiency, 14 threads", xlabel="computing threads", ylabel="%", ylim=(98, 100.5))


def fork_join(axes, data):
    """Figure 8."""
    for colour, name, published in ((COLOURS[0], "spawn", SPAWN_PUBLISHED), (COLOURS[2], "join", JOIN_PUBLISHED)):
        points = data.get(("fork_join", "riscv64", name, ""))
        if points:
            line(axes, points, f"{name}: thousand instructions, all cores, riscv64", colour, scale=1e-3)
        axes.plot([1, 14], [published, 14 * published], "--s" if name == "spawn" else "--^", color=PUBLISHED, lw=1,
                  ms=4, mfc="none", label=f"{name}: published, thousand cycles (000 V-B, MPPA-256)")
    axes.set(title="Fork-Join", xlabel="threads")
    axes.set_ylim(bottom=0)


def communication(axes, data, port, title, unit, scale):
    """Bars of the patterns."""
    patterns = ("pingpong", "broadcast", "gather", "allgather")
    for i, over in enumerate(WAYS):
        for k, pattern in enumerate(patterns):
            points = data.get(("comm", port, pattern, over))
            if points:
                _, mean, low, high = points[0]
                axes.bar(k + (i - 1) * 0.27, mean * scale, 0.25, color=COLOURS[i], label=WAYS[over] if k == 0 else None,
                         yerr=[[(mean - low) * scale], [(high - mean) * scale]], error_kw={"lw": 1, "ecolor": INK})
    axes.set_yscale("log")
    axes.set_xticks(range(len(patterns)), patterns)
    axes.set(title=title, ylabel=unit)


def main(argv):
    """Draw."""
    data = read(argv[1])
    plt.rcParams.update(STYLE)
    figure, axes = plt.subplots(2, 3, figsize=(13.2, 7.6))
    buffer_speedup(axes[0][0], data)
    buffer_home(axes[0][1], data)
    knoise(axes[0][2], data)
    fork_join(axes[1][0], data)
    communication(axes[1][1], data, "riscv64", "Rounds of 16 clusters, riscv64", "thousand instructions a round", 1e-3)
    communication(axes[1][2], data, "hosted", "Rounds of 4 clusters, hosted, two processors", "us a round", 1)
    for a in axes.flat:
        if a.get_legend_handles_labels()[0]:
            a.legend()
    figure.tight_layout()
    figure.savefig(argv[2], dpi=110, metadata={"Software": None})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
