# SPDX-License-Identifier: MIT
"""The report: one HTML page and its tables as CSV, out of gathered data."""

import csv
import os

from codesign import (
    additive, asic, coherence, compare, cycles, energy, instructions, network, page, paper,
    plots, sections, timing
)
from codesign.page import Cell, esc, number, signed

NAVIGATION = (("space", "Space"), ("table2", "Resources"), ("additive", "Additivity"),
              ("power", "Power"), ("pareto", "Pareto front"), ("table3", "Time and energy"),
              ("figure2", "Instructions"), ("beyond", "Beyond the paper"),
              ("text", "The paper's text"), ("method", "Method"))


def cards(data):
    """The key figures."""
    rho = compare.rank_correlation(*compare.values(data.results, "lut"))
    exact = sum(holds for what, holds, _ in compare.gates(data.results) if what.startswith("ff_"))
    worst = additive.worst_percent(data.spots, "lut")
    out = [page.card(f"{data.saving.value:.1f} %",
                     f"less power with one K-Core, in-sample ({data.saving.low:.1f} to "
                     f"{data.saving.high:.1f}); the paper: {paper.SAVING_PERCENT} %"),
           page.card(f"{data.unseen_saving.value:.1f} %",
                     f"by a model that has not seen the two cores ({data.unseen_saving.low:.1f} to "
                     f"{data.unseen_saving.high:.1f})"),
           page.card(f"{rho:.3f}", "rank correlation of our LUTs with Table II"),
           page.card(f"{exact} of {len(compare.EXACT_FF)}",
                     "flip-flop differences that the RTL alone fixes equal the paper's"),
           page.card(f"{worst:.1f} %",
                     f"largest error of predicting a core's LUTs from ten syntheses, over {len(data.spots)} checks")]
    best = timing.worst_ratio(data)
    out.append(page.card(*best) if best
               else page.card("not measured yet", "kernel benchmarks on the K-Core against the U-Core", True))
    return '<div class="cards">' + "".join(out) + "</div>"


def figure2(data):
    """Static instruction classes per port."""
    rows = []
    for kind in instructions.CLASSES:
        rows.append([Cell(instructions.TITLES[kind])] +
                    [f"{100 * parts['kernel'][kind] / sum(parts['kernel'].values()):.2f}"
                     for parts in data.instructions.values()])
    rows.append([Cell("instructions")] + [number(sum(parts["kernel"].values()))
                                          for parts in data.instructions.values()])
    heads = ["percent"] + [instructions.SHOWN[p] for p in data.instructions]
    text = ('<h2 id="figure2">7. What a kernel executes: Figure 2</h2><p>The paper decides against '
            'multiplier, divider and FPU by the instruction classes of its kernel\'s '
            "binary: no floating point, and multiplications and divisions only in initialisation "
            "code. The same count for our kernel, on each of its CPUs; the portable "
            "kernel only, so that the columns are comparable.</p>")
    out = [text, page.figure(plots.classes(data.instructions),
                             "Classes of instructions of the portable kernel, as compiled for each CPU.")]
    out.append(page.table(heads, rows,
                          "The paper's Figure 2 is a picture without numbers; what its text says "
                          "of it is in the paragraph above.", strong=(len(rows) - 1,)))
    hard, soft = (sum(data.instructions[p]["kernel"][k] for k in ("multiply", "divide")) for p in ("or1k-u", "or1k"))
    names = ", ".join(f"<code>{esc(n)}</code>" for n in sorted(data.where.get("or1k-u", ())))
    out.append(f"<p>No floating point at all, as in the paper. Compiled for a core that can, the "
               f"or1k kernel has {hard} multiplications and divisions"
               + (f", in {names}" if names else "") +
               ". They are rare, but they are not only initialisation: most of them turn an index "
               "into an address or back. So a kernel for "
               f"a core without a multiplier has to avoid them in its hot paths and not only to "
               f"emulate them. Compiled for the K-Core it has {soft or 'none'}.</p>")
    return "".join(out)


