# SPDX-License-Identifier: MIT
"""The same program under MPICH (Python package mpich) and under ours says the same. Needs the hosted port built."""

import os
import random
import subprocess
import sys

import pytest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MPICC = os.path.join(sys.prefix, "bin", "mpicc_abi")
MPIEXEC = os.path.join(sys.prefix, "bin", "mpiexec")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not os.path.exists(MPICC), reason="the Python package mpich is not installed")]


def said(command):
    """What a program prints; it must end well."""
    p = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT, check=False)
    assert p.returncode == 0, p.stderr
    return p.stdout.splitlines()


@pytest.mark.parametrize("ranks", [1, 4, 7])
def test_groups_grids_and_graphs_are_what_the_peer_makes_of_them(ranks, tmp_path):
    source, program = os.path.join(ROOT, "tests", "peer", "sets.c"), str(tmp_path / "sets")
    subprocess.run([MPICC, "-o", program, source], check=True)
    seed = os.environ.get("SEED") or str(random.randrange(1 << 31))
    print(f"SEED={seed}")
    theirs = said([MPIEXEC, "-n", str(ranks), program, seed])
    ours = said(["./atoll", "run", "-n", str(ranks), source, seed])
    different = [(n, a, b) for n, (a, b) in enumerate(zip(theirs, ours)) if a != b]
    assert not different and len(theirs) == len(ours), f"SEED={seed}: {len(theirs)} and {len(ours)} lines, first {different[:3]}"
    assert len(ours) > 100 * ranks, f"SEED={seed}"
