# SPDX-License-Identifier: MIT
"""The table of figures in docs/codesign.md, made from what the tree keeps: what is printed is what
is kept.

    .venv/bin/python3 tools/codesign/figures.py           writes the table into docs/codesign.md
    .venv/bin/python3 tools/codesign/figures.py --check   exit status 1 if the table there is another
"""

import os
import sys

TOOLS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TOOLS)
import rooms  # noqa: E402,F401
from codesign import (
    additive, better, coherence, compare, cycles, energy, gather, measure, network, paper, rtl,
    rtlbench
)  # noqa: E402

PAGE = os.path.join(rtl.ROOT, "docs", "codesign.md")
BEGIN, END = "<!-- figures: made by tools/codesign/figures.py -->\n", "<!-- end of figures -->\n"
QUICK = "`./atoll codesign --quick`"
K, U = better.K, better.U


def listed(words):
    """Joined by commas."""
    return ", ".join(words)


def interval(found, unit=" %"):
    """A power.Interval."""
    return f"{found.value:.1f}{unit} ({found.low:.1f} to {found.high:.1f})"


def shown(found, digits=3):
    """A Summary with its interval."""
    return f"{found.mean:.{digits}f}" + (f" ± {found.half:.{digits}f}" if found.half is not None else "")


def each(data, one, other, digits=3):
    """Ratios of the paper's four benchmarks and how many link orders they are from, or None."""
    found = [better.ratios(data, b, one, other) for b in paper.BENCHMARKS]
    return (listed(shown(f, digits) for f in found), min(f.n for f in found)) if all(found) else None


def power(data):
    """Rows on the saving."""
    others = [paper.saving_percent(k, u) for k, u, _ in data.unseen]
    return [("power saved by 1 K-Core + 3 U-Cores, **in-sample** (the paper's milliwatts of these "
             "two cores are among the nine that calibrated the model): "
             "95 % interval", interval(data.saving), f"{paper.SAVING_PERCENT} %", QUICK),
            (f"the same by a model that has **not seen** the K-Core and the U-Core: 95 % interval; "
             f"all {len(others)} such models",
             f"{interval(data.unseen_saving)}; {min(others):.1f} to {max(others):.1f} %",
             f"{paper.SAVING_PERCENT} %", "same"),
            ("control: the nine milliwatts dealt to the cores by chance, share of trials in which "
             "the in-sample interval contains the paper's figure",
             f"{100 * data.permuted():.0f} %", "", "same"),
            ("power model, root mean square errors: fitted rows; rows that neither its choice nor "
             "its weights have seen", f"{data.model.rms:.2f}; {data.left_out():.2f} mW", "", "same")]


def resources(data):
    """Rows on the synthesis."""
    rho = [compare.rank_correlation(*compare.values(data.results, c)) for c in ("lut", "ff")]
    exact = [f"{ours:,}" for label, _, ours in compare.deltas(data.results, "ff") if label in compare.EXACT_FF]
    theirs = [f"{them:,}" for label, them, _ in compare.deltas(data.results, "ff") if label in compare.EXACT_FF]
    flops = "exact" if additive.worst_percent(data.spots, "ff") == 0 else "not always exact"
    worst = max(abs(paper.recomputed(b, s) / paper.TABLE3[b][s][0] - 1) for b in paper.TABLE3 for s in paper.SETUPS)
    return [("rank correlation of the nine rows, LUTs and flip-flops", listed(f"{r:.3f}" for r in rho), "", "same"),
            ("flip-flops that SatCounter, GShare, serial shifter add", listed(exact), listed(theirs), "same"),
            (f"LUTs predicted from ten syntheses, worst of {len(data.spots)} checks; flip-flops "
             f"({len(data.results)} of the {len(data.points)} cores are synthesised)",
             f"{additive.worst_percent(data.spots, 'lut'):.1f} %; {flops}", "", "same"),
            ("Table III recomputed as power x time, worst of twelve", f"{100 * worst:.1f} %", "", "same")]


