# SPDX-License-Identifier: MIT
"""The experiment of seed 003 on a small scale: where pages come from follows the policy, and lines of other
domains take time in the model. The control is the same machine in which they cost nothing more: the
program executes and fetches exactly the same there, and only its time is another one.

Prints `ok NAME` or `FAIL NAME: why`. Counts and modelled times are judged, which repeat exactly.
"""

import csv
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import buildbench  # noqa: E402
import packages  # noqa: E402
import patience  # noqa: E402
from ui import BUILD, Failure  # noqa: E402

TIMEOUT_S = 900
CORES = "12"
COUNTS = ("insns", "near", "far")


def measured(folder, policies, machine="nix32"):
    """{policy: {metric: value}} of three compilations."""
    path = os.path.join(folder, "rows.csv")
    argv = [os.path.join(ROOT, "atoll"), "bench", "--build", "--quick", "--files", "1", "--cores", CORES,
            "--policies", ",".join(policies), "--machine", machine, "--csv", path]
    p = patience.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert p.returncode == 0, f"status {p.returncode}: {p.stderr[-1500:]}"
    out = {}
    with open(path, encoding="utf-8", newline="") as f:
        for r in csv.DictReader(f):
            out.setdefault(r["policy"], {})[r["metric"]] = float(r["mean"])
    return out


def share(of):
    """Percent of the lines that came from other domains."""
    return 100 * of["far"] / (of["near"] + of["far"])


def pages_come_from_where_the_policy_says(folder):
    """Own domain first, another one first, all in turn, domain 0 for those of all."""
    far = {policy: share(of) for policy, of in measured(folder, ("amp", "ampbadcol", "smp", "ampcol0")).items()}
    assert far["amp"] < 25 < far["ampcol0"] and far["ampbadcol"] > 75 and far["smp"] > 60, far


def lines_of_other_domains_take_time(folder):
    """And nothing else of the model does."""
    path = os.path.join(folder, "even.toml")
    with open(os.path.join(ROOT, "machines", "nix32.toml"), encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(re.sub(r"far_cost = .*", "far_cost = 1.0", text))
    far, even = measured(folder, ("ampbadcol",))["ampbadcol"], measured(folder, ("ampbadcol",), path)["ampbadcol"]
    assert [far[k] for k in COUNTS] == [even[k] for k in COUNTS], (far, even)
    assert far["time"] > 1.05 * even["time"], (far, even)


def main():
    """Exit status 1 if something is not so."""
    failed, checks = 0, (pages_come_from_where_the_policy_says, lines_of_other_domains_take_time)
    try:
        packages.ensure(buildbench.PACKAGES)
    except Failure as e:
        if "cannot get" not in str(e):
            raise
        for check in checks:
            print(f"skip {check.__name__}: no network: {e}")
        return 0
    for check in checks:
        try:
            with tempfile.TemporaryDirectory(prefix="atoll-build-", dir=BUILD) as folder:
                check(folder)
            print(f"ok {check.__name__}")
        except (AssertionError, KeyError, subprocess.TimeoutExpired) as e:
            failed = 1
            print(f"FAIL {check.__name__}: {e}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
