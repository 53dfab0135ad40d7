# SPDX-License-Identifier: MIT
"""docs/porting.md names every function of the HAL's contract, and no other, and says about how many
lines a port has.
"""

import glob
import os
import re

PAGE = "docs/porting.md"
NAME = r"(?:hal|kernel)_[a-z0-9_]+"
TOLERANCE = 0.1		# of the lines that it says


def _read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def contract(root):
    """Names of the functions that hal/include/hal declares or describes."""
    text = "".join(_read(p) for p in glob.glob(os.path.join(root, "hal", "include", "hal", "*.h")))
    return set(re.findall(rf"\b({NAME})\)?\(", text))


def _lines(root, *folders):
    found = 0
    for folder in folders:
        for at, _, names in os.walk(os.path.join(root, folder)):
            found += sum(_read(os.path.join(at, n)).count("\n") for n in names if not n.endswith("_test.c"))
    return found


def _check_lines(root, text):
    rows = re.findall(r"^\| (\w+) \| ([\d,]+) \| ([\d,]+) \|$", text, re.M)
    ports = sorted(os.listdir(os.path.join(root, "hal", "cpu")))
    if sorted(row[0] for row in rows) != ports:
        yield f"{PAGE}: its table has not one row for each of {', '.join(ports)}"
    for port, *said in rows:
        have = _lines(root, f"hal/cpu/{port}"), _lines(root, *(f"{room}/{port}"
                                                               for room in ("user/cpu", "user/libc", "abi/cpu")))
        for number, lines in zip(said, have):
            if abs(int(number.replace(",", "")) - lines) > TOLERANCE * lines:
                yield f"{PAGE}: says {number} lines for {port}, there are {lines:,}"


def check(root):
    """Problems of the page."""
    text, names = _read(os.path.join(root, PAGE)), contract(root)
    told = set(re.findall(rf"`({NAME})`", text))
    problems = [f"{PAGE}: does not name {n}, which hal/include/hal declares" for n in sorted(names - told)]
    problems += [f"{PAGE}: names {n}, which hal/include/hal does not have" for n in sorted(told - names)]
    return problems + list(_check_lines(root, text))
