# SPDX-License-Identifier: MIT
"""The real kernel on the cluster's variants in RTL: two clusters behind a network, and data caches
that only the kernel keeps coherent, with controls: a kernel that leaves one invalidation out must
not get through. Prints the test protocol; about 4 M cycles."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import setup  # noqa: E402
setup.ensure("hw")
from rtl import config, kernels, programs  # noqa: E402
import test_rtl  # noqa: E402

CORES = ["k-core", "u-core", "u-core", "u-core"]
MAX_CYCLES = "1500000"
# what is left out (HAL_CACHES_LEAVE_OUT): data acquired, or published by hardware; entries of page
# tables
RANGE, TABLE = 2, 3
CALLS = ("kcalls", "--calls", "3")
TABLES = (os.path.join(ROOT, "build", "or1k", "tests", "kernel", "tables"),)


def trouble(way, leave_out=0, what=CALLS):
    """Why a program does not end well on data caches that a kernel mends, or None."""
    cluster = config.Cluster(CORES, data_cache="plain", coherence=way, ram=4 << 20)
    try:
        programs.report(cluster, what[0], what[1:], kernel=kernels.path(way, leave_out=leave_out),
                        extra=["--max-cycles", MAX_CYCLES])
    except programs.RunFailed as e:
        return str(e)
    return None


def report(name, why):
    """One line of the protocol."""
    print(f"FAIL {name}: {' | '.join(why.splitlines()[:6])}" if why else f"ok {name}", flush=True)
    return bool(why)


def main():
    """Exit status."""
    program = os.path.join(ROOT, "build", "or1k", "tests", "kernel", "network")
    failed = test_rtl.check("two_clusters_exchange_messages_and_blocks",
                            ["--rtl", "--bare", "--machine", "optimsoc4x2", program], ["2 passed, 0 failed"])
    failed += test_rtl.check("a_chip_is_too_large_for_qemu",
                             ["--bare", "--machine", "optimsoc4x2", program], ["QEMU's or1k at most 4"], 2)
    for way in kernels.WAYS:
        failed += report(f"the_kernel_keeps_data_caches_coherent_by_{way}", trouble(way))
    for way in ("lines", "drop"):
        failed += report(f"an_invalidation_left_out_by_{way}_is_found_out",
                         "" if trouble(way, RANGE) else "the kernel answered all calls")
        failed += report(f"page_tables_that_change_are_seen_by_{way}", trouble(way, what=TABLES))
        died = trouble(way, TABLE, TABLES) or "the program ended well"
        failed += report(f"a_stale_page_table_by_{way}_is_found_out",
                         "" if "init died" in died or "FAIL" in died else died)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
