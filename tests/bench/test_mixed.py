# SPDX-License-Identifier: MIT
"""The kernel's choice of cores for a mixed load is better than a fixed one that knows nothing of it.

Prints `ok NAME` or `FAIL NAME: why`. Modelled times are judged, which repeat exactly.
"""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import packages  # noqa: E402
import patience  # noqa: E402
from ui import Failure  # noqa: E402

TIMEOUT_S = 900
NAME = "processes_that_compute_go_to_cores_that_are_empty"


def main():
    """Exit status 1 if something is not so."""
    try:
        packages.ensure(("dash",))
    except Failure as e:
        if "cannot get" not in str(e):
            raise
        print(f"skip {NAME}: no network: {e}")
        return 0
    p = patience.run([os.path.join(ROOT, "atoll"), "bench", "--mixed", "--quick"], stdin=subprocess.DEVNULL,
                     capture_output=True, text=True, timeout=TIMEOUT_S)
    print(f"FAIL {NAME}: status {p.returncode}: {(p.stdout + p.stderr)[-1500:]}" if p.returncode else f"ok {NAME}")
    return p.returncode


if __name__ == "__main__":
    sys.exit(main())
