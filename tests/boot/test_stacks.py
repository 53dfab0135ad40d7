# SPDX-License-Identifier: MIT
"""The kernel's stacks on bare metal are deep enough for the deepest way through its image
(tools/stackdepth.py). Prints the test protocol.
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import stackdepth  # noqa: E402

BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))


def main():
    """Exit status."""
    failed = False
    for port, arch in (("riscv64", stackdepth.Riscv), ("or1k", stackdepth.Or1k)):
        name = f"the_kernel_stack_of_{port}_is_deep_enough"
        try:
            size, way = stackdepth.measure(os.path.join(BUILD, port, "kernel.elf"), arch)
            wrong = f"{size} bytes of {stackdepth.STACK_BYTES}: {' '.join(way)}" if size > stackdepth.STACK_BYTES else ""
        except stackdepth.Wrong as e:
            wrong = str(e)
        print(f"FAIL {name}: {wrong}" if wrong else f"ok {name}", flush=True)
        failed |= bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
