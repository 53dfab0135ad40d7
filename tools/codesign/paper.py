# SPDX-License-Identifier: MIT
"""The figures of seed 001 as data: Tables II and III, what its text says, and what of it does not
agree with itself.
"""

from codesign import space

I_CORE = space.canonical("i-core")

# Table II: (label, configuration, LUTs, registers, F7 multiplexers, block RAMs, mW)
TABLE2 = (
    ("I-Core", I_CORE, 2987, 2042, 57, 8, 28),
    ("Branch SatCounter", space.changed(I_CORE, predictor="satcounter"), 2988, 2046, 57, 8, 29),
    ("Branch GShare", space.changed(I_CORE, predictor="gshare"), 5968, 4112, 434, 8, 38),
    ("I-Cache 1 way", space.changed(I_CORE, icache="1way"), 2874, 1947, 57, 9.5, 28),
    ("I-Cache 4 way", space.changed(I_CORE, icache="4way"), 3175, 2159, 57, 9, 30),
    ("I-Cache 8 way", space.changed(I_CORE, icache="8way"), 3701, 2666, 55, 7, 29),
    ("Shift serial", space.changed(I_CORE, shifter="serial"), 2830, 2080, 56, 8, 26),
    ("K-Core", space.canonical("k-core"), 2500, 1829, 56, 9.5, 23),
    ("U-Core", space.canonical("u-core"), 7564, 4853, 414, 12, 53),
)
COLUMNS = ("lut", "ff", "f7", "bram36", "mw")

# Table III: benchmark -> set-up -> (microjoules, milliseconds)
TABLE3 = {
    "r_kcall": {"u": (84.06, 1.58), "k": (41.07, 1.78), "k-opt": (39.65, 1.72)},
    "fork_join": {"u": (1994, 37.63), "k": (1002, 43.56), "k-opt": (859, 37.34)},
    "buffer": {"u": (27640, 521.51), "k": (12750, 554.37), "k-opt": (11215, 487.64)},
    "server": {"u": (32903, 620.82), "k": (14983, 651.43), "k-opt": (13372, 581.41)},
}
BENCHMARKS = {"r_kcall": "R-Kcall", "fork_join": "Fork-Join", "buffer": "Buffer", "server": "Server"}
SETUPS = {"u": "U-Core", "k": "K-Core", "k-opt": "K-Core, optimised kernel"}

SAVING_PERCENT = 14.1
CLUSTER_CORES = 4
# not stated: OpTiMSoC documents 50 MHz for its boards; times in Table III are consistent with any
# clock
CLOCK_HZ = 50_000_000


def row(label):
    """One row of Table II as {column: value}."""
    for r in TABLE2:
        if r[0] == label:
            return dict(zip(COLUMNS, r[2:]))
    raise KeyError(label)


def power_mw(setup):
    """The power that Table II prints for the core of a set-up."""
    return row("U-Core" if setup == "u" else "K-Core")["mw"]


def recomputed(benchmark, setup):
    """Microjoules out of Table II's power and Table III's time.
    Agrees with the printed energy within 0.4 % (times have two decimals).
    """
    return power_mw(setup) * TABLE3[benchmark][setup][1]


def saving_percent(k_mw, u_mw, cores=CLUSTER_CORES):
    """Power that a cluster of one K-Core and U-Cores saves against one of U-Cores only."""
    return 100 * (1 - (k_mw + (cores - 1) * u_mw) / (cores * u_mw))


def time_change_percent(benchmark, setup, base="u"):
    """Change of the time of a set-up against another, in percent; negative is faster."""
    return 100 * (TABLE3[benchmark][setup][1] / TABLE3[benchmark][base][1] - 1)
