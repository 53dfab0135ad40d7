# SPDX-License-Identifier: MIT
"""The one console of a riscv64 machine as three streams. Imported only for such a machine.

What ranks write to standard output is plain text on the console. Everything else comes in frames
(user/personality/frames.h): text for standard error, and rank 0's wish for so many bytes of
standard input, which we read only then. Kernels and servers print plain text at any time, in the
middle of a frame too when one panics: a frame that is not whole is let out as it is.
"""

import errno
import os
import select

import feed

DLE, END = 0x10, 0x0A
KINDS = b"eor"
FRAME_MAX = 4096		# of one that never ends
PIECE = 65536
PIPE_BYTES = 1 << 20
INPUT, INPUT_BYTES = "dev/input", 65536	# member of the boot archive through which input comes
INPUT_HEAD = 8			# of it: question, number of bytes
QUESTION_MAX = 0xffffffff
LOOK_AGAIN_S = 0.5		# whether we have come to the foreground
IDLE_S = 0.1			# after which an unfinished line of standard error is shown


class Splitter:
    """Bytes of the console in, calls out: out(1 or 2, text), want(question, number of bytes of
    input).
    """

    def __init__(self, out, want):
        self.out, self.want = out, want
        self.held, self.kind, self.body = b"", None, b""
        self.lines = {}		# writer -> its unfinished line of standard error

    def feed(self, data):
        self.held += data
        while self.held and (self._plain() if self.kind is None else self._frame()):
            pass

    def _plain(self):
        """Let out plain text up to a frame. False if more must come first."""
        at = self.held.find(DLE)
        if at < 0:
            text, self.held = self.held, b""
            self.out(1, text)
            return False
        if at > 0:
            self.out(1, self.held[:at])
            self.held = self.held[at:]
        if len(self.held) < 2:
            return False
        if self.held[1] in KINDS:
            self.kind, self.body, self.held = self.held[1:2], b"", self.held[2:]
        else:
            self.out(1, self.held[:1])
            self.held = self.held[1:]
        return True

    def _frame(self):
        """Go on with a frame. False if more must come first."""
        at = self.held.find(DLE)
        if at < 0:
            self.body, self.held = self.body + self.held, b""
            if len(self.body) > FRAME_MAX:
                self._end()
            return False
        self.body, self.held = self.body + self.held[:at], self.held[at:]
        if len(self.held) < 2:
            return False
        if self.held[1] == DLE:
            self.body += self.held[:1]
        elif self.held[1] == END:
            self._end()
        else:			# torn: another frame begins, or somebody else's text
            self._end()
            if self.held[1] not in KINDS:
                self.held = self.held[1:]
            return True
        self.held = self.held[2:]
        return True

    def _end(self):
        kind, body, self.kind, self.body = self.kind, self.body, None, b""
        if kind == b"o":
            self.out(1, body)
        elif kind == b"e":
            self._error_text(*body.partition(b";"))
        else:
            try:
                question, count = (int(n, 16) for n in body.split(b"."))
            except ValueError:
                self.out(2, body)
            else:
                if 0 <= question <= QUESTION_MAX and count >= 0:
                    self.want(question, count)

    def _error_text(self, writer, mark, text):
        """Lines of one writer stay whole."""
        if not mark:
            writer, text = b"", writer
        text = self.lines.pop(writer, b"") + text
        whole = text.rfind(b"\n") + 1
        if whole:
            self.out(2, text[:whole])
        if whole < len(text):
            self.lines[writer] = text[whole:]

    def idle(self):
        """Nothing comes for a while: show the unfinished line if there is only one, for it may be a
        question.
        """
        if len(self.lines) == 1:
            self.out(2, self.lines.popitem()[1])

    def finish(self):
        """The end: everything that is left."""
        if self.kind is not None:
            self._end()
        if self.held:
            self.out(1, self.held)
            self.held = b""
        for text in self.lines.values():
            self.out(2, text)
        self.lines = {}


def write_all(fd, data):
    """Write to a stream of ours.
    Returns why not all of it was written, or None; nobody to read it, or no such stream, is no
    reason.
    """
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(fd, view):]
    except OSError as e:
        return None if e.errno in (errno.EPIPE, errno.EBADF) else e.strerror
    return None


class Streams:
    """The machine writes into the pipe `into`, and we stand between it and our streams; what it
    wants to read we write into its memory.
    """

    def __init__(self, memory=None, source=0):
        """`memory`: a writable view of the member dev/input in the running machine; without it
        nobody can read.
        """
        import fcntl
        self.memory, self.source, self.question, self.wanted = memory, source, 0, 0
        self.begin, self.into = os.pipe()
        self.out = None		# it reads nothing of ours
        self.lost = None	# why output was lost, if some was
        os.set_blocking(self.begin, False)
        try:
            fcntl.fcntl(self.into, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except OSError:
            pass
        self.splitter = Splitter(self._write, self._want)

    def _write(self, fd, data):
        self.lost = write_all(fd, data) or self.lost

    def started(self):
        """The machine has its end."""
        os.close(self.into)
        self.into = -1

    def _want(self, question, count):
        if self.memory is not None:
            self.question, self.wanted = question, min(count, len(self.memory) - INPUT_HEAD)

    def _answer(self, data):
        """The question's number last: the machine looks at it."""
        self.wanted = 0
        self.memory[INPUT_HEAD:INPUT_HEAD + len(data)] = data
        self.memory[4:8] = len(data).to_bytes(4, "little")
        self.memory[0:4] = self.question.to_bytes(4, "little")

    def _may_read(self):
        """A terminal stops who reads it in the background."""
        if not os.isatty(self.source):
            return True
        try:
            return os.tcgetpgrp(self.source) == os.getpgrp()
        except OSError:
            return True

    def _take_input(self):
        try:
            self._answer(os.read(self.source, self.wanted))
        except OSError:
            self._answer(b"")

    def _take_output(self):
        """Pass on what the machine said; False at the end."""
        try:
            data = os.read(self.begin, PIECE)
        except BlockingIOError:
            return True
        if data:
            self.splitter.feed(data)
        return bool(data)

    def _watch(self, pidfd, patience):
        """What to wait for, and how long."""
        watch = [pidfd, self.begin]
        if self.wanted and self._may_read():
            watch.append(self.source)
        elif self.wanted:
            patience = LOOK_AGAIN_S if patience is None else min(patience, LOOK_AGAIN_S)
        if self.splitter.lines:
            patience = IDLE_S if patience is None else min(patience, IDLE_S)
        return watch, patience

    def _look(self, pidfd, patience):
        watch, patience = self._watch(pidfd, patience)
        ready = select.select(watch, [], [], patience)[0]
        if not ready:
            self.splitter.idle()
        if self.source in ready and self.wanted:
            self._take_input()
        if self.begin in ready:
            self._take_output()
        return pidfd in ready

    def pump(self, pidfd, timeout_s):
        """Pass everything on until the machine ends (True) or the time is over (False); 0 seconds:
        for ever.
        """
        return feed.look_until_end(self._look, pidfd, timeout_s)

    def finish(self):
        """The machine is gone: what it said last."""
        if self.begin < 0:
            return
        while self._take_output():
            if not select.select([self.begin], [], [], 0)[0]:
                break
        self.splitter.finish()
        os.close(self.begin)
        self.begin = -1
