#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernel calls from one table.

Reads abi/kcalls.tbl, abi/errors.tbl and abi/limits.abi.h and writes, below the output folder, the
numbers, the errors, the user stubs, the kernel's entry stubs with their dispatch table, and the
manual. The text of each is in tools/kcalltext.py. Everything that the table must not say is refused
here, with the line that says it.
"""
import argparse
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cheader  # noqa: E402

INLINE_BYTES = 136  # KCALL_DATA of kernel/call/kcall_glue.h
BUFFER_MAX = 4096  # no buffer of a call is larger
ARGUMENT_WORDS = 6
# calls whose every instruction counts: the entry stub of each is made for its arguments alone
OFTEN = ("void_remote", "thread_create", "thread_join", "thread_wakeup", "mailbox_write", "mailbox_read",
         "sync_signal", "channel_wake", "device_done", "clock")
CONTEXT = "context"  # size name: the CPU's struct context
PLAIN = ("int", "u32", "word", "until")
NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
BUFFER = re.compile(r"(in|out)\s+(\w+)\[(.*)\]\Z")


class TableError(Exception):
    """What is wrong, with file and line."""


class Argument:
    """One argument: a plain value, a buffer or a deadline.
    `word` is its place among the six argument words.
    """

    def __init__(self, kind, name, word, size=0, size_text="", has_len=False):
        self.kind = kind
        self.name = name
        self.word = word
        self.size = size
        self.size_text = size_text
        self.has_len = has_len
        self.offset = None  # in kcall_args.data; None: in the staging buffer
        self.staged_at = 0

    @property
    def words(self):
        return 2 if self.has_len or self.kind == "until" else 1

    @property
    def is_buffer(self):
        return self.kind in ("in", "out")

    @property
    def c_size(self):
        """The size as C text."""
        return "sizeof(struct context)" if self.size_text == CONTEXT else self.size_text


class Call:
    """One line of the table."""

    def __init__(self, nr, name, where, blocks, args, errors, source):
        self.nr = nr
        self.name = name
        self.remote = where == "remote"
        self.blocks = blocks == "yes"
        self.args = args
        self.errors = errors
        self.source = source

    @property
    def buffers(self):
        return [a for a in self.args if a.is_buffer]

    @property
    def outs(self):
        return [a for a in self.args if a.kind == "out"]

    @property
    def ins(self):
        return [a for a in self.args if a.kind == "in"]

    @property
    def until(self):
        """The deadline, or None."""
        return self.args[-1] if self.args and self.args[-1].kind == "until" else None

    @property
    def is_often(self):
        """Whether the call is made so often that each instruction counts."""
        return self.name in OFTEN

    @property
    def is_described(self):
        """Whether kernel/call/enter.c enters the call by what its entry in the table says."""
        return self.remote and not self.is_often and len(self.buffers) <= 1

    @property
    def is_fast(self):
        return not self.remote and not self.blocks and not self.buffers


def lines_of(path):
    """Yield (line number, text) of the lines that are not comments."""
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            text = line.strip()
            if text and not text.startswith("#"):
                yield number, text


def read_errors(path):
    """List of (number, name, meaning)."""
    errors = []
    for number, text in lines_of(path):
        fields = text.split(None, 2)
        where = f"{path}:{number}"
        if len(fields) != 3 or not fields[0].isdigit():
            raise TableError(f"{where}: expected 'number NAME meaning'")
        nr, name = int(fields[0]), fields[1]
        if not 0 < nr < 2000:
            raise TableError(f"{where}: error number {nr} is outside 1..1999")
        if any(name == e[1] for e in errors):
            raise TableError(f"{where}: duplicate error name {name}")
        if any(nr == e[0] for e in errors):
            raise TableError(f"{where}: duplicate error number {nr}")
        errors.append((nr, name, fields[2]))
    return errors


def size_of(text, limits, where):
    """Value of a size: a number, a constant of the limits, or `context`."""
    text = text.strip()
    if text == CONTEXT:
        if "CONTEXT_SIZE" not in limits:
            raise TableError(f"{where}: the limits do not have CONTEXT_SIZE")
        return limits["CONTEXT_SIZE"]
    if text.isdigit():
        value = int(text)
    elif text in limits:
        value = limits[text]
    else:
        raise TableError(f"{where}: size {text!r} is neither a number nor a constant of the limits")
    if not 0 < value <= BUFFER_MAX:
        raise TableError(f"{where}: size {text} = {value} is outside 1..{BUFFER_MAX}")
    return value


def parse_buffer(match, word, limits, where):
    kind, name, size = match.groups()
    has_len = False
    if "<=" in size:
        length, size = (part.strip() for part in size.split("<=", 1))
        if length != "len":
            raise TableError(f"{where}: {name}: write [len<=N], not [{length}<=N]")
        if kind == "out":
            raise TableError(f"{where}: {name}: an out buffer has a fixed size")
        has_len = True
    value = size_of(size, limits, where)
    if kind == "out" and value > INLINE_BYTES:
        raise TableError(f"{where}: {name}: out buffer of {value} bytes is longer than {INLINE_BYTES}")
    return Argument(kind, name, word, value, size.strip(), has_len)


def parse_arguments(text, limits, where):
    args = []
    word = 0
    for part in (p.strip() for p in text.split(",")):
        if not part:
            if text.strip():
                raise TableError(f"{where}: empty argument")
            continue
        match = BUFFER.match(part)
        if match:
            arg = parse_buffer(match, word, limits, where)
        else:
            fields = part.split()
            if len(fields) != 2 or fields[0] not in PLAIN:
                raise TableError(f"{where}: cannot read argument {part!r}")
            arg = Argument(fields[0], fields[1], word)
        if any(a.kind == "until" for a in args):
            raise TableError(f"{where}: nothing comes behind a deadline")
        if not NAME.match(arg.name) or any(arg.name == a.name for a in args):
            raise TableError(f"{where}: bad or duplicate argument name {arg.name!r}")
        args.append(arg)
        word += arg.words
    if word > ARGUMENT_WORDS:
        raise TableError(f"{where}: {word} argument words, at most {ARGUMENT_WORDS} fit")
    return args


def place_buffers(call, where):
    """Give each buffer its place: outs and small ins travel with the arguments, larger ins are
    staged.
    """
    at = 0
    staged = 0
    for arg in call.outs + call.ins:
        if at + arg.size <= INLINE_BYTES and arg.size_text != CONTEXT:
            arg.offset = at
            at += (arg.size + 7) & ~7
        elif arg.kind == "out":
            raise TableError(f"{where}: the out buffers are together longer than {INLINE_BYTES} bytes")
        else:
            arg.staged_at = staged
            staged += (arg.size + 7) & ~7
    call.inline_bytes = at
    call.staged_bytes = staged


LINE = re.compile(r"(\d+)\s+(\S+)\s+(\S+)\s+(\S+)\s+\(([^)]*)\)\s*->\s*([^;]*);\s*(.*)\Z")


def parse_call(text, limits, errors, where):
    match = LINE.match(text)
    if not match:
        raise TableError(f"{where}: expected 'nr name where blocks (arguments) -> errors ; source'")
    nr, name, kind, blocks, args, errs, source = match.groups()
    if not NAME.match(name):
        raise TableError(f"{where}: bad name {name!r}")
    if kind not in ("local", "remote"):
        raise TableError(f"{where}: {name}: where is local or remote, not {kind!r}")
    if blocks not in ("yes", "no"):
        raise TableError(f"{where}: {name}: blocks is yes or no, not {blocks!r}")
    if kind == "remote" and blocks == "yes":
        raise TableError(f"{where}: {name}: a remote call must not block (a blocked kernel core serves nobody)")
    names = [] if errs.strip() == "-" else errs.split()
    known = {e[1] for e in errors}
    for e in names:
        if e not in known:
            raise TableError(f"{where}: {name}: unknown error {e}")
    if not source.strip():
        raise TableError(f"{where}: {name}: no source")
    call = Call(int(nr), name, kind, blocks, parse_arguments(args, limits, where), names, source.strip())
    if call.until and not call.blocks:
        raise TableError(f"{where}: {name}: only a call that waits has a deadline")
    place_buffers(call, where)
    return call


def read_calls(path, limits, errors):
    calls = []
    for number, text in lines_of(path):
        where = f"{path}:{number}"
        call = parse_call(text, limits, errors, where)
        if any(call.name == c.name for c in calls):
            raise TableError(f"{where}: duplicate name {call.name}")
        if call.nr != len(calls):
            raise TableError(f"{where}: {call.name} has number {call.nr}, expected {len(calls)} (no gaps, in order)")
        calls.append(call)
    if not calls:
        raise TableError(f"{path}: no calls")
    return calls


def tested_names(root):
    """Names that some test file below root claims with `test: NAME`."""
    found = set()
    pattern = re.compile(rb"\btest:((?:[ \t]+[a-z][a-z0-9_]*\b,?)+)")
    for folder, dirs, files in os.walk(root):
        dirs[:] = [d for d in dirs if not d.startswith(".") and d not in ("build", "node_modules")]
        inside = "tests" in os.path.relpath(folder, root).split(os.sep)
        for name in files:
            if inside or name.endswith("_test.c"):
                with open(os.path.join(folder, name), "rb") as f:
                    for m in pattern.finditer(f.read()):
                        found.update(m.group(1).decode().replace(",", " ").split())
    return found


def require_tests(calls, path, root):
    tested = tested_names(root)
    missing = [c.name for c in calls if c.name not in tested]
    if missing:
        raise TableError(f"{path}: calls without a test (no 'test: NAME' in any test file): {' '.join(missing)}")


def write_if_changed(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        with open(path, encoding="utf-8") as f:
            if f.read() == text:
                return
    except FileNotFoundError:
        pass
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(path + ".new", path)


def main(argv=None):
    import kcalltext

    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(description="generate kernel-call stubs from abi/kcalls.tbl")
    parser.add_argument("--out", help="output folder (build/gen)")
    parser.add_argument("--abi", default=os.path.join(root, "abi"), help="folder of the tables")
    parser.add_argument("--require-tests", metavar="ROOT", help="refuse calls that no test below ROOT names")
    options = parser.parse_args(argv)
    try:
        limits = cheader.Header(os.path.join(options.abi, "limits.abi.h")).names
        errors = read_errors(os.path.join(options.abi, "errors.tbl"))
        table = os.path.join(options.abi, "kcalls.tbl")
        calls = read_calls(table, limits, errors)
        if options.require_tests:
            require_tests(calls, table, options.require_tests)
        if options.out:
            for name, text in kcalltext.files(calls, errors).items():
                write_if_changed(os.path.join(options.out, name), text)
    except (TableError, OSError) as e:
        print(f"kcallgen: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
