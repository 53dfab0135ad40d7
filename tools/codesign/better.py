# SPDX-License-Identifier: MIT
"""The report's sections that go past the paper with measured cycles: the same kernel on both cores,
the K-Core's neighbours in the space, KNoise.

Ratios are taken replication by replication (same link order of the kernel's functions, same phase),
so that what varies on both sides alike cancels.
"""

import math

from codesign import measure, page, paper, plots, space
from codesign.cycles import Summary
from codesign.page import Cell, number

K, U = (space.canonical(n) for n in ("k-core", "u-core"))
OPERATIONS = 16                 # of a step of KNoise


def values(data, benchmark, setup, kernel, latency=0):
    """{replication: cycles} on a cluster of four with this core for the kernel."""
    seen = space.as_the_kernel_sees if setup == "dse" else lambda n: n
    return {r["replication"]: r["cycles"] for r in data.rows
            if (r["benchmark"], r["setup"], r["latency"]) == (benchmark, setup, latency)
            and seen(r["cores"][0]) == seen(kernel) and r["cores"][1:] == [U, U, U]}


def ratios(data, benchmark, one, other, latency=0):
    """Summary of cycles of `one` over those of `other`, pair by pair; each is (set-up, the kernel's
    core). None without a pair.
    """
    a, b = (values(data, benchmark, *side, latency) for side in (one, other))
    both = sorted(set(a) & set(b))
    return Summary([a[i] / b[i] for i in both]) if both else None


def overall(data, benchmarks, one, other, latency=0):
    """Summary of the geometric mean over benchmarks of the ratios of a replication; None without a
    replication that has them all.
    """
    sides = [[values(data, b, *side, latency) for side in (one, other)] for b in benchmarks]
    both = sorted(set.intersection(*(set(v) for pair in sides for v in pair)))
    return Summary([math.exp(sum(math.log(a[i] / b[i]) for a, b in sides) / len(sides))
                    for i in both]) if both else None


def shown(found, digits=4):
    """A ratio with its interval."""
    if found is None:
        return Cell("not measured yet", "faint")
    return f"{found.mean:.{digits}f}" + (f" ± {found.half:.{digits}f}" if found.half is not None else "")


def same_kernel(data):
    """The optimised kernel on the K-Core against the same on the U-Core."""
    found = {b: ratios(data, b, ("k-opt", K), ("u-opt", U)) for b in paper.BENCHMARKS}
    if not all(found.values()):
        return ""
    theirs = {b: paper.TABLE3[b]["k"][1] / paper.TABLE3[b]["u"][1] for b in paper.BENCHMARKS}
    rows = [[Cell(title), shown(found[b]), Cell(f"{theirs[b]:.3f}", "faint")] for b, title in paper.BENCHMARKS.items()]
    slower = [paper.BENCHMARKS[b] for b, f in found.items() if f.mean - (f.half or 0) > 1]
    verdict = (
        f"Significantly slower on the K-Core: {', '.join(slower)}."
        if slower
        else "No benchmark is significantly slower on the K-Core."
    )
    return ("<h3>The same kernel on both</h3><p>What the small core costs once the kernel is "
            "written for it. Found by listing the branches that the kernel's core mispredicts: "
            "a core without a predictor takes a branch back for taken and a branch forward for not "
            "taken, so retries of atomic operations go forward, and what is "
            f"skipped inside a loop ends forward too. {verdict}</p>" + page.table(
                ["benchmark", "K-Core / U-Core, 95 % interval", "the paper, one kernel on both"],
                rows, "Cycles of the optimised kernel on the K-Core over those of the same image on the U-Core."))


# programs that the order of the hot functions (hal/cpu/or1k/order/hot) was not made with
OUTSIDE = {"mailbox": "Mailbox", "pages": "Pages"}


