# SPDX-License-Identifier: MIT
"""The report's sections about hardware: the space, Table II, additivity, power, the Pareto front.
"""

from codesign import additive, asic, compare, page, paper, plots, rtl, space
from codesign import pareto as pareto_of
from codesign import power as powers
from codesign.page import Cell, esc, number, signed

MARKS = {"simple": "Simple", "satcounter": "SatCounter", "gshare": "GShare", "barrel": "Barrel",
         "serial": "Serial", "div": "Serial", "nodiv": "None",
         "mul": "Three-Stage", "nomul": "None", "nofpu": "None", "fpu": "IEEE-754",
         "1way": "1-way, 256 lines", "2way": "2-way, 128", "4way": "4-way, 64",
         "8way": "8-way, 32"}
UNIT_NAMES = {"predictor": "Branch predictor", "shifter": "Shift unit", "divider": "Divider",
              "multiplier": "Multiplier", "fpu": "FPU", "icache": "I-cache, 8 kB"}


def table1():
    """Table I with the proposed cores marked."""
    k, u, rows = space.choices("k-core"), space.choices("u-core"), []
    for unit, known in space.UNITS.items():
        chips = []
        for choice in known:
            kind = ("k" if k[unit] == choice else "") + ("u" if u[unit] == choice else "")
            star = "" if space.choices("i-core")[unit] != choice else "*"
            chips.append(f'<span class="chip {kind}">{MARKS[choice]}{star}</span>')
        rows.append(f'<tr><td>{UNIT_NAMES[unit]}</td><td class="text">{"".join(chips)}</td></tr>')
    return ('<h2 id="space">1. The space</h2><p>Six units, '
            '3&thinsp;&times;&thinsp;2&thinsp;&times;&thinsp;2&thinsp;&times;&thinsp;2&thinsp;&times;&thinsp;2'
            "&thinsp;&times;&thinsp;4 = 192 cores, as in the paper's Table I. The core is the "
            "public mor1kx, in the version and with the settings of the paper's "
            f"OpTiMSoC.</p><table><tbody>{''.join(rows)}</tbody></table>"
            '<p class="caption"><span class="chip k">teal</span> the proposed K-Core, <span '
            'class="chip u">orange</span> the proposed U-Core, '
            '<span class="chip ku">grey</span> both; * the I-Core, from which one thing is changed at a time.</p>')


def table2(data):
    """Table II, ours beside the paper's."""
    heads = [["", Cell("LUTs", "group", 2), Cell("difference", "group", 2),
              Cell("flip-flops", "group", 2), Cell("difference", "group", 2),
              Cell("DSP", "group", 1), Cell("mW", "group", 3)],
             ["design", "paper", "ours", "paper", "ours", "paper", "ours", "paper", "ours", "ours",
              "paper", "model", "left out"]]
    base, rows = data.results[paper.I_CORE], []
    first = paper.TABLE2[0]
    for i, (label, name, lut, ff, _, _, mw) in enumerate(paper.TABLE2):
        r = data.results[name]
        d = [signed(x) if i else "" for x in (lut - first[2], r["lut"] - base["lut"], ff - first[3],
                                              r["ff"] - base["ff"])]
        same = "same" if i and ff - first[3] == r["ff"] - base["ff"] else ""
        rows.append([label, Cell(number(lut), "faint"), number(r["lut"]), Cell(d[0], "faint"), d[1],
                     Cell(number(ff), "faint"), number(r["ff"]), Cell(d[2], "faint"),
                     Cell(d[3], same), r["dsp"], Cell(mw, "faint"),
                     f"{mw + data.model.residuals[i]:.1f}", Cell(f"{mw + data.nested[i]:.1f}", "faint")])
    return page.table(heads, rows,
                      "Nine syntheses of ours (yosys for Artix-7) beside the nine rows of the "
                      "paper (Vivado). Differences are against the "
                      "I-Core; teal: equal to the paper's. <i>Left out</i>: what the power model "
                      "says of a row when it was chosen and calibrated on the other eight.",
                      strong=(7, 8))


