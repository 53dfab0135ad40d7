# SPDX-License-Identifier: MIT
"""The README's tables of figures: each exact one is what the command beside it prints. Needs the
riscv64 port built.

Prints `ok NAME` or `FAIL NAME: why`. A row of the table that is neither exact nor a time fails,
too: somebody has to say which it is. With --write it puts what the commands print into the README
instead of failing.
"""

import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import patience  # noqa: E402

TIMEOUT_S = 600
KIB = 1024
NUMBER = re.compile(r"\d[\d,]*\b")
STRETCH_MAX = 5000  # as tests/boot/test_stretches.py says
STRETCHED = ("crowd", "riscv-4x4", "mppa256")
MEETING = 2  # instructions by which a figure of several cores depends on where a program lies


def values(rows, name, **params):
    """Values of the rows with a name and, among others, these parameters, rounded."""
    found = [r["value"] for r in rows if r["name"] == name
             and all(str(r["params"].get(k)) == str(v) for k, v in params.items())]
    assert found, f"the command prints no row {name} {params}"
    return [round(v) for v in found]


def spread(numbers):
    """One number, or the least and the greatest if chance alone does not part them."""
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if high - low <= MEETING else f"{low:,}-{high:,}"


def one(rows, name, count):
    (value,) = values(rows, name, count=count)
    return f"{value:,}"


def kernel_kib(rows):
    parts = [values(rows, "footprint", image="kernel", part=part) for part in ("text", "rodata", "data")]
    assert all(len(p) == 1 for p in parts), "several kernels"
    return f"{sum(map(sum, parts)) / KIB:.1f} KB"


def bound(rows):
    """The bound of the longest stretches on the three machines, or what is longer: while programs
    start, and under random calls and kills.
    """
    for machine in STRETCHED:
        found = {r["name"] for r in rows if r["machine"] == machine}
        assert found == {"worst_start", "worst_calls"}, f"{machine}: {found}"
    return f"at most {max(STRETCH_MAX, *(r['value'] for r in rows)):,} instructions"


def request(rows):
    """Neither side asleep, in a cluster and between two; both asleep, to the next fifty."""
    parts, maps = ("request_sent", "request_served", "answer_taken"), ("compact", "scatter")
    awake = [sum(values(rows, name, map=m, size=32)[0] for name in parts) for m in maps]
    asleep = [50 * round(values(rows, "request_asleep", map=m, size=32)[0] / 50) for m in maps]
    return ", ".join(map(str, awake)) + "; " + ", ".join(f"{n:,}" for n in asleep) + " instructions"


def touches(rows):
    """Of each number of cores, to the next fifty, on the machine with one kernel core and on that with two."""
    return "; ".join(", ".join(f"{50 * round(values(of, 'touches', count='path', ranks=n)[0] / 50):,}"
                               for n in (1, 2, 3, 5))
                     for machine in ("optimsoc8", "optimsoc8-kk")
                     for of in [[r for r in rows if r["machine"] == machine]]) + " instructions"


