# SPDX-License-Identifier: MIT
"""Tests of the study of two clusters: the network's share of power, and what remains of the saving.
"""

import pytest

from codesign import network


class Model:
    """Two resources and a constant."""
    features, w = ("lut", "ff", "const"), (0.01, 0.001, 20.0)


class Data:
    """The paper's cores."""
    model, k_mw, u_mw = Model, 23.0, 53.0


def test_the_networks_power_has_no_constant():
    assert network.network_mw(Model, {"lut": (100, "a"), "ff": (1000, "a")}) == pytest.approx(2.0)


def test_milliwatts_grow_linearly_and_the_percentage_does_not_shrink_beyond_two():
    rows = network.saved(Data, 12.0)
    assert [r[1] for r in rows] == pytest.approx([30 * c for c in network.COUNTS])
    assert all(r[2] == pytest.approx(100 * 30 / 212) for r in rows)
    assert rows[0][3] == pytest.approx(100 * 30 / 212)      # one cluster needs no network
    assert all(r[3] == pytest.approx(100 * 30 / 224) for r in rows[1:])


def test_a_newer_source_replaces_all_of_an_older_one(tmp_path):
    path = str(tmp_path / "n.csv")
    network.keep({"lut": 10, "ff": 20}, "one", path)
    network.keep({"lut": 11}, "two", path)
    network.keep({"message": 5}, "three", path)
    assert network.read(path) == {"lut": (11.0, "two"),
                                  "message": (5.0, "three")}, "what is left of an older source is gone"


def test_the_section_says_what_is_missing_and_what_is_arithmetic(tmp_path):
    path = str(tmp_path / "n.csv")
    assert "Not synthesised yet" in network.section(Data, path)
    network.keep({"lut": 1000, "ff": 1000}, "one", path)
    network.keep({"message_cycles_k": 20000, "block_cycles_k": 80000}, "two", path)
    text = network.section(Data, path)
    assert "arithmetic" in text and "<b>11.0 mW</b>" in text and "not measured yet" in text


def run(setup, replication):
    """A run of a stand-in: the K-Core takes a tenth more."""
    cost = {"k": 1100, "u": 1000}[setup] + 10 * replication
    return {f"message_cycles_{setup}": cost, f"block_cycles_{setup}": 4 * cost, f"flits_{setup}": 7}


def test_replications_become_means_and_ratios_pair_by_pair(tmp_path):
    said, path = [], str(tmp_path / "n.csv")
    found = network.exchanges(3, run, said.append)
    assert (
        len(said) == 6
        and found["message_cycles_k"] == 1110
        and found["message_cycles_k_half"] > 0
        and found["flits_u"] == 7
    )
    assert found["message_ratio"] == pytest.approx((1100 / 1000 + 1110 / 1010 + 1120 / 1020) / 3,
                                                   abs=1e-4) and found["replications"] == 3
    assert "not measured yet" in network.exchange_table(network.read(path))
    network.keep(found, "one", path)
    text = network.exchange_table(network.read(path))
    assert "means of 3 replications" in text and "K-Core / U-Core" in text and "source one" in text


def test_a_run_that_does_not_come_out_again_is_found(tmp_path):
    path = str(tmp_path / "n.csv")
    network.keep(network.exchanges(2, run, lambda t: None), "one", path)
    found = network.read(path)
    assert network.not_again(found, "k", 1, run) == [] and found["message_cycles_k_r1"] == (1110.0, "one")
    found["block_cycles_k_r1"] = (4441.0, "one")
    assert (
        network.not_again(found, "k", 1, run) == ["block_cycles_k_r1: kept 4441.0, now 4440"]
        and len(network.not_again({}, "k", 0, run)) == 3
    )


def test_cycles_of_two_sources_are_not_shown_together(tmp_path):
    path = str(tmp_path / "n.csv")
    network.keep(network.exchanges(2, run, lambda t: None), "one", path)
    network.keep({"lut": 5}, "rtl", path)
    network.keep({"message_cycles_k": 1}, "two", path)
    assert set(network.read(path)) == {"lut", "message_cycles_k"} and "not measured yet" in network.exchange_table(
        network.read(path)
    )


def test_what_is_unknown_is_refused(capsys):
    assert network.main(["messages", "more"]) == 2 and "[synthesis] [messages]" in capsys.readouterr().err
