# SPDX-License-Identifier: MIT
"""The power model finds what was put in, has physical signs only, and its errors are what they are
called.
"""

import numpy as np
import pytest

from codesign import additive, energy, paper, pareto, power, space


def cores(rng, n):
    """Made-up resources."""
    return [{"lut": int(rng.integers(2000, 8000)), "ff": int(rng.integers(1500, 5000)),
             "bram36": float(rng.integers(2, 14)), "dsp": int(rng.integers(0, 8))}
            for _ in range(n)]


@pytest.mark.parametrize("seed", range(8))
def test_the_weights_that_made_the_figures_are_found(seed):
    rng = np.random.default_rng(seed)
    found, w = cores(rng, 12), rng.uniform(0.001, 1, 2)
    m = power.Model(("lut", "const"), found, [w[0] * r["lut"] + 50 * w[1] for r in found])
    assert np.allclose(m.w, (w[0], 50 * w[1])) and m.rms < 1e-6 and m.loo < 1e-6
    assert m.predict(found[3]) == pytest.approx(w[0] * found[3]["lut"] + 50 * w[1])


@pytest.mark.parametrize("seed", range(8))
def test_no_weight_is_ever_negative_and_every_candidate_uses_what_it_names(seed):
    rng = np.random.default_rng(seed)
    found = power.candidates(cores(rng, 9), rng.uniform(20, 55, 9))
    assert found and all((m.w > 0).all() for m in found)
    assert [m.loo for m in found] == sorted(m.loo for m in found)


@pytest.mark.parametrize("seed", range(4))
def test_a_left_out_row_is_really_left_out(seed):
    rng = np.random.default_rng(seed)
    resources, mw = cores(rng, 9), rng.uniform(20, 55, 9)
    one = power.Model(("lut", "const"), resources, mw)
    mw[4] += 100
    other = power.Model(("lut", "const"), resources, mw)
    assert other.left_out[4] == pytest.approx(one.left_out[4] - 100)
    assert not np.allclose(np.delete(one.left_out, 4), np.delete(other.left_out, 4))


@pytest.mark.parametrize("seed", range(4))
def test_a_row_decides_neither_the_weights_nor_the_choice_of_what_predicts_it(seed):
    rng = np.random.default_rng(seed)
    resources, mw = cores(rng, 9), rng.uniform(20, 55, 9)
    before = power.nested(resources, mw)
    mw[4] += 100
    assert power.nested(resources,
                        mw)[4] == pytest.approx(before[4] - 100), "another choice with row 4 would predict it otherwise"


@pytest.mark.slow
def test_choosing_with_the_row_in_sight_flatters():
    """Figures without any meaning: the best subset's leave-one-out error is below what the whole
    procedure does on unseen rows.
    """
    gains = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        resources, mw = cores(rng, 9), rng.uniform(20, 55, 9)
        gains.append(power.root_mean_square(power.nested(resources, mw)) - power.candidates(resources, mw)[0].loo)
    assert min(gains) > -0.5 and sum(gains) / len(gains) > 0.5


def test_the_permutation_control_tells_a_sharp_interval_from_a_wide_one():
    rng = np.random.default_rng(3)
    resources = cores(rng, 9)
    k, u = {"lut": 2500, "ff": 1800, "bram36": 8, "dsp": 0}, {"lut": 7500, "ff": 4800, "bram36": 8, "dsp": 4}
    sharp = power.permuted(resources, [40.0] * 9, k, u, trials=10, draws=40)
    wide = power.permuted(resources, rng.uniform(20, 55, 9), k, u, trials=10, draws=40)
    assert sharp == 0 and wide > 0, "equal milliwatts leave nothing to save; those dealt by chance are any saving"


def test_the_interval_widens_with_the_error():
    rng = np.random.default_rng(1)
    resources = cores(rng, 9)
    k, u = {"lut": 2500}, {"lut": 7500}
    widths = []
    for noise in (0.1, 1, 3):
        mw = [0.005 * r["lut"] + 10 for r in resources] + noise * rng.standard_normal(9)
        i = power.saving(power.Model(("lut", "const"), resources, mw), k, u, 400)
        assert i.contains(i.value)
        widths.append(i.high - i.low)
    assert widths == sorted(widths) and widths[2] > 3 * widths[0]


def test_the_static_model_is_the_papers():
    for b in paper.TABLE3:
        for s in paper.SETUPS:
            cycles = paper.TABLE3[b][s][1] / 1000 * paper.CLOCK_HZ
            assert energy.static_uj(paper.power_mw(s), cycles) == pytest.approx(paper.TABLE3[b][s][0], rel=0.004)