def ratios(data):
    """Rows on cycles of the four benchmarks."""
    names, out = listed(paper.BENCHMARKS.values()), []
    theirs = {s: listed(f"{paper.TABLE3[b][s][1] / paper.TABLE3[b]['u'][1]:.3f}" for b in paper.TABLE3)
              for s in ("k", "k-opt")}
    for what, one, other, them in (
            ("cycles on the K-Core with the optimised kernel, the same image on a U-Core = 1",
             ("k-opt", K), ("u-opt", U), f"{theirs['k']} (unoptimised on both)"),
            ("the same, unoptimised kernel on a U-Core = 1", ("k-opt", K), ("u", U), theirs["k-opt"]),
            ("unoptimised on both", ("k", K), ("u", U), theirs["k"]),
            ("unoptimised on both, compiled at -O3 as the paper's", ("k-o3", K), ("u-o3", U), theirs["k"]),
            ("optimised on the K-Core, unoptimised on a U-Core = 1, both at -O3", ("k-opt-o3", K),
             ("u-o3", U), theirs["k-opt"]),
            ("the U-Core's unoptimised kernel at -O3, at -O2 = 1", ("u-o3", U), ("u", U), "")):
        found = each(data, one, other)
        if found:
            out.append((f"{what}: {names}; {found[1]} link orders", found[0], them,
                        "same; `tools/codesign/rtlbench.py` measures"))
    return out


def outside(data):
    """Rows on programs that were not profiled."""
    out = []
    for what, one, other in (("K-Core against U-Core, optimised kernel", ("k-opt", K), ("u-opt", U)),
                             ("optimised against not, on the K-Core", ("k-opt", K), ("k", K))):
        found = [better.ratios(data, b, one, other) for b in better.OUTSIDE]
        inside = better.overall(data, paper.BENCHMARKS, one, other)
        if all(found) and inside:
            out.append((f"programs outside the profile, {what}: {listed(better.OUTSIDE.values())}; "
                        f"mean of the four of the profile", f"{listed(map(shown, found))}; "
                                                            f"{shown(inside)}", "", "same"))
    return out


def calls(data):
    """Rows on single calls, KNoise and the large cluster."""
    four = {b: cycles.of_setup(data.cycles, b, "k-opt") for b in ("l_kcall", "r_kcall", "spawn", "join")}
    out = []
    if all(four.values()):
        out.append(("cycles of a local call, remote call, spawn, join (K-Core, optimised; seed "
                    "000: 766, -, 5,140, 3,420 on its machine)",
                    listed(f"{s.mean:,.0f}" for _, s in four.values()), "", "same"))
    noise = better.slowdowns(data, "k-opt", K)
    if noise:
        out.append((f"KNoise, 1 computing and 2 hammering: slow-down with "
                    f"{listed(f'{100 * n // better.OPERATIONS}' for n in noise)} % of its operations loads",
                    listed(f"{abs(s.mean):.1f}" if abs(s.mean) < 0.05 else f"{s.mean:.1f}"
                           for s in noise.values()) + " %", "0.9 % beside 13 (seed 000, another memory)", "same"))
    large = {b: data.cycles.get((b, "k-opt", (K, *[U] * 7))) for b in ("r_kcall", "spawn", "join", "buffer")}
    if all(large.values()) and all(four.values()):
        pair, sizes = cycles.of_setup(data.cycles, "buffer",
                                      "k-opt")[1].mean, energy.saving_by_cores(data.k_mw, data.u_mw)
        many = listed(f"{s.mean / (3 if b == 'buffer' else 1):,.0f}" for b, s in large.items())
        few = listed([*(f"{four[b][1].mean:,.0f}" for b in ("r_kcall", "spawn", "join")), f"{pair:,.0f}"])
        out.append((f"1 K + 7 U against 1 K + 3 U, optimised: remote call, spawn, join, a pair of "
                    f"the buffer ({large['spawn'].n} link orders)",
                    f"{many} against {few} cycles; saves {sizes[8]:.1f} % instead of "
                    f"{sizes[4]:.1f} %, in-sample", "", "same"))
    return out


def front(data):
    """Rows on the whole space."""
    if data.points[0].slowdown is None:
        return []
    ran = "all synthesised and simulated" if all(p.measured and p.name in data.timed
                                                 for p in data.front) else "not all synthesised and simulated"
    has_k = (
        "the proposed K-Core among them" if K in {p.name for p in data.front} else "the proposed K-Core not among them"
    )
    out = [("cores that no other beats in power, area (LUT, FF, BRAM, DSP by the device's shares) "
            "and the kernel's cycles; those that only noise keeps there",
            f"{len(data.front)} of {len(data.points)}, {has_k}; {len(data.noisy)}; {ran}", "", "same")]
    cores = measure.cache_cores()
    for n in (0, *rtlbench.SLOW):
        found = {c: better.overall(data, paper.BENCHMARKS, ("dse", core), ("dse", cores["1way"]), n)
                 for c, core in cores.items() if c != "1way"}
        if all(found.values()):
            out.append((f"instruction cache of 2, 4, 8 ways on the K-Core, one way = 1, memory "
                        f"latency {n} ({found['2way'].n} link orders)",
                        listed(shown(s, 4) for s in found.values()), "“direct-mapped better”", "same"))
    return out


