# SPDX-License-Identifier: MIT
"""The figures that programs print of themselves, with our mpiexec and library and with MPICH's.
usage: compare.py [--rounds N] NAME...

One binary for both: it is linked against our library, and LD_LIBRARY_PATH puts MPICH's before it,
which has the same standard ABI. The two take turns (3 rounds). Prints, for each run of table.toml
that has figures, the medians and the ratio to MPICH's, as rows of a table.
"""

import os
import re
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import program  # noqa: E402
import setup  # noqa: E402
import test_programs  # noqa: E402


def peer_environment(env):
    """The same environment with MPICH's mpiexec and library in front."""
    folder = os.path.join(program.FOLDER, "mpich", "bin")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "mpiexec")
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(f'#!/bin/sh\nexec {os.path.join(setup.VENV, "bin", "mpiexec")} "$@"\n')
    os.chmod(path + ".new", 0o755)
    os.replace(path + ".new", path)
    return dict(env, PATH=folder + os.pathsep + env["PATH"],
                LD_LIBRARY_PATH=os.path.join(os.path.realpath(setup.VENV), "lib"))


def figures(run, output):
    """{name: number} of what the run's patterns find; a figure that is not there fails."""
    out = {}
    for name, pattern in run["figures"].items():
        m = re.search(pattern, output, re.M)
        if not m:
            raise SystemExit(f"{run['name']}: no figure {name} in: {output[-600:]}")
        out[name] = float(m.group(1))
    return out


def compare(chosen, run, ranks, rounds):
    """Rows (figure, ours, MPICH's, ratio), medians of so many rounds."""
    ours = chosen.ensure()
    sides, found = {"ours": ours, "MPICH": peer_environment(ours)}, {}
    for _ in range(rounds):
        for side, env in sides.items():
            did = test_programs.do(run, ranks, env, chosen.source)
            if did.status != run.get("status", 0):
                raise SystemExit(f"{chosen.name} {run['name']} at {ranks} ranks with {side}: exit "
                                 f"status {did.status}: {did.output[-600:]}")
            for name, value in figures(run, did.output).items():
                found.setdefault(name, {}).setdefault(side, []).append(value)
    for name, by in found.items():
        a, b = (statistics.median(by[side]) for side in sides)
        yield name, a, b, a / b


def main(argv):
    rounds = 3
    if argv[:1] == ["--rounds"] and len(argv) > 1:
        rounds, argv = int(argv[1]), argv[2:]
    table = program.load()
    if not argv or any(n not in table for n in argv):
        print(__doc__ + "\nprograms with figures: " +
              ", ".join(n for n, p in table.items() if any("figures" in r for r in p.runs)))
        return 2
    print("| program | ranks | figure | ours | MPICH | ours / MPICH |\n|---|---|---|---|---|---|")
    for name in argv:
        for run in (r for r in table[name].runs if "figures" in r):
            for ranks in run["ranks"]:
                for figure, a, b, ratio in compare(table[name], run, ranks, rounds):
                    print(f"| {name} {run['name']} | {ranks} | {figure} | {a:.4g} | {b:.4g} | "
                          f"{ratio:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
