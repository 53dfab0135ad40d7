# SPDX-License-Identifier: MIT
"""Tests of the co-designed cluster as programs: every function test_* of a file, one line each."""

import os
import sys
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401


def main(names):
    """Run all tests of a file; returns the exit status."""
    import setup
    setup.ensure("hw")
    failed = 0
    for name, test in sorted(names.items()):
        if not name.startswith("test_"):
            continue
        try:
            test()
            print(f"ok {name[5:]}", flush=True)
        except Exception:
            failed = 1
            print(f"FAIL {name[5:]}: {traceback.format_exc(limit=2)}", flush=True)
    return failed
