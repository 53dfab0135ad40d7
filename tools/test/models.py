# SPDX-License-Identifier: MIT
"""SPIN models of the protocols (tests/models/*.pml): each is verified, and each of its mutations
must fail.

In the model's head comment:
    run: [-DNAME[=VALUE] ...]          a configuration that must hold (default: one without options)
    mutation: -DNAME ...               a configuration in which a step is left out: the verifier must find the error
    pan: -mN ...                       for the verifier
    proves: PATH FUNCTION HASH         what it is a model of; the hash is of the function's text, so
                                       that a change asks for a look
"""

import hashlib
import os
import re
import shutil
import tempfile
import time

import results
from checks import source
from ui import ROOT

FOLDER = os.path.join(ROOT, "tests", "models")
TIMEOUT_S = 300


def read_head(text):
    """Directives of a model: {key: [list of words per line]}."""
    found = {key: [] for key in ("run", "mutation", "pan", "proves")}
    m = re.match(r"\s*/\*(.*?)\*/", text, re.S)
    for line in (m.group(1) if m else "").splitlines():
        d = re.match(r"\s*\*?\s*(run|mutation|pan|proves):\s*(.*)", line)
        if d:
            found[d.group(1)].append(d.group(2).split())
    return found


def function_hash(root, path, name):
    """Hash of a function's text without comments and blanks; None if it is not there."""
    try:
        text = source.read(root, path)
    except OSError:
        return None
    code = source.blank_comments(text).splitlines()
    for f in source.functions(text):
        if f.name == name:
            body = re.sub(r"\s+", "", "".join(code[f.line - 1:f.line - 1 + f.lines]))
            return hashlib.sha256(body.encode()).hexdigest()[:12]
    return None


def check_proves(root, path, head):
    """Problems of a model's `proves` lines."""
    problems = []
    for words in head["proves"]:
        if len(words) not in (2, 3):
            problems.append(f"{path}: proves: needs PATH FUNCTION HASH")
            continue
        now = function_hash(root, words[0], words[1])
        if now is None:
            problems.append(f"{path}: {words[0]} has no function {words[1]}")
        elif words[2:] != [now]:
            problems.append(f"{path}: {words[1]} in {words[0]} has changed: look whether the model "
                            f"still shows it, then write {now}")
    return problems


def verify(path, defines, pan, table=()):
    """Run spin, the compiler and the verifier.
    Returns (True: no error, False: an error was found, None: it did not run; output).
    """
    with tempfile.TemporaryDirectory(prefix="atoll-model-") as folder:
        # optimising works longer on most verifiers than they search, and so does -DCOLLAPSE, which
        # would save half of the memory: the largest takes less than 1 GB
        steps = [[shutil.which("spin") or "spin", "-a", *defines, path],
                 ["gcc", "-O0", "-w", "-DSAFETY", "-o", "pan", "pan.c"], ["./pan", *(pan or ["-m1000000"]), *table]]
        output = ""
        for argv in steps:
            r = results.call(argv, TIMEOUT_S, cwd=folder)
            output += r.output
            if r.timed_out or (argv[0] != "./pan" and r.status):
                return None, output
        m = re.search(r"errors: (\d+)", output)
        if not m or "search depth too small" in output or "Search not completed" in output and m.group(1) == "0":
            return None, output
        return m.group(1) == "0", output


def _task(name, path, defines, head, must_hold):
    def run():
        start = time.monotonic()
        # most mutations are found within some thousand states: most of their time would be for
        # filling a large table with zeros; this one grows when it is full
        holds, output = verify(path, defines, sum(head["pan"], []), () if must_hold else ("-w18",))
        seconds = time.monotonic() - start
        if holds is None:
            return [results.Result(name, "failed",
                                   "the verifier did not finish\n" + results.last_lines(output), seconds)]
        if holds != must_hold:
            why = "an error was found" if must_hold else "the mutation was not noticed"
            return [results.Result(name, "failed", why + "\n" + results.last_lines(output), seconds)]
        return [results.Result(name, "passed", "", seconds)]
    return results.Task(name, run)


def tasks(folder=FOLDER):
    """A task per configuration of each model, and one per model for what it proves."""
    out = []
    for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if not file.endswith(".pml"):
            continue
        path = os.path.join(folder, file)
        with open(path, encoding="utf-8") as f:
            head = read_head(f.read())
        base = f"model.{file[:-4]}"
        if head["proves"]:
            out.append(results.check_task(base + ".proves", lambda p=path,
                                          h=head: check_proves(ROOT, os.path.relpath(p, ROOT), h)))
        for defines in head["run"] or [[]]:
            out.append(_task(".".join([base] + [d.lstrip("-D") for d in defines]), path, defines, head, True))
        for defines in head["mutation"]:
            out.append(_task(".".join([base, "mutation"] + [d.lstrip("-D") for d in defines]), path,
                             defines, head, False))
    return out
