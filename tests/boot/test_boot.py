# SPDX-License-Identifier: MIT
"""Boot scenarios on QEMU's riscv64 `virt`: for pytest, or run as a program (the test protocol of
the C tests).
"""

import os
import re
import sys
import traceback

import qemu

MB = 1 << 20
ICOUNT = ("-icount", "shift=3,sleep=off")


def boots(shape):
    """All clusters and cores of a machine come up and the machine ends itself."""
    clusters, cores = sum(s[0] for s in shape), sum(s[0] * s[1] for s in shape)
    b = qemu.boot(qemu.shape("boot", shape))
    assert b.status == 0, b.output
    assert f"probe: {clusters} clusters, {cores} cores up" in b.output, b.output


def test_one_hart_boots():
    boots([(1, 1, 2 * MB)])


def test_four_harts_boot():
    boots([(1, 4, 2 * MB)])


def test_sixteen_harts_boot_as_four_clusters():
    boots([(4, 4, 2 * MB)])


def test_64_harts_boot_as_one_cluster():
    boots([(1, 64, 4 * MB)])


def test_64_harts_boot_as_64_clusters():
    boots([(64, 1, 2 * MB)])


def test_288_harts_boot_as_twenty_clusters():
    boots([(4, 4, 2 * MB), (16, 17, 2 * MB)])


def test_288_harts_boot_as_one_cluster():
    boots([(1, 288, 8 * MB)])


def one_dies(scenario, cause, first=""):
    b = qemu.boot(qemu.shape(scenario, [(4, 4, 2 * MB)]))
    assert b.status == 0, b.output
    assert re.search(r"kernel panic: cluster 3 core 0 \(hart 12\): " + cause, b.output), b.output
    assert b.output.count("kernel panic") == 1, b.output
    assert "probe: cluster 3 is dead, 3 of 4 live" in b.output, b.output
    assert "cluster 3 read" not in b.output and first in b.output, b.output


def test_a_cluster_that_reads_anothers_memory_dies_alone():
    one_dies("fence", "load access fault")


def test_a_cluster_that_writes_anothers_memory_dies_alone():
    one_dies("write", "store access fault")


def test_a_cluster_reaches_neither_the_pristine_image_nor_the_machine_start():
    one_dies("image", "load access fault")
    one_dies("monitor", "store access fault")
    one_dies("bell", "store access fault")


def test_a_cluster_does_not_change_the_boot_record():
    one_dies("record", "store access fault")


def test_cluster_0_alone_ends_the_machine():
    one_dies("off", "store access fault")


def test_the_machine_start_stops_clusters_for_cluster_0_alone():
    one_dies("call", "a check has failed")


def hangs(scenario):
    b = qemu.boot(qemu.shape(scenario, [(4, 4, 2 * MB)]))
    assert b.status == 0, b.output
    assert "probe: cluster 3 is up in life 11, 4 of 4 live" in b.output, b.output
    assert "kernel panic" not in b.output, b.output


def test_a_kernel_that_spins_with_its_interrupts_off_is_stopped_and_started_again():
    hangs("hang")


def test_a_kernel_that_rings_everybody_without_end_keeps_nobody_from_working():
    hangs("ring")


def test_a_kernel_that_floods_another_with_events_keeps_it_from_nothing():
    hangs("flood")


FAULTS = {"load": "load access fault", "store": "store access fault", "amo": "store access fault",
          "fetch": "fetch access fault", "write": "illegal instruction", "run": "illegal instruction"}


def test_whatever_is_not_a_clusters_own_it_dies_of():
    """Each attack is the end of one life, and of nothing else."""
    b = qemu.boot(qemu.shape("attacks", [(4, 4, 2 * MB)]), timeout=120)
    parts = re.split(r"^probe: attack (.*)$", b.output, flags=re.M)
    assert b.status == 0 and len(parts) > 80, b.output
    for number, (name, said) in enumerate(zip(parts[1::2], parts[2::2])):
        core = number % 4
        want = f"kernel panic: cluster 3 core {core} (hart {12 + core}): {FAULTS[name.split()[0]]}"
        assert said.count("kernel panic") == 1 and want in said, f"{name}: {said}"
    assert "has got through" not in b.output, b.output
    assert f"probe: cluster 3 is up in life {len(parts) // 2 + 1}, 4 of 4 live" in b.output, b.output


