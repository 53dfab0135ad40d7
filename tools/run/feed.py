# SPDX-License-Identifier: MIT
"""A terminal's lines for a machine. Imported only when standard input is one.

A machine is a process group of its own, and Linux stops who reads a terminal from such a group: so
we read it, while we are in the foreground, and pass on what comes through a pipe.
"""

import os
import select
import time

PIECE = 65536
LOOK_AGAIN_S = 0.5		# whether we have come to the foreground


def look_until_end(look, pidfd, timeout_s):
    """Call look(pidfd, seconds left or None) until it says that the machine has ended (True) or the
    time is over (False); 0 seconds: for ever.
    """
    end = time.monotonic() + timeout_s
    while True:
        left = end - time.monotonic() if timeout_s else None
        if left is not None and left <= 0:
            return False
        if look(pidfd, left):
            return True


class Feed:
    """The pipe; the machine gets its reading end as standard input."""

    def __init__(self, source=0, end=None):
        """`end`: the writing end of a pipe that a machine reads already."""
        self.source, self.held = source, b""
        self.out, self.end = (None, end) if end is not None else os.pipe()
        os.set_blocking(self.end, False)
        self.into = None	# the machine's output is ours,
        self.lost = None	# and what is lost of it we do not see
        self.has_shell = False

    def started(self):
        """The machine runs."""

    def finish(self):
        """The machine is gone."""

    def _is_foreground(self):
        try:
            return os.tcgetpgrp(self.source) == os.getpgrp()
        except OSError:
            return False

    def _close(self):
        if self.end >= 0:
            os.close(self.end)
        self.end = -1

    def _take(self):
        """Read what there is; the end of the terminal's input is the end of the pipe's."""
        try:
            self.held = os.read(self.source, PIECE)
        except OSError:
            self.held = b""
        if not self.held:
            self._close()

    def _give(self):
        try:
            self.held = self.held[os.write(self.end, self.held):]
        except BlockingIOError:
            pass
        except OSError:
            self._close()

    def _look(self, pidfd, patience):
        """Wait for the machine's end, for input, or for room in the pipe.
        True if the machine has ended.
        """
        watch = [pidfd]
        full = self.end >= 0 and bool(self.held)
        if self.end >= 0 and not full:
            if self._is_foreground():
                watch.append(self.source)
            else:
                patience = LOOK_AGAIN_S if patience is None else min(patience, LOOK_AGAIN_S)
        ready, writable, _ = select.select(watch, [self.end] if full else [], [], patience)
        if self.source in ready:
            self._take()
        if writable or (self.end >= 0 and self.held):
            self._give()
        return pidfd in ready

    def pump(self, pidfd, timeout_s):
        """Pass input on until the machine ends (True) or the time is over (False); 0 seconds: for
        ever.
        """
        return look_until_end(self._look, pidfd, timeout_s)
