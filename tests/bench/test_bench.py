# SPDX-License-Identifier: MIT
"""The benchmarks of the sources run and report what they describe, once each with their smallest
parameters. Arguments choose a port.

Prints `ok NAME` or `FAIL NAME: why`. What a benchmark measures is not judged here: times hold on
one machine only.
"""

import csv
import functools
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import patience  # noqa: E402

TIMEOUT_S = 300
# benchmark -> a row that it must report
ROWS = {"kcalls": "r_kcall", "fork_join": "spawn", "buffer": "buffer", "knoise": "knoise",
        "server": "server", "l_kcall": "l_kcall", "r_kcall": "r_kcall",
        "threads": "thread_create", "a2a": "superstep", "comm": "comm", "series": "series_queued"}


def run(port, name, *more):
    """Rows of one benchmark."""
    argv = [os.path.join(ROOT, "atoll"), "bench", "--quick", "--once", "--port", port, *more]
    argv += ["--json", "-", name]
    p = patience.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert p.returncode == 0, f"status {p.returncode}: {p.stderr[-1500:]}"
    return json.loads(p.stdout)


def check(port, name):
    """A benchmark reports its row, with values that a measurement can have."""
    rows = run(port, name)
    mine = [r for r in rows if r["name"] == ROWS[name]]
    assert mine, f"no row {ROWS[name]}: {sorted({r['name'] for r in rows})}"
    assert all(r["value"] >= 0 and r["port"] == port for r in mine), mine


def check_series(port):
    """The source's table in instructions. The trip of an AC is within the aim; on a TC that the worker
    shares, they take turns for all threads at once: a turn for each call is five times as much.
    """
    found = {(r["name"], r["params"]["on"], r["params"]["worker"], r["params"]["count"]): r["value"]
             for r in run(port, "series", "--icount")}
    trap = found["series_own_core", "tc", "tc", "insns"]
    assert trap < found["series_kernel_core", "ac", "tc", "path"] <= 3 * trap, found
    assert trap < found["series_queued", "tc", "tc", "path"] < 8 * trap, found


def check_paper(port):
    """The experiments of the source, the smallest of each: what its cores did while others called."""
    with tempfile.TemporaryDirectory(prefix="atoll-paper-") as folder:
        path = os.path.join(folder, "rows.csv")
        argv = [os.path.join(ROOT, "atoll"), "bench", "--paper", "--quick", "--port", port, "--csv", path]
        p = patience.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S)
        assert p.returncode == 0, f"status {p.returncode}: {p.stderr[-1500:]}"
        with open(path, encoding="utf-8", newline="") as f:
            rows = list(csv.DictReader(f))
    assert {r["benchmark"] for r in rows} == {"buffer", "knoise", "fork_join", "comm"}, rows
    noise = [r for r in rows if r["benchmark"] == "knoise" and r["metric"] != "efficiency"]
    assert noise and all(float(r["mean"]) == 0 for r in noise), noise


def main(ports):
    """Exit status 1 if a benchmark failed."""
    failed = 0
    for port in ports:
        for name in [*ROWS, "paper", *(["series_in_instructions"] if port == "riscv64" else [])]:
            try:
                {"paper": check_paper, "series_in_instructions": check_series}.get(
                    name, functools.partial(check, name=name))(port)
                print(f"ok {name}_on_{port}", flush=True)
            except (AssertionError, subprocess.TimeoutExpired) as e:
                failed = 1
                print(f"FAIL {name}_on_{port}: {e}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["hosted", "riscv64"]))
