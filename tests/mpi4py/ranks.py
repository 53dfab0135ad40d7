# SPDX-License-Identifier: MIT
"""Runs inside each rank: some modules of mpi4py's suite, one after the other. Rank 0 says after
each how it went on all ranks.

Lines that begin with @ are for test_mpi4py.py: `@pid RANK PID`, `@begin MODULE`, `@test ID`, `@end
JSON`.
"""

import collections
import faulthandler
import fnmatch
import importlib
import io
import json
import os
import signal
import sys
import unittest


def say(*words):
    print("@" + " ".join(str(w) for w in words), flush=True)


class Loader(unittest.TestLoader):
    """Leaves out what matches one of some patterns."""

    def __init__(self, left_out):
        super().__init__()
        self.left_out = left_out

    def getTestCaseNames(self, testCaseClass):
        def runs(name):
            full = f"{testCaseClass.__module__}.{testCaseClass.__qualname__}.{name}"
            return not any(fnmatch.fnmatchcase(full, p) for p in self.left_out)
        return [n for n in super().getTestCaseNames(testCaseClass) if runs(n)]


class Result(unittest.TestResult):
    """Says what begins, so that one knows where a rank hangs."""

    loud = False

    def startTest(self, test):
        super().startTest(test)
        if self.loud:
            say("test", test.id())


def run(module, config, loud):
    """One module on this rank: what the others shall know."""
    suite = Loader(config["left_out"]).loadTestsFromName(module)
    result = Result()
    result.loud = loud
    held, sys.stderr = sys.stderr, io.StringIO()
    try:
        suite.run(result)
    finally:
        sys.stderr = held
    bad = [(t.id(), text[-1500:]) for t,
           text in result.failures + result.errors] + [(t.id(), "unexpected success")
                                                       for t in result.unexpectedSuccesses]
    return {"ran": result.testsRun, "bad": bad, "skipped": collections.Counter(why for _, why in result.skipped)}


def main():
    config = json.loads(sys.argv[1])
    sys.path[:0] = [config["package"], config["tests"]]
    for name in config["without"]:
        sys.modules[name] = None
    faulthandler.register(signal.SIGUSR1, all_threads=True, file=sys.__stderr__)
    MPI = importlib.import_module("mpi4py.MPI")
    comm = MPI.COMM_WORLD.Dup()
    say("pid", comm.rank, os.getpid())
    for module in config["modules"]:
        comm.Barrier()
        if comm.rank == 0:
            say("begin", module)
        mine = run(module, config, comm.rank == 0)
        all_ranks = comm.gather(mine, 0)
        if comm.rank == 0:
            say("end", json.dumps({"module": module, "ranks": all_ranks}))
    comm.Free()


if __name__ == "__main__":
    main()
