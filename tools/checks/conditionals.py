# SPDX-License-Identifier: MIT
"""No conditional compilation outside hal/cpu: choose by file, by table column or by an ordinary
`if`.

Include guards are not counted. Headers that programs include may test __cplusplus; headers shared
with assembly, __ASSEMBLER__.
"""

import re

from checks import source

ALLOWED = ("hal/cpu/", "abi/cpu/", "tests/golden/", "base/tune.h")
PUBLIC = ("mpi/include/", "user/include/", "abi/")


def guard(text):
    """Name of the include guard, or None."""
    m = re.match(r"\s*#\s*ifndef\s+(\w+)\s*\n\s*#\s*define\s+\1\b", source.blank_comments(text).lstrip())
    return m.group(1) if m else None


def check_text(path, text):
    """Problems of one file."""
    code = source.blank_comments(text)
    name = guard(text) if path.endswith(".h") else None
    problems = []
    for number, line in enumerate(code.splitlines(), 1):
        m = re.match(r"\s*#\s*(if|ifdef|ifndef|elif)\b\s*(.*)", line)
        if not m or (name and m.group(1) == "ifndef" and m.group(2).strip() == name):
            continue
        if (path.startswith(PUBLIC)
            and "__cplusplus" in m.group(2)) or (path.endswith(".h") and m.group(2).strip() == "__ASSEMBLER__"):
            continue
        problems.append(f"{path}:{number}: #{m.group(1)} {m.group(2).strip()}: no conditional "
                        f"compilation outside hal/cpu")
    return problems


def check(root):
    """Problems of the tree. Unit tests may choose what they replace."""
    return [p for path in source.c_files(root) if not path.startswith(ALLOWED) and not source.is_test(path)
            for p in check_text(path, source.read(root, path))]
