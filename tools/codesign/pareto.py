# SPDX-License-Identifier: MIT
"""The 192 points with power, area and the kernel's cycles, and which of them no other point beats.

Resources are measured where they were synthesised and predicted by additivity elsewhere. Cycles differ for 24 of the 192 only (the kernel has no
instruction for divider, multiplier and FPU); where they were not measured, the slow-down of a point is the product of its units' slow-downs.
Without measured cycles there is no performance axis.
"""

import math

from codesign import additive, space


class Point:
    """One configuration: resources, mW, relative cycles (1 = I-Core; None if not measured), whether it was synthesised."""

    def __init__(self, name, resources, mw, slowdown, measured):
        self.name, self.resources, self.mw, self.slowdown, self.measured = name, resources, mw, slowdown, measured

    def axes(self):
        """What is to be small."""
        return (self.mw, self.resources["lut"]) + (() if self.slowdown is None else (self.slowdown,))


def slowdowns(cycles, base="i-core"):
    """{(unit, choice): cycles relative to the base} from {configuration: cycles of one benchmark}; None unless all are there."""
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
    """{configuration: relative cycles} of those measured in all benchmarks of {benchmark: {configuration: cycles}}: geometric means."""
    base = space.canonical(base)
    names = set.intersection(*(set(c) for c in cycles.values())) if cycles else set()
    return {n: math.exp(sum(math.log(c[n] / c[base]) for c in cycles.values()) / len(cycles)) for n in names} if base in names else {}


def points(results, model, table=None, measured_cycles=()):
    """All 192 points. `results` holds at least the ten syntheses of additive.base_points(), `measured_cycles` is what direct() says."""
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
