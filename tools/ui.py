# SPDX-License-Identifier: MIT
"""What the front command says and how it fails."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
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
    """Progress of a long piece of work: one line that changes on a terminal, a plain line every ten
    seconds elsewhere.
    """

    EVERY_S = 10

    def __init__(self, title, total=0):
        import time
        self.clock = time.monotonic
        self.title, self.total, self.done = title, total, 0
        self.tty = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.start = self.last = self.clock()
        if not self.tty:
            say(f"{title} ..." if not total else f"{title}: {total} steps ...")

    def step(self, what, count=1):
        """One more is done, or has begun: `what` says which."""
        self.done += count
        self.total = max(self.total, self.done) if self.total else 0
        of = f"{self.done} of {self.total}, " if self.total else ""
        if self.tty:
            # what counts comes first, for a narrow terminal shows the beginning only
            line = f"atoll: {self.title}: {of}{what}"
            print("\r\033[K" + line[:self._width() - 1], end="", file=sys.stderr, flush=True)
        elif self.clock() - self.last > self.EVERY_S:
            self.last = self.clock()
            say(f"{self.title}: {of}{what}")

    def _width(self):
        try:
            return os.get_terminal_size(2).columns or 80
        except OSError:
            return 80

    def clear(self):
        """Remove the line from the terminal, so that something else can be printed."""
        if self.tty:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def end(self, text="done"):
        """The work is over."""
        self.clear()
        say(f"{self.title}: {text} ({self.clock() - self.start:.1f} s)")


def check_port(port, ports=PORTS):
    """Refuse an unknown port."""
    if port not in ports:
        raise Usage(f"unknown port '{port}': use one of {', '.join(ports)}")
    return port


def take_value(argv, i, option):
    """The value of an option at argv[i], given as `--opt value` or `--opt=value`.
    Returns (value, next index).
    """
    if argv[i].startswith("--") and "=" in argv[i]:
        return argv[i].split("=", 1)[1], i + 1
    if i + 1 >= len(argv):
        raise Usage(f"{option} needs a value")
    return argv[i + 1], i + 2