# beginning of a row of the table -> its figure, made of what its command prints
EXACT = {
    "kernel call on the calling core, user to user": lambda rows: f"{one(rows, 'l_kcall', 'insns')} instructions",
    "void remote call": lambda rows: f"{one(rows, 'r_kcall', 'total')} instructions",
    "the same from 1, 2, 4, 8, 15 callers":
        lambda rows: ", ".join(str(values(rows, "r_kcall_crowd", ranks=n)[0]) for n in (1, 2, 4, 8, 15)),
    "call, and fault, that a handler": lambda rows: f"{one(rows, 'reflect', 'insns')}; "
                                                    f"{one(rows, 'fault', 'insns')} instructions",
    "fault that another process handles":
        lambda rows: "; ".join(f"{50 * round(values(rows, 'fault_far', count=part)[0] / 50):,}"
                               for part in ("path", "total", "insns")) + " instructions",
    "first touch of a page that a second kernel core":
        lambda rows: "; ".join(f"{50 * round(values(rows, 'touch', count=part)[0] / 50):,}"
                               for part in ("path", "insns")) + " instructions",
    "first touch of a page of lazy memory":
        lambda rows: "; ".join(f"{50 * round(values(rows, 'touch', count=part)[0] / 50):,}"
                               for part in ("path", "total")) + " instructions",
    "first write to a private page":
        lambda rows: "; ".join(f"{50 * round(values(rows, 'copy', count=part)[0] / 50):,}"
                               for part in ("path", "total")) + " instructions",
    "ranks of three clusters write, read":
        lambda rows: "; ".join(", ".join(
            str(round(values(rows, "file_sets", count=part, place=place)[0] / 1000000)) for place in ("/other", "/n"))
                               for part in ("path", "busiest")) + " million instructions",
    "a process by request":
        lambda rows: "; ".join(f"{5000 * round(values(rows, name, count='path')[0] / 5000):,}"
                               for name in ("spawn", "spawn_and_wait")) + " instructions",
    "fork of a small process":
        lambda rows: "; ".join(", ".join(f"{10000 * round(values(rows, name, count='path', kb=kb)[0] / 10000):,}"
                                         for kb in (0, 1024))
                               for name in ("fork", "fork_and_wait")) + " instructions",
    "interrupt of a device": lambda rows: f"{one(rows, 'interrupt', 'one_way')} instructions",
    "active message alone": lambda rows: f"{one(rows, 'am', 'one_way')}; {one(rows, 'am', 'round_trip')}",
    "preemption:": lambda rows: f"{one(rows, 'preempt', 'kernel')} instructions",
    "signal to a thread that sleeps":
        lambda rows: f"{one(rows, 'signal_home', 'one_way')}; " + str(20 * round(
            sum(values(rows, 'signal', count='total') + values(rows, 'signal_home', count='receive')) / 20)),
    "create a thread": lambda rows: f"{spread(values(rows, 'thread_create', count='total'))}; "
                                    f"{spread(values(rows, 'thread_join', count='total'))} instructions",
    "a thread's whole life": lambda rows: f"{spread(values(rows, 'thread_life', count='total'))} instructions",
    "longest stretch": bound,
    "sixteen clusters": lambda rows: f"{5000 * round(values(rows, 'sync', count='total')[0] / 5000):,}"
                                     " instructions; 60",
    "message of 8 bytes to another cluster by a channel":
        lambda rows: "; ".join(str(values(rows, name, count="insns", size=8)[0])
                               for name in ("send", "receive", "send_and_wake")) + " instructions",
    "request to a service and its answer": request,
    "4 KB of a file": lambda rows: "; ".join(
        str(round(values(rows, "file_read", ranks=n)[0])) for n in (1, 4)) + " instructions",
    "FTQ on an AC": lambda rows: ", ".join(spread(
        [v for beside in ("none", "daemons", "thread") for v in values(rows, name, on="ac", beside=beside)])
                                          for name in ("ftq_kernel", "ftq_interrupts")),
    "upsem, downsem": lambda rows: f"{one(rows, 'upsem', 'insns')}, {one(rows, 'downsem', 'insns')}; "
                                   f"{one(rows, 'tube_send_and_receive', 'insns')} instructions",
    "call that is queued": lambda rows: f"{one(rows, 'submit', 'insns')}, {one(rows, 'reply', 'insns')} instructions",
    "pages of lazy memory that": touches,
    "kernel text + read-only data + data": kernel_kib,
    "kernel image, stacks and tables": lambda said: re.search(r"^in all: (.*)$", said, re.M).group(1),
    "MPI's part of a program": lambda said: re.search(r"^in all: (.*)$", said, re.M).group(1),
}
# When several cores meet depends by some instructions on where the program lies, which in turn
# depends on the path of the tree: by so much may each number of such a row differ from the README's,
# and one that is rounded by a step. So no value stands at a border.
CHANCE = {
    "the same from 1, 2, 4, 8, 15 callers": (1,) * 5,
    "fault that another process handles": (50, 50, 50),
    "first touch of a page that a second kernel core": (100, 50),
    "first touch of a page of lazy memory": (50, 50),
    "first write to a private page": (50, 50),
    "pages of lazy memory that": (50,) * 8,
    "signal to a thread that sleeps": (0, 20),
    "create a thread": (MEETING,) * 3,
    "a thread's whole life": (MEETING,) * 2,
    "sixteen clusters": (5000, 0),
    "request to a service and its answer": (MEETING, MEETING, 50, 50),
    "4 KB of a file": (1, 1),
}
# times: they hold on one machine only
TIMES = ("start until", "MPI ping-pong", "the same between two clusters", "`./atoll run` of an empty",
         "the same by a channel", "barrier of", "allreduce of", "memory per rank",
         "kernel call on the calling core")


def table(text):
    """(what, figure, command) of each row under "Figures" and "Core roles"; a command `same` is the one above."""
    out, command = [], None
    parts = [text.split(f"\n## {name}\n", 1)[1].split("\n## ", 1)[0] for name in ("Figures", "Core roles")]
    for line in "\n".join(parts).splitlines():
        cells = [c.strip() for c in line.strip("|").split(" | ")] if line.startswith("| ") else []
        if len(cells) == 3 and cells[1]:
            command = command if cells[2] == "same" else cells[2]
            out.append((cells[0], cells[1].rstrip(" |"), command.rstrip(" |")))
    return out


def readme():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        return table(f.read())