def activity(core, toggles, cycles=1000, gated=0):
    return {"core": core, "cycles": cycles, "gated": gated, "toggles": toggles, "bits": 10}


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_baseline_draws_the_same_in_both_models(share):
    base = [activity(0, 900), activity(1, 1100)]
    parts = energy.Parts(7, share, energy.reference_rate([base]))
    both = energy.cluster_uj([53, 53], base, parts)
    assert both == pytest.approx(2 * energy.static_uj(53, 1000))


def test_a_stopped_clock_saves_its_share_and_a_quiet_core_the_rest():
    parts = energy.Parts(10, 0.5, 0.1)
    assert energy.activity_mw(50, activity(0, 1000), parts) == pytest.approx(50)
    assert energy.activity_mw(50, activity(0, 0), parts) == pytest.approx(30)
    assert energy.activity_mw(50, activity(0, 0, gated=1000), parts) == pytest.approx(10)
    assert energy.doze_saving_percent(50, 1.0, parts) == pytest.approx(40)


def test_the_saving_shrinks_with_the_cluster_and_grows_linearly_with_clusters():
    assert energy.saving_by_cores(23, 53)[4] == pytest.approx(14.15, abs=0.01)
    assert energy.saving_by_cores(23, 53)[8] == pytest.approx(energy.saving_by_cores(23, 53)[4] / 2)
    found = energy.saving_by_clusters(23, 53)
    assert found[16][0] == 16 * found[1][0] and found[16][1] == pytest.approx(found[1][1])
    assert energy.saving_by_clusters(23, 53, noc_mw=10)[16][1] < found[1][1]


class Linear:
    """A power model that counts LUTs."""

    def predict(self, r):
        return r["lut"] / 100


@pytest.mark.parametrize("seed", range(6))
def test_the_front_is_what_brute_force_says(seed):
    rng = np.random.default_rng(seed)
    results = {n: {"lut": int(rng.integers(2000, 9000)), "ff": 1, "bram36": 1, "dsp": 0} for n in space.names()}
    table = {(u, c): float(rng.uniform(0.9, 1.2)) for u, c, _ in space.single_changes()}
    found = pareto.points(results, Linear(), table)
    kept = pareto.front(found)
    assert len(found) == 192 and 0 < len(kept) < 192
    for p in found:
        beaten = [q for q in found if q.mw <= p.mw and q.area() <= p.area()
                  and q.slowdown <= p.slowdown and (q.mw, q.slowdown) != (p.mw, p.slowdown)]
        assert (p in kept) == (not beaten)


def test_a_multiplier_that_empties_luts_is_no_smaller():
    plain, mul = ({"lut": 2500, "ff": 1800, "bram36": 8, "dsp": 0}, {"lut": 2400, "ff": 1800, "bram36": 8, "dsp": 4})
    areas = [pareto.Point("x", r, 30, 1.0, True).area() for r in (plain, mul)]
    assert areas[1] - areas[0] == pytest.approx(4 * 63400 / 240 - 100)


@pytest.mark.parametrize("gain, noisy", [(0.01, set()), (0.0001, {"small"})])
def test_a_member_of_the_front_that_only_noise_keeps_is_marked(gain, noisy):
    names = {"small": space.canonical("simple-serial-nodiv-nomul-nofpu-1way"),
             "large": space.canonical("simple-barrel-nodiv-nomul-nofpu-1way")}
    points = [pareto.Point(names[n], {"lut": lut, "ff": 1, "bram36": 1, "dsp": 0}, mw, slow, True)
              for n, lut, mw, slow in
              (("large", 2000, 20, 1.0), ("small", 2100, 21, 1 - gain))]
    rng = np.random.default_rng(5)
    rows = [{"setup": "dse", "latency": 0, "benchmark": "buffer", "replication": r,
             "cores": [p.name] + [space.canonical("u-core")] * 3,
             "cycles": 1000 * p.slowdown * (1 + rng.normal(0, 0.001))} for p in points for r in range(8)]
    assert len(pareto.front(points)) == 2
    assert pareto.by_noise(points, pareto.by_replication(rows, ["buffer"])) == {names[n] for n in noisy}


def test_cycles_multiply_and_are_not_invented():
    names = additive.base_points()
    cycles = {n: 1000.0 for n in names}
    assert pareto.slowdowns({**cycles, names[3]: 1100.0})[space.single_changes()[2][:2]] == pytest.approx(1.1)
    assert pareto.slowdowns({n: cycles[n] for n in names[:-1]}) is None
    cycles[space.changed("i-core", shifter="serial")] = 1200.0
    cycles[space.changed("i-core", icache="1way")] = 1100.0
    table = pareto.combined([pareto.slowdowns(cycles)])
    assert pareto.slowdown("simple-serial-div-mul-nofpu-1way", table) == pytest.approx(1.32)
    results = {n: {"lut": 1, "ff": 1, "bram36": 1, "dsp": 1} for n in names}
    assert all(p.slowdown is None and len(p.axes()) == 2 for p in pareto.points(results, Linear()))
