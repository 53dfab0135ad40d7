# SPDX-License-Identifier: MIT
"""Resources of all 192 points out of ten syntheses: the I-Core plus the sum of what each single
change costs.

Valid as far as the units do not share logic; the spot checks say how far that is.
"""

import random

from codesign import space

RESOURCES = ("lut", "ff", "bram36", "dsp")
SPOTS = 12
SEED = 192


def base_points():
    """The ten configurations to synthesise: the I-Core and its nine single changes."""
    return [space.canonical("i-core")] + [name for _, _, name in space.single_changes()]


def spot_points(count=SPOTS, seed=SEED):
    """Configurations that check the prediction: the K- and the U-Core, and some drawn by chance
    among those with two changes or more.
    """
    known = base_points() + [space.canonical("k-core"), space.canonical("u-core")]
    others = [n for n in space.names() if n not in known]
    return known[-2:] + sorted(random.Random(seed).sample(others, count))


def effects(results, base="i-core", what=RESOURCES):
    """{(unit, choice): {resource: difference to the base}} from the results of base_points()."""
    own = results[space.canonical(base)]
    return {(unit, choice): {r: results[name][r] - own[r] for r in what} for unit, choice,
            name in space.single_changes(base)}


def predict(name, results, what=RESOURCES, base="i-core"):
    """{resource: value} of a configuration: the base plus its units' effects."""
    found, own = effects(results, base, what), space.choices(base)
    out = {r: results[space.canonical(base)][r] for r in what}
    for unit, choice in space.choices(name).items():
        if choice != own[unit]:
            for r in what:
                out[r] += found[unit, choice][r]
    return out


def errors(results, measured, what=RESOURCES):
    """[(name, {resource: (predicted, measured)})] for the configurations in `measured`."""
    return [(n, {r: (predict(n, results, what)[r], m[r]) for r in what}) for n, m in sorted(measured.items())]


def worst_percent(found, resource):
    """The largest relative error of a resource over errors()."""
    return max((abs(p / m - 1) * 100 for _, row in found for p, m in [row[resource]] if m), default=0.0)
