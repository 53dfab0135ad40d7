# SPDX-License-Identifier: MIT
"""Mutation controls of programs: a line of the kernel is changed, and the test that guards it must
fail.
"""

import os
import re
import subprocess
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def mutate(path, old, new):
    """The text of a file of the project with the one place changed."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        text = f.read()
    if text.count(old) != 1:
        raise ValueError(f"{path} has {text.count(old)} times: {old}")
    return text.replace(old, new)


def build(folder, compile_with, link_with, objects, path, text):
    """Link the objects with that of one source replaced; `compile_with` and `link_with` begin the
    commands. Returns the program.
    """
    source, made, program = (os.path.join(folder, name) for name in ("mutant.c", "mutant.o", "mutant"))
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    subprocess.run([*compile_with, "-I" + os.path.dirname(path), "-c", "-o", made, source], cwd=ROOT, check=True)
    linked = [made if o.endswith(f"/{path}.o") else o for o in objects]
    if made not in linked:
        raise ValueError(f"{path} is no part of the test")
    subprocess.run([*link_with, "-o", program, *linked, "-pthread"], cwd=ROOT, check=True)
    return program


def fails(program, seeds, patience_s):
    """Does it fail, whatever way? A hang counts. It is ended when it says that a test has failed.
    """
    with subprocess.Popen([program, str(seeds)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as p:
        late = threading.Timer(patience_s, p.kill)
        late.start()
        said = any(line.startswith(b"FAIL ") for line in p.stdout)
        if said:
            p.kill()
        p.wait()
        late.cancel()
    return said or p.returncode != 0


def control(prefix, mutant, make, seeds, patience_s):
    """Say whether a mutant (what is missing, file, the text, what it becomes) is found;
    `make(folder, path, text)` builds the program. True if it is.
    """
    what, path, old, new = mutant
    with tempfile.TemporaryDirectory(prefix="atoll-mutant-") as folder:
        found = fails(make(folder, path, mutate(path, old, new)), seeds, patience_s)
    name = f"{prefix}_when_{re.sub('[^a-z]+', '_', what)}"
    print(f"ok {name}" if found else f"FAIL {name}: survives {seeds} seeds", flush=True)
    return found
