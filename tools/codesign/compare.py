# SPDX-License-Identifier: MIT
"""Our synthesis beside Table II: deltas against the I-Core, ranks, and what another tool cannot
reproduce.
"""

from scipy import stats

from codesign import paper

OURS = {"lut": "lut", "ff": "ff", "f7": "f7", "bram36": "bram36"}
# changes whose flip-flops are fixed by the RTL alone, whatever the tool: they must equal the
# paper's
EXACT_FF = ("Branch SatCounter", "Branch GShare", "Shift serial")
RANK_LUT_MIN = 0.95

LIMITS = (
    ("F7 multiplexers", "Vivado fuses two LUT6 into a 7-input function wherever the netlist "
                        "allows; yosys' mapper (abc9) reaches the same speed "
     "with a handful of them. With one option changed it uses hundreds. The number says which "
     "setting was on, not how large the core is."),
    ("Block RAM", "Whether a memory of a few kilobits becomes block RAM or LUTs is a threshold "
                  "inside each tool. yosys puts tags, TLBs and "
     "register files into LUTs; told not to, it uses block RAM for each. Vivado decides memory by "
     "memory. Totals can be made equal "
     "only by fitting them by hand, one memory after the other, which would prove nothing."),
    ("Milliwatts", "Vivado's power report needs its device model and its placed and routed "
                   "netlist. What an open flow can do is calibrate a model on "
     "the nine printed values and say how wrong it is on those that it has not seen."),
    ("LUTs as absolute numbers",
     "LUTs that serve as memory are in our count, and the mappers differ: compare differences and order."),
)


def deltas(results, column):
    """[(label, paper's difference to the I-Core, ours)] without the I-Core."""
    base, name = paper.TABLE2[0], OURS[column]
    spot = 2 + paper.COLUMNS.index(column)
    return [(r[0], r[spot] - base[spot], results[r[1]][name] - results[base[1]][name]) for r in paper.TABLE2[1:]]


def values(results, column):
    """(paper's nine values, ours)."""
    spot = 2 + paper.COLUMNS.index(column)
    return [r[spot] for r in paper.TABLE2], [results[r[1]][OURS[column]] for r in paper.TABLE2]


def rank_correlation(theirs, ours):
    """Spearman's."""
    return float(stats.spearmanr(theirs, ours).statistic)


def ranks(numbers):
    """1 for the smallest; equal numbers share the mean."""
    return [float(r) for r in stats.rankdata(numbers)]


def gates(results):
    """[(what, holds, words)]: what must be true of a synthesis of the nine cores."""
    rho = rank_correlation(*values(results, "lut"))
    out = [("lut_rank_correlation", rho >= RANK_LUT_MIN, f"{rho:.3f}, at least {RANK_LUT_MIN}")]
    for label, theirs, ours in deltas(results, "ff"):
        if label in EXACT_FF:
            out.append((f"ff_{label.lower().replace(' ', '_')}", theirs == ours,
                        f"{ours:+d} flip-flops, the paper's {theirs:+d}"))
    return out