def beyond(data):
    """Computations that go past the paper: cluster size, clusters, doze."""
    share = asic.clock_share(data.asic) if data.asic else None
    sizes = energy.saving_by_cores(data.k_mw, data.u_mw)
    theirs = energy.saving_by_cores(23, 53)
    rows = [[f"1 K + {n - 1} U", f"{theirs[n]:.1f} %", f"{sizes[n]:.1f} %", f"{100 / n:.1f} %"] for n in sizes]
    out = ['<h2 id="beyond">8. Beyond the paper</h2><h3>Larger clusters</h3><p>A K-Core saves once '
           'per cluster, so its share shrinks as the cluster grows; so does the price '
           "of giving a core to the kernel.</p>",
           page.table(["cluster", "saving, paper's mW", "saving, our model", "cores not for users"],
                      rows, "Static model: nothing but the cores' power."), timing.larger(data)]
    clusters = energy.saving_by_clusters(data.k_mw, data.u_mw)
    noc = energy.saving_by_clusters(data.k_mw, data.u_mw, noc_mw=0.1 * paper.CLUSTER_CORES * data.u_mw)
    rows = [[c, f"{mw:.0f}", f"{percent:.1f} %", f"{noc[c][1]:.1f} %"] for c, (mw, percent) in clusters.items()]
    out += ["<h3>More clusters</h3><p>The paper expects the saving to scale linearly with the "
            "clusters. In milliwatts it does, by arithmetic; in percent it stays the same only "
            "if nothing but cores draws power. A network that draws a tenth of what a cluster's "
            "cores draw takes a tenth of the percentage away.</p>",
            page.table(["clusters", "mW saved", "without a network", "network of 10 %"], rows,
                       "Static model. The network's tenth is an example, not a measurement.")]
    if share is not None:
        rows = [
            [
                f"{w:.0%}".replace("%", " %"),
                *(
                    f"{energy.doze_saving_percent(mw, w, energy.Parts(data.model.constant(), share, 1)):.0f} %"
                    for mw in (data.k_mw, data.u_mw)
                ),
            ]
            for w in (0.25, 0.5, 0.75, 0.95)
        ]
        out += [f"<h3>Stopping the clock of a core that waits</h3><p>The paper's future work. "
                f"Upper bound, with the share of the power that is in flip-flops in the cell library "
                f"({100 * share:.0f} %) as the clock's share and the model's constant part "
                f"({data.model.constant():.1f} mW) always flowing; how long cores really wait "
                f"comes from the cluster's counters.</p>",
                page.table(["time waiting", "K-Core", "U-Core"], rows,
                           "Percent of a core's energy that a stopped clock saves, against waiting "
                           "quietly with a running one.")]
    out.append(timing.activity(data, share))
    return "".join(out)


def papers_text(data):
    """What does not agree inside the paper."""
    t = paper.time_change_percent
    items = [
        (
            "“Improved performance by up to 6.5 % (Fork-Join benchmark)”: in Table III that is "
            f"<b>Buffer</b> ({signed(t('buffer', 'k-opt'), 1)} %); Fork-Join is "
            f"{signed(t('fork_join', 'k-opt'), 1)} %."
        ),
        (
            f"R-Kcall is <b>slower</b> on the K-Core: {signed(t('r_kcall', 'k'), 1)} %, and "
            f"{signed(t('r_kcall', 'k-opt'), 1)} % with the optimised kernel. The text does not mention it."
        ),
        "“Further reduced energy consumption in 10 %” is the mean over benchmarks: "
        + ", ".join(
            f"{paper.BENCHMARKS[b]} {100 * (1 - paper.TABLE3[b]['k-opt'][0] / paper.TABLE3[b]['k'][0]):.1f} %"
            for b in paper.TABLE3
        )
        + ".",
        (
            f"14.1 % is 1 &minus; (23 + 3 × 53) / (4 × 53) = {paper.saving_percent(23, 53):.2f} "
            "%: the cores only, no memory, bus or network, one constant power per core."
        ),
        (
            "Energies carry no information beyond Tables II and III together: every benchmark has "
            "the same milliwatts on the same core."
        ),
        (
            "“Multiplications and divisions were employed in initialisation code”: true of that "
            "kernel; ours turns indices into addresses with them (section 7)."
        ),
        (
            "“A direct-mapped cache better handles the kernel workload than set-associative "
            "ones”: no table of the paper separates the cache from the other changes; section 6 measures it."
        ),
    ]
    return '<h2 id="text">9. The paper\'s text against its tables</h2>' + page.bullets(items)


