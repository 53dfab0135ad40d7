# SPDX-License-Identifier: MIT
"""Small enough to read: files, functions, parameters, comment heads."""

import ast
import os
import re
import statistics

from checks import source

FILE_ASK, FILE_MAX = 600, 800
FUNCTION_MAX, FUNCTION_MEDIAN = 60, 15
NAME_MAX = 3
PARAMETERS_MAX = 6
# MPI's prototypes are the standard's; a kernel call's trap passes a number and six arguments, its
# function gets the caller and these
FREE_NAMES = re.compile(r"P?MPI_|direct_[A-Z]|kc_|\w*kcall\d?$|host_call$|__init__$")
HEAD_MAX = 15
# of these names one function each is the rule in many files: programs and servers begin so, back
# ends supply an interface, macros write a definition
SHARED_NAMES = re.compile(r"main$|server_main$|hal_|transport_|FORTRAN_(ROUTINE|FUNCTION)$")
# each test and each benchmark is a program of its own; of Python functions the module is a part of the
# name
FREE_ROOMS = ("tests/", "bench/", "apps/")
PYTHON_ROOMS = ("tools", "mpi", "tests", "bench", "apps", "hw")


def python_files(root):
    """Python sources, relative to root."""
    out = []
    for room in PYTHON_ROOMS:
        for folder, dirs, names in os.walk(os.path.join(root, room)):
            dirs[:] = sorted(d for d in dirs if d != "__pycache__")
            out += [os.path.relpath(os.path.join(folder, n), root) for n in sorted(names) if n.endswith(".py")]
    return out


def python_functions(text):
    """Function definitions of a Python source."""
    return [source.Function(n.name, n.lineno, n.end_lineno - n.lineno + 1, len(n.args.args) + len(n.args.kwonlyargs))
            for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]


def check_head(path, text):
    """The first comment names the licence and stays short."""
    head = "\n".join(text.split("\n", 4)[:4])
    problems = []
    if "SPDX-License-Identifier: MIT" not in head:
        problems.append(f"{path}:1: no line 'SPDX-License-Identifier: MIT' at the top")
    m = re.match(r"/\*.*?\*/", text, re.S)
    if m and m.group(0).count("\n") + 1 > HEAD_MAX + 5:
        problems.append(f"{path}:1: the file head has {m.group(0).count(chr(10)) + 1} lines (about "
                        f"{HEAD_MAX} are enough)")
    return problems


def check_text(path, text, found):
    """Problems of one file with the functions found in it."""
    problems = check_head(path, text)
    lines = text.count("\n")
    if lines > FILE_MAX:
        problems.append(f"{path}: {lines} lines; {FILE_MAX} at most")
    for f in found:
        if f.lines > FUNCTION_MAX:
            problems.append(f"{path}:{f.line}: {f.name} has {f.lines} lines; {FUNCTION_MAX} at most")
        if f.parameters > PARAMETERS_MAX and not FREE_NAMES.match(f.name):
            problems.append(f"{path}:{f.line}: {f.name} has {f.parameters} parameters; {PARAMETERS_MAX} at most")
    return problems


def check_names(places):
    """Problems of names (name -> files that define such a function): a search for one must not find
    many.
    """
    problems = []
    for name, paths in sorted(places.items()):
        if len(paths) > NAME_MAX:
            problems.append(f"{paths[0]}: {len(paths)} functions are called {name}; {NAME_MAX} at "
                            f"most: begin with what the file is about "
                            f"({', '.join(paths[1:])})")
    return problems


def remember(places, path, found, free=FREE_ROOMS):
    """Note where functions of a file stand, as far as their names count."""
    if path.endswith(".py") or path.startswith(free) or source.is_test(path):
        return
    for f in found:
        if not SHARED_NAMES.match(f.name) and not FREE_NAMES.match(f.name):
            places.setdefault(f.name, []).append(path)


def survey(root):
    """(problems, report lines)."""
    problems, lengths, files, places = [], [], [], {}
    for path in source.c_files(root) + python_files(root):
        text = source.read(root, path)
        try:
            found = python_functions(text) if path.endswith(".py") else source.functions(text)
        except SyntaxError as e:
            problems.append(f"{path}:{e.lineno}: {e.msg}")
            continue
        problems += check_text(path, text, found)
        remember(places, path, found)
        lengths += [f.lines for f in found if path.endswith(".c") and not path.endswith("_test.c")]
        files.append((text.count("\n"), path))
    problems += check_names(places)
    report = []
    if lengths:
        lengths.sort()
        report.append(f"{len(files)} files, median {statistics.median(n for n, _ in files):.0f} "
                      f"lines; {len(lengths)} C functions, median "
                      f"{statistics.median(lengths):.0f} lines, 95 % within {lengths[int(len(lengths) * 0.95)]}")
        if statistics.median(lengths) > FUNCTION_MEDIAN:
            problems.append(f"the median function has {statistics.median(lengths):.0f} lines; "
                            f"{FUNCTION_MEDIAN} at most")
    report += [f"long: {path} has {n} lines" for n, path in files if FILE_ASK < n <= FILE_MAX]
    return problems, report


def check(root):
    """Problems of the tree."""
    return survey(root)[0]
