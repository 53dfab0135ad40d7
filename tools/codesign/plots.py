# SPDX-License-Identifier: MIT
"""The report's pictures, as SVG text that takes the page's font."""

import io
import re

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.ticker import MaxNLocator  # noqa: E402

from codesign import instructions, paper, space  # noqa: E402

INK, SOFT, GRID, ACCENT, OTHER = "#1d2733", "#667380", "#e3e7eb", "#0b6e7f", "#c4622d"
PREDICTOR = {"simple": "#0b6e7f", "satcounter": "#7aa63c", "gshare": "#c4622d"}
CLASS_COLOURS = {"load": "#0b6e7f", "store": "#4a9dab", "arithmetic": "#7aa63c", "shift": "#a9c77a",
                 "move": "#c9ced4", "compare": "#d9b44a", "branch": "#c4622d",
                 "jump": "#e09a6f", "multiply": "#7b3f98", "divide": "#b07cc6", "float": "#d1366f",
                 "atomic": "#44525f", "system": "#8a97a3", "nop": "#e9ecef"}
STYLE = {"svg.fonttype": "none", "font.family": "DejaVu Sans", "font.size": 9.5,
         "axes.edgecolor": SOFT, "axes.labelcolor": INK, "xtick.color": SOFT,
         "ytick.color": SOFT, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
         "grid.color": GRID, "axes.axisbelow": True,
         "text.color": INK, "svg.hashsalt": "atoll", "legend.frameon": False}


def svg(figure):
    """The figure's SVG element; its text takes the page's font."""
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    text = out.getvalue()
    text = re.sub(r"(font(?:-family)?:[^;\"]*?)'DejaVu Sans'(?:, *[^;\"]*)?", r"\1inherit-face",
                  text[text.index("<svg"):])
    text = text.replace("inherit-face", "'Inter','Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif")
    points = float(re.search(r'width="([\d.]+)pt"', text).group(1))
    return re.sub(r'height="[\d.]+pt"|width="[\d.]+pt"', "", text,
                  count=2).replace("<svg ", f'<svg style="width:100%;max-width:{points * 4 / 3:.0f}px" ', 1)


def start(width, height, columns=1):
    """(figure, axes) in the house's style."""
    plt.rcParams.update(STYLE)
    return plt.subplots(1, columns, figsize=(width, height))


def pareto(points, front):
    """Power against area of all points; against the kernel's cycles beside it, if those were
    measured.
    """
    timed = points[0].slowdown is not None
    figure, axes = start(10.4 if timed else 8.2, 4.6, 2 if timed else 1)
    axes = list(axes) if timed else [axes]
    _cloud(axes[0], points, front, lambda p: p.area(), "area, in LUTs")
    if timed:
        _cloud(axes[1], points, front, lambda p: p.slowdown, "kernel's cycles, I-Core = 1")
        axes[1].xaxis.set_major_locator(MaxNLocator(5))
    axes[0].set_ylabel("power by the model, mW")
    handles = [plt.Line2D([], [], marker="o", ls="", color=c, label=n) for n, c in PREDICTOR.items()]
    handles += [plt.Line2D([], [], marker="o", ls="", mfc="white", mec=SOFT, label="predicted")]
    handles += [plt.Line2D([], [], marker="s", ls="", mfc="none", mec=INK, ms=9, label="not dominated")]
    axes[0].legend(handles=handles, loc="upper left", fontsize=9)
    return svg(figure)


def _cloud(ax, points, front, x, label):
    order = ("gshare", "satcounter", "simple")
    for p in sorted(points, key=lambda p: (p.measured, order.index(space.choices(p.name)["predictor"]))):
        colour = PREDICTOR[space.choices(p.name)["predictor"]]
        ax.plot(x(p), p.mw, "o", ms=5.5, mfc=colour if p.measured else "white", mec=colour, mew=1.0, alpha=0.9)
    for p in front:
        ax.plot(x(p), p.mw, "s", ms=10, mfc="none", mec=INK, mew=0.9)
    for short in space.NAMED:
        p = next(q for q in points if q.name == space.canonical(short))
        ax.annotate(space.title(short), (x(p), p.mw), xytext=(9, -13), textcoords="offset points",
                    fontweight="bold", fontsize=10, zorder=5,
                    bbox={"fc": "white", "ec": "none", "pad": 0.6, "alpha": 0.75})
        ax.plot(x(p), p.mw, "o", ms=11, mfc="none", mec=INK, mew=1.3)
    ax.margins(y=0.1)
    ax.set_xlabel(label)


def fit(model, nested):
    """The model against the printed milliwatts, with what the procedure says of rows it has not
    seen.
    """
    figure, ax = start(5.0, 4.0)
    low, high = 18, 58
    ax.plot([low, high], [low, high], color=SOFT, lw=1)
    for i, row in enumerate(paper.TABLE2):
        mw, said, unseen = row[6], row[6] + model.residuals[i], row[6] + nested[i]
        ax.plot([mw, mw], [said, unseen], color=OTHER, lw=1)
        ax.plot(mw, unseen, "_", color=OTHER, ms=9, mew=1.5)
        ax.plot(mw, said, "o", color=ACCENT, ms=6)
        if row[0] in ("K-Core", "U-Core", "Branch GShare", "I-Cache 8 way"):
            ax.annotate(row[0], (mw, said), xytext=(7, -11), textcoords="offset points", fontsize=8.5)
    ax.set(xlabel="paper's Table II, mW", ylabel="our model, mW", xlim=(low, high), ylim=(low, high))
    handles = [plt.Line2D([], [], marker="o", ls="", color=ACCENT, label="fitted"),
               plt.Line2D([], [], marker="_", ls="", color=OTHER, mew=1.5, label="left out")]
    ax.legend(handles=handles, loc="upper left", fontsize=9)
    return svg(figure)


