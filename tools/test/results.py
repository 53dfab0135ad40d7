# SPDX-License-Identifier: MIT
"""Run tests that are programs, collect what they say, sum it up.

A test program prints `ok NAME`, `FAIL NAME: why` or `skip NAME: why`, one line per test, and ends
with 0 or 1. A program that crashes, runs over its time or says nothing has failed, whatever it
printed before.
"""

import _thread
import collections
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time

import patience
from ui import ROOT, Steps, Usage, say

JOBS = 2
LINE = re.compile(r"(ok|FAIL|skip) ([^\s:]+)(?::\s*(.*))?")
TAIL = 40
MORE = 5		# further reasons of one failure that are shown


class Result:
    """How one test ended: state is "passed", "failed" or "skipped"."""

    def __init__(self, name, state, why="", seconds=0.0):
        self.name, self.state, self.why, self.seconds = name, state, why, seconds


class Task:
    """Something that yields results: name, run() -> [Result], and how many seconds it may take."""

    def __init__(self, name, run, weight=1):
        self.name, self.run, self.weight = name, run, weight


class Run:
    """What a program did."""

    def __init__(self, status, output, seconds, timed_out):
        self.status, self.output, self.seconds, self.timed_out = status, output, seconds, timed_out


_groups = set()
_groups_lock = threading.Lock()
_state = {"jobs": JOBS, "ended": False}


def jobs():
    """How many tests run, or compilers, at a time."""
    return _state["jobs"]


def take_jobs(argv, known=()):
    """Take -jN out of a command line, and the options that the caller knows; returns the rest."""
    rest = []
    for a in argv:
        if a.startswith("-j"):
            if not a[2:].isdecimal() or not 0 < int(a[2:]) <= 1024:
                raise Usage(f"-j needs a number right behind it, such as -j1, not '{a[2:]}'")
            _state["jobs"] = int(a[2:])
        elif a not in known:
            rest.append(a)
    return rest


def _kill(pgid):
    try:
        os.killpg(pgid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def started(pgid):
    """A process group that kill_all() must end; one that starts after it ends at once."""
    with _groups_lock:
        _groups.add(pgid)
        if _state["ended"]:
            _kill(pgid)


def ended(pgid):
    """A process group that has ended."""
    with _groups_lock:
        _groups.discard(pgid)


def kill_all():
    """End every program that is still running, and every one that is about to start."""
    with _groups_lock:
        _state["ended"] = True
        for pgid in list(_groups):
            _kill(pgid)


def call(argv, timeout_s, env=None, cwd=None, dump=None):
    """Run a program in its own process group; at the time limit (tools/patience.py) dump it
    and end the whole group.
    """
    start = time.monotonic()
    p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, start_new_session=True,
                         env={**os.environ, "ATOLL_PATIENT": "1", **(env or {})}, cwd=cwd or ROOT)
    started(p.pid)
    timed_out, extra = False, ""
    try:
        output = patience.communicate(p, timeout_s)[0]
    except subprocess.TimeoutExpired:
        timed_out = True
        extra = "\n" + (dump or default_dump)(p.pid)
        os.killpg(p.pid, signal.SIGKILL)
        output = p.communicate()[0]
    finally:
        ended(p.pid)
        _kill(p.pid)
    text = output.decode("utf-8", "replace") + extra
    return Run(p.returncode, text, time.monotonic() - start, timed_out)


def default_dump(pgid):
    """What a hanging program's threads do."""
    import dump
    return "what every thread does:\n" + dump.hosted(pgid)


def last_lines(text, count=TAIL):
    """The end of an output, indented."""
    return "\n".join("    " + line for line in text.splitlines()[-count:])


def parse_output(group, run):
    """Results of a program that speaks the protocol."""
    found, order = {}, []
    for line in run.output.splitlines():
        m = LINE.match(line)
        if m:
            state = {"ok": "passed", "FAIL": "failed", "skip": "skipped"}[m.group(1)]
            name = f"{group}.{m.group(2)}"
            if name in found:
                if state == "failed":
                    old = found[name].why if found[name].why.count("\n") < MORE else ""
                    found[name].state, found[name].why = state, (old + "\n    " + (m.group(3) or "")
                                                                 if old else found[name].why)
                continue
            found[name] = Result(name, state, m.group(3) or "")
            order.append(found[name])
    failed = any(r.state == "failed" for r in order)
    if run.timed_out:
        order.append(Result(group, "failed", f"no end after {run.seconds:.0f} s\n{last_lines(run.output, 120)}"))
    elif run.status not in (0, 1) or (run.status == 1 and not failed):
        how = f"ended by signal {-run.status}" if run.status < 0 else f"exit status {run.status}"
        order.append(Result(group, "failed", f"{how}\n{last_lines(run.output)}"))
    elif run.status == 0 and failed:
        order.append(Result(group, "failed", "says FAIL but ends with 0"))
    elif not order:
        order.append(Result(group, "failed", "ran no test"))
    if order:
        order[0].seconds = run.seconds
    return order


