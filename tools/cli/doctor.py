# SPDX-License-Identifier: MIT
"""./atoll doctor: what is installed, what is missing, what to do."""

import os
import platform
import shutil
import subprocess

import machine as machines
import setup
from ui import BUILD, Usage

VERSIONS = ("gcc", "clang", "make", "qemu-system-riscv64", "riscv64-unknown-elf-gcc",
            "qemu-system-or1k", "or1k-elf-gcc", "spin")


def version(tool):
    """First line of a tool's version, or None."""
    path = shutil.which(tool)
    if not path:
        return None
    flag = "-V" if tool == "spin" else "--version"
    out = subprocess.run([path, flag], capture_output=True, text=True, errors="replace").stdout.splitlines()
    return out[0] if out else "?"


def main(argv):
    """Exit status 0 if everything is there, 1 if something is missing."""
    if argv:
        if argv[0] in ("-h", "--help"):
            print("usage: ./atoll doctor")
            return 0
        raise Usage("usage: ./atoll doctor")
    print(f"system      {platform.system()} {platform.release()}, {machines.host_cpus()} CPUs for "
          f"us, Python {platform.python_version()}")
    for tool in VERSIONS:
        print(f"{tool:<24}{version(tool) or 'missing'}")
    bad = 0
    for level, use in (("run", "run on the hosted port"), ("riscv64", "run on riscv64"),
                       ("or1k", "run on or1k"), ("demo", "demo"), ("dev", "test and check"),
                       ("hw", "simulate and synthesise")):
        missing = setup.missing_packages(level)
        state = "ready" if setup.is_ready(level) else "not set up yet: the first use does it, or ./atoll setup " + level
        if missing:
            bad = 1
            state = f"missing Debian packages: {' '.join(missing)}; ./atoll setup {level} installs them"
        print(f"{use:<24}{state}")
    state = "not set up: optional, ./atoll setup asic" if setup.missing_packages("asic") else "ready"
    print(f"{'check the power model':<24}{state}")
    for port in ("hosted", "riscv64", "or1k"):
        there = os.path.exists(os.path.join(BUILD, port, ".built"))
        print(f"{port + ' build':<24}{'there' if there else 'not built yet: the first run does it'}")
    mpicc = os.path.join(BUILD, "process", "prefix", "bin", "mpicc")
    state = ("ready: " + mpicc if os.path.exists(mpicc)
             else "not built yet: ./atoll install --prefix DIR, or the first run does it")
    print(f"{'process ranks':<24}{state}")
    print("mpi4py on our MPI       ./atoll install --prefix DIR\n"
          "                        MPICC=$(realpath DIR)/bin/mpicc pip install --no-cache-dir "
          "--no-binary mpi4py mpi4py==4.1.2\n"
          "                        DIR/bin/mpiexec -n 4 python3 -m mpi4py.bench helloworld")
    return bad
