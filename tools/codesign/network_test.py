# SPDX-License-Identifier: MIT
"""Tests of the study of two clusters: the network's share of power, and what remains of the saving."""

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


def test_names_are_replaced_and_others_kept(tmp_path):
    path = str(tmp_path / "n.csv")
    network.keep({"lut": 10, "ff": 20}, "one", path)
    network.keep({"lut": 11}, "two", path)
    assert network.read(path) == {"lut": (11.0, "two"), "ff": (20.0, "one")}


def test_the_section_says_what_is_missing_and_what_is_arithmetic(tmp_path):
    path = str(tmp_path / "n.csv")
    assert "Not synthesised yet" in network.section(Data, path)
    network.keep({"lut": 1000, "ff": 1000}, "one", path)
    network.keep({"message_cycles_k": 20000, "block_cycles_k": 80000}, "two", path)
    text = network.section(Data, path)
    assert "arithmetic" in text and "<b>11.0 mW</b>" in text and "1 K + 3 U" in text