def program_task(group, argv, timeout_s=60, env=None):
    """A Task that runs one program which speaks the protocol."""
    return Task(group, lambda: parse_output(group, call(argv, timeout_s, env)))


def check_task(name, function):
    """A Task for a check: no problems is a pass."""
    def run():
        start = time.monotonic()
        problems = function()
        seconds = time.monotonic() - start
        if problems:
            more = [f"and {len(problems) - 20} more"] if len(problems) > 20 else []
            return [Result(name, "failed", "\n".join("    " + p for p in [""] + problems[:20] + more), seconds)]
        return [Result(name, "passed", "", seconds)]
    return Task(name, run)


def guard(task):
    """Run a task; whatever it raises is a failure of that task."""
    try:
        return task.run()
    except (Exception, SystemExit) as e:		# noqa: BLE001 - a broken test must not hide the others
        return [Result(task.name, "failed", f"{type(e).__name__}: {e}")]


def report(result, verbose=False):
    """Print a failure, or with `verbose` any result."""
    if result.state == "failed":
        print(f"FAIL {result.name}: {result.why}", flush=True)
    elif verbose:
        print(f"{'ok' if result.state == 'passed' else 'skip'} {result.name} {result.why}".rstrip(), flush=True)


def _work(todo, done, workers):
    """What a worker does: one task after the other until none is left."""
    workers.append(True)
    try:
        while todo:
            task = todo.popleft()
            done.put((task, guard(task)))
    except IndexError:
        pass			# another worker has it
    finally:
        workers.pop()
        done.put(None)


def _take(done, steps, verbose):
    """The results of a task that has ended, as soon as there is one; failures are printed."""
    task, found = done.get() or (None, [])
    for r in found:
        if r.state == "failed" or verbose:
            steps.clear()
            report(r, verbose)
    if task:
        steps.step(task.name)
    return found


def run_all(title, tasks, verbose=False):
    """Run tasks, so many at a time as jobs() says.
    Failures are printed when they happen. Returns all results.

    An interrupt can come at any place in here, and ends what was begun. What the workers share with
    us is not written in Python: an interrupt inside of that could leave a lock taken.
    """
    todo, done, workers = collections.deque(), queue.SimpleQueue(), collections.deque()
    results, steps = [], Steps(title, len(tasks))
    try:
        todo.extend(tasks)
        for _ in range(min(jobs(), len(tasks))):
            _thread.start_new_thread(_work, (todo, done, workers))
        while steps.done < len(tasks):
            results += _take(done, steps, verbose)
    except BaseException:
        todo.clear()
        kill_all()
        steps.clear()
        while workers:
            done.get()
        raise
    count = {s: sum(r.state == s for r in results) for s in ("passed", "failed", "skipped")}
    steps.end(f"{count['passed']} passed, {count['failed']} failed" +
              (f", {count['skipped']} skipped" if count["skipped"] else ""))
    return results


def expected_skips(path=os.path.join(ROOT, "tests", "skips")):
    """Names of tests that may be skipped: lines `NAME reason`."""
    try:
        with open(path, encoding="utf-8") as f:
            return {line.split()[0] for line in f if line.strip() and not line.startswith("#")}
    except OSError:
        return set()


def summary(results):
    """Print skips with reasons, failures by name, and the last line. Returns the exit status."""
    skipped = [r for r in results if r.state == "skipped"]
    surprise = [r for r in skipped if r.name not in expected_skips()]
    failed = [r for r in results if r.state == "failed"]
    for r in skipped:
        print(f"skipped {r.name}: {r.why}")
    for r in failed:
        print(f"failed  {r.name}")
    passed = len(results) - len(failed) - len(skipped)
    print(f"{passed} passed, {len(failed)} failed" + (f", {len(skipped)} skipped" if skipped else ""))
    sys.stdout.flush()
    if surprise:
        say(f"in CI only what tests/skips names may be skipped, not {', '.join(r.name for r in surprise)}")
    return 1 if failed or not results or (surprise and os.environ.get("CI")) else 0
