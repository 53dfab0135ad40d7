# SPDX-License-Identifier: MIT
"""The or1k kernel's image runs on a K-Core: no instruction in it multiplies, divides or computes in
floating point. Prints the test protocol.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"), "or1k")
# what a K-Core lacks: multiply, multiply-accumulate, divide, floating point
LACKING = re.compile(r"l\.(mul|mac|msb|div)\w*|lf\.\S+")
# what no core of the cluster has
NOWHERE = re.compile(r"l\.(ror|ext)\w*|l\.[ls]d\b")


def instructions(path):
    """(function, mnemonic) of every instruction of a program."""
    text = subprocess.run(["or1k-elf-objdump", "-d", "--no-show-raw-insn", path], capture_output=True,
                          text=True, check=True).stdout
    function = "?"
    for line in text.splitlines():
        head = re.match(r"[0-9a-f]+ <(.+)>:", line)
        code = re.match(r"\s+[0-9a-f]+:\s+(\S+)", line)
        if head:
            function = head.group(1)
        elif code:
            yield function, code.group(1)


def found(path, what):
    """'function: mnemonic' of the instructions that match, each once."""
    return sorted({f"{f}: {m}" for f, m in instructions(path) if what.fullmatch(m)})


def report(name, wrong):
    """One line of the protocol."""
    print(f"FAIL {name}: {'; '.join(wrong[:8])}" if wrong else f"ok {name}", flush=True)
    return bool(wrong)


def main():
    """Exit status."""
    kernel, server = os.path.join(BUILD, "kernel.elf"), os.path.join(BUILD, "bin", "proc")
    failed = report("the_kernel_multiplies_and_divides_by_software", found(kernel, LACKING))
    failed |= report("the_kernel_has_no_instruction_that_no_core_has", found(kernel, NOWHERE))
    failed |= report("programs_have_no_instruction_that_no_core_has", found(server, NOWHERE))
    # the check itself: a server runs on U-Cores and multiplies
    failed |= report("the_check_sees_multiplications",
                     [] if found(server, LACKING) else ["none in a program that multiplies"])
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
