# SPDX-License-Identifier: MIT
"""The cluster of 1 K-Core and 3 U-Cores runs firmware: what software may rely on, what the harness
says of runs that go wrong, random work of more than a million cycles, with the argument `all` of
more than four. One simulator for all."""

import functools
import sys
import tempfile

import protocol
from rtl import config, firmware, simulator

SEEDS, CYCLES = (28, 4_000_000) if "all" in sys.argv else (8, 1_000_000)


@functools.cache
def cluster(latency=0, ram=1 << 20):
    """The machine under test."""
    return config.Cluster(["k-core", "u-core", "u-core", "u-core"], latency=latency, ram=ram)


def run(name, latency=0, loads=(), **options):
    """Run one firmware and return its Result."""
    options = {"max_cycles": 3_000_000, **options}
    return simulator.run_captured(cluster(latency), firmware.elf(name), loads, simulator.Options(**options))


def test_the_cluster_tests_itself():
    for latency in (0, 3):
        r = run("selftest", latency, illegal="none")
        assert r.status == 0 and "not ok" not in r.output and r.output.count("ok ") >= 32, r.output


def test_random_work_adds_up():
    cycles = 0
    for seed in range(1, SEEDS + 1):
        r = run("stress", seed % 4, seed=seed)
        assert r.status == 0, f"seed {seed}: {r.output}"
        cycles += r.counters["cycles"]
    assert cycles > CYCLES, cycles


def test_the_same_run_twice_takes_the_same_cycles():
    first, again, other = (run("stress", seed=s).counters["cycles"] for s in (7, 7, 8))
    assert first == again and first != other


def test_the_status_comes_out():
    assert run("selftest", seed=1001).status == 42


def test_everybody_asleep_is_no_progress():
    r = run("selftest", seed=1002)
    assert r.end == "stuck" and "every core dozes" in r.output and r.status == simulator.NO_END, r.output
    assert all(f"core {c}: dozes, clock stopped" in r.output for c in range(4)), r.output


def test_turning_round_for_ever_is_no_progress():
    r = run("selftest", seed=1003, idle_cycles=30_000)
    assert r.end == "stuck" and "fw_main" in r.output and "core 3: runs" in r.output, r.output


def test_work_that_gets_nowhere_is_no_progress():
    r = run("selftest", seed=1003, idle_cycles=20_000)
    assert (
        r.end == "stuck"
        and "no output, no exception and no marker for too long" in r.output
        and r.status == simulator.NO_END
    ), r.output
    assert all(f"core {c}: " in r.output
               for c in range(4)) and "last retired 0x" in r.output and " in fw_" in r.output, r.output


def test_a_run_that_is_too_long_is_ended():
    r = run("selftest", seed=1003, max_cycles=20_000)
    assert r.end == "cycles" and "no end after" in r.output and r.status == simulator.NO_END, r.output


def test_an_illegal_instruction_on_the_k_core_is_named():
    r = run("selftest", seed=1004)
    assert r.end == "illegal" and r.status == simulator.TROUBLE, r.output
    assert "core 0: illegal instruction 0xe1ad6b09 at 0x" in r.output and " in fw_main+0x" in r.output, r.output


def test_memory_that_is_not_there_is_a_bus_error():
    r = run("selftest", seed=1005)
    assert r.status == 3 and "unexpected exception 2" in r.output, r.output


def test_an_image_that_is_too_large_is_refused():
    with tempfile.NamedTemporaryFile() as f:
        f.write(bytes(4096))
        f.flush()
        r = run("selftest", loads=[(f.name, (1 << 20) - 4095)])
    assert r.status == simulator.TROUBLE and "does not fit" in r.output and "0x100000 bytes" in r.output, r.output


def test_what_is_no_program_is_refused():
    r = simulator.run_captured(cluster(), __file__)
    assert r.status == simulator.TROUBLE and "not a program for OpenRISC" in r.output, r.output


def test_without_data_caches_nothing_is_stale():
    r = run("coherence")
    assert r.status == 0 and r.output.count(": 0\n") == 6, r.output


def test_windows_count_what_ran_in_them():
    r = run("windows", profile=True)
    rows = {w["label"]: w for w in r.counters["windows"]}
    assert r.status == 0 and rows[20]["times"] == 5 and rows[21]["times"] == 1, r.counters
    assert len(rows[20]["each"]) == 5 and sum(rows[20]["each"]) == rows[20]["cycles"]
    assert 5000 < rows[20]["cores"][0]["instructions"] < 5200
    assert rows[20]["cores"][1]["instructions"] < 50     # it goes to sleep meanwhile
    assert r.counters["cores"][0]["polls"] == 2
    by = {p["function"].split(".")[0]: p for p in r.counters["profile"]}
    assert by["busy"]["instructions"][0] > 100 * by["idle"]["instructions"][0]
    assert by["busy"]["cycles"][0] >= by["busy"]["instructions"][0] and by["busy"]["mispredicts"][0] >= 5
    total = sum(p["instructions"][0] for p in r.counters["profile"])
    assert (
        total == r.counters["cores"][0]["counters"]["instructions"]
        or total == r.counters["cores"][0]["counters"]["instructions"] + 1
    )


if __name__ == "__main__":
    sys.exit(protocol.main(globals()))
