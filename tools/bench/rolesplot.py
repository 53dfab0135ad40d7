# SPDX-License-Identifier: MIT
"""The picture of ./atoll bench --roles. The upper row has instructions that were counted on the
emulator (a nanosecond is an eighth of one), the lower row times of a machine with Linux.
usage: rolesplot.py JSON PNG
"""

import json
import sys

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

from paperplot import COLOURS, INK, PUBLISHED, SOFT, STYLE  # noqa: E402

SHOWN_S = 0.6           # of a series of FTQ
BINS = 24
PORTS = (("riscv64", "riscv64, counted"), ("hosted", "hosted, measured"))
FTQ = {"riscv64": (("TC, daemons", PUBLISHED), ("AC, faulting", COLOURS[2]), ("AC", COLOURS[0])),
       "hosted": (("TC, daemons", PUBLISHED), ("AC", COLOURS[2]), ("AC, best", COLOURS[0]))}
SELFISH = {"riscv64": (("TC, a thread", COLOURS[3]), ("TC, daemons", PUBLISHED), ("AC", COLOURS[0])),
           "hosted": FTQ["hosted"]}
STRID3 = {"riscv64": (("AC, faulting", COLOURS[2]), ("TC, daemons", PUBLISHED), ("AC", COLOURS[0]),
                      ("AC, 2 MB", INK)),
          "hosted": (("AC", COLOURS[2]), ("AC, best, 4 KB", COLOURS[0]), ("AC, best, 2 MB", INK))}


def work(axes, runs, port):
    """FTQ: work in each quantum."""
    for case, colour in FTQ[port]:
        run = runs[port, "ftq", case]
        points = [(t * run["tick"] * 1e3, c) for t, c in run["series"] if t * run["tick"] < SHOWN_S]
        axes.plot(*zip(*points), ".", color=colour, ms=2.5, label=case)
    axes.set(xlabel="ms", ylabel="units of work in a quantum")


def lines(axes, runs, port):
    """FTQ: its spectrum."""
    for case, colour in FTQ[port]:
        axes.plot(*zip(*runs[port, "ftq", case]["spectrum"]), color=colour, lw=0.8, label=case)
    axes.set(xlabel="Hz", ylabel="amplitude, parts of the mean", yscale="log", ylim=(1e-7, 1))


def detours(axes, runs, port):
    """Selfish: how many detours are how long."""
    edges = [10 ** (-1 + 5.5 * i / BINS) for i in range(BINS + 1)]
    for case, colour in SELFISH[port]:
        run = runs[port, "selfish", case]
        lengths = [n * run["tick"] * 1e6 for _, n in run["series"]]
        axes.hist(lengths, edges, color=colour, histtype="step", lw=1.4, label=f"{case}: {len(lengths)}")
    axes.set(xlabel="us", ylabel="detours", xscale="log", yscale="symlog")
    axes.set_ylim(bottom=0)


def strides(axes, runs, port):
    """strid3: time over the stride."""
    for case, colour in STRID3[port]:
        run = runs[port, "strid3", case]
        style = {"lw": 0.8} if case != "AC, 2 MB" else {"lw": 1, "ls": ":"}
        axes.plot([s for s, _ in run["series"]], [n * run["tick"] * 1e6 for _, n in run["series"]], color=colour,
                  label=case, **style)
    axes.set(xlabel="stride", ylabel="us a stride", yscale="log")


def main(argv):
    """Draw."""
    with open(argv[1], encoding="utf-8") as f:
        runs = {(r["port"], r["program"], r["case"]): r for r in json.load(f)}
    plt.rcParams.update(STYLE)
    figure, axes = plt.subplots(2, 4, figsize=(16.5, 7.4))
    for row, (port, text) in zip(axes, PORTS):
        for a, (name, draw) in zip(row, (("FTQ", work), ("FTQ, spectrum", lines), ("selfish detour", detours),
                                         ("strid3", strides))):
            draw(a, runs, port)
            a.set_title(f"{name}: {text}", color=INK)
            a.tick_params(colors=SOFT)
            a.legend()
    figure.tight_layout()
    figure.savefig(argv[2], dpi=110, metadata={"Software": None})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
