# SPDX-License-Identifier: MIT
"""The report's sections about time: cycles beside Table III, calls beside seed 000, each
optimisation, each unit of the core, energy by activity.
"""

from codesign import additive, better, cycles, energy, page, paper, space, today
from codesign.page import Cell, esc, number, signed

# seed 000's cycles on its machine (k1b core, own memory per cluster); it prints none for a remote
# call
CALLS = (("l_kcall", "local kernel call", "766"), ("r_kcall", "remote kernel call", "\u2013"),
         ("spawn", "spawn a thread", "5\u202f140"), ("join", "join a thread", "3\u202f420"))
SETUPS = {"u": "U-Core", "k": "K-Core", "k+soft": "+ software multiply", "k+inline": "+ inlining",
          "k+hints": "+ branch hints", "k+layout": "+ code layout",
          "k-opt": "K-Core, all four", "u-opt": "U-Core, all four", "u-o3": "U-Core, -O3",
          "k-o3": "K-Core, -O3", "u-opt-o3": "U-Core, all four, -O3",
          "k-opt-o3": "K-Core, all four, -O3"}
RATIO_SAME, RATIO_OLD = 1.02, 1.00


def worst_ratio(data):
    """(figure, words) of the slowest benchmark on the K-Core against the same optimised kernel on
    the U-Core, or None unless all are measured.
    """
    found = {b: ratio(data, b, "k-opt", "u-opt") for b in paper.BENCHMARKS}
    if not all(found.values()):
        return None
    worst = max(found, key=found.get)
    theirs = max(paper.TABLE3[b]["k"][1] / paper.TABLE3[b]["u"][1] for b in paper.TABLE3)
    return f"{found[worst]:.3f} ×", (f"the U-Core's cycles, for the same kernel on the K-Core, in "
                                     f"the slowest benchmark ({paper.BENCHMARKS[worst]}); the paper's worst with one "
                                     f"kernel on both: {theirs:.3f}")


def joules(uj):
    """Microjoules with the digits that the paper prints."""
    return number(uj, 0 if uj >= 500 else 2)


def table3(data):
    """Time and energy beside Table III."""
    rows, measured = [], False
    for b, title in paper.BENCHMARKS.items():
        for i, (setup, words) in enumerate(paper.SETUPS.items()):
            uj, ms = paper.TABLE3[b][setup]
            again = paper.recomputed(b, setup)
            ours = cycles.of_setup(data.cycles, b, setup)
            base = cycles.of_setup(data.cycles, b, "u")
            mw = data.u_mw if setup == "u" else data.k_mw
            rows.append([Cell(title if i == 0 else ""), Cell(words, "text"),
                         Cell(f"{ms:.2f}", "faint"), Cell(joules(uj), "faint"), joules(again),
                         f"{signed(100 * (again / uj - 1), 2)} %",
                         Cell(f"{signed(paper.time_change_percent(b, setup), 1)} %" if i else "", "faint")])
            if ours:
                measured = True
                digits = 1 if ours[1].mean < 10000 else 0
                half = f" ± {number(ours[1].half, digits)}" if ours[1].half is not None else ""
                change = f"{signed(100 * (ours[1].mean / base[1].mean - 1), 1)} %" if base and i else ""
                rows[-1] += [number(ours[1].mean, digits) + half, change, joules(energy.static_uj(mw, ours[1].mean))]
            else:
                rows[-1] += [Cell("not measured yet", "faint"), "", ""]
    heads = [["", "", Cell("the paper's Table III", "group", 5), Cell("ours", "group", 3)],
             ["benchmark", Cell("kernel on", "text"), "ms", "µJ", "P × t, µJ", "off", "time", "cycles", "change", "µJ"]]
    text = ('<h2 id="table3">6. Time and energy: Table III</h2><p>The paper\'s energies are its '
            'Table II times its Table III: the constant power that Vivado reports for one '
            "core, times the time, whatever the core was doing. <i>P × t</i> recomputes them; all "
            "twelve agree within 0.4 %, most of it the rounding of the times. "
            f"Ours use the same formula with our model's power ({data.u_mw:.1f} mW U-Core, "
            f"{data.k_mw:.1f} mW K-Core) and cycles at {paper.CLOCK_HZ // 1000000} MHz: the paper "
            "states no clock, and its times are rounded too coarsely to derive one; 50 MHz is what "
            "OpTiMSoC documents for its boards.</p>")
    words = "Energy of the core that runs the kernel, static model. Change: time against the kernel on a U-Core."
    if measured:
        words += (
            f" Cycles: mean over random link orders, and 95 % interval ({replications(data)}), from"
            f" {esc(data.cycles_from)}, source {data.cycles_source}"
        )
        words += (
            " (this tree's RTL)."
            if data.cycles_now
            else (
                "; the text of the tree's RTL is another, and a kept run that is run again tells whether it behaves"
                " alike."
            )
        )
        words += (
            f" The kernel is that of the study; the tree's has changed since in {esc(data.kernel_changed)}."
            if data.kernel_changed
            else ""
        )
    out = [text, page.table(heads, rows, words)]
    if not measured:
        out.append(page.note("Our cycles are <b>not measured yet</b>: they come from the cluster "
                             "in RTL, and this table fills itself from the rows that its runner writes "
                             "(<code>docs/codesign.md</code>)."))
    return "".join(out)


