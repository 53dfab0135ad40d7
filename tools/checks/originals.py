# SPDX-License-Identifier: MIT
"""docs/calls.md names for each kernel call of the original, of which docs/calls.toml is the list, its
counterpart here; what it names is there, and at most five calls have none.
"""

import glob
import os
import re
import tomllib

LIST, TABLE, CALLS = "docs/calls.toml", "docs/calls.md", "abi/kcalls.tbl"
WITHOUT_MAX = 5


def listed(root):
    """Every call of the list, in its order."""
    with open(os.path.join(root, LIST), "rb") as f:
        lists = tomllib.load(f)
    return [name for names in lists.values() for name in names]


def rows(root):
    """(number of the line, cells) of every row of the table."""
    with open(os.path.join(root, TABLE), encoding="utf-8") as f:
        lines = f.read().splitlines()
    return [(n, [c.strip() for c in line.strip().strip("|").split("|")]) for n, line in enumerate(lines, 1)
            if line.startswith("|") and not re.match(r"\| original|\|-", line)]


def kernel_calls(root):
    """Names of the kernel calls."""
    with open(os.path.join(root, CALLS), encoding="utf-8") as f:
        return {m.group(1) for m in re.finditer(r"^ *\d+ +(\w+) +(?:local|remote) ", f.read(), re.M)}


def _check_row(root, cells, calls):
    """Problems of a row, and whether its call has no counterpart."""
    if len(cells) != 3:
        return [f"{len(cells)} cells instead of 3"], False
    named = re.findall(r"`([^`]+)`", cells[1])
    problems = [f"{name} is neither a kernel call nor a file" for name in named
                if name not in calls and not os.path.exists(os.path.join(root, name))]
    without = re.fullmatch(r"none: ADR (\d{4})|not yet: .+", cells[1])
    if not named and not without:
        problems.append(f"'{cells[1]}' is no counterpart: `CALL`, none: ADR NNNN, or not yet: WHAT")
    if without and without.group(1) and not glob.glob(os.path.join(root, "docs", "adr", without.group(1) + "-*.md")):
        problems.append(f"there is no ADR {without.group(1)}")
    return problems, without is not None


def check(root):
    """Problems of the table."""
    wanted, table = listed(root), rows(root)
    have = [cells[0] for _, cells in table]
    calls = kernel_calls(root)
    problems = [f"{TABLE}: {have.count(name)} rows for '{name}' of {LIST}" for name in wanted if have.count(name) != 1]
    problems += [f"{TABLE}:{n}: '{cells[0]}' is not in {LIST}" for n, cells in table if cells[0] not in wanted]
    without = 0
    for n, cells in table:
        wrong, lacks = _check_row(root, cells, calls)
        problems += [f"{TABLE}:{n}: {p}" for p in wrong]
        without += lacks
    if without > WITHOUT_MAX:
        problems.append(f"{TABLE}: {without} calls have no counterpart, {WITHOUT_MAX} at most")
    return problems
