# SPDX-License-Identifier: MIT
"""Folders of the host on the machine: programs of several clusters, and a shell, do there what Linux does, and the
host finds the same files. Needs riscv64 built; the shell's programs are built at the first use.

Prints `ok NAME` or `FAIL NAME: why` for each, and `skip` where there is no network to get those from.
"""

import contextlib
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import packages  # noqa: E402
import patience  # noqa: E402
import setup  # noqa: E402
from test_jobs import BUILD, PATIENCE_S, Wrong, expect, main, run  # noqa: E402
from test_shell import run as shell  # noqa: E402
from test_shell import wants  # noqa: E402
from ui import Failure  # noqa: E402

PROGRAM = os.path.join(BUILD, "riscv64", "tests", "share")


@contextlib.contextmanager
def folder():
    """A folder of the host that is empty."""
    with tempfile.TemporaryDirectory(prefix="atoll-share-") as path:
        yield os.path.realpath(path)


def tree_of(path):
    """What is in a folder: name -> mode and contents."""
    found = {}
    for at, directories, files in os.walk(path):
        for name in directories + files:
            full = os.path.join(at, name)
            s = os.lstat(full)
            if stat.S_ISLNK(s.st_mode):
                what = os.readlink(full)
            elif stat.S_ISREG(s.st_mode):
                with open(full, "rb") as f:
                    what = f.read()
            else:
                what = None
            found[os.path.relpath(full, path)] = (stat.S_IFMT(s.st_mode), stat.S_IMODE(s.st_mode), what)
    return found


def on_linux():
    """What the same program leaves in a folder of Linux."""
    with folder() as out, folder() as at:
        program = os.path.join(out, "share")
        subprocess.run([setup.zig(), "cc", "-target", f"{os.uname().machine}-linux-musl", "-O2", "-static", "-o",
                        program, os.path.join(ROOT, "tests", "jobs", "share.c")], check=True)
        r = patience.run([program, at], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, check=False)
        expect((r.returncode, r.stderr.decode()), 0)
        return tree_of(os.path.join(at, "0"))


def as_on_linux(ranks, mount):
    """Each rank does in a folder of its own what the program does on Linux."""
    with folder() as at:
        expect(run("riscv64", ranks, PROGRAM, mount, options=("--map", "scatter", "--share", f"{at}:{mount}")), 0)
        want = on_linux()
        if sorted(os.listdir(at)) != [str(i) for i in range(ranks)]:
            raise Wrong(f"ranks made {os.listdir(at)}")
        for rank in range(ranks):
            have = tree_of(os.path.join(at, str(rank)))
            lines = zip(have["said"][2].decode().splitlines(), want["said"][2].decode().splitlines())
            other = [f"'{mine}', not '{theirs}'" for mine, theirs in lines if mine != theirs]
            if other or have != want:
                differ = sorted(n for n in have.keys() | want.keys() if have.get(n) != want.get(n))
                raise Wrong(f"rank {rank}: {other[:5]}; files that differ: {differ[:8]}")


def read_only():
    """A share that may only be read is."""
    with folder() as at:
        with open(os.path.join(at, "f"), "w", encoding="utf-8") as f:
            f.write("kept\n")
        before = tree_of(at)
        wants(shell(["--share", f"{at}:/mnt,ro", "-c",
                     "cd /mnt; cat f; for c in 'echo x >f' 'echo x >>g' 'mkdir d' 'rm f' 'mv f g' 'chmod 600 f' "
                     "'ln -s a b' 'touch f'; do eval $c 2>/tmp/e && echo $c; grep -c 'Read-only file system' /tmp/e; "
                     "done"]), (0, "kept\n" + "1\n" * 8))
        if tree_of(at) != before:
            raise Wrong(f"it was changed: {sorted(tree_of(at))}")


def several():
    """Two folders, moves between them, and links that lead out."""
    with folder() as one, folder() as two:
        os.mkdir(os.path.join(one, "deep"))
        os.symlink(os.path.join(two, "f"), os.path.join(one, "out"))
        os.symlink("../../two/f", os.path.join(one, "deep", "across"))
        with open(os.path.join(two, "f"), "w", encoding="utf-8") as f:
            f.write("of two\n")
        status, out, said = shell(["--share", f"{one}:/one", "--share", f"{two}:/two", "-c",
                                   "cat /one/out; cat /one/deep/across; cd /one/deep; cat ../../two/f; pwd; "
                                   "mv /two/f ../g; cat /one/g; ls /two; echo x >/tmp/y; mv /tmp/y /two/y; "
                                   "cat /two/y; rmdir /two; cd /; ls -d one two"])
        wants((status, out, said), (0, "of two\nof two\n/one/deep\nof two\nx\none\ntwo\n"))
        if sorted(os.listdir(one)) != ["deep", "g", "out"] or os.listdir(two) != ["y"] or "No such file" not in said:
            raise Wrong(f"{os.listdir(one)} {os.listdir(two)} {said}")


def programs():
    """Programs in a share are executed, in every cluster, and scripts."""
    with folder() as at:
        script = ("cp /bin/toybox /share/hello; cd /share; printf '#!/share/run.me -c\\n' >x; cp /bin/dash run.me; "
                  "printf '#!/bin/sh\\necho script $1\\n' >s; chmod 755 s; ./s 7; ./run.me -c 'echo own; pwd'; "
                  "for i in 1 2 3 4 5 6; do ./run.me -c \"echo $i >>all\" & done; wait; wc -l <all; "
                  "chmod 644 s; ./s; echo $?")
        wants(shell(["--share", at, "-c", script]), (0, "script 7\nown\n/share\n6\n126\n"))


