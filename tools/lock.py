# SPDX-License-Identifier: MIT
"""Locks of a tree: one build of a folder at a time, one set-up at a time. A command that has to
wait says at once for whom.

The lock file holds the holder's process id and what it does. The lock itself is the kernel's
(flock), so it ends with its holder however that ends; the text of a file that nobody holds means
nothing.
"""

import fcntl
import os

from ui import say


class Lock:
    """`with Lock(path, "what I do"):` holds the lock; `waited` tells afterwards whether another
    process had it.
    """

    def __init__(self, path, what=""):
        self.path, self.what, self.waited = path, what, False

    def __enter__(self):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        self.fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self._take()
            self.tell(self.what)
        except BaseException:
            os.close(self.fd)
            raise
        return self

    def _take(self):
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.waited = True
            say(f"waiting for {self.holder()}")
            fcntl.flock(self.fd, fcntl.LOCK_EX)

    def holder(self):
        """Who has the lock now, in words."""
        words = os.pread(self.fd, 200, 0).decode("utf-8", "replace").split(" ", 1)
        if len(words) != 2 or not words[0].isdecimal() or not os.path.exists(f"/proc/{words[0]}"):
            return "another ./atoll in this tree"
        return f"process {words[0]}, which is {words[1].strip()}"

    def tell(self, what):
        """Write down what the holder does now."""
        text = f"{os.getpid()} {what}\n".encode()
        os.pwrite(self.fd, text, 0)
        os.ftruncate(self.fd, len(text))

    def __exit__(self, *what):
        os.close(self.fd)