def resources(data):
    """The section on Table II."""
    rho = {c: compare.rank_correlation(*compare.values(data.results, c)) for c in ("lut", "ff")}
    out = ['<h2 id="table2">2. Resources: Table II again</h2>',
           "<p>Another synthesiser gives other absolute numbers. What must agree is what each change "
           f"costs, and the order. The rank correlation over the nine rows is "
           f"<b>{rho['lut']:.3f}</b> for LUTs and <b>{rho['ff']:.3f}</b> for flip-flops; "
           "the flip-flops that SatCounter, GShare and the serial shifter add are <b>equal</b> to "
           "the paper's, to the last one.</p>", table2(data)]
    out.append('<div class="pair">' +
               page.figure(plots.differences(compare.deltas(data.results, "lut"),
                                             "LUTs against the I-Core"), "LUTs per change.")
               + page.figure(plots.differences(compare.deltas(data.results, "ff"),
                                               "flip-flops against the I-Core"), "Flip-flops per change.") + "</div>")
    out.append("<p>GShare is the outlier in both: its 1,024 two-bit counters are cleared by a loop "
               "at reset, so no tool can make a memory of them, and they "
               "become 2,048 flip-flops. A predictor with a memory would be cheaper than either synthesis shows.</p>")
    out.append("<h3>What cannot be reproduced without the vendor's tool</h3>" +
               page.bullets(f"<b>{esc(a)}.</b> {esc(b)}" for a, b in compare.LIMITS))
    out.append(other_tools(data))
    return "".join(out)


def other_tools(data):
    """The same nine rows by what cannot be reproduced, by the newest RTL and in a cell library."""
    newest = {n for n in data.newest}
    asic_rows = {r["label"]: r for r in data.asic}
    heads = [["", Cell("F7 multiplexers", "group", 3), Cell("block RAM (36 kbit)", "group", 3),
              Cell("newest RTL", "group", 2), Cell("180-nm cells", "group", 2)],
             ["design", "paper", "ours", "-widemux", "paper", "ours", "-nolutram", "LUTs", "FF", "mm²", "mW"]]
    rows = []
    for label, name, _, _, f7, bram, _ in paper.TABLE2:
        r, n, a = data.results[name], data.newest.get(name), asic_rows.get(label)
        no, wide = data.nolutram.get(name), data.widemux.get(name)
        rows.append([label, Cell(f7, "faint"), r["f7"], wide["f7"] if wide else "",
                     Cell(f"{bram:g}", "faint"), f"{r['bram36']:g}", f"{no['bram36']:g}" if no else "",
                     number(n["lut"]) if name in newest else "", number(n["ff"]) if n else "",
                     f"{a['area_um2'] / 1e6:.2f}" if a else "", f"{a['mw']:.1f}" if a else ""])
    words = ("F7 multiplexers and block RAM by the synthesiser's own choice and with one option "
             "changed: same core, other numbers. "
             f"Newest RTL: mor1kx {rtl.VERSIONS[1]} instead of {rtl.PAPER}. ")
    if data.asic:
        rho = compare.rank_correlation([r[6] for r in paper.TABLE2 if r[0] in asic_rows],
                                       [asic_rows[r[0]]["mw"] for r in paper.TABLE2 if r[0] in asic_rows])
        k, u = asic_rows["K-Core"]["mw"], asic_rows["U-Core"]["mw"]
        words += (f"180-nm cells: the same cores in the open OSU library, logic only, one activity "
                  f"for all, by OpenSTA: absolute values mean nothing, but the order of "
                  f"power is that of the paper (rank correlation {rho:.2f}); by this tool the "
                  f"K-Core cluster saves {paper.saving_percent(k, u):.1f} %. "
                  f"It weighs flip-flops more than an FPGA does: "
                  f"{100 * asic.clock_share(data.asic):.0f} % of its power is in them.")
    return page.table(heads, rows, words, strong=(7, 8))


