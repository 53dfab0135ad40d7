# SPDX-License-Identifier: MIT
"""Energy out of power and cycles: the paper's way, and a way that counts what the cores did. Both
are models.

Static model (the paper's Table III is exactly this): energy = the core's power x cycles / clock;
what the core does makes no difference.

Activity model: a core's power has three parts. A constant part always flows. A clock part flows
while the core's clock runs. The rest follows the measured bit changes per cycle relative to those
of the baseline's cores. So the baseline draws as much in both models, and the difference shows what
cores do with their time. The clock part's share cannot be calibrated on the paper's rows: results
are given for 0 and for the share that the open cell library shows (tools/codesign/asic.py), as a
range.
"""

from codesign import paper


def static_uj(mw, cycles, clock_hz=paper.CLOCK_HZ):
    """Microjoules of one core."""
    return mw * 1e3 * cycles / clock_hz


def running(activity):
    """Cycles in which the core's clock ran."""
    return activity["cycles"] - activity.get("gated", 0)


def rate(activity):
    """Bit changes per observed bit and cycle, cycles without a clock included."""
    return activity["toggles"] / activity["bits"] / activity["cycles"]


def reference_rate(runs):
    """Mean rate of the baseline's cores: `runs` is a list of activity lists.
    Cycles without a clock do not count.
    """
    cores = [a for run in runs for a in run]
    cycles = sum(running(a) for a in cores)
    return sum(a["toggles"] / a["bits"] for a in cores) / cycles if cycles else 0.0


class Parts:
    """How a core's power divides: constant mW, share of the rest that is the clock, the baseline's
    rate of bit changes.
    """

    def __init__(self, constant_mw, clock_share, reference):
        self.constant_mw, self.clock_share, self.reference = constant_mw, clock_share, reference


def activity_mw(mw, activity, parts):
    """Mean power of a core over a run; `mw` is its power in the static model."""
    moving = max(mw - parts.constant_mw, 0)
    clock = moving * parts.clock_share * running(activity) / activity["cycles"]
    logic = moving * (1 - parts.clock_share) * rate(activity) / parts.reference
    return min(mw, parts.constant_mw) + clock + logic


def cluster_uj(cores_mw, activities, parts, clock_hz=paper.CLOCK_HZ):
    """Microjoules of all cores over a run: cores_mw[i] is core i's power in the static model."""
    return sum(static_uj(activity_mw(cores_mw[a["core"]], a, parts), a["cycles"], clock_hz) for a in activities)


def saving_by_cores(k_mw, u_mw, sizes=(4, 8, 16)):
    """{cores of a cluster: percent saved by one K-Core}: the K-Core's share shrinks as clusters
    grow.
    """
    return {n: paper.saving_percent(k_mw, u_mw, n) for n in sizes}


def saving_by_clusters(k_mw, u_mw, noc_mw=0.0, counts=(1, 2, 4, 16), cores=paper.CLUSTER_CORES):
    """{clusters: (mW saved, percent saved)}: milliwatts grow linearly; the percentage shrinks by
    what the NoC draws per cluster.
    """
    saved = u_mw - k_mw
    return {c: (c * saved, 100 * c * saved / (c * (cores * u_mw + (noc_mw if c > 1 else 0)))) for c in counts}


def doze_saving_percent(mw, waiting_share, parts):
    """Percent of a core's energy that a stopped clock saves if the core would otherwise wait,
    clocked but quiet, for this share of the time.
    """
    return 100 * waiting_share * max(mw - parts.constant_mw, 0) * parts.clock_share / mw