def mean(data, benchmark, setup):
    """Mean cycles, or None."""
    found = cycles.of_setup(data.cycles, benchmark, setup)
    return found[1].mean if found else None


def ratio(data, benchmark, setup, base):
    """Cycles of a set-up relative to another's, or None."""
    a, b = mean(data, benchmark, setup), mean(data, benchmark, base)
    return a / b if a and b else None


def times(value):
    """A ratio as one reads it."""
    return f"{value:.3f}" if value else ""


def replications(data):
    """How many there are of the main set-ups, in words."""
    counts = {f[1].n for b in paper.BENCHMARKS for s in paper.SETUPS for f in [cycles.of_setup(data.cycles, b, s)] if f}
    return f"{min(counts)} of each" if len(counts) == 1 else f"{min(counts)} to {max(counts)} of each"


def calls(data):
    """Cycles per call beside seed 000."""
    rows = []
    for b, words, theirs in CALLS:
        found = [cycles.of_setup(data.cycles, b, s) for s in ("u", "k", "k-opt", "u-opt")]
        rows.append([words, Cell(theirs, "faint")] +
                    [number(f[1].mean) if f else Cell("not measured yet", "faint") for f in found])
    memory = next((r["memory"] for r in data.rows if r.get("memory")), "")
    return "<h3>Cycles per call</h3>" + page.table(
        ["", "seed 000", "U-Core", "K-Core", "K-Core, optimised", "U-Core, optimised"], rows,
        "Mean cycles of one call, spawn and join by the kernel's core; user to user, the caller on "
        "a U-Core. Seed 000's are of another machine (MPPA-256)."
        + (f" Memory simulated: {esc(memory)}." if memory else ""))