def outside(data):
    """What the optimisations bring to programs that they were not found with."""
    columns = {"K-Core / U-Core, optimised kernel": (("k-opt", K), ("u-opt", U)),
               "optimised / not, on the K-Core": (("k-opt", K), ("k", K)),
               "code layout alone / none": (("k+layout", K), ("k", K))}
    groups = {"mean of the four of the profile": tuple(paper.BENCHMARKS), "mean of the two outside": tuple(OUTSIDE)}
    rows = [[Cell(words), *(shown(ratios(data, b, *sides)) for sides in columns.values())] for b,
            words in (paper.BENCHMARKS | OUTSIDE).items()]
    rows += [[Cell(words), *(shown(overall(data, group, *sides)) for sides in columns.values())]
             for words, group in groups.items()]
    if not all(ratios(data, b, *columns["K-Core / U-Core, optimised kernel"]) for b in OUTSIDE):
        return ""
    return ("<h3>Programs outside the profile</h3><p>The order of the kernel's hot functions comes "
            "from profiles of the same benchmarks that the tables above show: they are the "
            "training set. Two programs that were not profiled: two threads of a cluster that "
            "exchange messages (Mailbox), and frames that are allocated, mapped, looked up, "
            "protected and given back (Pages).</p>" + page.table(["benchmark", *columns], rows,
                                                                 "Ratios of cycles, pair by pair "
                                                                 "of the same link order, with 95 "
                                                                 "% intervals; the means "
                                                                 "are geometric.",
                                                                 strong=(len(rows) - 2, len(rows) - 1)))


def caches(data):
    """The K-Core with each instruction cache, at each latency of the memory."""
    cores, base = measure.cache_cores(), measure.cache_cores()["1way"]
    latencies = sorted({r["latency"] for r in data.rows if r["setup"] == "dse"})
    found = {n: {c: overall(data, paper.BENCHMARKS, ("dse", core), ("dse", base), n) for c,
                 core in cores.items() if core != base} for n in latencies}
    found = {n: row for n, row in found.items() if all(row.values())}
    if not found:
        return ""
    rows = [[f"latency {n}", "1.0000", *(shown(s) for s in row.values()), next(iter(row.values())).n]
            for n, row in found.items()]
    return ("<h3>The instruction cache, over the memory's latency</h3><p>The paper: “a "
            "direct-mapped cache better handles the kernel workload than set-associative ones”. The same "
            f"8 KB as one, two, four and eight ways on the K-Core, with the optimised kernel, "
            f"memory latency {', '.join(map(str, found))}: "
            + "; ".join(f"at latency {n} {verdict(row)}" for n, row in found.items()) +
            f". The sentence is <b>{'' if confirmed(found) else 'not '}confirmed</b>.</p>"
            + page.table(["memory", "1 way",
                          *(f"{c.removesuffix('way')} ways" for c in cores if cores[c] != base), "link orders"], rows,
                         "Cycles relative to the direct-mapped cache, geometric mean of the four "
                         "benchmarks, pair by pair of the same link order, with 95 % intervals. A line has eight "
                         "words: the first comes after the latency and a cycle, the others follow one by one."))


def verdict(row):
    """What one latency says of the direct-mapped cache: {ways: Summary of its cycles relative to
    that}.
    """
    if any(s.half is None for s in row.values()):
        return "one link order is measured, which has no interval"
    faster = [c for c, s in row.items() if s.mean + s.half < 1]
    slower = [c for c, s in row.items() if s.mean - s.half > 1]
    if faster:
        return (
            f"{' and '.join(faster)} {'is' if len(faster) == 1 else 'are'} faster by up to"
            f" {100 * (1 - min(row[c].mean for c in faster)):.2f} %"
        )
    if slower:
        return (
            f"{' and '.join(slower)} {'is' if len(slower) == 1 else 'are'} slower by up to"
            f" {100 * (max(row[c].mean for c in slower) - 1):.2f} %"
        )
    return "nothing differs beyond the spread of the link orders"


def confirmed(found):
    """Is the direct-mapped cache better: everywhere all others slower beyond the spread?"""
    return all(s.half is not None and s.mean - s.half > 1 for row in found.values() for s in row.values())