def test_cluster_0_alone_reaches_the_interrupt_controller():
    one_dies("plic", "load access fault", "probe: cluster 0 read 0")


def test_cluster_0_alone_reaches_the_slots_for_devices():
    one_dies("slot", "load access fault", "probe: cluster 0 read 74726976")	# "virt"


def test_a_failed_check_of_cluster_0_is_reported_and_ends_the_machine():
    b = qemu.boot(qemu.shape("panic", [(2, 4, 2 * MB)]))
    assert b.status == 101, b.output
    assert "kernel panic: cluster 0 core 0 (hart 0): a check has failed" in b.output, b.output
    line = re.search(r"  at tests/boot/probe\.c:(\d+), called from ", b.output)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe.c"), encoding="utf-8") as f:
        assert 'check(!scenario_is("panic"))' in f.read().splitlines()[int(line[1]) - 1], b.output


def test_a_wild_jump_in_the_kernel_is_reported_with_registers():
    b = qemu.boot(qemu.shape("wild", [(1, 4, 2 * MB)]))
    assert b.status == 101, b.output
    assert "kernel panic: cluster 0 core 1 (hart 1): fetch page fault" in b.output, b.output
    assert "pc ffffffd000000000" in b.output and " t6 " in b.output, b.output


def test_a_kernel_stack_that_overflows_faults_in_its_guard_page():
    b = qemu.boot(qemu.shape("deep", [(1, 4, 2 * MB)]))
    assert b.status == 101, b.output
    assert b.output.count("kernel panic") == 1, b.output
    assert "kernel panic: cluster 0 core 1 (hart 1): store page fault" in b.output, b.output
    assert "the kernel stack has overflowed" in b.output, b.output


def test_what_lies_near_a_device_is_behind_the_fence():
    b = qemu.boot(qemu.shape("near", [(1, 4, 2 * MB)]))
    assert b.status == 101 and "the clock said" not in b.output, b.output
    assert "kernel panic: cluster 0 core 0 (hart 0): load access fault" in b.output, b.output


def bad_copy(scenario, what):
    b = qemu.boot(qemu.shape(scenario, [(1, 4, 2 * MB)]))
    assert b.status == 101 and "the copy gave" not in b.output, b.output
    assert "kernel panic: cluster 0 core 0 (hart 0): " + what in b.output, b.output


def test_a_bad_kernel_address_in_a_copy_is_a_panic_and_no_error_of_the_users():
    bad_copy("copy", "load page fault")


def test_a_null_kernel_pointer_in_a_copy_is_a_panic():
    bad_copy("null", "a page fault in a copy")


def test_under_icount_two_runs_are_identical():
    runs = [qemu.boot(qemu.shape("write", [(16, 4, 2 * MB)]), extra=ICOUNT) for _ in range(2)]
    assert runs[0].status == 0, runs[0].output
    assert runs[0].output == runs[1].output


def test_under_icount_288_harts_boot():
    b = qemu.boot(qemu.shape("boot", [(16, 18, 2 * MB)]), extra=ICOUNT)
    assert b.status == 0 and "288 cores up" in b.output, b.output


def test_a_damaged_boot_record_is_refused():
    b = qemu.boot(qemu.shape("boot", [(1, 4, 2 * MB)]), damage=lambda r: b"XXXX" + r[4:])
    assert b.status == 3 and "boot: no boot record" in b.output, b.output


def test_a_kernel_too_large_for_its_cluster_is_refused():
    b = qemu.boot(qemu.shape("boot", [(1, 288, MB)]))
    assert b.status == 3 and "does not fit" in b.output, b.output


def main(names):
    """Run all tests of a file."""
    failed = 0
    for name, test in sorted(names.items()):
        if not name.startswith("test_"):
            continue
        try:
            test()
            print(f"ok {name[5:]}", flush=True)
        except AssertionError:
            failed = 1
            print(f"FAIL {name[5:]}: {traceback.format_exc(limit=1)}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(globals()))
