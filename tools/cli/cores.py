# SPDX-License-Identifier: MIT
"""./atoll cores: what the cores of a running machine do, read in its memory from outside; and what
./atoll top has in common with it.
"""

import dataclasses
import os
import re
import select
import sys
import time
import typing

import hostedmem
import kernelmem
from ui import Failure, Usage, take_value

HELP = """usage: ./atoll cores [OPTION...]

What the cores of a machine do that ./atoll run or ./atoll shell has started, hosted or riscv64, read
in its memory: the machine does nothing for it. On a terminal the table is written anew twice a second,
until Ctrl-C or the end of the machine; else, and with --once, it is written once, for what happens meanwhile.

  --once         once
  --pid P        the machine is process P (QEMU, or atoll-host), where several run
  --seconds S    between two tables (0.5)

role         what the core is for: kc kernel, tc threads in turn, ac one program, idle
acts         as what it acts; an ac with threads of two processes acts as a tc
thread       that it runs, and its process, by the kernel's numbers; - for none
busy         percent of the looks, of 50 a second, at which it ran a thread; of a kc -
threads      placed there, those that wait included
ready        that could run and do not
waiting      messages that the cluster's first core has not looked at
messages     active messages that it has served; of the first core: remote calls of all others
calls        that its programs sent to the first core, counted from when somebody asks about them
ticks, faults, shot-down   what interrupted its threads
changes      of its role, the last one at `since`, in seconds of the machine's clock; spread:
             threads that it sent away by itself; crowded: times that it became a tc by itself
"""

HEAD = ("core", "cluster", "role", "acts", "thread", "busy", "threads", "ready", "waiting", "messages", "calls",
        "ticks", "faults", "shot-down", "changes", "spread", "crowded", "since")
SECONDS = 0.5
LOOKS = 50


def emulated():
    """[(process id, path of its memory)] of the riscv64 machines that run."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as f:
                words = f.read().decode("utf-8", "replace").split("\0")
        except OSError:
            continue
        if not os.path.basename(words[0]).startswith("qemu-system-riscv64"):
            continue
        for word in words:
            m = re.match(r"memory-backend-file,id=ram,mem-path=(.*),size=\d+,share=on$", word)
            if m:
                found.append((int(name), m.group(1).replace("/proc/self/", f"/proc/{name}/", 1)))
    return found


def running():
    """[(process id, function that opens it)] of our machines that run."""
    found = [(pid, lambda path=path: kernelmem.Machine(path, kernelmem.LinkedKernel())) for pid, path in emulated()]
    found += [(pid, lambda pid=pid, record=record: hostedmem.Machine(pid, record, kernelmem.Kernel("hosted")))
              for pid, record in hostedmem.running()]
    return sorted(found, key=lambda one: one[0])


def find(pid):
    """(process id, machine) of the one that is meant."""
    found, others = [], 0
    for number, opened in running():
        try:
            if pid in (None, number):
                found.append((number, opened()))
        except (OSError, ValueError, Failure):
            others += 1			# another build's, or one that begins or ends now
    if not found:
        raise Failure("no machine runs here" if pid is None and not others else
                      "no such machine runs this build of the kernel")
    if len(found) > 1:
        raise Failure("several machines run, say which: " + ", ".join(f"--pid {p} ({m.name})" for p, m in found))
    return found[0]


def role_of(role):
    """Its name."""
    return kernelmem.ROLES.get(role, "?")


def busy(c, seen, looks):
    """The share of the looks at which the core ran a thread."""
    return "-" if role_of(c.acts) == "kc" else str(100 * seen.get(c.number, 0) // max(looks, 1))


def row(c, share):
    """The cells of a core."""
    role, n = "ac" if c.is_crowded else role_of(c.role), c.count
    return [str(x) for x in (
        c.number, c.cluster.number, role, role_of(c.acts),
        f"{c.thread}/{c.process}" if c.thread else "-", share, c.threads, c.ready, c.waiting, n["messages"], n["calls"],
        n["ticks"], n["faults"], n["shot_down"], n["roles"], c.spread, c.crowded, f"{c.role_since * 1e-9:.2f}")]


def lines_of(head, rows):
    """The lines of a table."""
    rows = [head, *rows]
    width = [max(len(r[i]) for r in rows) for i in range(len(head))]
    return [" ".join(cell.rjust(w) for cell, w in zip(r, width)).rstrip() for r in rows]


def table(machine, seen, looks):
    """The lines of the table."""
    return lines_of(HEAD, [row(c, busy(c, seen, looks)) for c in machine.cores()])


def sample(machine, seen):
    """Add which cores run a thread at the moment: {number: how often}."""
    for c in machine.cores():
        if c.thread:
            seen[c.number] = seen.get(c.number, 0) + 1


def tables(machine, seconds, wait, look=sample, show=table):
    """One after the other, each of what was seen in so many seconds."""
    is_over = False
    while not is_over:
        seen, looks, end = {}, 0, time.monotonic() + seconds
        while not is_over and (looks == 0 or time.monotonic() < end):
            look(machine, seen)
            looks += 1
            is_over = wait(min(max(end - time.monotonic(), 0), 1 / LOOKS))
        yield show(machine, seen, looks)


def watch(command, options, pid, machine):
    """A table after the other, in the same place, as long as the machine runs; elsewhere one."""
    try:
        end = os.pidfd_open(pid)
    except ProcessLookupError:
        raise Failure("the machine has ended") from None
    is_once = options.once or not sys.stdout.isatty()
    try:
        for text in command.tables(machine, options.seconds, lambda s: bool(select.select([end], [], [], s)[0])):
            if is_once:
                print("\n".join(text))
                return
            columns, lines = os.get_terminal_size(1)
            head = f"machine {machine.name}, process {pid}"
            shown = [line[:columns] for line in [head, *text][:max(lines - 1, 1)]]
            sys.stdout.write("\033[H" + "".join(f"{line}\033[K\n" for line in shown) + "\033[J")
            sys.stdout.flush()
    finally:
        os.close(end)


@dataclasses.dataclass
class Command:
    """A command that looks at a machine: tables(machine, seconds, wait) gives one table after the other; wait(s)
    lets time pass, and says whether the machine has ended."""

    name: str
    help: str
    seconds: float
    tables: typing.Callable


class Options:
    """What the command line asks for."""

    def __init__(self, command, argv):
        self.once, self.pid, self.seconds = False, None, command.seconds
        i = 0
        while i < len(argv):
            name = argv[i].split("=", 1)[0]
            if argv[i] == "--once":
                self.once, i = True, i + 1
            elif name in ("--pid", "--seconds"):
                value, i = take_value(argv, i, name)
                self._number(name, value)
            else:
                raise Usage(f"unknown option '{argv[i]}': ./atoll {command.name} --help lists them")

    def _number(self, name, value):
        try:
            number = int(value) if name == "--pid" else float(value)
        except ValueError:
            number = -1
        if not 0 < number < 1 << 31:
            raise Usage(f"{name} needs a number above 0, not '{value}'")
        setattr(self, name[2:], number)


COMMAND = Command("cores", HELP, SECONDS, tables)


def run(command, argv):
    """Exit status 0: a machine was found."""
    if argv and argv[0] in ("-h", "--help"):
        print(command.help, end="")
        return 0
    o = Options(command, argv)
    pid, machine = find(o.pid)
    if not o.once and sys.stdout.isatty():
        sys.stdout.write("\033[2J")
    watch(command, o, pid, machine)
    return 0


def main(argv):
    """As run."""
    return run(COMMAND, argv)
