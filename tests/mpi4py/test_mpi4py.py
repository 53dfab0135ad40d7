# SPDX-License-Identifier: MIT
"""mpi4py's own test suite on our MPI for process ranks. usage: test_mpi4py.py some | 1 | 2 | 4

`some` is what is run always: two ranks, without numpy, without what tests only datatypes at length.
A number: the whole suite on so many ranks. What is left out, and why, is in the file `skips`. A
module that does not end is a failure with what every rank does.

Prints `ok NAME` or `FAIL NAME: why` for each module.
"""

import fnmatch
import json
import os
import re
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "mpi", "tools")]
import rooms  # noqa: E402,F401
import dump  # noqa: E402
import install  # noqa: E402
import patience  # noqa: E402
import setup  # noqa: E402
import suite  # noqa: E402
from mpigen import implemented_in  # noqa: E402

MODULE_S = 300
DUMP_S = 5
LOCAL = ("test_datatype", "test_pack", "test_util_dtlib")	# say little about messages, and take half of the time
RULE = re.compile(r"(absent) (\w+): (.+)|(also) (.+)|\t(test) (\S+)(?: ranks=(\d+)(\+?))?|\t(says) (.+)")


class Skips:
    """The file `skips` for a number of ranks."""

    def __init__(self, path, ranks):
        self.left_out, self.says, self.absent = [], {}, {}
        why = None
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                line = line.rstrip("\n")
                if not line or line.startswith("#"):
                    continue
                m = RULE.fullmatch(line)
                if not m or (why is None and line[0] == "\t"):
                    raise SystemExit(f"{path}:{number}: what is this? {line}")
                if m.group(1):
                    why = self.absent[m.group(2)] = m.group(3)
                elif m.group(4):
                    why = m.group(5)
                elif m.group(10):
                    self.says[m.group(11)] = why
                elif not m.group(8) or (ranks >= int(m.group(8)) if m.group(9) else ranks == int(m.group(8))):
                    self.left_out.append(m.group(7))

    def stale(self):
        """Functions that are said to be absent and are not."""
        return sorted(set(self.absent) & implemented_in(os.path.join(ROOT, "mpi", "api")))


class Job:
    """Some modules on some ranks; tells the results as they come."""

    def __init__(self, ranks, config):
        argv = [os.path.join(install.ensure(), "bin", "mpiexec"), "-n", str(ranks),
                os.path.join(setup.VENV, "bin", "python3"),
                os.path.join(HERE, "ranks.py"), json.dumps(config)]
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.pids, self.module, self.test, self.rest, self.text = [], None, None, b"", []

    def lines(self, limit_s, clock):
        """Lines; None at the end of the output, () when a clock has reached a limit."""
        while b"\n" not in self.rest:
            if not patience.readable([self.process.stdout], limit_s, clock):
                return ()
            got = os.read(self.process.stdout.fileno(), 65536)
            if not got:
                return None
            self.rest += got
        *whole, self.rest = self.rest.split(b"\n")
        return [w.decode(errors="replace") for w in whole]

    def take(self, line):
        """Note what a line says; the results of a module, or None."""
        word, _, what = line.partition(" ")
        if word == "@pid":
            self.pids.append(int(what.split()[1]))
        elif word == "@begin":
            self.module, self.text = what, []
        elif word == "@test":
            self.test = what
        elif word == "@end":
            self.module = self.test = None
            return json.loads(what)
        else:
            self.text.append(line)
        return None

    def what_all_do(self):
        """Of every rank the lines of Python, and the functions below."""
        said, clock = [], patience.Clock(self.process.pid)
        for pid in self.pids:
            os.kill(pid, signal.SIGUSR1)
        while got := self.lines(DUMP_S, clock):
            said += got
        return "\n".join(said) + "\n" + dump.hosted(os.getpgid(self.process.pid))

    def results(self):
        """Yields what modules give; the last one may be a text: how the job failed."""
        clock = patience.Clock(self.process.pid)
        while got := self.lines(MODULE_S, clock):
            for line in got:
                found = self.take(line)
                if found:
                    clock = patience.Clock(self.process.pid)
                    yield found
        if got is None:
            if self.process.wait() != 0:
                yield f"exit status {self.process.returncode} in {self.test or self.module}: " + " | ".join(
                    self.text[-12:]
                )
            return
        yield f"no end after {MODULE_S} s in {self.test or self.module}; what every rank does: " + " | ".join(
            self.what_all_do().splitlines()
        )
        self.process.kill()
        self.process.wait()


def judge(found, skips, count):
    """Problems of a module's results on all ranks; counts tests and skips."""
    bad = []
    for rank, r in enumerate(found["ranks"]):
        bad += [f"rank {rank}: {name}: " + text.strip().replace("\n", " | ")[-700:] for name, text in r["bad"]]
        bad += [f"rank {rank}: a test skips itself: {why}" for why in r["skipped"] if why not in skips.says]
        for why, n in r["skipped"].items():
            reason = skips.says.get(why, why)
            count[reason] = count.get(reason, 0) + (n if rank == 0 else 0)
    return bad


def run(modules, ranks, config, skips):
    """All modules; after one that ends the job, the others in a job of their own.
    True if all is well.
    """
    well, count, ran = True, {}, 0
    while modules:
        job = Job(ranks, dict(config, modules=modules))
        for found in job.results():
            name = job.module or modules[0] if isinstance(found, str) else found["module"]
            bad = [found] if isinstance(found, str) else judge(found, skips, count)
            ran += 0 if isinstance(found, str) else found["ranks"][0]["ran"]
            print(f"FAIL {name}: " + "\nFAIL {name}: ".format(name=name).join(bad[:6]) if bad
                  else f"ok {name}", flush=True)
            well &= not bad
            modules = modules[modules.index(name) + 1:]
        else:
            if job.process.poll() == 0:
                break
    print(f"{ran} tests at {ranks} ranks; skip themselves: " +
          (", ".join(f"{n} {why}" for why, n in sorted(count.items())) or "none"))
    return well


def main(argv):
    if len(argv) != 1 or argv[0] not in ("some", "1", "2", "4"):
        print(__doc__)
        return 2
    ranks = 2 if argv[0] == "some" else int(argv[0])
    package, tests = suite.ensure()
    skips = Skips(os.path.join(HERE, "skips"), ranks)
    well = not skips.stale()
    print("ok skips" if well else f"FAIL skips: these functions are there now, run their tests: "
                                  f"{' '.join(skips.stale())}")
    modules = sorted(n[:-len(".py")] for n in os.listdir(tests) if n.startswith("test_") and n.endswith(".py"))
    modules = [m for m in modules if not any(fnmatch.fnmatchcase(f"{m}.*", p) for p in skips.left_out)]
    without = ["cupy", "numba"]
    if argv[0] == "some":
        modules = [m for m in modules if m not in LOCAL]
        without.append("numpy")
    config = {"package": package, "tests": tests, "without": without, "left_out": skips.left_out}
    return 0 if run(modules, ranks, config, skips) and well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
