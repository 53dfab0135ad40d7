# SPDX-License-Identifier: MIT
"""The folders in which the modules of the front command lie. Importing this makes all of them
importable, by their bare names.
"""
import os
import sys

TOOLS = os.path.dirname(os.path.abspath(__file__))
# the command line; what is installed and built; programs that run; benchmarks; tests
ROOMS = ("cli", "make", "run", "bench", "test")
FOLDERS = [TOOLS] + [os.path.join(TOOLS, room) for room in ROOMS]

sys.path[:0] = [folder for folder in FOLDERS if folder not in sys.path]


def path_of(module):
    """The file of one of these modules, or None."""
    paths = (os.path.join(folder, module + ".py") for folder in FOLDERS)
    return next((path for path in paths if os.path.exists(path)), None)
