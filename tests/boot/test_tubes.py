# SPDX-License-Identifier: MIT
"""Semaphores and tubes of user level at random (tests/kernel/tuberandom.c) under -icount, where a
run repeats exactly: one run for each seed. CALLS says how many operations of each kind.
"""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BOOT = os.path.join(ROOT, "tests", "kernel", "boot.py")
SEEDS = range(1, 6)
SHAPES = (("1", "4", "KC"), ("1", "3", "TC"))
CALLS = os.environ.get("CALLS", "4000")
TIMEOUT_S = 120


def main():
    """Exit status 0 if all runs pass."""
    failed = False
    for seed in SEEDS:
        for shape in SHAPES:
            env = dict(os.environ, ICOUNT="1", CALLS=CALLS, SEED=str(seed), TIMEOUT=str(TIMEOUT_S))
            r = subprocess.run([sys.executable, BOOT, "riscv64", "tuberandom", *shape], env=env, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            name = f"tubes_at_random_with_seed_{seed}_on_{'x'.join(shape)}"
            passed = r.returncode == 0 and "2 passed, 0 failed" in r.stdout
            print(f"ok {name}" if passed else f"FAIL {name}: {r.stdout[-2000:]}", flush=True)
            failed |= not passed
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
