# SPDX-License-Identifier: MIT
"""./atoll measures: how large and how plain the sources are."""

from checks import measures
from ui import ROOT, Usage

HELP = """usage: ./atoll measures

Files, functions and comments of each room (median / 95 % / most), headers that a source reaches,
names that more than three functions have, bodies that stand twice, lines beyond 100 columns; and
the same of some houses that others have built.
"""


def main(argv):
    """Exit status 0."""
    if argv and argv[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0
    if argv:
        raise Usage(HELP.split("\n", 1)[0])
    print("\n".join(measures.report(ROOT)))
    return 0
