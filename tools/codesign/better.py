# SPDX-License-Identifier: MIT
"""The report's sections that go past the paper with measured cycles: the same kernel on both cores, the K-Core's neighbours in the space, KNoise.

Ratios are taken replication by replication (same layout of the code, same phase), so that what varies on both sides alike cancels.
"""

from codesign import measure, page, paper, plots, space
from codesign.cycles import Summary
from codesign.page import Cell, number

K, U = (space.canonical(n) for n in ("k-core", "u-core"))
OPERATIONS = 16                 # of a step of KNoise


def values(data, benchmark, setup, kernel):
    """{replication: cycles} on a cluster of four with this core for the kernel."""
    seen = space.as_the_kernel_sees if setup == "dse" else lambda n: n
    return {r["replication"]: r["cycles"] for r in data.rows
            if (r["benchmark"], r["setup"]) == (benchmark, setup) and seen(r["cores"][0]) == seen(kernel) and r["cores"][1:] == [U, U, U]}


def ratios(data, benchmark, one, other):
    """Summary of cycles of `one` over those of `other`, pair by pair; each is (set-up, the kernel's core). None without a pair."""
    a, b = (values(data, benchmark, *side) for side in (one, other))
    both = sorted(set(a) & set(b))
    return Summary([a[i] / b[i] for i in both]) if both else None


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
    verdict = f"Significantly slower on the K-Core: {', '.join(slower)}." if slower else "No benchmark is significantly slower on the K-Core."
    return ("<h3>The same kernel on both</h3><p>What the small core costs once the kernel is written for it. Found by listing the branches that the kernel's core mispredicts: "
            "a core without a predictor takes a branch back for taken and a branch forward for not taken, so retries of atomic operations go forward, and what is "
            f"skipped inside a loop ends forward too. {verdict}</p>" + page.table(
                ["benchmark", "K-Core / U-Core, 95 % interval", "the paper, one kernel on both"], rows, "Cycles of the optimised kernel on the K-Core over those of the same image on the U-Core."))


def neighbours(data):
    """The K-Core with another cache or predictor: what it costs and what it brings."""
    rows = []
    for name in [K, *measure.NEIGHBOURS]:
        found = [ratios(data, b, ("dse", name), ("dse", U)) for b in paper.BENCHMARKS]
        point = next(p for p in data.points if p.name == name)
        if all(found):
            rows.append([space.title(name), f"{point.mw:.1f}" + ("" if point.measured else "*"), f"{paper.saving_percent(point.mw, data.u_mw):.1f} %", *(shown(f, 3) for f in found)])
    if not rows:
        return ""
    return ("<h3>Neighbours of the proposed core</h3><p>A little more power for a little more speed: the same optimised kernel with another cache or predictor on its core.</p>"
            + page.table(["kernel's core", "mW", "cluster saves", *paper.BENCHMARKS.values()], rows,
                         "Cycles relative to four U-Cores running the same kernel; the saving is that of the cluster's power by the model."
                         + (" * predicted, not synthesised." if any("*" in r[1] for r in rows) else "")))


def slowdowns(data, setup, kernel):
    """{loads of 16 operations: Summary of the slow-down in percent} of KNoise."""
    out = {}
    for loads in sorted({int(r["benchmark"].rsplit("_", 1)[1]) for r in data.rows if r["benchmark"].startswith("knoise_loud_")}):
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
    setups = (("k-opt", K, "K-Core, optimised kernel"), ("k", K, "K-Core"), ("u-opt", U, "U-Core, optimised kernel"), ("u", U, "U-Core"))
    curves = {words: slowdowns(data, setup, kernel) for setup, kernel, words in setups}
    curves = {words: c for words, c in curves.items() if c}
    if not curves:
        return ""
    loads = sorted(set.union(*(set(c) for c in curves.values())))
    rows = [[Cell(words), *(percent(c.get(n)) for n in loads)] for words, c in curves.items()]
    quiet = [values(data, f"knoise_quiet_{n}", "k-opt", K) for n in loads]
    steps = [f"{sum(q.values()) / len(q):.0f}" if q else "" for q in quiet]
    return ("<h3>Noise of the kernel</h3><p>One thread computes while two others call the kernel in a tight loop. No kernel code runs on the computing core; what remains is the shared "
            "memory, so the slow-down follows the share of its operations that are loads. Seed 000 gives 0.9 % beside 13 hammering threads, on a machine with a memory of many banks.</p>"
            + page.figure(plots.noise(curves, OPERATIONS), "Slow-down of the computing thread over the share of loads among its operations, with 95 % intervals.")
            + page.table(["kernel on", *(f"{n} of {OPERATIONS}" for n in loads)], rows + [[Cell("cycles per step, undisturbed", "faint"), *(Cell(number(float(s)) if s else "", "faint") for s in steps)]],
                         "Slow-down against the same work undisturbed. Memory without data caches, one port, latency 0: the worst case for sharing."))