def start_of(what, beginnings):
    return next((b for b in beginnings if what.startswith(b)), None)


def printed(command):
    """What a command of the table prints: rows of a benchmark, or text."""
    (words,) = re.findall(r"^`([^`]*)`$", command)
    if words.startswith("./atoll bench "):
        argv = [os.path.join(ROOT, "atoll"), *shlex.split(words)[1:], "--json", "-"]
    else:
        argv = [sys.executable, os.path.join(ROOT, words)]
    p = patience.run(argv, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert p.returncode == 0, f"{words} ended with {p.returncode}: {p.stderr[-2000:]}"
    return json.loads(p.stdout) if words.startswith("./atoll bench ") else p.stdout


def test_every_row_is_known():
    strangers = [what for what, _, _ in readme() if not start_of(what, EXACT) and not start_of(what, TIMES)]
    assert not strangers, f"say in tests/docs/test_readme.py whether these are exact: {strangers}"
    missing = [b for b in EXACT if not any(what.startswith(b) for what, _, _ in readme())]
    assert not missing, f"the table lacks {missing}"


def numbers(figure):
    """The numbers of a figure, and the text around them."""
    return [int(n.replace(",", "")) for n in NUMBER.findall(figure)], NUMBER.split(figure)


def agree(beginning, figure, now):
    """Is a figure what is printed now, but for what chance may do?"""
    (said, text), (found, text_now) = numbers(figure), numbers(now)
    return figure == now or beginning in CHANCE and text == text_now and all(
        abs(a - b) <= most for a, b, most in zip(said, found, CHANCE[beginning], strict=True))


def test_chance_explains_little():
    """What CHANCE lets pass, and what it does not."""
    assert agree("create a thread", "1,167; 841-888 instructions", "1,168; 840-890 instructions")
    assert agree("fault that another", "1,800; 600", "1,800; 600")
    for now in ("1,167; 841-891 instructions", "1,164; 841-888 instructions", "1,167; 841 instructions"):
        assert not agree("create a thread", "1,167; 841-888 instructions", now), now
    assert agree("signal to a thread that sleeps", "248; 580", "248; 600")
    assert not agree("signal to a thread that sleeps", "248; 580", "249; 580")
    assert not agree("void remote call", "282 instructions", "283 instructions")
    strangers = [b for b in CHANCE if b not in EXACT]
    assert not strangers, f"not among the exact figures: {strangers}"


def differences():
    """(what, figure of the README, command, what that prints) of every exact figure that is not
    what its command prints.
    """
    said, wrong = {}, []
    for what, figure, command in readme():
        beginning = start_of(what, EXACT)
        if beginning:
            said[command] = said.get(command) or printed(command)
            now = EXACT[beginning](said[command])
            if not agree(beginning, figure, now):
                wrong.append((what, figure, command, now))
            print(f"{beginning}: {now}")
    return wrong


def test_exact_figures_are_what_their_commands_print():
    wrong = differences()
    assert not wrong, "; ".join(f"{what}: README says {figure}, {command} prints {now}" for what,
                                figure, command, now in wrong)


def test_the_saving_of_the_co_designed_cluster_is_that_of_its_page():
    """Which is made from what the tree keeps, and checked by itself: in-sample, and of a model that
    has not seen the two cores.
    """
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        found = re.findall(r"[\d.]+ % \([\d.]+ to [\d.]+\)", f.read())
    with open(os.path.join(ROOT, "docs", "codesign.md"), encoding="utf-8") as f:
        rows = [line for line in f if line.startswith("| ")]
    assert len(found) == 2, found
    for figure, word in zip(found, ("**in-sample**", "**not seen**")):
        assert any(figure in row and word in row for row in rows), f"docs/codesign.md does not say {figure} {word}"


def write():
    """Put the figures that are printed now into the README."""
    path = os.path.join(ROOT, "README.md")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for what, figure, _, now in differences():
        old = f"| {what} | {figure} |"
        assert text.count(old) == 1, old
        text = text.replace(old, f"| {what} | {now} |")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    """Exit status 1 if a test failed."""
    failed = 0
    if sys.argv[1:] == ["--write"]:
        write()
    for name, test in (("every_row_is_known", test_every_row_is_known),
                       ("chance_explains_little", test_chance_explains_little),
                       ("exact_figures_are_what_their_commands_print",
                        test_exact_figures_are_what_their_commands_print),
                       ("the_saving_of_the_co_designed_cluster_is_that_of_its_page",
                        test_the_saving_of_the_co_designed_cluster_is_that_of_its_page)):
        try:
            test()
            print(f"ok {name}", flush=True)
        except AssertionError as e:
            failed = 1
            print(f"FAIL {name}: {e}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