def make_and_compiler():
    """make and a compiler work in a folder of the host, and make finds what is older: times are the host's."""
    try:
        packages.ensure(("make", "tcc"))
    except Failure as e:
        if "cannot get" not in str(e):
            raise
        return
    with folder() as at:
        for name, text in (("Makefile", "prog: a.o b.o\n\ttcc -static -o $@ a.o b.o\n%.o: %.c\n\ttcc -c -o $@ $<\n"),
                           ("a.c", "int f(int);\nint printf(const char *, ...);\n"
                                   "int main(void) { printf(\"%d\\n\", f(6)); return 0; }\n"),
                           ("b.c", "int f(int x) { return x * 7; }\n")):
            with open(os.path.join(at, name), "w", encoding="utf-8") as f:
                f.write(text)
        said = shell(["--with", "make,tcc", "--share", f"{at}:/work", "-c",
                      "cd /work; make && ./prog; echo 'int f(int x) { return x * 8; }' >b.c; make && ./prog; make; "
                      "touch a.c; make | wc -l"])
        first, second, link = "tcc -c -o a.o a.c\n", "tcc -c -o b.o b.c\n", "tcc -static -o prog a.o b.o\n"
        wants(said, (0, f"{first}{second}{link}42\n{second}{link}48\nmake: 'prog' is up to date.\n2\n"))
        if said[2]:
            raise Wrong(said[2])


def disk_limits():
    """What the host refuses is said, as soon as it does: here a file that is larger than QEMU may write."""
    with folder() as at:
        process = subprocess.Popen([os.path.join(ROOT, "atoll"), "shell", "--share", at], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            process.stdin.write(b"echo >/share/ready\n")
            process.stdin.flush()
            await_file(process, os.path.join(at, "ready"))
            for pid in machines_of(at):
                subprocess.run(["prlimit", "--pid", pid, "--fsize=100000:100000"], check=True)
            out, said = process.communicate(b"head -c 90000 /bin/toybox >/share/a && echo fits\n"
                                            b"head -c 200000 /bin/toybox >/share/b || echo refused\n"
                                            b"wc -c </share/b; echo more >>/share/b || echo no\n", PATIENCE_S)
        finally:
            process.kill()
        wants((process.returncode, out.decode(), said.decode()), (0, "fits\nrefused\n100000\nno\n"))
        if "too large" not in said.decode():
            raise Wrong(said.decode())


def machines_of(at):
    """The processes that have a folder as a share."""
    return subprocess.run(["pgrep", "-f", f"path={at},"], capture_output=True, check=False).stdout.decode().split()


def await_file(process, path):
    """Until a machine has made it."""
    end = time.monotonic() + PATIENCE_S
    while not os.path.exists(path):
        if time.monotonic() > end or process.poll() is not None:
            process.kill()
            raise Wrong("nothing was written")
        time.sleep(0.05)


def missing():
    """A folder that is not there is said before anything starts."""
    for spec, words in (("/no/such/folder", "no such folder"), (PROGRAM, "not a folder"), ("/tmp:/proc/x", "own")):
        status, out, said = shell(["--share", spec, "-c", "echo started"])
        if status != 2 or out or words not in said or said.count("\n") != 1:
            raise Wrong(f"{spec}: status {status}: {out}{said}")


def interrupted():
    """Ctrl-C while a file is written leaves no process behind."""
    with folder() as at:
        process = subprocess.Popen([os.path.join(ROOT, "atoll"), "shell", "--share", at, "-c",
                                    "while :; do cat /bin/toybox >/share/f; done"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        await_file(process, os.path.join(at, "f"))
        os.killpg(process.pid, signal.SIGINT)
        process.wait(PATIENCE_S)
        if machines_of(at):
            raise Wrong(f"processes are left: {machines_of(at)}")


def parts_of_other_servers():
    """Links of a folder lead to what file servers of other clusters have."""
    program = os.path.join(BUILD, "riscv64", "tests", "parts")
    with folder() as at:
        have = run("riscv64", 2, "parts", "share", options=(
            "--share", at, "--end-servers", "--map", "scatter", "--tree", "1", "--tree", "2", "--file",
            f"{program}=parts"))
        expect(have, 0, "ok rank 1")
        if os.listdir(at):
            raise Wrong(f"the host has {os.listdir(at)}")


def scenarios(_):
    """Each of them, or that it is skipped."""
    yield "a_rank_does_in_a_share_what_it_does_on_linux", lambda: as_on_linux(1, "/share")
    yield "ranks_of_four_clusters_do_so_at_once", lambda: as_on_linux(4, "/deep/below")
    yield missing.__name__, missing
    yield parts_of_other_servers.__name__, parts_of_other_servers
    try:
        packages.ensure(("dash", "toybox"))
    except Failure as e:
        if "cannot get" not in str(e):
            raise
        print(f"skip share_shell: no network: {e}")
        return
    for test in (read_only, several, programs, make_and_compiler, disk_limits, interrupted):
        yield test.__name__, test


if __name__ == "__main__":
    sys.exit(main(["riscv64"], scenarios))