def additivity(data):
    """The section on predicting 192 points from ten."""
    rows = []
    others = [e for e in data.spots]
    shown = sorted(others, key=lambda e: -abs(e[1]["lut"][0] / e[1]["lut"][1] - 1))[:16]
    for name, e in shown:
        (pl, ml), (pf, mf) = e["lut"], e["ff"]
        rows.append([space.title(name), number(pl), number(ml), f"{signed(100 * (pl / ml - 1), 1)} %",
                     number(pf), number(mf),
                     Cell("exact" if pf == mf else signed(pf - mf), "same" if pf == mf else "off")])
    worst, exact = additive.worst_percent(others, "lut"), all(e["ff"][0] == e["ff"][1] for _, e in others)
    more = f" The worst {len(shown)} of {len(others)} are shown." if len(others) > len(shown) else ""
    how = (
        "All other cores"
        if len(others) + len(additive.base_points()) == len(space.names())
        else f"{len(others)} further cores"
    )
    return (f'<h2 id="additive">3. Ten syntheses for 192 cores</h2><p>If units do not share logic, '
            f'a core costs the I-Core plus what each change costs '
            f"alone. {how} say how true that is: LUTs within <b>{worst:.1f} %</b>, flip-flops "
            f"{'<b>exact</b> in all of them' if exact else 'not always exact'}. Where a core was "
            f"synthesised, its own numbers are used.</p>"
            + page.table([["", Cell("LUTs", "group", 3), Cell("flip-flops", "group", 3)],
                          ["core", "predicted", "measured", "error", "predicted", "measured", "error"]],
                         rows, "Prediction from ten syntheses against a synthesis of the core "
                               "itself, largest error first." + more))


def power(data):
    """The section on the power model."""
    k, u = (data.results[space.canonical(n)] for n in ("k-core", "u-core"))
    rows = [[Cell(m.formula()), f"{m.rms:.2f}", f"{abs(m.residuals).max():.1f}", f"{m.loo:.2f}",
             f"{paper.saving_percent(m.predict(k), m.predict(u)):.1f} %"]
            for m in data.candidates[:6]]
    return "".join([
        '<h2 id="power">4. Power, and what a K-Core saves</h2>',
        "<p>A model, not a measurement: milliwatts as a sum of what our synthesis counts, with weights "
        "that may not be negative, calibrated on the paper's nine printed values (whole numbers, "
        "so half a milliwatt of each is rounding). Of all subsets of resources "
        "whose weights are all positive, the one with the smallest leave-one-out error is used. "
        "Fits with negative weights come closer to the nine values and are "
        f"meaningless: a core does not save power by having more flip-flops.</p><p>Power = "
        f"<b>{esc(data.model.formula())}</b> mW; error on the fitted rows "
        f"{data.model.rms:.2f} mW. On a row that neither the choice of the subset nor the weights "
        f"have seen it is <b>{data.left_out():.2f} mW</b>; with the subset chosen "
        f"from all nine rows it looks like {data.model.loo:.2f} mW (root mean squares).</p>",
        '<div class="pair">' + page.figure(plots.fit(data.model, data.nested),
                                           "Dots: the model on the rows that calibrated it. Bars: "
                                           "each row by a model that was chosen and "
                                           "calibrated without it. The eight-way cache is the row "
                                           "that no physical model explains: Vivado gives it fewer block RAMs.")
        + "<div>" + page.table(["model", "fit", "worst", "left out", "saving"], rows,
                               "The best models with physical signs; errors in mW (left out: the "
                               "subset as it is, weights "
                               "without the row); the saving that each gives.") + "</div></div>", saving(data)])


