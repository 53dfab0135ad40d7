# SPDX-License-Identifier: MIT
"""./atoll check: the fast gate.
Builds hosted, runs the unit tests and the tools' tests, and looks at the text.
"""

import os
import re
import tempfile
import time

import builder
import results
import setup
from checks import (conditionals, decisions, kernel_data, layering, layout, modules, originals, papers, porting,
                    sizes, tiers, triads)
from ui import BUILD, ROOT, Usage, say

HELP = """usage: ./atoll check [-v] [-jN]

The fast gate: kernel and servers for hosted, the kernel for a 32-bit CPU, what process ranks alone
have, unit tests (MPI's with all of MPI), each under the first of its sanitizers, the tools' tests,
layering, sizes, layout, no mutable data in the kernel. Some 20 seconds, 50 in a fresh clone.
-jN: N at a time, instead of 2.
"""
UNIT_TIMEOUT_S = 120
# pytest's arguments for the gate: what needs no machine, without the co-design study
FAST_TESTS = ("-m", "not slow", "--ignore", "tools/codesign", "tools", "mpi/tools")


def build_task(name, port, targets=(), variables=()):
    """A Task that builds; the compiler's words are the reason of a failure."""
    def run():
        start, started_ns = time.monotonic(), time.time_ns()
        build = builder.Build(port, targets, variables, results.jobs(), keep_going=True)
        with builder.lock(f"building {port}", variables) as hold:
            failed = build.run(hold)
            if not (failed or targets or variables):
                builder.mark(port, started_ns, True)
        why = "\n" + results.last_lines("".join(build.words)) if failed else ""
        return [results.Result(name, "failed" if failed else "passed", why, time.monotonic() - start)]
    return results.Task(name, run)


def run_builds(tasks, verbose=False):
    """Build one after the other; each shows its own progress. Returns all results."""
    found = []
    for task in tasks:
        for r in results.guard(task):
            results.report(r, verbose)
            found.append(r)
    return found


def build_tasks(fast=False):
    """What is compiled before the tests; for the fast gate without programs, with the unit tests
    under one sanitizer each, by one compiler.

    The fast gate compiles MPI once only, for its unit tests."""
    if fast:
        return [build_task("build.hosted", "hosted", ("kernel", "servers")),
                build_task("build.process", "process", ("process-own",)),
                build_task("build.unit", "unit", ("unit-first",)), build_task("build.or1k", "or1k", ("kernel",))]
    return [
        build_task("build.hosted", "hosted"),
        build_task("build.process", "process"),
        build_task("build.unit", "unit"),
        build_task("build.clang", "hosted", ("kernel",),
                   ("CC=clang", f"BUILD={os.path.relpath(os.path.join(BUILD, 'clang'), ROOT)}")),
        build_task("build.or1k", "or1k"),
    ]


def unit_tasks(fast=False):
    """Every unit test that has a rule; with `fast` what the gate takes of them: the first
    sanitizer, shorter where the test's head says so.

    A thread-sanitized program wants addresses that are not randomised."""
    folder = os.path.join(BUILD, "unit")
    try:
        with open(os.path.join(folder, "tests.mk"), encoding="utf-8") as f:
            rules = re.findall(rf"^unit{'-first' * fast}: \$\(OUT\)/(\S+)(?: #(.*))?$", f.read(), re.M)
    except OSError:
        rules = []
    out = []
    for name, shorter in sorted(rules):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            env = dict(word.split("=") for word in shorter.split() if "=" in word)
            argv = ["setarch", "-R", path, *(word for word in shorter.split() if "=" not in word)]
            out.append(results.program_task(f"unit.{name}", argv, UNIT_TIMEOUT_S, env))
    return out


def pytest_task(name, select=()):
    """The tools' tests; each becomes one result."""
    def run():
        import xml.etree.ElementTree as tree
        python = os.path.join(setup.VENV, "bin", "python3")
        with tempfile.TemporaryDirectory(prefix="atoll-pytest-") as folder:
            report = os.path.join(folder, "report.xml")
            r = results.call([python, "-m", "pytest", "-q", "--junitxml", report, "-p",
                              "no:cacheprovider", *select], 600)
            try:
                cases = list(tree.parse(report).iter("testcase"))
            except (OSError, tree.ParseError):
                return [results.Result(name, "failed", "pytest did not run\n" + results.last_lines(r.output))]
        out = [_case(c) for c in cases]
        if r.status and not any(x.state == "failed" for x in out):
            out.append(results.Result(name, "failed", f"pytest ended with {r.status}\n{results.last_lines(r.output)}"))
        return out
    return results.Task(name, run)


def _case(case):
    name = "python." + case.get("classname", "").split(".")[-1] + "." + case.get("name", "")
    for kind, state in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        node = case.find(kind)
        if node is not None:
            why = (node.get("message") or "").strip()
            return results.Result(name, state, why + "\n" + results.last_lines(node.text or "", 12)
                                  if state == "failed" else why)
    return results.Result(name, "passed", "", float(case.get("time", 0)))


def text_tasks():
    """The checks that read sources and objects."""
    return [
        results.check_task("check.layering", lambda: layering.check(ROOT)),
        results.check_task("check.tiers", lambda: tiers.check(ROOT)),
        results.check_task("check.modules", lambda: modules.check(ROOT)),
        results.check_task("check.sizes", lambda: sizes.check(ROOT)),
        results.check_task("check.conditionals", lambda: conditionals.check(ROOT)),
        results.check_task("check.layout", lambda: layout.check(ROOT)),
        results.check_task("check.kernel_data", lambda: kernel_data.check(ROOT)),
        results.check_task("check.papers", lambda: papers.check(ROOT)),
        results.check_task("check.originals", lambda: originals.check(ROOT)),
        results.check_task("check.decisions", lambda: decisions.check(ROOT)),
        results.check_task("check.porting", lambda: porting.check(ROOT)),
        results.check_task("check.triads", lambda: triads.check(ROOT)),
    ]


def main(argv):
    """Exit status 0 if everything holds."""
    if argv and argv[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0
    if results.take_jobs(argv, ("-v",)):
        raise Usage("usage: ./atoll check [-v] [-jN]")
    verbose = "-v" in argv
    start = time.monotonic()
    setup.ensure("dev")
    found = run_builds(build_tasks(fast=True), verbose)
    # the longest task comes first, so that two workers end together
    found += results.run_all("checking",
                             [pytest_task("python", FAST_TESTS)] + text_tasks() + unit_tasks(fast=True),
                             verbose=verbose)
    for line in sizes.survey(ROOT)[1]:
        print(line)
    status = results.summary(found)
    say(f"{time.monotonic() - start:.0f} s")
    return status
