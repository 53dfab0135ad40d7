# SPDX-License-Identifier: MIT
"""The one console of a riscv64 machine as three streams. Imported only for such a machine.

What ranks write to standard output is plain text on the console. Everything else comes in frames
(user/personality/frames.h): text for standard error, and a wish for so many bytes of
standard input, which we read only then. Kernels and servers print plain text at any time, in the
middle of a frame too when one panics: a frame that is not whole is let out as it is.
"""

import errno
import os
import select
import signal
import time

import feed

DLE, END = 0x10, 0x0A
KINDS = b"eort"
FRAME_MAX = 4096		# of one that never ends
PIECE = 65536
PIPE_BYTES = 1 << 20
INPUT, INPUT_BYTES = "dev/input", 65536	# member of the boot archive through which input comes
INPUT_HEAD = 64			# of it: struct frame_input
TERMINALS, ROWS, TYPED, BEGAN = 8, 12, 20, 36	# places in it
START_NS = 350_000_000		# from now until the clock of a machine begins, or a little more
LINES, ECHO, SIGNALS, NEWLINES = 1, 2, 4, 8	# how a terminal behaves
KEYS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGWINCH)
QUESTION_MAX = 0xffffffff
LOOK_AGAIN_S = 0.5		# whether we have come to the foreground
IDLE_S = 0.1			# after which an unfinished line of standard error is shown


class Splitter:
    """Bytes of the console in, calls out: out(1 or 2, text), want(question, number of bytes of
    input), terminal(how it is to behave).
    """

    def __init__(self, out, want, terminal=None):
        self.out, self.want, self.terminal = out, want, terminal
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
        elif kind == b"t":
            self._terminal(body)
        else:
            try:
                question, count = (int(n, 16) for n in body.split(b"."))
            except ValueError:
                self.out(2, body)
            else:
                if 0 <= question <= QUESTION_MAX and count >= 0:
                    self.want(question, count)

    def _terminal(self, body):
        try:
            flags = int(body, 16)
        except ValueError:
            self.out(2, body)
        else:
            if self.terminal:
                self.terminal(flags)

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


def first_input(has_clock=False):
    """The member dev/input as it is at first: which of our streams are terminals, and their size; with a
    clock when that of the machine begins.
    """
    head = bytearray(INPUT_BYTES)
    mask = sum(1 << fd for fd in range(3) if os.isatty(fd))
    head[TERMINALS:TERMINALS + 4] = mask.to_bytes(4, "little")
    head[ROWS:ROWS + 8] = _size(0)
    if has_clock:
        head[BEGAN:BEGAN + 8] = (time.time_ns() + START_NS).to_bytes(8, "little")
    return bytes(head)


def _size(fd):
    try:
        size = os.get_terminal_size(fd)
    except OSError:
        return bytes(8)
    return size.lines.to_bytes(4, "little") + size.columns.to_bytes(4, "little")


class Terminal:
    """Ours, while a shell on the machine has it: keys that are signals are counted in its memory,
    and it behaves as is asked for.
    """

    def __init__(self, memory, fd):
        import termios
        self.termios, self.memory, self.fd = termios, memory, fd
        self.before = termios.tcgetattr(fd)
        self.handlers = [signal.signal(key, self._typed) for key in KEYS]

    def _typed(self, number, _):
        at = TYPED + 4 * KEYS.index(number)
        if number == signal.SIGWINCH:
            self.memory[ROWS:ROWS + 8] = _size(self.fd)
        count = int.from_bytes(self.memory[at:at + 4], "little") + 1
        self.memory[at:at + 4] = (count & 0xffffffff).to_bytes(4, "little")

    def behave(self, flags):
        """Lines, echo and so on as these say."""
        t = self.termios
        modes = t.tcgetattr(self.fd)
        known = ((LINES, 3, t.ICANON), (ECHO, 3, t.ECHO), (SIGNALS, 3, t.ISIG), (NEWLINES, 0, t.ICRNL))
        for flag, place, bits in known:
            modes[place] = modes[place] | bits if flags & flag else modes[place] & ~bits
        if not flags & LINES:
            modes[6][t.VMIN], modes[6][t.VTIME] = 1, 0
        t.tcsetattr(self.fd, t.TCSADRAIN, modes)

    def give_back(self):
        """As it was before."""
        self.termios.tcsetattr(self.fd, self.termios.TCSADRAIN, self.before)
        for key, handler in zip(KEYS, self.handlers):
            signal.signal(key, handler)


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
        self.terminal = None	# that the machine has
        self.has_shell = False	# it had one at some time
        self.begin, self.into = os.pipe()
        self.out = None		# it reads nothing of ours
        self.lost = None	# why output was lost, if some was
        os.set_blocking(self.begin, False)
        try:
            fcntl.fcntl(self.into, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except OSError:
            pass
        self.splitter = Splitter(self._write, self._want, self._behave)

    def _write(self, fd, data):
        self.lost = write_all(fd, data) or self.lost

    def started(self):
        """The machine has its end."""
        os.close(self.into)
        self.into = -1

    def _want(self, question, count):
        if self.memory is not None:
            self.question, self.wanted = question, min(count, len(self.memory) - INPUT_HEAD)

    def _behave(self, flags):
        if self.memory is None or not os.isatty(self.source) or not self._may_read():
            return
        if self.terminal is None:
            self.terminal = Terminal(self.memory, self.source)
            self.has_shell = True
        self.terminal.behave(flags)

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
        if self.terminal is not None:
            self.terminal.give_back()
            self.terminal = None
        if self.begin < 0:
            return
        while self._take_output():
            if not select.select([self.begin], [], [], 0)[0]:
                break
        self.splitter.finish()
        os.close(self.begin)
        self.begin = -1