def saving(data):
    """The cluster's saving: in-sample, by models that have not seen the two cores, and the control.
    """
    k7, u7, m7 = data.unseen[0]
    others = [paper.saving_percent(k, u) for k, u, _ in data.unseen]

    def against(interval):
        return (
            f"{'contains' if interval.contains(paper.SAVING_PERCENT) else 'does <b>not</b> contain'} the paper's"
            f" {paper.SAVING_PERCENT} %"
        )
    return "".join([
        f"<h3>The cluster: one K-Core and three U-Cores against four "
        f"U-Cores</h3><p><b>In-sample</b>: the model gives K-Core {data.k_mw:.1f} mW and U-Core {data.u_mw:.1f} mW, a "
        f"saving of <b>{data.saving.value:.1f} %</b>; the 95 % interval, {data.saving.low:.1f} to "
        f"{data.saving.high:.1f} %, {against(data.saving)}. The K-Core and the U-Core are "
        "among the nine rows that calibrated the model: the paper's milliwatts went in and come "
        "out again. This is not a prediction.</p>"
        f"<p><b>Unseen</b>: models that have seen neither of the two cores, only the seven rows "
        f"with one change each. The one with the smallest error on the seven "
        f"({esc(m7.formula())} mW) says {k7:.1f} and {u7:.1f} mW, a saving of "
        f"<b>{data.unseen_saving.value:.1f} %</b>; its 95 % interval, {data.unseen_saving.low:.1f} to "
        f"{data.unseen_saving.high:.1f} %, {against(data.unseen_saving)}. All seven have the same "
        f"multiplier, so its weight cannot be known from them, and the U-Core's FPU is an "
        f"extrapolation by a factor of two. The {len(others)} models with physical signs say "
        f"{min(others):.1f} to {max(others):.1f} %.</p>",
        page.figure(plots.saving((("in-sample", data.saving), ("unseen", data.unseen_saving))),
                    "Our saving with its 95 % interval (fits repeated with leave-one-out errors, which "
                    "are also put onto the two predictions), in-sample and by a model that has not "
                    "seen the two cores, and the paper's."),
        f"<p><b>Control</b>: the nine milliwatts dealt to the nine cores by chance, "
        f"{powers.TRIALS} times, and the same procedure on each. The in-sample interval then still contains "
        f"{paper.SAVING_PERCENT} % in <b>{100 * data.permuted():.0f} %</b> of the trials. That the "
        f"interval above contains it is no evidence for the model.</p>"])


def weights(found):
    """The weights of the area in words."""
    return f"{found['ff']:g}, a block RAM {found['bram36']:.0f} and a DSP block {found['dsp']:.0f}"


def pareto(data):
    """The section on the Pareto front."""
    timed = data.points[0].slowdown is not None
    made = sum(p.measured for p in data.points)
    heads = ["core", "mW", "area", "LUTs", "FF", "BRAM", "DSP"] + (["cycles"] if timed else []) + ["resources", ""]
    rows = [[space.title(p.name), f"{p.mw:.1f}", number(p.area()), number(p.resources["lut"]),
             number(p.resources["ff"]), f"{p.resources['bram36']:g}", number(p.resources["dsp"])]
            + ([f"{p.slowdown:.4f}"] if timed else []) + ["synthesised" if p.measured else "predicted",
                                                          Cell("within the noise"
                                                               if p.name in data.noisy else "", "faint")]
            for p in data.front]
    axes = "power, area and the kernel's cycles" if timed else "power and area"
    kinds = {space.as_the_kernel_sees(p.name) for p in data.points}
    ran = len(kinds & set(data.timed))
    words = ("all of them were synthesised" if made == len(data.points)
             else f"{made} of them were synthesised, the others are predicted") + (
        f". The kernel can tell {len(kinds)} of them apart; "
        f"{'all of these were' if ran == len(kinds) else f'{ran} of these were'} simulated" if timed else "")
    out = [f'<h2 id="pareto">5. The whole space</h2><p>All {len(data.points)} cores by {axes}; {words}.</p>',
           page.figure(plots.pareto(data.points, data.front),
                       "Each dot is a core, coloured by its branch predictor: filled ones were "
                       "synthesised, hollow ones predicted; SatCounter lies on "
                       "Simple. GShare moves a core to the right by its 2,400 LUTs, the FPU up and "
                       "to the right, and each pair of parallel lines is a core with and without a multiplier."),
           page.table(heads, rows,
                      f"Cores that no other core beats in {axes}. Area: everything in LUTs of the "
                      f"Artix-7 XC7A100T, where a flip-flop weighs "
                      f"{weights(pareto_of.WEIGHTS)}: a multiplier that moves logic from LUTs into "
                      f"DSP blocks is no smaller for that. <i>Within the noise</i>: another member of "
                      "the front draws no more and is no larger, and that it is slower is not "
                      "shown beyond the spread of the link orders.")]
    if not timed:
        out.append(page.note("The third axis, the kernel's cycles, is <b>not measured yet</b>. "
                             "Without it the front is only the cheapest core, which says nothing about how "
                             "well it runs a kernel."))
    return "".join(out)
