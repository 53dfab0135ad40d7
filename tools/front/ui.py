# SPDX-License-Identifier: MIT
"""What the front command says and how it fails."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build")
PORTS = ("hosted", "riscv64")              # everything runs there
RUN_PORTS = PORTS + ("or1k",)               # or1k has no libc: programs that need none


class Usage(Exception):
    """The user asked for something that cannot be; one line that says what to do. Exit status 2."""


class Failure(Exception):
    """Something went wrong; one line that says what to do. Exit status 1."""


def say(text):
    """One line on stderr."""
    sys.stdout.flush()
    print(f"atoll: {text}", file=sys.stderr, flush=True)


class Steps:
    """Progress of a long step: one line that changes on a terminal, plain lines elsewhere."""

    def __init__(self, title, total=0):
        import time
        self.clock = time.monotonic
        self.title, self.total, self.done, self.last = title, total, 0, 0.0
        self.tty = sys.stderr.isatty()
        self.start = self.clock()
        if not self.tty:
            say(f"{title} ...")

    def step(self, what, count=1):
        """One more is done."""
        self.done += count
        if self.tty:
            of = f"{self.done}/{self.total} " if self.total else ""
            line = f"atoll: {self.title}: {of}{what}"
            width = os.get_terminal_size(2).columns
            print("\r\033[K" + line[:width - 1], end="", file=sys.stderr, flush=True)
        elif self.clock() - self.last > 10:
            self.last = self.clock()
            say(f"{self.title}: {self.done}{'/' + str(self.total) if self.total else ''} {what}")

    def end(self, text="done"):
        """The step is over."""
        if self.tty:
            print("\r\033[K", end="", file=sys.stderr)
        say(f"{self.title}: {text} ({self.clock() - self.start:.1f} s)")


def check_port(port, ports=PORTS):
    """Refuse an unknown port."""
    if port not in ports:
        raise Usage(f"unknown port '{port}': use one of {', '.join(ports)}")
    return port


def take_value(argv, i, option):
    """The value of an option at argv[i], given as `--opt value` or `--opt=value`. Returns (value, next index)."""
    if argv[i].startswith("--") and "=" in argv[i]:
        return argv[i].split("=", 1)[1], i + 1
    if i + 1 >= len(argv):
        raise Usage(f"{option} needs a value")
    return argv[i + 1], i + 2