def method(data):
    """How the numbers came about."""
    items = [f"Synthesis: {esc(data.tool)}, <code>synth_xilinx -family xc7 -flatten -abc9</code>, "
             f"one core with every port led out, execution trace port on as in OpTiMSoC. "
             "Inverters are not counted: placement merges them into the cells that they drive.",
             f"Core: mor1kx 5.0.post130 from its Python package, the RTL of the paper's OpTiMSoC; "
             f"source {data.source} ({data.how}).",
             "Results are stored under the hash of RTL, wrapper, script and tool, and those of "
             "different sources are never mixed.",
             f"Clock for energies: {paper.CLOCK_HZ // 1000000} MHz, an assumption; it scales all "
             f"energies alike and no comparison depends on it.",
             "Static model: power × cycles / clock. Activity model: constant part, clock part, "
             "rest by counted bit changes. Neither is a measurement of a chip.",
             "Cycles: the kept kernels, linked with their functions in random orders; a "
             "replication is an order. Kept runs come out again to the last cycle (<code>replay.py</code>).",
             "Made by <code>./atoll codesign</code>; <code>--quick</code> from the results in the "
             "tree, <code>--full</code> with more link orders."]
    return '<h2 id="method">10. Method</h2>' + page.bullets(items)


def html(data):
    """The whole page."""
    nav = "<nav>" + "".join(f'<a href="#{a}">{t}</a>' for a, t in NAVIGATION) + "</nav>"
    head = ("<h1>A small core for the kernel</h1><p class=\"lead\">A cluster of four cores gives "
            "one of them to the operating system's kernel. How small may that core be, "
            "what does it save, and does the kernel run as fast? The published design, made again "
            "with open tools, next to its own tables.</p>")
    parts = [head, cards(data), nav, sections.table1(), sections.resources(data),
             sections.additivity(data), sections.power(data), sections.pareto(data), timing.section(data),
             figure2(data), beyond(data), network.section(data), coherence.section(),
             papers_text(data), method(data), "<footer>Atoll. This page is one file and fetches nothing.</footer>"]
    return page.page("Atoll: the co-designed cluster", "\n".join(parts))


def csv_files(data):
    """{file name: (heads, rows)}."""
    space_rows = [[p.name, *(p.resources[r] for r in additive.RESOURCES), round(p.mw, 2),
                   "" if p.slowdown is None else round(p.slowdown, 4),
                   "synthesised" if p.measured else "predicted", "yes" if p in data.front else "no"]
                   for p in data.points]
    rows2 = [[label, name, lut, data.results[name]["lut"], ff, data.results[name]["ff"], f7,
              data.results[name]["f7"], bram, data.results[name]["bram36"], mw,
              round(mw + data.model.residuals[i], 2), round(mw + data.nested[i], 2)] for i,
              (label, name, lut, ff, f7, bram, mw) in enumerate(paper.TABLE2)]
    rows3 = []
    for b in paper.TABLE3:
        for s in paper.SETUPS:
            ours = cycles.of_setup(data.cycles, b, s)
            mw = data.u_mw if s == "u" else data.k_mw
            rows3.append([b, s, *paper.TABLE3[b][s], round(paper.recomputed(b, s), 2)] +
                         ([round(ours[1].mean, 1), round(energy.static_uj(mw, ours[1].mean), 3),
                           ours[1].n] if ours else ["", "", 0]))
    classes = [[port, part, k, n] for port, parts in data.instructions.items() for part,
               row in parts.items() for k, n in row.items()]
    return {"table2.csv": (["design", "config", "lut_paper", "lut", "ff_paper", "ff", "f7_paper",
                            "f7", "bram_paper", "bram", "mw_paper", "mw_model", "mw_left_out"], rows2),
            "table3.csv": (["benchmark", "setup", "uj_paper", "ms_paper", "uj_power_x_time",
                            "cycles", "uj", "replications"], rows3),
            "space.csv": (["config", *additive.RESOURCES, "mw", "slowdown", "resources", "front"], space_rows),
            "instructions.csv": (list(instructions.FIELDS), classes)}


def write(data, folder):
    """Write index.html and the CSV files; returns the page's path."""
    os.makedirs(folder, exist_ok=True)
    for name, (heads, rows) in csv_files(data).items():
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerow(heads)
            out.writerows(rows)
    path = os.path.join(folder, "index.html")
    with open(path, "w", encoding="utf-8") as f:
        f.write(html(data))
    return path
