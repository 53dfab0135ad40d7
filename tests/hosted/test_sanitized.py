# SPDX-License-Identifier: MIT
"""Kernel and HAL of the hosted port under sanitizers: the contract tests, the kernel's tests and a
job of 16 ranks.

Builds build/address and build/thread (kernel only); takes servers, tests and programs from the
ordinary hosted build.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "kernel")]
import boot  # noqa: E402
import test_hosted as hosted  # noqa: E402
import patience  # noqa: E402

SANITIZERS = {"address": "address,undefined", "thread": "thread"}
REPORTS = ("Sanitizer", "runtime error:")
KERNEL_SHAPES = (("1", "4", "KC"), ("2", "4", "TC"))
PATIENCE_S = 100


def say(ok, name, text=""):
    """One line of the test protocol; 1 if it failed."""
    print(f"ok {name}" if ok else f"FAIL {name}: {text[-3000:]}", flush=True)
    return 0 if ok else 1


def call(argv):
    """(exit status, output) of a command."""
    done = patience.run(argv, cwd=hosted.ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT, timeout=PATIENCE_S, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def clean(status, text):
    """Did it end well and without a report?"""
    return status == 0 and not any(r in text for r in REPORTS)


def contract(build):
    """The HAL's contract tests on four clusters."""
    m = hosted.shape(3, 3)
    with tempfile.TemporaryDirectory(prefix="atoll-san-") as folder:
        hosted.write_files(folder, m, 1, ["private"])
        status, text = call([os.path.join(build, "hosted", "hal-test"), "--record", os.path.join(folder, "record")])
    return clean(status, text), text


def job(build):
    """Sixteen ranks with yields, heap and output."""
    m = hosted.shape(2, 2)
    with tempfile.TemporaryDirectory(prefix="atoll-san-") as folder:
        argv = hosted.write_files(folder, m, 16, ["private"])
        status, text = call([os.path.join(build, "hosted", "atoll-host")] + argv[1:])
    return clean(status, text), text


def kernel_test(build, name, shape):
    """One of tests/kernel as init."""
    folder = os.path.join(build, "hosted", "tests", "kernel")
    os.makedirs(folder, exist_ok=True)
    link = os.path.join(folder, name)
    if not os.path.lexists(link):
        os.symlink(os.path.join(hosted.BUILD, "tests", "kernel", name), link)
    boot.BUILD = build
    m = boot.machine_of("hosted", shape)
    status, text, _ = boot.boot("hosted", name, m, timeout=PATIENCE_S - 10)
    return clean(status, text), text


def shapes(name):
    """Machines of a kernel test: lines `machine: CLUSTERS CORES [ROLE [MEGABYTES]]` in its head, or
    the usual ones.
    """
    with open(os.path.join(hosted.ROOT, "tests", "kernel", name + ".c"), encoding="utf-8") as f:
        found = re.findall(r"^\W*machine:((?: +\w+)+)", f.read(4000), re.M)
    return [m.split() for m in found] or KERNEL_SHAPES


# kernel tests that a sanitizer cannot run: reason
APART = {("thread", "limits"): "the sanitizer leaves addresses for 51 processes, of which none is "
                               "kept for the process server"}


def check(name):
    """Everything under one sanitizer; the number of failures."""
    build = os.path.join(os.path.dirname(hosted.BUILD), name)
    status, text = call(["make", "-s", "PORT=hosted", f"SAN={SANITIZERS[name]}", f"BUILD={build}", "kernel"])
    if status != 0:
        return say(False, f"{name}_build", text)
    failed = say(*_named(f"{name}_hal_contract", contract(build)))
    failed += say(*_named(f"{name}_sixteen_ranks", job(build)))
    sources = glob.glob(os.path.join(hosted.ROOT, "tests", "kernel", "*.c"))
    for test in sorted({os.path.basename(p)[:-len(".c")] for p in sources} - {"ktest"}):
        for shape in shapes(test):
            if (name, test) in APART:
                print(f"skip {name}_kernel_{test}_{'_'.join(shape)}: {APART[name, test]}", flush=True)
                continue
            failed += say(*_named(f"{name}_kernel_{test}_{'_'.join(shape)}", kernel_test(build, test, shape)))
    return failed


def _named(name, result):
    return result[0], name, result[1]


def main(names):
    """All sanitizers, or the named ones."""
    return 1 if sum(check(n) for n in SANITIZERS if not names or n in names) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
