# SPDX-License-Identifier: MIT
"""docs/papers.md has a row for everything that docs/papers.toml lists of the source documents, and
what a row cites is there.
"""

import glob
import os
import re
import tomllib

LIST, TABLE = "docs/papers.toml", "docs/papers.md"
STATE = re.compile(r"works( \(.+\))?|partial: .+|not yet(: .+)?")
CELLS = 6


def listed(root):
    """(source and section, feature) of every line of the list, in its order."""
    with open(os.path.join(root, LIST), "rb") as f:
        seeds = tomllib.load(f)
    return [(f"{seed} {section}".strip(), feature) for seed, table in seeds.items() for section,
            features in table["sections"].items() for feature in features]


def rows(root):
    """(number of the line, cells) of every row of the table."""
    with open(os.path.join(root, TABLE), encoding="utf-8") as f:
        lines = f.read().splitlines()
    return [(n, [c.strip() for c in line.strip().strip("|").split("|")]) for n,
            line in enumerate(lines, 1) if re.match(r"\| \d{3}\b", line)]


def _compare(root, table):
    wanted, have = listed(root), [tuple(cells[:2]) for _, cells in table]
    problems = [f"{LIST}: '{s}, {f}' is there {wanted.count((s, f))} times" for s,
                f in sorted(set(wanted)) if wanted.count((s, f)) > 1]
    problems += [f"{TABLE}: no row for '{s}, {f}' of {LIST}" for s, f in wanted if (s, f) not in have]
    seen = set()
    for (number, _), key in zip(table, have):
        if key not in wanted:
            problems.append(f"{TABLE}:{number}: '{', '.join(key)}' is not in {LIST}")
        if key in seen:
            problems.append(f"{TABLE}:{number}: a second row for '{', '.join(key)}'")
        seen.add(key)
    return problems


def _cited(cell):
    return re.findall(r"`([^`]+)`", cell)


def _check_row(root, cells, benchmarks):
    if len(cells) != CELLS:
        return [f"{len(cells)} cells instead of {CELLS}"]
    _, _, state, where, test, benchmark = cells
    problems = []
    if not STATE.fullmatch(state):
        problems.append(f"'{state}' is no state: works, partial: WHAT LACKS, or not yet")
    problems += [f"{path} is not there" for path in _cited(where) + _cited(test)
                 if not glob.glob(os.path.join(root, path))]
    problems += [f"{path} is no test" for path in _cited(test)
                 if not re.match(r"tests/|tools/checks/|.*_test\.(c|py)$", path)]
    problems += [f"no benchmark is called {name}" for name in _cited(benchmark) if name not in benchmarks]
    if state.startswith("works") and not (_cited(where) and _cited(test)):
        problems.append("what works has a place and a test")
    if state.startswith("partial") and not _cited(where):
        problems.append("what works in part has a place")
    return problems


def _check_counts(root, table):
    """What the README says of the table."""
    try:
        with open(os.path.join(root, "README.md"), encoding="utf-8") as f:
            said = re.search(r"of (\d+) rows (\d+) work, (\d+) work in\s+part, (\d+) are not there yet", f.read())
    except OSError:
        return []
    states = [cells[2].split(" ")[0].rstrip(":") for _, cells in table if len(cells) == CELLS]
    now = [str(n) for n in (len(table), states.count("works"), states.count("partial"), states.count("not"))]
    return [] if said and list(said.groups()) == now else [f"README.md: the table has {now[0]} "
                                                           f"rows: {now[1]} work, {now[2]} in part, {now[3]} not yet"]


def check(root):
    """Problems of the table."""
    benchmarks = {os.path.basename(p)[:-len(".toml")] for p in glob.glob(os.path.join(root, "bench", "*", "*.toml"))}
    table = rows(root)
    return _compare(root, table) + _check_counts(root, table) + [f"{TABLE}:{n}: {p}" for n,
                                                                 cells in table
                                                                 for p in _check_row(root, cells, benchmarks)]
