# SPDX-License-Identifier: MIT
"""What the scenarios of process ranks share: the installed tree, programs compiled with its mpicc,
a running job, the test protocol.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import install  # noqa: E402
import patience  # noqa: E402

PATIENCE_S = 60
PREFIX = os.path.join(ROOT, "build", "process", "prefix")
MPIEXEC = os.path.join(PREFIX, "bin", "mpiexec")
WORK = tempfile.mkdtemp(prefix="atoll-process-")

# a shell that runs this in the background makes it ignore Ctrl-C, and so would everything that it
# starts
for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)


class Wrong(Exception):
    """What a run did instead."""


class Skip(Exception):
    """What is missing for a test."""


def program(name, mpicc=None, *flags):
    """Compile tests/process/NAME with the installed mpicc (or another compiler); returns the
    program.
    """
    source = os.path.join(HERE, name)
    out = os.path.join(WORK, f"{os.path.splitext(name)[0]}.{abs(hash((mpicc, flags))) % 100000}")
    if not os.path.exists(out):
        compiler = mpicc or os.path.join(PREFIX, "bin", "mpicxx" if name.endswith(".cc") else "mpicc")
        must(call([compiler, "-O2", "-Wall", "-Wextra", "-Werror", *flags, "-o", out, source]), 0)
    return out


class Done:
    """How a command ended."""

    def __init__(self, argv, status, out, err):
        self.argv, self.status, self.out, self.err = argv, status, out, err

    def __str__(self):
        return f"{' '.join(self.argv)}: status {self.status}\n{self.out[-2000:]}\n{self.err[-2000:]}"


def call(argv, stdin=None, env=None, cwd=None):
    """Run a command to its end. No end is a failure."""
    feed = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
    try:
        p = patience.run(argv, env={**os.environ, **(env or {})}, cwd=cwd, capture_output=True,
                         timeout=PATIENCE_S, check=False, **feed)
    except subprocess.TimeoutExpired as e:
        raise Wrong(f"{' '.join(argv)}: no end after {PATIENCE_S} s\n{e.stdout}\n{e.stderr}") from None
    return Done(argv, p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace"))


def mpiexec(*args, **more):
    """Run a job to its end."""
    return call([MPIEXEC, *args], **more)


def must(done, status, *texts):
    """Check status and what is said on either stream."""
    if done.status != status:
        raise Wrong(f"status {done.status} instead of {status}: {done}")
    for text in texts:
        if text not in done.out + done.err:
            raise Wrong(f"does not say '{text}': {done}")
    return done


def must_be(have, want, what):
    """Check a value."""
    if have != want:
        raise Wrong(f"{what}: {have} instead of {want}")


class Job:
    """A job that runs until something happens to it: tests/process/hold.c."""

    def __init__(self, ranks, *args, wrap=()):
        self.argv = [MPIEXEC, "-n", str(ranks), *wrap, *args]
        self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, start_new_session=True)
        self.seen, self.pids = "", []
        while len(self.pids) < ranks:
            self.seen += self.read_some()
            self.pids = [int(p) for p in re.findall(r"ready (\d+)\n", self.seen)]
        self.watches = [os.pidfd_open(p) for p in self.pids]

    def read_some(self):
        """Some output; nothing for too long is a failure."""
        if not patience.readable([self.process.stdout], PATIENCE_S):
            self.process.kill()
            raise Wrong(f"{' '.join(self.argv)}: the ranks do not start\n{self.seen}")
        got = os.read(self.process.stdout.fileno(), 65536)
        if not got:
            raise Wrong(f"{' '.join(self.argv)}: ends at once\n{self.seen}\n{self.process.stderr.read().decode()}")
        return got.decode()

    def end(self):
        """Wait for the end; every process that was a rank must be gone."""
        try:
            out, err = patience.communicate(self.process, PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            raise Wrong(f"{' '.join(self.argv)}: no end after {PATIENCE_S} s") from None
        for pid, watch in zip(self.pids, self.watches):
            # readable when the process has ended
            if not patience.readable([watch], PATIENCE_S):
                os.kill(pid, signal.SIGKILL)
                raise Wrong(f"{' '.join(self.argv)}: rank's process {pid} is left")
            os.close(watch)
        return Done(self.argv, self.process.returncode, out.decode(), err.decode())


def one_line(done):
    """What mpiexec itself says must be one line."""
    lines = [x for x in done.err.splitlines() if x.startswith("mpiexec:")]
    if len(lines) != 1:
        raise Wrong(f"{len(lines)} lines of mpiexec instead of one: {done}")
    return lines[0]


def tool(name):
    """Path of a program that a test needs."""
    path = shutil.which(name)
    if not path:
        raise Skip(f"{name} is not installed")
    return path


def run_all(tests):
    """Run the tests that are functions named test_*, print the protocol's lines; the exit status.
    """
    failed = 0
    install.ensure()
    try:
        for name, test in tests:
            try:
                test()
                print(f"ok {name[5:]}", flush=True)
            except Skip as e:
                print(f"skip {name[5:]}: {e}", flush=True)
            except Wrong as e:
                failed += 1
                print(f"FAIL {name[5:]}: {str(e)[:4000]}", flush=True)
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    return 1 if failed else 0


def tests_of(module):
    """The tests of a module, in their order."""
    return [(n, f) for n, f in vars(module).items() if n.startswith("test_")]
