# SPDX-License-Identifier: MIT
"""What is typed reaches the reader, in full, and so does its end; a machine that ends is noticed.
"""

import os
import pty
import subprocess
import sys

import pytest

import feed


@pytest.fixture
def terminal(monkeypatch):
    ours, theirs = pty.openpty()
    monkeypatch.setattr(feed.Feed, "_is_foreground", lambda self: True)
    yield ours, theirs
    for fd in (ours, theirs):
        try:
            os.close(fd)
        except OSError:
            pass


def started(code, f):
    """A reader of the pipe, and what tells its end."""
    p = subprocess.Popen([sys.executable, "-c", code], stdin=f.out, stdout=subprocess.PIPE)
    return p, os.pidfd_open(p.pid)


def test_lines_and_their_end_reach_the_reader(terminal):
    ours, theirs = terminal
    f = feed.Feed(theirs)
    p, fd = started("import sys; sys.stdout.write(sys.stdin.read())", f)
    os.write(ours, b"one\ntwo\n\x04")
    assert f.pump(fd, 30)
    assert p.communicate()[0] == b"one\ntwo\n"


def test_a_reader_that_reads_nothing_ends_all_the_same(terminal):
    ours, theirs = terminal
    f = feed.Feed(theirs)
    p, fd = started("pass", f)
    os.write(ours, b"nobody wants this\n")
    assert f.pump(fd, 30)
    p.communicate()


def test_more_than_a_pipe_holds_waits_for_the_reader(terminal):
    f = feed.Feed(terminal[1])
    f.held = bytes(range(256)) * 4096
    p, fd = started("import sys; d = sys.stdin.buffer.read(1 << 20); print(len(d), d == bytes(range(256)) * 4096)", f)
    assert f.pump(fd, 30)
    assert p.communicate()[0] == b"1048576 True\n"


def test_the_time_limit_ends_the_wait(terminal):
    f = feed.Feed(terminal[1])
    p, fd = started("import sys; sys.stdin.read()", f)
    assert not f.pump(fd, 0.05)
    p.kill()
    p.communicate()


def test_in_the_background_the_terminal_is_left_alone(terminal, monkeypatch):
    monkeypatch.setattr(feed.Feed, "_is_foreground", lambda self: False)
    ours, theirs = terminal
    f = feed.Feed(theirs)
    os.write(ours, b"for somebody else\n")
    p, fd = started("pass", f)
    assert f.pump(fd, 30)
    p.communicate()
    assert os.read(theirs, 100) == b"for somebody else\n"
