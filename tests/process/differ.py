# SPDX-License-Identifier: MIT
"""Random programs on our library and on MPICH: the same binary, the same lines. A difference is
made small: the step alone if it differs alone, or with as few of those before it as it takes, with
as few and as short messages.

    differ.py [--ranks N] [--steps N] [--seeds FROM-TO] [--state FILE] [--threads]

Without --seeds it goes on from the seed that --state names (1 if there is none yet) until it is
stopped or finds a difference; --threads compares with ranks that are threads (build/hosted), too.
"""

import argparse
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scenario  # noqa: E402
from scenario import MPIEXEC, PREFIX, ROOT, WORK, Skip, Wrong, call, install, must  # noqa: E402

SOURCES = os.path.join(ROOT, "tests", "mpi", "differ")
VENV = os.path.join(ROOT, ".venv")
RESTARTS = 4
PEER_PATIENCE_S = 20
STUDY_PATIENCE_S = 900
RANKS = (2, 3, 4)
UNKNOWN = "0" * 16


def build():
    """The program, linked with our library; either one can run it."""
    out = os.path.join(WORK, "differ")
    if not os.path.exists(out):
        sources = sorted(os.path.join(SOURCES, n) for n in os.listdir(SOURCES) if n.endswith(".c"))
        must(call([os.path.join(PREFIX, "bin", "mpicc"), "-O2", "-Wall", "-Wextra", "-Werror", "-o", out, *sources]), 0)
    return out


class Library:
    """One way to run the program."""

    def __init__(self, name, argv, env=None, trusted=True):
        self.name, self.argv, self.env, self.trusted = name, argv, env or {}, trusted

    def run(self, ranks, args):
        """Exit status and lines of steps: number -> (kind, sums)."""
        argv = [w.format(ranks=ranks) for w in self.argv] + args
        if not self.trusted:
            argv = ["timeout", "-k", "2", str(PEER_PATIENCE_S)] + argv
        done = call(argv, env=self.env)
        return done, steps_of(done.out)


def steps_of(text):
    """Lines `step N KIND: SUM...`, whole ones only."""
    found = {}
    for line in text.splitlines():
        head, _, sums = line.partition(": ")
        words = head.split()
        if len(words) == 3 and words[0] == "step" and words[1].isdecimal():
            found[int(words[1])] = (words[2], sums.split())
    return found


def mpich():
    """MPICH from the Python environment, same binary."""
    lib = os.path.join(VENV, "lib")
    launcher = os.path.join(VENV, "bin", "mpiexec")
    if not os.path.exists(os.path.join(lib, "libmpi_abi.so.1")) or not os.path.exists(launcher):
        raise Skip("the Python package mpich is not installed")
    return Library("mpich", [launcher, "-n", "{ranks}", build()], {"LD_LIBRARY_PATH": lib}, trusted=False)


def ours():
    """Process ranks, with data fetched and with data in chunks."""
    argv = [MPIEXEC, "-n", "{ranks}", build()]
    return [Library("atoll", argv), Library("atoll in chunks", argv, {"ATOLL_MPI_FETCH": "no"})]


def threads(port="hosted", machine="laptop"):
    """Thread ranks of a port, of the program that its build makes."""
    program = os.path.join(ROOT, "build", port, "tests", "differ")
    if not os.path.exists(program):
        raise Skip(f"{program} is not built")
    argv = [os.path.join(ROOT, "atoll"), "run", "-n", "{ranks}", "--port", port, "--machine", machine, program]
    return Library(f"{port} threads", argv)


def all_steps(library, ranks, seed, args, count):
    """The peer's lines; when it ends early, it begins again after the step at which it did."""
    done, found = library.run(ranks, [str(seed), f"steps={count}", *args])
    for _ in range(RESTARTS):
        if done.status == 0:
            break
        begun = max(found, default=-1) + 2
        if begun >= count:
            break
        done, more = library.run(ranks, [str(seed), "only=" + ",".join(map(str, range(begun, count))), *args])
        if not more:
            more = {begun: ("", [])}
        found |= more
    return found


def first_difference(a, b):
    """The first step in which two runs differ in something that both know, or None; and how many
    sums were compared.
    """
    compared = 0
    for step in sorted(a.keys() & b.keys()):
        # a line that is cut off belongs to a step in which the peer ended
        if len(a[step][1]) != len(b[step][1]):
            continue
        for x, y in zip(a[step][1], b[step][1]):
            if len(x) != 16 or len(y) != 16 or UNKNOWN in (x, y):
                continue
            compared += 1
            if x != y:
                return step, compared
    return None, compared