def latencies(data):
    """The set-ups where the memory is slower."""
    setups = (("k", K), ("u-opt", U), ("k-opt", K))
    rows = []
    for n in sorted({r["latency"] for r in data.rows if r["setup"] == "u"}):
        for side in setups:
            found = [ratios(data, b, side, ("u", U), n) for b in paper.BENCHMARKS]
            if all(found):
                rows.append([f"latency {n}",
                             Cell({"k": "K-Core", "u-opt": "U-Core, optimised",
                                   "k-opt": "K-Core, optimised"}[side[0]], "text"),
                                   *(shown(f, 3) for f in found), found[0].n])
    if not any(r[0] != "latency 0" for r in rows):
        return ""
    return "<h3>Where the memory is slower</h3>" + page.table(["memory", Cell("kernel on", "text"),
                                                               *paper.BENCHMARKS.values(), "link orders"], rows,
                                                              "Cycles relative to the unoptimised "
                                                              "kernel on a U-Core with the same "
                                                              "memory, pair by pair, with 95 % intervals.")


def neighbours(data):
    """The K-Core with another cache or predictor: what it costs and what it brings."""
    rows = []
    for name in [K, *measure.NEIGHBOURS]:
        found = [ratios(data, b, ("dse", name), ("dse", U)) for b in paper.BENCHMARKS]
        point = next(p for p in data.points if p.name == name)
        if all(found):
            rows.append([space.title(name), f"{point.mw:.1f}" + ("" if point.measured else "*"),
                         f"{paper.saving_percent(point.mw, data.u_mw):.1f} %", *(shown(f, 3) for f in found)])
    if not rows:
        return ""
    return ("<h3>Neighbours of the proposed core</h3><p>A little more power for a little more "
            "speed: the same optimised kernel with another cache or predictor on its core.</p>"
            + page.table(["kernel's core", "mW", "cluster saves", *paper.BENCHMARKS.values()], rows,
                         "Cycles relative to four U-Cores running the same kernel; the saving is "
                         "that of the cluster's power by the model."
                         + (" * predicted, not synthesised." if any("*" in r[1] for r in rows) else "")))


def slowdowns(data, setup, kernel):
    """{loads of 16 operations: Summary of the slow-down in percent} of KNoise."""
    out = {}
    for loads in sorted({int(r["benchmark"].rsplit("_", 1)[1]) for r in data.rows
                         if r["benchmark"].startswith("knoise_loud_")}):
        quiet, loud = (values(data, f"knoise_{kind}_{loads}", setup, kernel) for kind in ("quiet", "loud"))
        both = sorted(set(quiet) & set(loud))
        if both:
            out[loads] = Summary([100 * (loud[i] / quiet[i] - 1) for i in both])
    return out


def percent(found):
    """A percentage with its interval."""
    if found is None:
        return ""
    return number(found.mean, 2) + (f" ± {found.half:.2f} %" if found.half is not None else " %")


def noise(data):
    """KNoise over the memory intensity of the computing core."""
    setups = (("k-opt", K, "K-Core, optimised kernel"), ("k", K, "K-Core"),
              ("u-opt", U, "U-Core, optimised kernel"), ("u", U, "U-Core"))
    curves = {words: slowdowns(data, setup, kernel) for setup, kernel, words in setups}
    curves = {words: c for words, c in curves.items() if c}
    if not curves:
        return ""
    loads = sorted(set.union(*(set(c) for c in curves.values())))
    rows = [[Cell(words), *(percent(c.get(n)) for n in loads)] for words, c in curves.items()]
    quiet = [values(data, f"knoise_quiet_{n}", "k-opt", K) for n in loads]
    steps = [f"{sum(q.values()) / len(q):.0f}" if q else "" for q in quiet]
    return ("<h3>Noise of the kernel</h3><p>One thread computes while two others call the kernel "
            "in a tight loop. No kernel code runs on the computing core; what remains is the shared "
            "memory, so the slow-down follows the share of its operations that are loads. Seed 000 "
            "gives 0.9 % beside 13 hammering threads, on a machine with a memory of many banks.</p>"
            + page.figure(plots.noise(curves, OPERATIONS),
                          "Slow-down of the computing thread over the share of loads among its "
                          "operations, with 95 % intervals.")
            + page.table(["kernel on", *(f"{n} of {OPERATIONS}" for n in loads)],
                         rows + [[Cell("cycles per step, undisturbed", "faint"),
                                  *(Cell(number(float(s)) if s else "", "faint") for s in steps)]],
                         "Slow-down against the same work undisturbed. Memory without data caches, "
                         "one port, latency 0: the worst case for sharing."))