def differences(pairs, label):
    """Our differences to the I-Core beside the paper's, one line per row of Table II."""
    figure, ax = start(5.0, 3.4)
    for i, (name, theirs, ours) in enumerate(reversed(pairs)):
        ax.plot([theirs, ours], [i, i], color=GRID, lw=3, zorder=1)
        ax.plot(theirs, i, "o", mfc="white", mec=INK, ms=7, mew=1.3)
        ax.plot(ours, i, "o", color=ACCENT, ms=5)
    ax.set_yticks(range(len(pairs)), [p[0] for p in reversed(pairs)])
    ax.tick_params(axis="y", length=0, labelcolor=INK)
    ax.axvline(0, color=SOFT, lw=0.8)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(label)
    handles = [plt.Line2D([], [], marker="o", ls="", mfc="white", mec=INK, label="paper"),
               plt.Line2D([], [], marker="o", ls="", color=ACCENT, label="ours")]
    ax.legend(handles=handles, loc="upper right", fontsize=9, bbox_to_anchor=(1.0, 0.75))
    return svg(figure)


def classes(tables):
    """The portable kernel's instructions by class, a bar per port."""
    rows = [(port, instructions.SHOWN[port], parts["kernel"]) for port, parts in tables.items() if "kernel" in parts]
    figure, ax = start(9.6, 0.62 * len(rows) + 1.5)
    for i, (_, _, row) in enumerate(reversed(rows)):
        total, left = sum(row.values()), 0.0
        for kind in instructions.CLASSES:
            share = 100 * row[kind] / total
            ax.barh(i, share, left=left, color=CLASS_COLOURS[kind], height=0.66, edgecolor="white", lw=0.6)
            if share >= 2.8:
                dark = kind in ("load", "store", "branch", "multiply", "atomic")
                ax.text(left + share / 2, i, f"{share:.0f}", ha="center", va="center", fontsize=8.5,
                        color="white" if dark else INK)
            left += share
    ax.set_yticks(range(len(rows)), [isa for _, isa, _ in reversed(rows)])
    ax.tick_params(axis="y", length=0, labelcolor=INK)
    ax.set(xlim=(0, 100), xlabel="percent of the kernel's instructions")
    ax.grid(visible=False)
    ax.spines["left"].set_visible(False)
    handles = [plt.Rectangle((0, 0), 1, 1, color=CLASS_COLOURS[k], label=instructions.TITLES[k])
               for k in instructions.CLASSES]
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.32 if len(rows) > 2 else -0.5),
              ncol=5, fontsize=8.5, columnspacing=1.2)
    return svg(figure)


def noise(curves, operations):
    """Slow-down over the share of loads: a line with intervals for each of {words: {loads:
    Summary}}.
    """
    figure, ax = start(6.4, 3.4)
    colours = (ACCENT, "#7aa63c", OTHER, "#7b3f98")
    for i, (words, curve) in enumerate(curves.items()):
        x = [100 * n / operations + 0.6 * (i - (len(curves) - 1) / 2) for n in curve]
        ax.errorbar(x, [s.mean for s in curve.values()], yerr=[s.half or 0 for s in curve.values()],
                    color=colours[i % 4], marker="o", ms=4.5, lw=1.3, capsize=2.5, label=words)
    ax.set(xlabel="loads, percent of the computing core's operations", ylabel="slow-down, percent")
    ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))
    ax.legend(loc="upper left", fontsize=9)
    return svg(figure)


def saving(intervals):
    """(words, interval) of savings, one line each, and the paper's figure across."""
    figure, ax = start(6.4, 0.75 + 0.45 * len(intervals))
    for i, (words, found) in enumerate(reversed(intervals)):
        ax.plot([found.low, found.high], [i, i], color=ACCENT, lw=7, alpha=0.28, solid_capstyle="round")
        ax.plot(found.value, i, "o", color=ACCENT, ms=8)
    ax.axvline(paper.SAVING_PERCENT, color=INK, lw=1)
    ax.annotate("paper", (paper.SAVING_PERCENT, len(intervals) - 0.6), xytext=(3, 0),
                textcoords="offset points", ha="left", fontsize=9)
    ax.set(ylim=(-0.6, len(intervals) - 0.2), xlim=(0, 25), xlabel="percent less power than four U-Cores")
    ax.set_yticks(range(len(intervals)), [words for words, _ in reversed(intervals)])
    ax.tick_params(axis="y", length=0, labelcolor=INK)
    ax.grid(axis="y", visible=False)
    ax.spines["left"].set_visible(False)
    return svg(figure)
