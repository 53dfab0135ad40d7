# SPDX-License-Identifier: MIT
"""The console's frames come apart whatever the pieces are, and nothing is lost, whoever speaks in
between.
"""

import errno
import os
import random
import signal
import termios

import pytest

import streams


class Ears:
    def __init__(self):
        self.text, self.wants = {1: b"", 2: b""}, []
        self.splitter = streams.Splitter(self._out, lambda *q: self.wants.append(q))

    def _out(self, fd, data):
        self.text[fd] += data

    def hear(self, data, step=None):
        for at in range(0, len(data), step or len(data) or 1):
            self.splitter.feed(data[at:at + (step or len(data))])
        self.splitter.finish()
        return self.text[1], self.text[2], self.wants


def error(text, writer=b"0.5"):
    return b"\x10e" + writer + b";" + text.replace(b"\x10", b"\x10\x10") + b"\x10\n"


def output(text):
    return b"\x10o" + text.replace(b"\x10", b"\x10\x10") + b"\x10\n"


@pytest.mark.parametrize("step", [1, 2, 3, 7, None])
def test_streams_come_apart_in_order(step):
    said = (
        b"one\n"
        + error(b"first\n")
        + b"two\n"
        + output(b"a\x10b\x10\n")
        + b"\x10r1a.400\x10\n"
        + error(b"second \x10\n")
        + b"three"
    )
    assert Ears().hear(said, step) == (b"one\ntwo\na\x10b\x10\nthree", b"first\nsecond \x10\n", [(0x1a, 0x400)])


def test_lines_of_one_writer_stay_whole():
    said = error(b"begin ") + error(b"other line\n", b"1.5") + error(b"middle ") + error(b"end\nrest")
    assert Ears().hear(said)[1] == b"other line\nbegin middle end\nrest"


@pytest.mark.parametrize("step", [1, None])
@pytest.mark.parametrize("torn", [b"\x10e0.5;half", b"\x10e0.5;half\x10", b"\x10e0", b"\x10", b"\x10r1."])
def test_a_panic_in_the_middle_of_a_frame_is_heard(torn, step):
    panic = b"\natoll: kernel panic: cluster 1\n  at core.c:3\n"
    out, err, wants = Ears().hear(torn + panic, step)
    assert b"kernel panic: cluster 1" in out + err and b"at core.c:3" in out + err and not wants


@pytest.mark.parametrize("step", [1, None])
def test_after_a_torn_frame_the_next_ones_are_whole(step):
    out, err, _ = Ears().hear(b"\x10e0.5;half" + error(b"whole\n", b"1.1") + b"plain\n" + error(b"last\n"), step)
    assert out == b"plain\n" and sorted(err.splitlines()) == [b"halflast", b"whole"]


@pytest.mark.parametrize("frame",
                         [b"\x10rx.y\x10\n", b"\x10r\x10\n", b"\x10r1\x10\n", b"\x10r1.2.3\x10\n",
                          b"\x10z", b"\x10e\x10\n", b"\x10r-1.1\x10\n"])
def test_what_is_no_frame_asks_for_nothing_impossible(frame):
    out, err, wants = Ears().hear(frame + b"text\n")
    assert out.endswith(b"text\n") and all(n >= 0 for w in wants for n in w)


def test_a_frame_without_end_is_let_out():
    out, err, _ = Ears().hear(b"\x10e" + b"x" * 3 * streams.FRAME_MAX, 100)
    assert len(out + err) == 3 * streams.FRAME_MAX and out


def test_any_bytes_in_any_pieces_are_survived():
    rng = random.Random(5)
    for _ in range(300):
        said = bytes(rng.choice(b"\x10\x10\x10\neor;.1ab") for _ in range(rng.randrange(60)))
        whole = Ears().hear(said)
        assert Ears().hear(said, 1) == whole
        assert sum(map(len, whole[:2])) <= len(said)


def test_an_unfinished_line_is_shown_when_nothing_else_comes():
    e = Ears()
    e.splitter.feed(error(b"how many? "))
    assert e.text[2] == b""
    e.splitter.idle()
    assert e.text[2] == b"how many? "


def test_output_that_is_lost_is_told_unless_nobody_reads():
    with open("/dev/full", "wb", buffering=0) as full:
        assert streams.write_all(full.fileno(), b"text") == os.strerror(errno.ENOSPC)
    begin, end = os.pipe()
    os.close(begin)
    try:
        assert streams.write_all(end, b"text") is None
    finally:
        os.close(end)


def test_what_a_terminal_is_to_do_is_a_frame():
    heard = []
    splitter = streams.Splitter(lambda *_: None, lambda *_: None, heard.append)
    splitter.feed(b"a\x10tf\x10\nb\x10t2\x10\n")
    assert heard == [15, 2]


def test_a_terminal_is_given_back_as_it_was():
    memory, (ours, theirs) = bytearray(streams.INPUT_BYTES), os.openpty()
    handler, before = signal.getsignal(signal.SIGTSTP), termios.tcgetattr(theirs)
    terminal = streams.Terminal(memory, theirs)
    terminal.behave(streams.SIGNALS)
    assert not termios.tcgetattr(theirs)[3] & (termios.ICANON | termios.ECHO)
    for key in (signal.SIGTSTP, signal.SIGTSTP, signal.SIGINT):
        signal.raise_signal(key)
    assert memory[streams.TYPED:streams.TYPED + 16] == bytes((1, 0, 0, 0) + (0,) * 4 + (2, 0, 0, 0) + (0,) * 4)
    terminal.give_back()
    assert termios.tcgetattr(theirs) == before and signal.getsignal(signal.SIGTSTP) == handler
    os.close(ours)
    os.close(theirs)