def optimisations(data):
    """Each optimisation alone, all of them, and the same kernel on the U-Core."""
    there = [s for s in SETUPS if any(mean(data, b, s) for b in paper.BENCHMARKS)]
    if not {"u", "k"} <= set(there):
        return ""
    rows = []
    for s in there:
        rows.append([Cell(SETUPS[s])] + [times(ratio(data, b, s, "u")) for b in paper.BENCHMARKS])
    verdicts = []
    for base, limit, words in (("u-opt", RATIO_SAME, "the same kernel on the U-Core"),
                               ("u", RATIO_OLD, "the unoptimised kernel on the U-Core")):
        found = {b: ratio(data, b, "k-opt", base) for b in paper.BENCHMARKS}
        if all(found.values()):
            worst = max(found, key=found.get)
            holds = "holds" if found[worst] <= limit else "does <b>not</b> hold"
            verdicts.append(f"against {words}, at most {limit:.2f}: {holds}; the slowest is "
                            f"{paper.BENCHMARKS[worst]} with {found[worst]:.3f}")
    theirs = [Cell("the paper, K-Core",
                   "faint")] + [Cell(times(paper.TABLE3[b]["k"][1] / paper.TABLE3[b]["u"][1]), "faint")
                                for b in paper.BENCHMARKS]
    theirs_opt = [Cell("the paper, optimised",
                       "faint")] + [Cell(times(paper.TABLE3[b]["k-opt"][1] / paper.TABLE3[b]["u"][1]),
                                         "faint") for b in paper.BENCHMARKS]
    out = ["<h3>What each optimisation does</h3>",
           page.table(["kernel on", *paper.BENCHMARKS.values()], rows + [theirs, theirs_opt],
           "Cycles relative to the unoptimised kernel on a U-Core (1.000); below 1 is faster. Unoptimised means: the "
           "compiler at -O2 (the paper's is at -O3: the rows so named) and left to itself: "
           "multiply and divide instructions on the U-Core, its library's routines on the K-Core, "
           "inlining by its own judgement, no hints, no "
           "order of hot functions.", strong=tuple(i for i, s in enumerate(there) if s == "k-opt"))]
    if verdicts:
        out.append("<p>The optimised kernel on the K-Core " + "; ".join(verdicts) + ".</p>")
    return "".join(out)


def effects(data):
    """What each unit of the kernel's core does to its cycles."""
    base, found = space.canonical("i-core"), data.kernel_cycles()
    whole = {b: c for b, c in found.items() if b in paper.BENCHMARKS and base in c}
    if not whole:
        return ""
    rows, strong = [], []
    for unit, choice, name in space.single_changes() + [("", "K-Core", space.canonical("k-core")),
                                                        ("", "U-Core", space.canonical("u-core"))]:
        if all(name in c for c in whole.values()):
            strong += [] if unit else [len(rows)]
            rows.append([Cell(f"{unit}: {choice}" if unit else choice)] +
                        [f"{signed(100 * (c[name] / c[base] - 1), 1)} %" for c in whole.values()])
    return "<h3>What each unit of the kernel's core does to its time</h3>" + page.table(
        ["kernel's core", *(paper.BENCHMARKS[b] for b in whole)], rows,
        "Change of cycles against the I-Core running the same kernel, U-Cores beside it. That kernel contains no "
        "multiplication, division or floating point (checked on the image), so those units cannot "
        "matter to it: 24 of the 192 cores differ in cycles.", strong=tuple(strong))


