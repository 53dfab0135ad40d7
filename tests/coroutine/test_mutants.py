# SPDX-License-Identifier: MIT
"""Mutation controls of tests of tests/coroutine that look for more than mutation.c takes away.

A check, a wake-up or a give-back of the kernel is taken away; the program that guards it must fail.
As they are, the programs pass: that is another test.
"""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build", "coroutine")
SEEDS = 100
PATIENCE_S = 60
HANDLE, QUOTA, HANDLER = "kernel/object/handle.c", "kernel/object/quota.c", "kernel/call/handler.c"

# (program, what is missing, file, the text, what it becomes)
MUTANTS = (
    ("kernel_limits", "what is freed stays charged", QUOTA,
     "slab_free(s, piece);\n\tquota_refund(q, QUOTA_BYTES, slab_size(bytes));", "slab_free(s, piece);"),
    ("kernel_limits", "limits are not looked at", QUOTA,
     "return used <= limit && n <= limit - used;", "return n != 0 || used <= limit;"),
    ("kernel_views", "a revoked handle is used", HANDLE, "kind || !entry_is_alive(e))", "kind)"),
    ("kernel_views", "a revoked handle is copied", HANDLE,
     "if (e == NULL || !entry_is_alive(e))\n\t\treturn -E_BADF;\n\tif (to != from",
     "if (e == NULL)\n\t\treturn -E_BADF;\n\tif (to != from"),
    ("kernel_views", "a wait by a revoked handle goes on", HANDLE,
     "\tif (error == 0)\n\t\tobject_handle_gone(e->view->object);\n", ""),
    ("kernel_views", "a wait by a closed handle goes on", HANDLE,
     "\tplace_free(t, place_of(e->name));\n\tobject_handle_gone(o);\n", "\tplace_free(t, place_of(e->name));\n"),
    ("kernel_views", "a view that is gone stays charged", HANDLE,
     "quota_free(q, s, v, sizeof(*v));", "slab_free(s, v);"),
    ("kernel_handler", "a call is not made again", HANDLER, "else if (why == HANDLES_PROBE)", "else if (false)"),
    ("kernel_handler", "a handler stays when its thread ends", HANDLER,
     "\tquota_free(t->proc->quota, &t->cluster->slab, t->made, sizeof(*t->made));\n", ""),
    ("kernel_handler", "threads have a handler's stack in common", HANDLER,
     "\t\tplace[i].stack -= t->index * place[i].stack_size;\n", ""),
)


def compiler():
    """How the kernel is compiled for these programs."""
    with open(os.path.join(BUILD, "k", "flags"), encoding="utf-8") as f:
        words = f.read().split(" small:")[0].split()
    return [w for w in words if w not in ("-MMD", "-MP", "-O2", "-g")] + ["-O1", "-w"]


def mutate(path, old, new):
    """The file's text with the one place changed."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        text = f.read()
    if text.count(old) != 1:
        raise ValueError(f"{path} has {text.count(old)} times: {old}")
    return text.replace(old, new)


def objects(program):
    """What the program is linked from: all that is linked by its folder, and its own main."""
    found = []
    for folder, _, names in os.walk(os.path.join(BUILD, "k")):
        found += [os.path.join(folder, n) for n in names if n.endswith(".o")]
    tests = os.path.join(BUILD, "k", "tests")
    own = [os.path.join(tests, "coroutine", n + ".c.o") for n in (program, "program")]
    return [o for o in found if not o.startswith(tests)] + own


def build(folder, program, path, text):
    """The program with one source file of the kernel replaced."""
    source, made, out = (os.path.join(folder, name) for name in ("mutant.c", "mutant.o", program))
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    cc = compiler()
    subprocess.run(cc + ["-I.", "-I" + os.path.dirname(path), "-c", "-o", made, source], cwd=ROOT, check=True)
    linked = [made if o.endswith(f"/{path}.o") else o for o in objects(program)]
    subprocess.run([cc[0], "-Wl,--gc-sections", "-o", out, *linked, "-pthread"], cwd=ROOT, check=True)
    return out


def fails(program):
    """Does it fail, whatever way? A hang counts."""
    try:
        done = subprocess.run([program, str(SEEDS)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def main():
    """Exit status 0 if every mutant is found."""
    wrong = False
    for program, what, path, old, new in MUTANTS:
        with tempfile.TemporaryDirectory(prefix="atoll-mutant-") as folder:
            found = fails(build(folder, program, path, mutate(path, old, new)))
        name = f"{program}_notices_when_{re.sub('[^a-z]+', '_', what)}"
        print(f"ok {name}" if found else f"FAIL {name}: survives {SEEDS} seeds", flush=True)
        wrong |= not found
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
