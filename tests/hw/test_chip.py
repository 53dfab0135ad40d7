# SPDX-License-Identifier: MIT
"""Two clusters of 1 K-Core and 1 U-Core behind their network run firmware: memory order, l.swa,
interrupts and errors between clusters, random work on shared words of both. One simulator for all;
about 4 million cycles; with the argument `all` about 8 million."""

import sys

import protocol
from rtl import firmware, simulator

CORES = ["k-core", "u-core"]
SEEDS = 12 if "all" in sys.argv else 4       # each latency once
NO_MEMORY = firmware.NOC + firmware.WINDOW + 8192     # the second cluster's window is cut off


def run(name, seed=0, **options):
    """Run one firmware and return its Result."""
    cluster = firmware.chip(CORES, **options)
    options = simulator.Options(max_cycles=6_000_000, seed=seed)
    return simulator.run_captured(cluster, firmware.elf(name, cluster), options=options)


def test_two_clusters_keep_what_software_relies_on():
    for latency in (0, 3, 10):
        r = run("far", latency=latency)
        lines = r.output.splitlines()
        held = all(line.startswith("ok ") for line in lines) and len(lines) == 13
        assert r.status == 0 and held, f"latency {latency}: {r.output}"


def test_memory_that_the_other_cluster_does_not_have_is_a_bus_error():
    for seed in (1005, 1006):
        r = run("far", seed, ram=NO_MEMORY)
        assert r.status == 3 and "unexpected exception 2" in r.output, f"{seed}: {r.output}"


def test_random_work_of_both_clusters_adds_up():
    for seed in range(1, SEEDS + 1):
        r = run("stress", seed, latency=seed % 4)
        assert r.status == 0 and sum(r.counters["flits"]) > 10_000, f"seed {seed}: {r.output}"


if __name__ == "__main__":
    sys.exit(protocol.main(globals()))
