# SPDX-License-Identifier: MIT
"""Programs of tests/kernel that draw what they do under -icount, where a run repeats exactly: one
run for each seed. CALLS says how many operations.
"""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BOOT = os.path.join(ROOT, "tests", "kernel", "boot.py")
SEEDS = range(1, 6)
# program, its operations, its tests, machines
PROGRAMS = (("tuberandom", "4000", 2, (("1", "4", "KC"), ("1", "3", "TC"))),
            ("rolerandom", "3000", 1, (("1", "4", "KC"), ("1", "4", "TC"))))
TIMEOUT_S = 120


def run(program, calls, tests, shape, seed):
    """True if one run passes; says how it went."""
    env = dict(os.environ, ICOUNT="1", CALLS=os.environ.get("CALLS", calls), SEED=str(seed), TIMEOUT=str(TIMEOUT_S))
    r = subprocess.run([sys.executable, BOOT, "riscv64", program, *shape], env=env, text=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    name = f"{program}_with_seed_{seed}_on_{'x'.join(shape)}"
    passed = r.returncode == 0 and f"{tests} passed, 0 failed" in r.stdout
    print(f"ok {name}" if passed else f"FAIL {name}: {r.stdout[-2000:]}", flush=True)
    return passed


def main():
    """Exit status 0 if all runs pass."""
    passed = [run(program, calls, tests, shape, seed)
              for program, calls, tests, shapes in PROGRAMS for seed in SEEDS for shape in shapes]
    return int(not all(passed))


if __name__ == "__main__":
    sys.exit(main())
