# SPDX-License-Identifier: MIT
"""./atoll codesign: the co-designed cluster's design space, power and energy as one page.
The work is in tools/codesign.
"""

import os
import sys

import setup
from ui import BUILD, ROOT, Usage, take_value

HELP = """usage: ./atoll codesign [--quick | --full] [--out DIR] [CONFIG...]

Writes DIR/index.html (default build/codesign/report) with the published tables beside ours, and the tables as CSV.
  (nothing)   synthesises and measures what the results in the tree lack, if they are of other
              sources than this tree and its tools
  --quick     only from the results in the tree: seconds
  --full      synthesises all 192 cores and measures every benchmark 30 times: hours; may be stopped and started again
With configurations (i-core, k-core, u-core or six choices such as
simple-barrel-nodiv-nomul-nofpu-1way) it prints what they cost.
"""


def parse(argv):
    """(mode, folder, configurations)."""
    modes, folder, configs, i = [], os.path.join(BUILD, "codesign", "report"), [], 0
    while i < len(argv):
        if argv[i] in ("--quick", "--full"):
            modes.append(argv[i][2:])
        elif argv[i].split("=")[0] == "--out":
            folder, i = take_value(argv, i, "--out")
            continue
        elif argv[i].startswith("-"):
            raise Usage(f"unknown option '{argv[i]}': ./atoll codesign --help tells what there is")
        else:
            configs.append(argv[i])
        i += 1
    if len(modes) > 1:
        raise Usage("--quick and --full exclude each other")
    return modes[0] if modes else "normal", os.path.abspath(folder), configs


def main(argv):
    """Exit status: 0, 1 if something is missing or a figure does not hold, 2 for a configuration
    outside the space.
    """
    if argv and argv[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0
    mode, folder, configs = parse(argv)
    for level in ("dev", "hw"):
        setup.ensure(level)
    python = os.path.join(setup.VENV, "bin", "python3")
    sys.stdout.flush()
    # in place of this process: a signal reaches the one that runs synthesiser and simulator, and
    # nobody is left behind
    os.execv(python, [python, os.path.join(ROOT, "tools", "codesign", "cli.py"), mode, folder, *configs])