def invalidation():
    """Rows on data caches that nobody keeps coherent."""
    found, out = coherence.medians(coherence.read()), []
    words = {s: w for s, (_, _, w) in coherence.SYSTEMS.items()}
    for latency in sorted({key[1] for key in found}):
        there = [s for s in words if (s, latency, "r_kcall") in found]
        number = found[there[0], latency, "r_kcall"][2]
        calls = listed(f"{words[s]} {found[s, latency, 'r_kcall'][0]:,.0f} "
                       f"({found[s, latency, 'r_kcall'][1]:.0f})" for s in there)
        out.append((f"data caches, memory latency {latency} (seed 000's question): cycles of a "
                    f"remote call and lines filled; medians of {number} link orders", calls, "",
                    "`tools/codesign/coherence.py`"))
        if "whole" in there:
            rest = [(s, [found[s, latency, b][0] / found["whole", latency, b][0]
                         for b in ("spawn", "join", "buffer")]) for s in there if s in ("flash", "lines", "drop")]
            out.append((f"data caches, memory latency {latency}: creating a thread, joining it, "
                        f"passing a buffer; full shoot-down by software = 1",
                        "; ".join(f"{words[s]} {listed(f'{r:.2f}' for r in ratios)}" for s, ratios in rest),
                        "", "same"))
    return out


def clusters(data):
    """Rows on two clusters."""
    found, out = network.read(), []
    if "lut" in found:
        mw = network.network_mw(data.model, found)
        share = 100 * mw / (paper.CLUSTER_CORES * data.u_mw + mw)
        saved = {c: joined for c, _, _, joined in network.saved(data, mw)}
        out += [("a cluster's share of the network: LUTs, flip-flops, model",
                 f"{found['lut'][0]:.0f}, {found['ff'][0]:.0f}, {mw:.1f} mW ({share:.1f} % of four U-Cores)", "",
                 "`tools/codesign/network.py`"),
                ("power saved by 1 K + 3 U in two clusters, network counted, in-sample",
                 f"{saved[2]:.1f} %, and in more by arithmetic", "linear", "same")]
    if "message_ratio_half" in found:
        value = {n: v for n, (v, _) in found.items()}
        out.append((f"message of 128 bytes, block of 4 KB to another cluster and back, a program "
                    f"outside the profile; kernel on U-Cores = 1 ({value['replications']:.0f} link orders)",
                    f"{value['message_cycles_k']:,.0f} and {value['block_cycles_k']:,.0f} cycles; "
                    f"{value['message_ratio']:.3f} ± {value['message_ratio_half']:.3f} and "
                    f"{value['block_ratio']:.3f} ± {value['block_ratio_half']:.3f}", "", "same"))
    return out


def rows(data):
    """(what, ours, the paper's, command) of every figure."""
    return [*power(data), *resources(data), *ratios(data), *outside(data), *calls(data),
            *front(data), *invalidation(), *clusters(data)]


def table(data):
    """The table in Markdown."""
    lines = ["| what | ours | the paper | command |", "|---|---|---|---|"]
    return "".join(line + "\n" for line in [*lines, *(f"| {' | '.join(r)} |" for r in rows(data))])


def split(text):
    """(before, table, behind) of the page."""
    before, _, rest = text.partition(BEGIN)
    found, mark, behind = rest.partition(END)
    if not mark:
        raise ValueError(f"{os.path.relpath(PAGE, rtl.ROOT)} has no place for the figures: "
                         f"{BEGIN.strip()} ... {END.strip()}")
    return before, found, behind


def main(argv):
    """Exit status 1 if the page has other figures than what is kept."""
    with open(PAGE, encoding="utf-8") as f:
        before, old, behind = split(f.read())
    new = table(gather.gather("quick", lambda text: None))
    if argv == ["--check"]:
        changed = [line for line in old.splitlines() if line not in new.splitlines()]
        print("\n".join(["other figures than what is kept:", *changed]) if old != new else "equal")
        return int(old != new)
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(before + BEGIN + new + END + behind)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
