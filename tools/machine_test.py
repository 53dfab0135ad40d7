# SPDX-License-Identifier: MIT
"""Machine descriptions: the shipped ones are right, wrong ones are refused in one line."""

import pytest

import machine

GOOD = '[[cluster]]\nkernel = "TC"\napplication = 3\n'


@pytest.mark.parametrize("name", machine.names())
def test_every_shipped_machine_is_accepted(name):
    m = machine.load(name)
    assert m.description and m.cores() >= 1 and m.ranks_max() >= 1


def test_the_four_profiles_have_their_shapes():
    assert machine.load("mppa256").shape() == "4x4 + 16x17"
    assert machine.load("riscv-288").cores() == 288
    assert machine.load("nix32").shape() == "1x32"
    assert machine.load("optimsoc4").clusters[0].roles == ["KC", "AC", "AC", "AC"]


def test_laptop_has_an_application_core_per_host_cpu():
    assert machine.load("laptop").clusters[1].roles == ["KC"] + ["AC"] * machine.host_cpus()


def test_defaults_make_a_machine():
    m = machine.parse("x", GOOD)
    assert m.clusters[0].roles == ["TC", "AC", "AC", "AC"] and m.ports == ["hosted", "riscv64"]


@pytest.mark.parametrize("head, count, memory, most", [
    ("", 1, "64M", 480),                        # threads of 64 MB, and of the personality
    ("", 1, "1G", 480),
    ("", 1, "1M", 32),
    ('ports = ["hosted"]\n', 1, "256M", 2016),
    ('ports = ["hosted"]\n', 1, "1G", 4064),    # the longest thread table
    ('ports = ["hosted"]\n', 2, "1G", 48),      # several clusters: a port for each rank
])
def test_ranks_are_limited_by_threads_in_one_cluster_and_by_ports_in_several(head, count, memory, most):
    text = f'{head}[[cluster]]\ncount = {count}\nkernel = "TC"\napplication = 3\nmemory = "{memory}"\n'
    assert machine.parse("x", text).ranks_max() == most


@pytest.mark.parametrize("text, words", [
    ("", "at least one"),
    ("[[cluster]\n", "line 1"),
    ("colour = 1\n" + GOOD, "unknown key 'colour'"),
    ('[[cluster]]\ncores = 4\n', "unknown key 'cores'"),
    ('[[cluster]]\nkernel = "AC"\n', "kernel must be"),
    ('[[cluster]]\nkernel = "KC"\n', "a KC alone"),
    ('[[cluster]]\nkernel = "KC"\nkernel_cores = 2\n', "a KC alone"),
    ('[[cluster]]\nkernel_cores = -1\n', "kernel_cores must be"),
    ('[[cluster]]\nmemory = "48M"\n', "power of two"),
    ('[[cluster]]\nmemory = "big"\n', "must be a size"),
    ('[[cluster]]\ncount = 65\n', "count must be"),
    ('[[cluster]]\ncount = true\n', "count must be"),
    ('[[cluster]]\ncount = 64\n[[cluster]]\ncount = 1\n', "65 clusters"),
    ('[[cluster]]\napplication = 320\n', "a cluster has at most 320"),
    ('[[cluster]]\ncount = 4\napplication = 150\n', "604 cores"),
    ('ports = ["vax"]\n' + GOOD, "ports must name"),
    (GOOD + 'domains = 3\n', "2^n equal parts"),
    (GOOD + 'domains = 16\n', "domains must be a number from 1 to 8"),
    ('[[cluster]]\napplication = 11\ndomains = 4\n', "2^n equal parts"),
    ('[[cluster]]\napplication = 3\nmemory = "4M"\ndomains = 4\n', "2M at least"),
    (GOOD + 'policy = "amp"\n', "with several domains"),
    (GOOD + 'domains = 4\npolicy = "best"\n', "policy must be one of smp"),
    (GOOD + 'domains = 4\nfar_cost = 0.5\n', "far_cost must be"),
    ('[noc]\nmailbox_ports = 129\n' + GOOD, "mailbox_ports must be"),
    ('[noc]\nmailbox_ports = 8\n' + GOOD, "mailbox_ports must be"),
    ('[noc]\nmailbox_connectors = 129\n' + GOOD, "mailbox_connectors must be"),
    ('[noc]\nportal_connectors = 129\n' + GOOD, "portal_connectors must be"),
    ('[noc]\nportal_unit = "100"\n' + GOOD, "multiple of 64"),
    ('[noc]\nspeed = 1\n' + GOOD, "unknown key 'speed'"),
])
def test_a_wrong_description_is_refused_in_one_line(text, words):
    with pytest.raises(machine.MachineError) as e:
        machine.parse("x", text)
    assert words in str(e.value) and "\n" not in str(e.value)


def test_there_are_no_more_connectors_than_ports():
    for kind in ("mailbox", "portal"):
        key = kind + "_connectors"
        said = [machine.read_noc({kind + "_ports": 24} | noc)[key] for noc in ({}, {key: 1}, {key: 25})]
        assert said == [24, 1, 24]


def test_an_unknown_machine_names_the_known_ones():
    with pytest.raises(machine.MachineError, match="laptop"):
        machine.load("toaster")


def test_a_machine_is_named_with_a_policy():
    assert machine.load("nix32").clusters[0].policy == "amp"
    c = machine.load("nix32@smpcol0").clusters[0]
    assert (c.domains, c.policy) == (8, "smpcol0") and c.far_cost > 1
    for name, words in (("nix32@best", "no policy 'best'"), ("laptop@amp", "no cluster has several")):
        with pytest.raises(machine.MachineError, match=words):
            machine.load(name)


@pytest.mark.parametrize("rule, first, last", [
    ("own", [0, 1, 2, 3], [3, 0, 1, 2]), ("other", [1, 2, 3, 0], [0, 1, 2, 3]), ("zero", [0, 1, 2, 3], [0, 1, 2, 3]),
    ("turns", [0, 1, 2, 3], [3, 0, 1, 2])])
def test_an_order_has_every_domain_once(rule, first, last):
    rows = machine.order_of(rule, 4)
    assert rows[0] == first and rows[3] == last and all(sorted(row) == [0, 1, 2, 3] for row in rows)
