# SPDX-License-Identifier: MIT
"""The same programs do the same on the machine and under Linux: standard output, standard error and
status, byte by byte, of the commands in same.toml. The binaries are the same, too: Linux runs them
through the user emulation of QEMU. Needs the riscv64 port built; the programs are built at the first
use.

`all`: each command; without it those that are fast. Other words choose commands by name. Prints
`ok NAME` or `FAIL NAME: why` for each, and `skip` where there is no network to get the programs from.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "tests", "jobs")]
import rooms  # noqa: E402,F401
import packages  # noqa: E402
import patience  # noqa: E402
from shell import ALWAYS, OURS  # noqa: E402
from test_jobs import PATIENCE_S, Wrong, main  # noqa: E402
from ui import Failure  # noqa: E402

TABLE = os.path.join(ROOT, "tests", "same", "same.toml")
EMULATOR = "qemu-riscv64"
SHELL = "bin/dash"	# as the machine calls it
LONG_S = 300
SCRIPT = "command"
PREFACE = "mkdir work; cd work\n"
RUN = 'exec "$@"\n'	# a file that is no program: the shell takes it for a script


def table():
    """The rows of same.toml."""
    with open(TABLE, "rb") as f:
        return tomllib.load(f)["run"]


def _write(path, text):
    """The path of a file that is made."""
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def here(row):
    """(status, standard output, standard error) on the machine."""
    with tempfile.TemporaryDirectory(prefix="atoll-same-") as folder:
        run = _write(os.path.join(folder, "run"), RUN)
        argv = [os.path.join(ROOT, "atoll"), "shell", "--timeout", str(PATIENCE_S), "--file", f"{run}=bin/run",
                *(["--with", ",".join(row["with"])] if row.get("with") else []), "--env", "SOURCES=",
                _write(os.path.join(folder, SCRIPT), PREFACE + row["command"])]
        r = patience.run(argv, input=row.get("input", "").encode(), capture_output=True, timeout=PATIENCE_S + 60,
                         check=False)
    # that the host is busy no program has said
    said = [line for line in r.stderr.splitlines(keepends=True) if not line.startswith(b"atoll: still running")]
    return r.returncode, r.stdout, b"".join(said)


def _command(path, words):
    os.chmod(_write(path, f'#!/bin/sh\nexec {shutil.which(EMULATOR)} {words} "$@"\n'), 0o755)


def _make_bin(folder, names):
    """Commands by which Linux starts what the machine has in /bin."""
    os.mkdir(folder)
    for package in names:
        for path, name in packages.files(package):
            if os.path.dirname(name) == "bin":
                _command(os.path.join(folder, os.path.basename(name)), f'-0 "${{0##*/}}" {path}')
    _command(os.path.join(folder, "run"), "")


def linux(row):
    """The same under Linux, where what the machine has in other folders is below one."""
    names = [*ALWAYS, *row.get("with", [])]
    with tempfile.TemporaryDirectory(prefix="atoll-same-") as folder:
        root = os.path.join(folder, "root")
        for package in names:
            shutil.copytree(packages.tree(package), root, symlinks=True, dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("bin"))
        _make_bin(os.path.join(folder, "bin"), names)
        os.mkdir(os.path.join(folder, "here"))
        _write(os.path.join(folder, "here", SCRIPT), PREFACE + row["command"])
        argv = [shutil.which(EMULATOR), "-0", SHELL, os.path.join(packages.tree("dash"), "bin", "dash"), SCRIPT]
        r = patience.run(argv, input=row.get("input", "").encode(), capture_output=True, timeout=PATIENCE_S,
                         check=False, cwd=os.path.join(folder, "here"),
                         env={"PATH": os.path.join(folder, "bin"), "QEMU_LD_PREFIX": root, "SOURCES": root})
    return r.returncode, r.stdout, r.stderr


def same(row):
    """One row."""
    have, want = here(row), linux(row)
    if have != want:
        text = [f"status {s}\n{o.decode(errors='replace')}--- stderr\n{e.decode(errors='replace')}"
                for s, o, e in (have, want)]
        raise Wrong(f"here: {text[0]}\nLinux: {text[1]}")


def selfhost():
    """Lua is built on the machine and passes its own tests: what it says ends so."""
    r = patience.run([os.path.join(ROOT, "atoll"), "selfhost", "--timeout", str(LONG_S)], stdin=subprocess.DEVNULL,
                     capture_output=True, timeout=LONG_S + 60, check=False)
    if r.returncode != 0 or b"\nfinal OK !!!\n" not in r.stdout:
        raise Wrong(f"status {r.returncode}\n{r.stdout[-2000:].decode(errors='replace')}{r.stderr.decode()}")


def chosen(words):
    """The rows that the command line means."""
    if words == ["all"]:
        return table()
    return [row for row in table() if (row["name"] in words if words else row.get("fast"))]


def scenarios(words):
    """Each of them, or that it is skipped."""
    rows = chosen(words)
    names = dict.fromkeys([*ALWAYS, *(name for row in rows for name in row.get("with", []))])
    try:
        packages.ensure(names, OURS)
    except Failure as e:
        if "cannot get" not in str(e):
            raise
        for row in rows:
            print(f"skip riscv64_{row['name']}: no network: {e}")
        return
    for row in rows:
        yield row["name"], lambda row=row: same(row)
    if words == ["all"]:
        yield "selfhost", selfhost


if __name__ == "__main__":
    sys.exit(main(["riscv64"], lambda port: scenarios(sys.argv[1:])))
