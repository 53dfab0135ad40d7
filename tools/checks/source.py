# SPDX-License-Identifier: MIT
"""Find and take apart C sources for the checks: includes, functions, preprocessor lines.
No compiler is needed.
"""

import os
import re

ROOMS = ("abi", "base", "hal", "kernel", "user", "servers", "mpi", "apps", "bench", "tests", "tools/start")
C_ENDINGS = (".c", ".h", ".S")


def is_test(path):
    """True for tests and what only they include."""
    return bool(re.search(r"(_test|/fake|/test|/testbed|/ktest)\.[ch]$", path))


def c_files(root, rooms=ROOMS):
    """Paths, relative to root, of the C sources of some rooms."""
    out = []
    for room in rooms:
        for folder, dirs, names in os.walk(os.path.join(root, room)):
            dirs.sort()
            out += [os.path.relpath(os.path.join(folder, n), root) for n in sorted(names) if n.endswith(C_ENDINGS)]
    return out


def read(root, path):
    """The text of a file."""
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def blank_comments(text):
    """The text with comments and string contents blanked, lines kept."""
    def blank(m):
        s = m.group(0)
        if s[0] in "\"'":
            return s[0] + " " * (len(s) - 2) + s[-1] if "\n" not in s else s
        return re.sub(r"[^\n]", " ", s)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def includes(text):
    """(line number, name, is_system_style) of every #include."""
    out = []
    for number, line in enumerate(text.splitlines(), 1):
        m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if m:
            out.append((number, m.group(2), m.group(1) == "<"))
    return out


class Function:
    """A function definition: where, how long, how many parameters."""

    def __init__(self, name, line, lines, parameters):
        self.name, self.line, self.lines, self.parameters = name, line, lines, parameters


def _count_parameters(text):
    text = text.strip()
    if text in ("", "void"):
        return 0
    depth, count = 0, 1
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        count += c == "," and depth == 0
    return count


def functions(text):
    """Function definitions with the name at column 0 and the body's braces at column 0."""
    code = blank_comments(text)
    out = []
    for m in re.finditer(r"^([A-Za-z_]\w*)\(", code, re.M):
        depth, i = 0, m.end() - 1
        while i < len(code):
            depth += (code[i] == "(") - (code[i] == ")")
            i += 1
            if depth == 0:
                break
        body = re.match(r"\s*\{", code[i:])
        end = re.compile(r"^\}", re.M).search(code, i)
        if not body or not end or "\n" not in code[:m.start()][-1:]:
            continue
        first = code.count("\n", 0, m.start()) + 1
        last = code.count("\n", 0, end.start()) + 1
        out.append(Function(m.group(1), first, last - first + 1, _count_parameters(code[m.end():i - 1])))
    return out