def larger(data):
    """The same benchmarks on clusters of one K-Core and more U-Cores: cycles, and the cluster's
    energy per unit of work.
    """
    rows = []
    for b, work in (("r_kcall", "a call"), ("spawn", "a thread"), ("join", "a thread"),
                    ("buffer", "a pair"), ("server", "all requests")):
        found = {len(cores): s.mean for (name, setup, cores), s in data.cycles.items() if name == b
                 and setup == "k-opt" and set(cores[1:]) == {space.canonical("u-core")}}
        if {4, 8} <= set(found):
            uj = {n: energy.static_uj(data.k_mw + (n - 1) * data.u_mw, c) for n, c in found.items()}
            pairs = {n: (n - 1) // 2 if b == "buffer" else 1 for n in (4, 8)}
            rows.append([paper.BENCHMARKS.get(b, b), Cell(work, "text"), number(found[4] / pairs[4]),
                         number(found[8] / pairs[8]), joules(uj[4] / pairs[4]), joules(uj[8] / pairs[8])])
    if not rows:
        return ""
    heads = [["", "", Cell("cycles", "group", 2), Cell("whole cluster, static model, µJ", "group", 2)],
             ["benchmark", Cell("per", "text"), "1 K + 3 U", "1 K + 7 U", "1 K + 3 U", "1 K + 7 U"]]
    return (
        "<p>Measured, optimised kernel, work grown with the U-Cores (three and seven threads; one and three pairs):</p>"
        + page.table(heads, rows)
    )


def kernel_of_today(data):
    """The tree's own kernel beside that of the study."""
    found = {(b, s): (then, now) for b, s, then, now in today.beside(data.today, data.rows)}
    rows = []
    for b, words in ({"l_kcall": "local call", "r_kcall": "remote call", "spawn": "spawn",
                      "join": "join"} | paper.BENCHMARKS | better.OUTSIDE).items():
        pairs = [found.get((b, s)) for s in today.SETUPS]
        if any(pairs):
            rows.append([words, *(Cell(f"{number(p[1].mean)} ({p[1].mean / p[0].mean:.3f})" if p else "")
                                  for p in pairs)])
    head = ("<h3>The kernel of today</h3><p>The figures above belong to the kernel that was kept "
            "with them, so that they can be measured again. The kernel of the tree "
            + (f"has changed since in {esc(data.kernel_changed)}.</p>" if data.kernel_changed
               else "is still the same text.</p>"))
    if not rows:
        return head + page.note("The tree's own kernel is <b>not measured yet</b> beside it: "
                                "<code>./atoll codesign</code> does so.")
    n = next(now.n for _, now in found.values())
    return head + page.table(["", *(SETUPS[s] for s in today.SETUPS)], rows,
                             f"Cycles with the tree's kernel and program, means of {n} link "
                             f"orders; in brackets relative to the study's.")


def section(data):
    """Everything about time."""
    return "".join(part(data) for part in (table3, calls, optimisations, better.same_kernel,
                                           better.outside, better.latencies, effects, better.caches, better.neighbours,
                                           better.noise, kernel_of_today))


def activity(data, share):
    """The activity model on measured rows, or that there are none."""
    runs = {}
    for r in data.rows:
        if (
            r.get("activity")
            and not r["latency"]
            and r["benchmark"] in paper.BENCHMARKS
            and r["setup"] in paper.SETUPS
            and len(r["cores"]) == paper.CLUSTER_CORES
        ):
            runs.setdefault((r["benchmark"], r["setup"]), []).append(r)
    base = [r["activity"] for (b, s), rs in runs.items() if s == "u" for r in rs]
    if not base:
        return "<h3>Energy by activity</h3>" + page.note("The activity model needs the bit changes "
                                                         "and doze cycles of the baseline's cores: "
                                                         "<b>not measured yet</b>.")
    rows, reference = [], energy.reference_rate(base)
    for (b, s), rs in sorted(runs.items(),
                             key=lambda x: (list(paper.BENCHMARKS).index(x[0][0]), list(paper.SETUPS).index(x[0][1]))):
        mean = lambda f: sum(f(r) for r in rs) / len(rs)  # noqa: E731
        mw = {i: data.model.predict(sections_resources(data, c)) for i, c in enumerate(rs[0]["cores"])}
        static = mean(lambda r: sum(energy.static_uj(mw[a["core"]], a["cycles"]) for a in r["activity"]))
        found = [mean(lambda r: energy.cluster_uj(mw, r["activity"],
                                                  energy.Parts(data.model.constant(), c, reference)))
                                                  for c in (0.0, share or 0.0)]
        gated = mean(lambda r: sum(a.get("gated", 0) for a in r["activity"]) / sum(a["cycles"] for a in r["activity"]))
        rows.append([paper.BENCHMARKS[b], Cell(paper.SETUPS[s], "text"), joules(static),
                     joules(found[0]), joules(found[1]), f"{100 * gated:.0f} %"])
    heads = [["", "", "", Cell("activity model, µJ", "group", 2), ""],
             ["benchmark", Cell("kernel on", "text"), "static model, µJ", "clock share 0",
              f"clock share {share or 0:.2f}", "clock stopped"]]
    return ("<h3>Energy by activity</h3><p>All cores of the cluster. A constant part always flows, "
            "a clock part while the clock runs, the rest with the bit changes that "
            "were counted. The clock's share is not known for the FPGA, hence two columns.</p>" +
            page.table(heads, rows, "Both are models; they agree on the busy cores of the baseline by construction."))


def sections_resources(data, name):
    """Resources of a configuration: synthesised or predicted."""
    return data.results.get(name) or additive.predict(name, data.results)
