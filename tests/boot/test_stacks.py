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
        name = f"the_kernel_stacks_of_{port}_are_deep_enough"
        try:
            deepest = stackdepth.measure(os.path.join(BUILD, port, "kernel.elf"), arch)
            wrong = "; ".join(f"{size} bytes of {have}: {' '.join(way)}" for (size, way), have
                              in zip(deepest, stackdepth.stack_bytes(port)) if size > have)
        except stackdepth.Wrong as e:
            wrong = str(e)
        print(f"FAIL {name}: {wrong}" if wrong else f"ok {name}", flush=True)
        failed |= bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