def differs(one, two, ranks, seed, args):
    """Do the last steps of these arguments differ?"""
    (_, a), (_, b) = one.run(ranks, [str(seed), *args]), two.run(ranks, [str(seed), *args])
    return first_difference(a, b)[0] is not None


def shrink(one, two, ranks, seed, step):
    """The shortest arguments that still show a difference."""
    keep = list(range(step))
    if differs(one, two, ranks, seed, [f"only={step}"]):
        keep = []
    size = max(1, len(keep) // 2)
    while keep:
        for at in range(0, len(keep), size):
            fewer = keep[:at] + keep[at + size:]
            if differs(one, two, ranks, seed, ["only=" + ",".join(map(str, fewer + [step]))]):
                keep = fewer
                break
        else:
            if size == 1:
                break
            size //= 2
    args = ["only=" + ",".join(map(str, keep + [step]))]
    for key, values in (("most", (1, 2, 3, 5, 8, 12)), ("bytes", (8, 100, 1000, 5000, 20000, 100000))):
        for value in values:
            if differs(one, two, ranks, seed, args + [f"{key}={value}"]):
                args.append(f"{key}={value}")
                break
    return args


def try_seed(libraries, peer, ranks, seed, steps, args=()):
    """All libraries against the peer; returns sums compared and sums there were.
    A difference is an error.
    """
    theirs = all_steps(peer, ranks, seed, list(args), steps)
    compared = 0
    for library in libraries:
        done, found = library.run(ranks, [str(seed), f"steps={steps}", *args])
        again = f"{' '.join(w.format(ranks=ranks) for w in library.argv)} {seed}"
        must(done, 0, "No errors")
        if len(found) != steps:
            raise Wrong(f"seed {seed}, {ranks} ranks: {len(found)} steps instead of {steps}: {again}")
        step, n = first_difference(found, theirs)
        compared += n
        if step is not None:
            small = " ".join(shrink(library, peer, ranks, seed, step))
            raise Wrong(f"seed {seed}, {ranks} ranks, step {step} ({found[step][0]}): "
                        f"{library.name} differs from {peer.name}\n"
                        f"  {library.name} {' '.join(found[step][1])}\n"
                        f"  {peer.name} {' '.join(theirs[step][1])}\n  {again} {small} -v\n"
                        f"  LD_LIBRARY_PATH={peer.env.get('LD_LIBRARY_PATH', '')} "
                        f"{' '.join(peer.argv)} {seed} {small} -v")
    return compared, len(libraries) * steps * ranks


def parse(argv):
    """Options of the long study."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--ranks", type=int, help="only so many ranks (2, 3 and 4)")
    p.add_argument("--steps", type=int, default=60)
    p.add_argument("--seeds", help="FROM-TO")
    p.add_argument("--state", help="file with the next seed")
    p.add_argument("--threads", action="store_true")
    p.add_argument("--keep-going", action="store_true", help="print differences and go on")
    return p.parse_args(argv)


def study(o):
    """Seed after seed; the number of differences."""
    first, last, failed = 1, None, 0
    if o.seeds:
        first, last = (int(w) for w in (o.seeds.split("-") * 2)[:2])
    elif o.state and os.path.exists(o.state):
        with open(o.state, encoding="ascii") as f:
            first = int(f.read())
    # beside other work, at low priority
    scenario.PATIENCE_S = STUDY_PATIENCE_S
    libraries, peer = ours() + ([threads()] if o.threads else []), mpich()
    seed, compared, there = first, 0, 0
    while last is None or seed <= last:
        for ranks in (o.ranks,) if o.ranks else RANKS:
            try:
                got = try_seed(libraries, peer, ranks, seed, o.steps)
                compared, there = compared + got[0], there + got[1]
            except Wrong as e:
                failed += 1
                print(f"seed {seed}: {e}", flush=True)
                if not o.keep_going:
                    return failed
        seed += 1
        if o.state:
            with open(o.state, "w", encoding="ascii") as f:
                f.write(f"{seed}\n")
        print(f"seed {seed - 1}: {compared} of {there} sums compared, {failed} differences", flush=True)
    return failed


if __name__ == "__main__":
    install.ensure()
    try:
        sys.exit(1 if study(parse(sys.argv[1:])) else 0)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
