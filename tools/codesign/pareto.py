# SPDX-License-Identifier: MIT
"""The 192 points with power, area and the kernel's cycles, and which of them no other point beats.

Resources are measured where they were synthesised and predicted by additivity elsewhere. Cycles
differ for 24 of the 192 only (the kernel has no instruction for divider, multiplier and FPU); where
they were not measured, the slow-down of a point is the product of its units' slow-downs. Without
measured cycles there is no performance axis.

Area counts everything, as a multiplier moves logic out of LUTs into DSP blocks: in LUTs of the
Artix-7 XC7A100T, where a resource weighs as many LUTs as the device has for each of it (63,400
LUTs, 126,800 flip-flops, 135 block RAMs, 240 DSP blocks).
"""

import math

from codesign import additive, cycles, space

DEVICE = {"lut": 63400, "ff": 126800, "bram36": 135, "dsp": 240}
WEIGHTS = {r: DEVICE["lut"] / n for r, n in DEVICE.items()}


class Point:
    """One configuration: resources, mW, relative cycles (1 = I-Core; None if not measured), whether
    it was synthesised.
    """

    def __init__(self, name, resources, mw, slowdown, measured):
        self.name, self.resources, self.mw, self.slowdown, self.measured = name, resources, mw, slowdown, measured

    def axes(self):
        """What is to be small."""
        return (self.mw, self.area()) + (() if self.slowdown is None else (self.slowdown,))

    def area(self):
        """All resources, in LUTs."""
        return sum(w * self.resources[r] for r, w in WEIGHTS.items())


def slowdowns(cycles, base="i-core"):
    """{(unit, choice): cycles relative to the base} from {configuration: cycles of one benchmark};
    None unless all are there.
    """
    names = {space.canonical(base)} | {n for _, _, n in space.single_changes(base)}
    if not names <= set(cycles):
        return None
    return {(u, c): cycles[n] / cycles[space.canonical(base)] for u, c, n in space.single_changes(base)}


def combined(tables):
    """Geometric mean over benchmarks of slowdowns()."""
    tables = [t for t in tables if t]
    if not tables:
        return None
    return {key: math.exp(sum(math.log(t[key]) for t in tables) / len(tables)) for key in tables[0]}


def slowdown(name, table, base="i-core"):
    """Relative cycles of a configuration by the product of its changes."""
    own = space.choices(base)
    return math.prod(table[u, c] for u, c in space.choices(name).items() if c != own[u])


def direct(cycles, base="i-core"):
    """{configuration: relative cycles} of those measured in all benchmarks of {benchmark:
    {configuration: cycles}}: geometric means.
    """
    base = space.canonical(base)
    names = set.intersection(*(set(c) for c in cycles.values())) if cycles else set()
    return {n: math.exp(sum(math.log(c[n] / c[base]) for c in cycles.values()) / len(cycles))
            for n in names} if base in names else {}


def points(results, model, table=None, measured_cycles=()):
    """All 192 points.
    `results` holds at least the ten syntheses of additive.base_points(), `measured_cycles` is what
    direct() says.
    """
    out = []
    for name in space.names():
        measured = name in results
        resources = results[name] if measured else additive.predict(name, results)
        out.append(Point(name, resources, model.predict(resources), _relative(name, table, measured_cycles), measured))
    return out


def _relative(name, table, measured_cycles):
    if not table:
        return None
    return measured_cycles[name] if name in measured_cycles else slowdown(name, table)


def dominates(a, b):
    """True if a is nowhere worse than b and somewhere better."""
    return all(x <= y for x, y in zip(a, b)) and any(x < y for x, y in zip(a, b))


def front(found):
    """The points that no other dominates, by power."""
    return sorted((p for p in found if not any(dominates(q.axes(), p.axes()) for q in found)), key=lambda p: p.axes())


def by_replication(rows, benchmarks):
    """{core as the kernel sees it: {replication: geometric mean of its benchmarks' cycles}} of the
    rows that vary the kernel's core, latency 0.
    """
    found, u = {}, space.canonical("u-core")
    for r in rows:
        if r["setup"] == "dse" and not r["latency"] and r["benchmark"] in benchmarks and set(r["cores"][1:]) == {u}:
            found.setdefault(space.as_the_kernel_sees(r["cores"][0]),
                             {}).setdefault(r["replication"], {})[r["benchmark"]] = r["cycles"]
    return {core: {n: math.exp(sum(map(math.log, each.values())) / len(each)) for n,
                   each in runs.items() if len(each) == len(benchmarks)} for core, runs in found.items()}


def is_faster(one, other, runs):
    """Is one core's kernel faster than another's beyond the spread of the link orders? `runs`:
    by_replication().
    """
    a, b = (runs.get(space.as_the_kernel_sees(n), {}) for n in (one, other))
    both = sorted(set(a) & set(b))
    if len(both) < 2:
        return False
    found = cycles.Summary([a[n] / b[n] for n in both])
    return found.mean + found.half < 1


def by_noise(found, runs):
    """Names of members of a front that only noise keeps there: another member draws no more, is no
    larger, and is not shown to be slower.
    """
    return {p.name for p in found for q in found if q is not p and q.axes()[:2] != p.axes()[:2]
            and all(x <= y for x, y in zip(q.axes()[:2], p.axes()[:2]))
            and not is_faster(p.name, q.name, runs)}
