# SPDX-License-Identifier: MIT
"""`./atoll measures`: how large and how plain the house is, beside houses that others have built.
"""

import os
import re
import statistics

from checks import sizes, source

# what was measured in the same way on the sources of others, without tests: median / 95 % / largest
# file and function
OTHERS = (
    ("xv6", "102/514/697", "11/46/119", "0", "21", "8"),
    ("LK", "74/602/1397", "10/67/303", "10", "18", "34"),
    ("seL4", "45/589/2891", "10/62/310", "20.5", "18", "60"),
    ("MPICH coll", "103/362/1364", "35/219/487", "2.2", "18", "152"),
)
ROOMS = (("all C", source.ROOMS), ("kernel", ("kernel",)), ("hal", ("hal",)), ("user", ("user",)),
         ("servers", ("servers",)), ("mpi", ("mpi",)),
         ("mpi/coll", ("mpi/coll",)))
COLUMNS = ("", "files", "file lines", "functions", "function lines", "#if per 1000", "comment %",
           "headers", "names > 3", "copies", "over 100")
# where <x/y.h> is looked for, as the build does
PLACES = ("", "hal/include", "user/include", "mpi/include")
PROGRAMS = ("bench/", "apps/")      # each file is a program of its own
COPY_LINES = 6          # of a body that counts as a copy
DOC_COLUMNS = 100


def spread(numbers):
    """Median / 95 % / most, as text."""
    numbers = sorted(numbers)
    return f"{statistics.median(numbers):.0f}/{numbers[int(len(numbers) * 0.95)]}/{numbers[-1]}" if numbers else "-"


def files_of(root, rooms):
    """(path, text) of the sources of some rooms, without tests."""
    paths = [p for p in source.c_files(root, rooms) if not p.startswith("tests/") and not source.is_test(p)]
    return [(p, source.read(root, p)) for p in paths]


def _found(root, path, name, angle):
    beside = [os.path.normpath(os.path.join(os.path.dirname(path), name))] if not angle else []
    for candidate in beside + [os.path.normpath(os.path.join(place, name)) for place in PLACES]:
        if os.path.exists(os.path.join(root, candidate)):
            return candidate
    return None


class Headers:
    """Which headers of the house each file reaches."""

    def __init__(self, root):
        self.root, self.direct = root, {}

    def of(self, path):
        """All that a file includes, and what that includes."""
        out, todo = set(), [path]
        while todo:
            for header in self._direct(todo.pop()) - out:
                out.add(header)
                todo.append(header)
        return out

    def _direct(self, path):
        if path not in self.direct:
            included = source.includes(source.read(self.root, path))
            self.direct[path] = {f for _, name, angle in included if (f := _found(self.root, path, name, angle))}
        return self.direct[path]


def crowded(files):
    """Names that more than three functions have, beside those that many must have."""
    places = {}
    for path, text in files:
        sizes.remember(places, path, source.functions(text), PROGRAMS)
    return sorted(name for name, paths in places.items() if len(paths) > sizes.NAME_MAX)


def copies(files):
    """Functions whose body stands elsewhere, too, to the letter but for blanks."""
    bodies = {}
    for path, text in files:
        lines = source.blank_comments(text).split("\n")
        for f in source.functions(text):
            body = "\n".join(lines[f.line - 1:f.line - 1 + f.lines])
            body = re.sub(r"\s+", " ", body[body.index("{"):])
            if f.lines >= COPY_LINES:
                bodies.setdefault(body, []).append((path, f.name))
    return [places for places in bodies.values() if len(places) > 1]


def row(root, title, rooms, headers):
    """The measures of some rooms, as cells."""
    files = files_of(root, rooms)
    functions = [f.lines for _, text in files for f in source.functions(text)]
    lines = sum(text.count("\n") for _, text in files) or 1
    code = [source.blank_comments(text) for _, text in files]
    conditions = sum(len(re.findall(r"^\s*#\s*if(?!ndef \w+_H$)", c, re.M)) for c in code)
    comments = sum(1 for (_, text), c in zip(files, code) for a,
                   b in zip(text.split("\n"), c.split("\n")) if a.strip() and not b.strip())
    reached = [len(headers.of(path)) for path, _ in files if path.endswith(".c")]
    wide = sum(len(line.expandtabs(8)) > DOC_COLUMNS for _, text in files for line in text.split("\n"))
    return (title, str(len(files)), spread([text.count("\n") for _, text in files]),
            str(len(functions)), spread(functions),
            f"{1000 * conditions / lines:.1f}", f"{100 * comments / lines:.0f}",
            f"{statistics.median(reached):.0f}" if reached else "-",
            str(len(crowded(files))), str(len(copies(files))), str(wide))


def table(rows):
    """Rows in columns."""
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    return ["  ".join([r[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(r[1:], widths[1:])]).rstrip() for r in rows]


def wide_docs(root):
    """(lines of the documents beyond 100 columns, lines in all), tables left out."""
    wide = every = 0
    for folder, _, names in os.walk(os.path.join(root, "docs")):
        for name in sorted(names):
            if name.endswith(".md"):
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    lines = [line for line in f.read().split("\n") if not line.startswith("|")]
                every += len(lines)
                wide += sum(len(line) > DOC_COLUMNS for line in lines)
    return wide, every


def report(root):
    """Lines of text."""
    headers = Headers(root)
    rows = [COLUMNS] + [row(root, title, rooms, headers) for title, rooms in ROOMS]
    rows += [(title, "", files, "", functions, conditions, comments, reached, "", "", "")
             for title, files, functions, conditions, comments, reached in OTHERS]
    everything = files_of(root, source.ROOMS)
    wide, every = wide_docs(root)
    lines = table(rows)
    lines += ["", f"names of more than {sizes.NAME_MAX} functions: {', '.join(crowded(everything)) or 'none'}",
              f"lines of docs/ beyond {DOC_COLUMNS} columns, without tables: {wide} of {every}"]
    lines += [f"copy: {', '.join(f'{name} ({path})' for path, name in places)}" for places in copies(everything)]
    return lines
