# SPDX-License-Identifier: MIT
"""Descriptions of clusters: what is taken, what is refused, and the bits that the RTL gets."""

import os
import re

import pytest

import machine as machines
from codesign import rtl, space
from rtl import config

HARDWARE = '[[cluster]]\nkernel = "KC"\napplication = 3\nmemory = "16M"\n[hardware]\ncores = [%s]\n%s'


def parsed(cores='"k-core", "u-core", "u-core", "u-core"', more=""):
    return config.of_machine(machines.parse("m", HARDWARE % (cores, more)))


def test_the_papers_cores_have_these_bits():
    assert [f"{b:x}" for b in config.Cluster(["k-core", "u-core", "i-core"]).bits()] == ["4", "7e", "5c"]


def test_every_point_of_the_space_has_bits_of_its_own():
    assert len({config.Cluster([n]).bits()[0] for n in space.names()}) == 192


def test_a_machine_names_its_cores():
    c = parsed(more='latency = 3\ndata_cache = "snooped"\ntlb_refill = "hardware"\n')
    assert c.title() == "1 k-core + 3 u-core" and c.ram == 16 << 20 and c.latency == 3
    assert all(b & 0x700 == 0x700 for b in c.bits())


@pytest.mark.parametrize("cores,more,words", [
    ('"k-core", "u-core"', "", "4 configurations"),
    ('"k-core", "u-core", "u-core", "z-core"', "", "z-core"),
    ('"k-core", "u-core", "u-core", "simple-barrel-div-mul-nofpu-3way"', "", "3way"),
    ('"k-core", "u-core", "u-core", "u-core"', "latency = 256", "latency"),
    ('"k-core", "u-core", "u-core", "u-core"', 'data_cache = "big"', "data cache"),
    ('"k-core", "u-core", "u-core", "u-core"', 'core = "6"', "core version"),
    ('"k-core", "u-core", "u-core", "u-core"', 'data_cache = "plain"\ncoherence = "magic"', "coherence is one of"),
    ('"k-core", "u-core", "u-core", "u-core"', 'coherence = "lines"', "coherence is one of"),
    ('"k-core", "u-core", "u-core", "u-core"', "clock = 1", "unknown key"),
])
def test_what_cannot_be_built_is_refused(cores, more, words):
    with pytest.raises(config.ConfigError, match=words):
        parsed(cores, more)


def test_a_machine_without_hardware_is_refused():
    with pytest.raises(config.ConfigError, match="hardware"):
        config.of_machine(machines.parse("m", HARDWARE.split("[hardware]")[0]))


def test_two_equal_clusters_are_a_chip():
    chip = config.of_machine(machines.load("optimsoc4x2"))
    assert (chip.clusters, len(chip.cores)) == (2, 4) and chip.title() == "2 x (1 k-core + 3 u-core)"
    for change, words in ((("count = 2", "count = 3"), "3 clusters"),
                          (("[hardware]", '[[cluster]]\napplication = 3\n[hardware]'), "unequal"),
                          (("[hardware]", '[hardware]\ndata_cache = "snooped"'), "no data caches")):
        with open(os.path.join(rtl.ROOT, "machines", "optimsoc4x2.toml"), encoding="utf-8") as f:
            text = f.read().replace(*change)
        with pytest.raises(config.ConfigError, match=words):
            config.of_machine(machines.parse("m", text))


def test_too_many_cores_and_too_much_memory_are_refused():
    with pytest.raises(config.ConfigError, match="1 to 8"):
        config.Cluster(["k-core"] * 9)
    with pytest.raises(config.ConfigError, match="memory"):
        config.Cluster(["k-core"], ram=1 << 30)


def numbers_of_header():
    with open(os.path.join(rtl.ROOT, "abi", "codesign.h"), encoding="utf-8") as f:
        return {m[1]: int(m[2], 0) for m in re.finditer(r"#define (CD_\w+) (0x[0-9a-f]+|\d+)\b", f.read())}


def verilog(name):
    with open(os.path.join(rtl.ROOT, "hw", "rtl", name), encoding="utf-8") as f:
        return f.read()


def test_the_rtl_has_the_addresses_of_the_header():
    n, cluster, core, perf = numbers_of_header(), verilog("cluster.sv"), verilog("core.sv"), verilog("perf.sv")
    assert f"adr[31:8] == 24'h{n['CD_UART'] >> 8:x}" in cluster and f"adr[31:8] == 24'h{n['CD_EXIT'] >> 8:x}" in cluster
    assert (
        f"adr[31:12] == 20'h{n['CD_OMPIC'] >> 12:x}" in cluster
        and f"adr[31:16] == 16'h{n['CD_PERF'] >> 16:x}" in cluster
    )
    assert n["CD_PERF_DROP"] == 0x38 and n["CD_PERF_DROP_OWN"] == 0x3c and "adr[15:3] == 13'h007" in cluster
    with open(os.path.join(rtl.ROOT, "hal", "cpu", "or1k", "include", "cpu", "caches.h"), encoding="utf-8") as f:
        ours = f.read()
    assert all(f"((volatile uint32_t *){n['CD_PERF'] + n[name]:#x})" in ours
               for name in ("CD_PERF_DROP", "CD_PERF_DROP_OWN"))
    assert f"WAIT_ADR = 32'h{n['CD_PERF'] + n['CD_PERF_WAIT']:x}" in core
    assert f"32'h{n['CD_PERF_MAGIC']:x}" in perf and f"COUNTERS = {n['CD_COUNTERS']}" in perf


def test_the_core_is_instantiated_as_the_synthesis_has_it():
    """What tools/codesign synthesises is what is simulated: the parameters that every configuration
    shares.
    """
    text = verilog("core.sv")
    for name, value in space.COMMON.items():
        if name in ("OPTION_OPERAND_WIDTH", "FEATURE_DATACACHE", "FEATURE_BRANCH_PREDICTOR"):
            continue
        want = f'"{value}"' if isinstance(value, str) else str(value)
        assert f".{name}({want})" in text, name


def test_a_single_core_behind_a_network_is_refused():
    with pytest.raises(config.ConfigError, match="at least two cores"):
        config.Cluster(["k-core"], clusters=2)
