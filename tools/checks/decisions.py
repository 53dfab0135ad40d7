# SPDX-License-Identifier: MIT
"""The pages of docs/adr have one form, their numbers have no gaps, and docs/adr/README.md lists
them all.

`python3 tools/checks/decisions.py` writes the list anew.
"""

import glob
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tools"))
from checks import layout  # noqa: E402

FOLDER, INDEX = "docs/adr", "docs/adr/README.md"
HEAD = """# Decisions

Each page tells one decision that closed a door: what was decided, why, and what it costs.
[0000](0000-how-we-decide.md) says when one is written. `tools/checks/decisions.py` writes this
list.

| number | decision |
|---|---|
"""


def _lines(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read().splitlines()


def pages(root):
    """Paths of all pages, in the order of their numbers."""
    return sorted(os.path.relpath(p, root) for p in glob.glob(os.path.join(root, FOLDER, "[0-9]*.md")))


def index(root):
    """Text of the list of all pages."""
    rows = []
    for path in pages(root):
        number, _, title = _lines(root, path)[0].removeprefix("# ").partition(" ")
        rows.append(f"| [{number}]({os.path.basename(path)}) | {title} |\n")
    return HEAD + "".join(rows)


def _check_page(root, path, number):
    lines = _lines(root, path)
    name = os.path.basename(path)
    if name[:5] != f"{number:04}-":
        yield f"{path}: its number should be {number:04}, for numbers have no gaps"
    if not re.fullmatch(rf"# {name[:4]} [^a-z: ].*[^.:]", lines[0]):
        yield f"{path}:1: the first line is '# {name[:4]} Title'"
    if number > 0 and not any(line.startswith("## Decision") for line in lines):
        yield f"{path}: has no section '## Decision'"
    yield from layout.check_document(path, "\n".join(lines))


def check(root):
    """Problems of the pages and of their list."""
    problems = [p for number, path in enumerate(pages(root)) for p in _check_page(root, path, number)]
    if not os.path.exists(os.path.join(root, INDEX)) or "\n".join(_lines(root, INDEX)) + "\n" != index(root):
        problems.append(f"{INDEX}: is not the list of the pages: run tools/checks/decisions.py")
    return problems


if __name__ == "__main__":
    with open(os.path.join(TOP, INDEX), "w", encoding="utf-8") as out:
        out.write(index(TOP))
    sys.exit(0)
