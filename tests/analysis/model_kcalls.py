# SPDX-License-Identifier: MIT
"""What the analyser is told of the kernel's functions: each call reads all of its `in` buffers and,
if it succeeds, has written all of its `out` buffers; its result is any number. Prints C.
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import cheader  # noqa: E402
import kcallgen  # noqa: E402
import kcalltext  # noqa: E402


def model(call):
    """The C function of one call."""
    body, outs = "\t(void)caller;\n", ""
    for a in kcalltext.values(call):
        size = f"{a.name}_len" if a.has_len else a.c_size if a.kind in ("in", "out") else ""
        if a.kind == "in":
            body += f"\tread_all({a.name}, {size});\n"
        elif a.kind == "out":
            outs += f"\tunknown_bytes({a.name}, {size});\n"
        else:
            body += f"\t(void){a.name};\n"
    return f"long\nkc_{call.name}({kcalltext.parameters(call, 'struct thread *caller')})\n{{\n{body}" \
        f"\tif (unknown(0, 1) == 0)\n\t\treturn -(long)unknown(1, 4000);\n{outs}" \
        "\treturn (long)unknown(0, 0x7fffffff);\n}\n"


def main():
    """Print the models of all calls."""
    abi = os.path.join(ROOT, "abi")
    limits = cheader.Header(os.path.join(abi, "limits.abi.h")).names
    calls = kcallgen.read_calls(os.path.join(abi, "kcalls.tbl"), limits,
                                kcallgen.read_errors(os.path.join(abi, "errors.tbl")))
    print("\n".join(model(c) for c in calls))


if __name__ == "__main__":
    main()
