# SPDX-License-Identifier: MIT
"""On riscv64 the kernel leaves an application core alone while FTQ, selfish detour and strid3 run on it,
by its own counts and by the emulator's, and the same threads on a time-sharing core show both.

Prints `ok NAME` or `FAIL NAME: why`. Instructions and interrupts are judged, no times.
"""

import csv
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import patience  # noqa: E402
import rolesbench  # noqa: E402

TIMEOUT_S = 300
PROGRAMS = ("ftq", "selfish", "strid3")
PLUGINS = tuple(f"{what} in the window" for what in ("kernel", "entries", "interrupts"))


def measured():
    """{(benchmark, case): {metric: value}} of the smallest runs."""
    with tempfile.TemporaryDirectory(prefix="atoll-roles-") as folder:
        path = os.path.join(folder, "rows.csv")
        argv = [os.path.join(ROOT, "atoll"), "bench", "--roles", "--quick", "--port", "riscv64", "--csv", path]
        p = patience.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S)
        assert p.returncode == 0, f"status {p.returncode}: {p.stderr[-1500:]}"
        out = {}
        with open(path, encoding="utf-8", newline="") as f:
            for r in csv.DictReader(f):
                out.setdefault((r["benchmark"], r["case"]), {})[r["metric"]] = float(r["value"])
    return out


def application_cores_are_left_alone(rows):
    """No instruction of the kernel, alone and while others call it."""
    for program, case in [*((p, "AC") for p in PROGRAMS), ("ftq", "AC, others call"),
                          ("ftq", "AC, a device interrupts")]:
        found = {k: v for k, v in rows[program, case].items() if k in PLUGINS + rolesbench.KERNELS}
        assert set(PLUGINS) <= set(found) and not any(found.values()), (program, case, found)
    assert rows["ftq", "AC, others call"]["calls of others in the window"] > 0
    assert rows["ftq", "AC, a device interrupts"]["interrupts of a device in the window"] > 0


def time_sharing_cores_are_not(rows):
    """The same threads beside the measured one."""
    for program, case, counted in (("ftq", "TC, daemons", "thread_switches"), ("ftq", "TC, a thread", "core_ticks"),
                                   ("selfish", "TC, daemons", "thread_switches"),
                                   ("selfish", "TC, a thread", "core_ticks")):
        found = rows[program, case]
        assert all(found.get(k, 0) > 0 for k in PLUGINS + (counted,)), (program, case, found)


def what_varies_is_the_low_order_bit(rows):
    """The source's result; and its look shows pages that come one after the other."""
    assert rows["ftq", "AC"]["one unit or less from the most frequent"] == 100, rows["ftq", "AC"]
    assert rows["ftq", "AC"]["runs of uniq -c"] == 1, rows["ftq", "AC"]
    faulting = rows["ftq", "AC, faulting"]
    assert faulting["core_faults"] == faulting["interrupts in the window"] == 3, faulting
    assert faulting["runs of uniq -c"] > 1, faulting


def a_program_that_falls_back_pays_only_meanwhile(rows):
    """On the AC nothing of the kernel, before and after; on a TC its ticks, and the other program's turns."""
    of = rows["fallback", "AC, TC, AC"]
    for place, is_left_alone in (("before", True), ("meanwhile", False), ("after", True)):
        assert of[f"{place}, slices"] >= 90, of
        for what in ("kernel", "interrupts"):
            assert (of[f"{place}, {what}"] == 0) == is_left_alone, (place, what, of)
    before, meanwhile, after = (of[f"{place}, of the core for a slice"] for place in ("before", "meanwhile", "after"))
    assert before == after < meanwhile, of


def a_null_call_is_within_its_aim(rows):
    """One after the other: at most three times what a TC needs for one that it serves itself."""
    direct = rows["null_call", "AC"]["remote, one after the other"]
    assert direct <= 3 * rows["null_call", "TC"]["local, own core"], rows["null_call", "AC"]


def main():
    """Exit status 1 if something is not so."""
    try:
        rows = measured()
    except (AssertionError, subprocess.TimeoutExpired) as e:
        print(f"FAIL roles: {e}")
        return 1
    failed = 0
    for check in (application_cores_are_left_alone, time_sharing_cores_are_not, what_varies_is_the_low_order_bit,
                  a_program_that_falls_back_pays_only_meanwhile, a_null_call_is_within_its_aim):
        try:
            check(rows)
            print(f"ok {check.__name__}")
        except (AssertionError, KeyError) as e:
            failed = 1
            print(f"FAIL {check.__name__}: {e}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
