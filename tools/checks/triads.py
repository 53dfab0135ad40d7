# SPDX-License-Identifier: MIT
"""tests/kernel/triads.toml names, for each module, the tests of what it does, what it refuses and
of many at once: they are there, each case once, and at least as many as the source has.
"""

import os
import re
import tomllib

TABLE = "tests/kernel/triads.toml"
KINDS = ("api", "fault", "stress")


def body(text, name):
    """The body of a function or TEST of a C file, its blanks as one; None if it is not there."""
    found = re.search(rf"^(?:TEST\({name}\)|(?:static void )?{name}\([^\n]*\))\n\{{\n(.*?)^\}}", text, re.M | re.S)
    return " ".join(found.group(1).split()) if found else None


def _case_problem(root, case):
    path, _, rest = case.partition(" ")
    name, _, text = rest.partition(": ")
    try:
        with open(os.path.join(root, path), encoding="utf-8") as f:
            found = body(f.read(), re.escape(name))
    except OSError:
        return f"{path} is not there"
    if found is None:
        return f"{path} has no {name}"
    return None if text in found else f"'{text}' is not in {name} of {path}"


def check(root):
    """Problems of the table."""
    with open(os.path.join(root, TABLE), "rb") as f:
        table = tomllib.load(f)
    problems = []
    for module, kinds in table.items():
        lists = kinds if module == "regressions" else {k: kinds[k] for k in KINDS}
        for kind, cases in lists.items():
            problems += [f"{TABLE}: {module}, {kind}: {p}" for p in (_case_problem(root, c) for c in cases) if p]
            problems += [f"{TABLE}: {module}, {kind}: '{c}' is there twice" for c in set(cases) if cases.count(c) > 1]
        for kind, wanted in zip(KINDS, kinds.get("source", ())):
            if len(kinds[kind]) < wanted:
                problems.append(f"{TABLE}: {module}, {kind}: {len(kinds[kind])} cases, the source has {wanted}")
    return problems
