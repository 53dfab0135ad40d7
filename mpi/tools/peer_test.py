# SPDX-License-Identifier: MIT
"""The same program under MPICH (Python package mpich) and under ours says the same.
Needs the hosted port built.
"""

import os
import random
import subprocess
import sys

import pytest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MPICC = os.path.join(sys.prefix, "bin", "mpicc_abi")
MPIEXEC = os.path.join(sys.prefix, "bin", "mpiexec")

pytestmark = [pytest.mark.slow,
              pytest.mark.skipif(not os.path.exists(MPICC), reason="the Python package mpich is not installed")]


def said(command):
    """What a program prints; it must end well."""
    p = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT, check=False)
    assert p.returncode == 0, p.stderr
    return p.stdout.splitlines()


def compare(name, ranks, arguments, folder):
    """Build a program of tests/peer with both, run it and compare what it prints; returns the
    number of lines.
    """
    source, program = os.path.join(ROOT, "tests", "peer", name + ".c"), str(folder / name)
    subprocess.run([MPICC, "-o", program, source], check=True)
    theirs = said([MPIEXEC, "-n", str(ranks), program, *arguments])
    ours = said(["./atoll", "run", "-n", str(ranks), source, *arguments])
    different = [(n, a, b) for n, (a, b) in enumerate(zip(theirs, ours)) if a != b]
    assert not different and len(theirs) == len(
        ours
    ), f"{arguments}: {len(theirs)} and {len(ours)} lines, first {different[:3]}"
    return len(ours)


@pytest.mark.parametrize("ranks", [1, 4, 7])
def test_groups_grids_and_graphs_are_what_the_peer_makes_of_them(ranks, tmp_path):
    seed = os.environ.get("SEED") or str(random.randrange(1 << 31))
    print(f"SEED={seed}")
    assert compare("sets", ranks, [seed], tmp_path) > 100 * ranks, f"SEED={seed}"


def test_every_operation_computes_what_the_peer_computes_on_every_type(tmp_path):
    """The standard leaves open what happens to other pairs of an operation and a type: we compute
    at least what the peer does.
    """
    source, theirs = os.path.join(ROOT, "tests", "peer", "reductions.c"), str(tmp_path / "reductions")
    subprocess.run([MPICC, "-o", theirs, source], check=True)
    said_there, said_here = (dict(line.rsplit(" ", 1) for line in said(command)) for command in (
        [MPIEXEC, "-n", "1", theirs], ["./atoll", "run", "-n", "1", source]))
    assert set(said_there) == set(said_here) and len(said_here) > 700
    assert {pair: (result, said_here[pair]) for pair,
            result in said_there.items() if result not in ("refused", said_here[pair])} == {}


def test_every_number_is_split_into_dimensions_as_by_the_peer(tmp_path):
    assert compare("dims", 1, [], tmp_path) == 5 * 30000
