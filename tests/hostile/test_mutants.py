# SPDX-License-Identifier: MIT
"""Mutation controls of the fuzz test of the network-on-chip (kernel/ikc/fuzz_test.c).

Each line that keeps a bad peer out is taken away in turn; the fuzz test must fail. As it is, it must pass.
"""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNIT = os.path.join(ROOT, "build", "unit")
TEST = "fuzz_test"
SEEDS = 3000
PATIENCE_S = 120
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
HEADER_AGAIN = "((const struct wire_mail *)(const void *)(l->payload - HAL_NOC_HEADER_BYTES))->head.source"

# (what is missing, file, the line, what it becomes)
MUTANTS = (
    ("a ring's counter is believed", "hal/noc/shm/events.c", "head - *tail > own->geometry.ring_entries", "false"),
    ("the console's counter is believed", "hal/noc/shm/console.c", "ready <= WINDOW_CONSOLE_BYTES", "true"),
    ("every event is an event", "kernel/ikc/ikc.c", "if (is_event(c, event))", "if (is_event(c, event) || true)"),
    ("ports are not compared", "kernel/ikc/ikc.c", "return wire_event_port(event) < (", "return wire_event_port(event) < 1000 + ("),
    ("the backlog has no end", "kernel/ikc/peer.c", "p->overrun = true;", ";"),
    ("who takes no events stays", "kernel/ikc/peer.c", 'ikc_condemn(c, peer, "does not take its events");', "return;"),
    ("a header is read again after it was checked", "kernel/ikc/mail_in.c", "== c->ikc.peer[source].incarnation;\n}\n\nlong\nmail_in_take",
     f"== c->ikc.peer[{HEADER_AGAIN}].incarnation;\n}}\n\nlong\nmail_in_take"),
    ("the receiver says how much was sent", "kernel/ikc/portal_move.c", "said < m->block ? said : m->block", "said"),
)


def objects():
    """The object files that the test is linked from."""
    with open(os.path.join(UNIT, "tests.mk"), encoding="utf-8") as f:
        rule = re.search(rf"^\$\(OUT\)/{TEST}: (.*)$", f.read(), re.M)
    return rule.group(1).replace("$(OUT)", UNIT).split()


def compiler():
    """How unit tests with the coroutine's headers are compiled."""
    with open(os.path.join(UNIT, "flags"), encoding="utf-8") as f:
        words = f.read().split()
    return [w for w in words if w not in ("-MMD", "-MP")] + SANITIZE + ["-Wno-error", "-w", "-Ihal/cpu/coroutine/include", "-Iabi/cpu/hosted"]


def mutate(path, old, new):
    """The file's text with the one line changed."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        text = f.read()
    if text.count(old) != 1:
        raise ValueError(f"{path} has {text.count(old)} times: {old}")
    return text.replace(old, new)


def build(folder, path, text):
    """The fuzz test with one source file replaced."""
    source, made, program = (os.path.join(folder, name) for name in ("mutant.c", "mutant.o", TEST))
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    cc = compiler()
    subprocess.run(cc + ["-I" + os.path.dirname(path), "-c", "-o", made, source], cwd=ROOT, check=True)
    linked = [made if o.endswith(f"/{path}.o") else o for o in objects()]
    subprocess.run([cc[0], *SANITIZE, "-o", program, *linked, "-pthread"], cwd=ROOT, check=True)
    return program


def fails(program):
    """Does it fail, whatever way? A hang counts."""
    try:
        done = subprocess.run([program, str(SEEDS)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def main():
    """Exit status 0 if every mutant is found."""
    wrong = fails(os.path.join(UNIT, TEST))
    if wrong:
        print("FAIL the_fuzz_test_passes_as_it_is")
    for what, path, old, new in MUTANTS:
        with tempfile.TemporaryDirectory(prefix="atoll-mutant-") as folder:
            found = fails(build(folder, path, mutate(path, old, new)))
        name = f"it_is_noticed_when_{re.sub('[^a-z]+', '_', what)}"
        print(f"ok {name}" if found else f"FAIL {name}: survives {SEEDS} seeds", flush=True)
        wrong |= not found
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
