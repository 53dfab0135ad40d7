# SPDX-License-Identifier: MIT
"""Random kernel calls at length: goes on where it stopped the last time, with seeds that were not
tried before.

    python3 tests/fuzz/at_length.py PORT [CALLS]

PORT: hosted, riscv64, or1k (machines of the head of tests/kernel/fuzz.c, in turn) or coroutine.
Makes CALLS more calls (a million) in short runs and writes after each into BUILD/fuzz/PORT.json how
far it is, so that it can be ended at any time. A run that fails ends it, says how it is repeated,
and is made again the next time.
"""

import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "tests", "kernel")]
import rooms  # noqa: E402,F401
import boot  # noqa: E402

MACHINES = ((1, 4, "KC"), (1, 2, "TC"), (1, 4, "TC"))
FIRST_SEED = {"hosted": 1000000, "riscv64": 2000000, "or1k": 3000000, "coroutine": 4000000}
CALLS_PER_RUN = {"hosted": 30000, "riscv64": 30000, "or1k": 5000}
SEEDS_PER_RUN = 40  # of the coroutine back end
TIMEOUT_S = 300


def machine_run(port, state):
    """One boot: (status, output, how it is repeated)."""
    clusters, cores, role = MACHINES[state["runs"] % (1 if port == "or1k" else len(MACHINES))]
    os.environ.update(CALLS=str(CALLS_PER_RUN[port]), SEED=str(state["seed"]))
    status, output, _ = boot.boot(port, "fuzz", boot.shape(port, clusters, cores, role, 64), timeout=TIMEOUT_S)
    again = (
        f"CALLS={CALLS_PER_RUN[port]} SEED={state['seed']} tests/kernel/boot.py {port} fuzz {clusters} {cores} {role}"
    )
    return status, output, again


def coroutine_run(state):
    """Some seeds under the seeded scheduler."""
    argv = [os.path.join(boot.BUILD, "coroutine", "kernel_fuzz"), str(SEEDS_PER_RUN), str(state["seed"])]
    done = subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, check=False)
    return done.returncode, done.stdout + done.stderr, " ".join(argv)


def counted(port, output, seed):
    """(calls of a run, first seed that it has not used); None: it does not say so."""
    if port == "coroutine":
        m = re.search(r"(\d+) seeds, (\d+) calls", output)
        return m and (int(m.group(2)), seed + int(m.group(1)))
    m = re.search(r"(\d+) calls, \d+ without an error, \d+ processes, \d+ in a loop, seeds \d+ to (\d+)", output)
    return m and (int(m.group(1)), int(m.group(2)) + 1)


def main(argv):
    port, left = argv[1], int(argv[2]) if len(argv) > 2 else 1000000
    path = os.path.join(boot.BUILD, "fuzz", port + ".json")
    state = {"calls": 0, "runs": 0, "seed": FIRST_SEED[port]}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            state = json.load(f)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    while left > 0:
        status, output, again = coroutine_run(state) if port == "coroutine" else machine_run(port, state)
        found = counted(port, output, state["seed"])
        if status != 0 or not found:
            print(f"{output}\nFAIL random_calls_at_length: status {status}; again by {again}")
            return 1
        left -= found[0]
        state = {"calls": state["calls"] + found[0], "runs": state["runs"] + 1, "seed": found[1]}
        with open(path, "w", encoding="utf-8") as f:
            json.dump(state, f)
    print(f"ok random_calls_at_length ({port}: {state['calls']} calls in all, next seed {state['seed']})")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
