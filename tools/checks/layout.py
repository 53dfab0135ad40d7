# SPDX-License-Identifier: MIT
"""How C text looks, as far as it can be said without a formatter: tabs, ends of lines, names at
column 0, no _t of our own. Lines of C, of Python and of documents have a width.
"""

import os
import re

from checks import sizes, source

WIDTH_MAX = 100
WIDTH_WIDE = 120  # of Python, and of what kept results of the study were made from
TAB = 8
DOC_FOLDERS = ("", "docs", "hw")


def check_width(path, text):
    """Problems of lines that are too long. A tab in Python is part of a text that it writes."""
    tab = 1 if path.endswith(".py") else TAB
    width = WIDTH_WIDE if path.endswith(".py") or path.startswith(("hw/", "abi/codesign.h")) else WIDTH_MAX
    return [f"{path}:{number}: longer than {width} columns" for number, line in enumerate(text.splitlines(), 1)
            if len(line.expandtabs(tab)) > width]


def check_document(path, text):
    """Problems of lines of a document that are too long. Tables and commands are as wide as they are."""
    wide, code = [], False
    for number, line in enumerate(text.splitlines(), 1):
        code ^= line.lstrip().startswith("```")
        if len(line) > WIDTH_MAX and not code and not line.startswith("|"):
            wide.append(f"{path}:{number}: {len(line)} columns, {WIDTH_MAX} at most")
    return wide


def documents(root):
    """Documents, relative to root."""
    found = []
    for folder in DOC_FOLDERS:
        at = os.path.join(root, folder)
        names = sorted(os.listdir(at)) if os.path.isdir(at) else []
        found += [os.path.join(folder, name) for name in names if name.endswith(".md")]
    return found


def check_text(path, text):
    """Problems of one file."""
    problems = check_width(path, text)
    if text and not text.endswith("\n"):
        problems.append(f"{path}: no line end at the end")
    for number, line in enumerate(text.splitlines(), 1):
        if line != line.rstrip():
            problems.append(f"{path}:{number}: blanks at the end of the line")
        if re.match(r" {4,}(?!\*)\S", line) and not re.match(r" *[-*|+]", line) and not path.endswith(".S"):
            problems.append(f"{path}:{number}: indented by blanks: use tabs")
    code = source.blank_comments(text)
    for m in re.finditer(r"^(?:static |inline |_Noreturn )*(?:struct "
                         r"\w+|unsigned|int|void|char|bool|long|\w+_t)[ \t*]+(\w+)\([^;{}]*\)\s*\{",
                         code, re.M):
        problems.append(f"{path}:{code.count(chr(10), 0, m.start()) + 1}: the name of function "
                        f"{m.group(1)} belongs at column 0")
    for m in re.finditer(r"\btypedef\s+(?:struct|union|enum)\b", code):
        if not path.startswith("mpi/include/"):
            problems.append(f"{path}:{code.count(chr(10), 0, m.start()) + 1}: no typedef for a "
                            f"struct: write struct NAME")
    return problems


def check(root):
    """Problems of the tree. Text in comments may be indented as it likes."""
    out = []
    for path in source.c_files(root):
        found = check_text(path, source.read(root, path))
        out += [p for p in found if ("indented by blanks" not in p or _is_code(root, path, p)) and
                not ("belongs at column 0" in p and source.is_test(path))]
    for path in sizes.python_files(root):
        out += check_width(path, source.read(root, path))
    for path in documents(root):
        out += check_document(path, source.read(root, path))
    return out


def _is_code(root, path, problem):
    number = int(problem.split(":")[1])
    code = source.blank_comments(source.read(root, path)).splitlines()
    line = code[number - 1] if number <= len(code) else ""
    if not line.strip():
        return False
    above = code[number - 2].rstrip() if number > 1 else ""
    return not line.startswith("\t") and not above.endswith(("\\", ","))
