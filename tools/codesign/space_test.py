# SPDX-License-Identifier: MIT
"""The space has the paper's 192 points, and nothing else gets in."""

import random

import pytest

from codesign import additive, paper, space


def test_there_are_192_different_points_as_in_the_paper():
    assert len(set(space.names())) == 192
    assert len({str(sorted(space.parameters(n).items())) for n in space.names()}) == 192


def test_names_and_choices_are_each_others_inverse():
    for name in space.names():
        assert space.canonical(name) == name and "-".join(space.choices(name).values()) == name


def test_the_papers_cores_are_what_its_text_says():
    assert space.choices("k-core") == {"predictor": "simple", "shifter": "barrel", "divider": "nodiv",
                                       "multiplier": "nomul", "fpu": "nofpu", "icache": "1way"}
    assert (
        space.parameters("u-core")["FEATURE_BRANCH_PREDICTOR"] == "GSHARE"
        and space.parameters("u-core")["FEATURE_FPU"] == "ENABLED"
    )


def test_every_icache_has_8_kb():
    for name in space.names():
        p = space.parameters(name)
        assert p["OPTION_ICACHE_WAYS"] << (p["OPTION_ICACHE_SET_WIDTH"] + p["OPTION_ICACHE_BLOCK_WIDTH"]) == 8192


def test_the_snoop_that_clears_a_reservation_is_always_on():
    assert all(space.parameters(n)["OPTION_DCACHE_SNOOP"] == "ENABLED" for n in space.names())


@pytest.mark.parametrize("seed", range(20))
def test_a_configuration_outside_the_space_is_refused_with_what_there_is(seed):
    rng = random.Random(seed)
    words = rng.choice(space.names()).split("-")
    spot = rng.randrange(len(words))
    words[spot] = rng.choice(["16way", "none", "", "Gshare", "2way " if spot == 0 else "barrel-"])
    with pytest.raises(space.OutsideSpace) as e:
        space.canonical("-".join(words))
    assert "use" in str(e.value)


def test_the_command_ends_with_2_outside_the_space(capsys):
    assert space.main(["simple-barrel-div-mul-nofpu-3way"]) == 2
    assert "'3way' is no icache; use one of 1way, 2way, 4way, 8way" in capsys.readouterr().err
    assert space.main(["k-core"]) == 0 and "FEATURE_DIVIDER=NONE" in capsys.readouterr().out


def test_nine_single_changes_and_no_more():
    assert len(additive.base_points()) == len(set(additive.base_points())) == 10
    assert (
        not set(additive.spot_points()) & set(additive.base_points())
        and len(set(additive.spot_points())) == additive.SPOTS + 2
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_prediction_is_exact_where_units_share_nothing(seed):
    rng = random.Random(seed)
    cost = {(u, c): rng.randrange(-500, 3000) for u, known in space.UNITS.items() for c in known}
    truth = {n: {"lut": 4000 + sum(cost[x] for x in space.choices(n).items())} for n in space.names()}
    results = {n: truth[n] for n in additive.base_points()}
    assert all(additive.predict(n, results, ("lut",)) == truth[n] for n in space.names())
    found = additive.errors(results, {n: truth[n] for n in additive.spot_points()}, ("lut",))
    assert additive.worst_percent(found, "lut") == 0 and len(found) == additive.SPOTS + 2


def test_table_3_is_power_times_time():
    for b in paper.TABLE3:
        for s in paper.SETUPS:
            assert abs(paper.recomputed(b, s) / paper.TABLE3[b][s][0] - 1) <= 0.004, (b, s)


def test_what_the_papers_text_says_of_its_tables():
    assert round(paper.saving_percent(23, 53), 2) == 14.15
    assert round(paper.time_change_percent("buffer", "k-opt"), 1) == -6.5
    assert round(paper.time_change_percent("fork_join", "k-opt"), 1) == -0.8
    assert round(paper.time_change_percent("r_kcall", "k-opt"), 1) == 8.9
