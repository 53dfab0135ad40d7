# SPDX-License-Identifier: MIT
"""The power model: milliwatts of a core out of what our own synthesis counts, calibrated on the
nine rows of Table II.

Weights are physical: none is negative (non-negative least squares). Every subset of the resources
is tried; the one with the smallest leave-one-out error is taken. A resource whose weight would be
negative drops out, and with it the subset.

What this shows and what it does not. The nine rows include the K-Core and the U-Core, so the saving
that the model gives for these two is in-sample: a figure that was put in comes out again. Three
things are printed beside it:

left out    the error of the whole procedure on a row that it has not seen: the subset is chosen
            anew without that row (`nested`)
unseen      the saving by models that were calibrated without the K-Core and the U-Core (`unseen`)
permuted    how often the in-sample interval contains the paper's figure when the nine milliwatts
            are dealt to the cores by chance (`permuted`)
"""

import functools
import itertools

import numpy as np
from scipy.optimize import nnls

from codesign import paper

CANDIDATES = ("lut", "ff", "bram36", "dsp", "const")
DRAWS = 4000
SEED = 14
TRIALS, TRIAL_DRAWS = 200, 100          # of the permutation control


def matrix(features, resources):
    """One row per core, one column per feature; "const" is 1."""
    return np.array([[1.0 if f == "const" else r[f] for f in features] for r in resources], float)


def weights(features, resources, mw):
    """Non-negative least squares."""
    return nnls(matrix(features, resources), np.asarray(mw, float))[0]


class Model:
    """A fit with its errors."""

    def __init__(self, features, resources, mw):
        self.features, self.mw = tuple(features), np.asarray(mw, float)
        self.x = matrix(features, resources)
        self.w = nnls(self.x, self.mw)[0]
        self.residuals = self.x @ self.w - self.mw
        self.left_out = np.array([self._without(i) for i in range(len(self.mw))])

    def _without(self, i):
        others = np.arange(len(self.mw)) != i
        return self.x[i] @ nnls(self.x[others], self.mw[others])[0] - self.mw[i]

    @property
    def rms(self):
        """Root mean square of the fit's residuals, mW."""
        return float(np.sqrt(np.mean(self.residuals ** 2)))

    @property
    def loo(self):
        """Root mean square of the leave-one-out errors of this subset, mW.
        The subset itself was chosen with all rows: see nested().
        """
        return float(np.sqrt(np.mean(self.left_out ** 2)))

    def predict(self, resources):
        """mW of a core."""
        return float(matrix(self.features, [resources])[0] @ self.w)

    def constant(self):
        """The part that no resource explains, mW."""
        return float(self.w[self.features.index("const")]) if "const" in self.features else 0.0

    def formula(self):
        """As one reads it."""
        unit = {"lut": "LUT", "ff": "FF", "bram36": "BRAM", "dsp": "DSP"}
        return " + ".join(f"{w:.3g}" if f == "const" else f"{w:.3g} {unit[f]}" for f, w in zip(self.features, self.w))


def candidates(resources, mw, features=CANDIDATES):
    """Every subset of the features whose weights are all positive, the best leave-one-out error
    first.
    """
    out = []
    for k in range(1, len(features) + 1):
        for chosen in itertools.combinations(features, k):
            m = Model(chosen, resources, mw)
            if (m.w > 0).all():
                out.append(m)
    return sorted(out, key=lambda m: m.loo)


def calibrate(results):
    """The model out of {configuration: resources} for the paper's nine cores."""
    resources, mw = table(results)
    return candidates(resources, mw)[0]


def nested(resources, mw):
    """The error of the whole procedure on each row, mW: subset and weights come from the other rows
    alone.
    """
    out = []
    for i, r in enumerate(resources):
        others = [j for j in range(len(mw)) if j != i]
        out.append(candidates([resources[j] for j in others], [mw[j] for j in others])[0].predict(r) - mw[i])
    return np.array(out)


def root_mean_square(errors):
    """One number for many errors."""
    return float(np.sqrt(np.mean(np.square(errors))))


def table(results, labels=None):
    """(resources, mW) of the paper's rows, all or some."""
    rows = [r for r in paper.TABLE2 if labels is None or r[0] in labels]
    return [results[r[1]] for r in rows], [r[6] for r in rows]


def unseen(results):
    """[(K mW, U mW, model)] by models that saw only the seven rows that are not the proposed cores,
    the best leave-one-out error first.

    All seven have the same DSP blocks and nearly the same block RAM: those cannot be told from the
    constant and are left out.
    """
    labels = [r[0] for r in paper.TABLE2 if r[0] not in ("K-Core", "U-Core")]
    k, u = (results[r[1]] for r in paper.TABLE2 if r[0] in ("K-Core", "U-Core"))
    return [(m.predict(k), m.predict(u), m) for m in candidates(*table(results, labels), ("lut", "ff", "const"))
            if m.features != ("const",)]


class Interval:
    """A figure with a 95 % interval."""

    def __init__(self, value, low, high):
        self.value, self.low, self.high = value, low, high

    def contains(self, x):
        """True if x lies inside."""
        return self.low <= x <= self.high

    def text(self, unit=" %"):
        """As one reads it."""
        return f"{self.value:.1f}{unit} ({self.low:.1f} ... {self.high:.1f})"


def saving(model, k, u, draws=DRAWS, cores=paper.CLUSTER_CORES):
    """Interval of the K-Core cluster's power saving: `k`, `u` resources of the two cores.

    Each draw puts leave-one-out errors onto the fitted rows, fits again and puts such an error onto
    each of the two predictions. The subset of resources stays the same. If the two cores are among
    the fitted rows, the interval is in-sample.
    """
    rng = np.random.default_rng(SEED)
    x, found = matrix(model.features, [k, u]), []
    for _ in range(draws):
        w = nnls(model.x, np.maximum(model.mw + model.residuals + rng.choice(model.left_out, len(model.mw)), 0))[0]
        mk, mu = x @ w + rng.choice(model.left_out, 2)
        found.append(paper.saving_percent(mk, mu, cores))
    low, high = np.percentile(found, (2.5, 97.5))
    return Interval(paper.saving_percent(model.predict(k), model.predict(u), cores), float(low), float(high))


def permuted(resources, mw, k, u, trials=TRIALS, draws=TRIAL_DRAWS):
    """Share of trials in which the in-sample interval contains the paper's saving although the
    milliwatts were dealt to the cores by chance.

    The control of the interval: where the share is high, the interval's containing the paper's
    figure says little.
    """
    rng, inside = np.random.default_rng(SEED), 0
    for _ in range(trials):
        best = candidates(resources, list(rng.permutation(mw)))[0]
        inside += saving(best, k, u, draws).contains(paper.SAVING_PERCENT)
    return inside / trials


@functools.lru_cache(maxsize=4)
def _permuted(rows):
    resources = [dict(zip(CANDIDATES, r)) for r in rows]
    return permuted(resources[:-2], [r[6] for r in paper.TABLE2], *resources[-2:])


def permutation_control(results):
    """permuted() of the paper's rows, worked out once per process."""
    k, u = (results[r[1]] for r in paper.TABLE2 if r[0] in ("K-Core", "U-Core"))
    return _permuted(tuple(tuple(r[c] for c in CANDIDATES[:-1]) for r in [*table(results)[0], k, u]))
