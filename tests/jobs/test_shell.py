# SPDX-License-Identifier: MIT
"""./atoll shell: dash and toybox, unmodified, do on the machine what their users expect. Needs the
riscv64 port built; the two are built at the first use.

Prints `ok NAME` or `FAIL NAME: why` for each, and `skip` where there is no network to get them from.
"""

import os
import re
import pty
import select
import signal
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import packages  # noqa: E402
import patience  # noqa: E402
from test_jobs import PATIENCE_S, Wrong, main  # noqa: E402
from ui import Failure  # noqa: E402

SCRIPT = os.path.join(ROOT, "tests", "jobs", "shell.sh")
MPI_SCRIPT = os.path.join(ROOT, "tests", "jobs", "mpiexec.sh")
PROCESSES_SCRIPT = os.path.join(ROOT, "tests", "jobs", "processes.sh")
SMALL_CLUSTERS = """1
the token went 3 times round 20 ranks and came back with 570
12
hello from rank 0 of 4 on cluster4 (its counter says 0)
4
"""
MPI_PROGRAMS = ("mpijob", "counts", "stray")


def run(arguments, text="", limit_s=PATIENCE_S):
    """(status, standard output, what it said besides)."""
    r = patience.run([os.path.join(ROOT, "atoll"), "shell", *arguments], input=text.encode(), capture_output=True,
                     timeout=limit_s, check=False)
    return r.returncode, r.stdout.decode(), r.stderr.decode()


def wants(have, want):
    """Are status and standard output these?"""
    if have[:2] != want:
        raise Wrong(f"status {have[0]}, not {want[0]}:\n{have[1]}{have[2]}")


def script():
    """A script says what it should."""
    with open(SCRIPT[:-2] + "expected", encoding="utf-8") as f:
        wants(run([SCRIPT]), (7, f.read()))


def command():
    """Commands may be given, and get arguments."""
    wants(run(["-c", "echo $0 $#\necho \"$1$2\"\nexit $2", "name", "a\n\nb", "9"]), (9, "name 2\na\n\nb9\n"))


def standard_input():
    """Commands come from standard input."""
    wants(run([], "for a in one two\ndo echo $a | cat\ndone\nexit 3\n"), (3, "one\ntwo\n"))


def missing():
    """A program that is not there is 127, a syntax error 2."""
    wants(run(["-c", "nothing-of-this-name"]), (127, ""))
    wants(run(["-c", "if"]), (2, ""))


def mpi_jobs():
    """MPI jobs are started at the prompt, end as they should, and leave nothing."""
    given = [word for name in MPI_PROGRAMS
             for word in ("--program", os.path.join(ROOT, "build", "riscv64", "tests", name))]
    have = run([*given, "--timeout", str(2 * PATIENCE_S), MPI_SCRIPT], limit_s=3 * PATIENCE_S)
    # where main lies in the program is the linker's affair
    out = re.sub(r"\(0x[0-9a-f]+ of", "(ADDRESS of", have[1])
    with open(MPI_SCRIPT[:-2] + "expected", encoding="utf-8") as f:
        wants((have[0], out, have[2]), (0, f.read()))


def small_clusters():
    """A shell on a machine whose clusters for MPI have 2 MB each is in a larger one, and starts jobs in theirs."""
    wants(run(["--machine", "mppa256", "--timeout", str(2 * PATIENCE_S), "-c",
               "ls / | grep -c '^bin$'; mpiexec -n 20 ring; mpiexec -n 4 hello > /tmp/a & mpiexec -n 12 hello | wc -l; "
               "wait; sort /tmp/a | head -1; ps | wc -l"], limit_s=3 * PATIENCE_S),
          (0, SMALL_CLUSTERS))


def processes():
    """ps, top, pgrep and kill see the processes of all clusters, and /dev/cores the cores."""
    given = ("--program", os.path.join(ROOT, "build", "riscv64", "tests", "mpijob"))
    with open(PROCESSES_SCRIPT[:-2] + "expected", encoding="utf-8") as f:
        wants(run([*given, PROCESSES_SCRIPT]), (0, f.read()))


def only_time_sharing():
    """On a machine of time-sharing cores alone programs that compute are on all that servers leave."""
    with open(os.path.join(ROOT, "machines", "riscv-1x4.toml"), encoding="utf-8") as f:
        given = f.read()
    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as f:
        f.write(given.replace("application = 3", "service = 3"))
        f.flush()
        wants(run(["--machine", f.name, "-c", """cut -d ' ' -f 3,4 /dev/cores
for n in 1 2 3 4 5 6; do (while :; do :; done) & all="$all $!"; done
used() { for p in $all; do grep Core: /proc/$p/status; done | sort -u | wc -l; }
while test $(used) -lt 3; do :; done
kill $all; wait; echo all"""]), (0, "role acts\n" + 4 * "tc tc\n" + "all\n"))


def free_space():
    """df says what files can have, which is less by what they have."""
    wants(run(["-c", """f() { set -- $(df -k /tmp | tail -n 1); echo $4; }
set -- $(df -k / | tail -n 1); test $2 -gt 4000 && test $(($3 + $4)) -le $2 && echo $1 $6
a=$(f); dd if=/dev/zero of=/tmp/large bs=1024 count=2000 2>&- || seq 1 300000 > /tmp/large
b=$(f); test $((a - b)) -ge 1900 && echo less; rm /tmp/large; c=$(f); test $c -gt $b && echo more
df /proc | grep -c proc; stat -f -c %t /proc"""]), (0, "memory /\nless\nmore\n0\n9fa0\n"))


def replaced():
    """A program whose place another one has taken does not go on, also where it shares a core with that."""
    have = run(["--machine", "riscv-1x4", "--icount", "-c", """echo core 1 role tc > /dev/cores
all() { for n in 1 2 3 4 5 6 7 8; do env true & { echo core 1 > /proc/$!/ctl; } 2>&-; done; wait; }
all; all; all; echo all"""])
    wants(have, (0, "all\n"))
    if "dash: " in have[2]:
        raise Wrong(f"a shell whose place was taken goes on:\n{have[2]}")


def input_in_turn():
    """Programs that read the standard input one after the other find what those before have left."""
    wants(run(["-c", "read a; sh -c 'read b; echo two $b'; echo one $a; cat"], "x y\nz\nrest\nlast\n"),
          (0, "two z\none x y\nrest\nlast\n"))


def input_at_once():
    """Several that read it at once get each byte once."""
    text = "".join(f"line {i}\n" for i in range(4000))
    status, out, said = run(["-c", "exec 3<&0; cat <&3 >/a & cat <&3 >/b & cat <&3 >/c & wait; cat /a /b /c"], text)
    if status or sorted(out) != sorted(text):
        raise Wrong(f"status {status}, {len(out)} bytes of {len(text)}\n{said}")


def joined_output():
    """Pieces of a line from several programs are one line."""
    wants(run(["-c", "printf one; printf two | cat; sh -c 'printf three'; echo"]), (0, "onetwothree\n"))


def typed(*steps):
    """A shell on a terminal: each step is what must have been said before, and what is typed then.
    (status, what was left of what it said)
    """
    pid, fd = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.environ["ATOLL_PATIENT"] = "1"
        os.execv(os.path.join(ROOT, "atoll"), ["atoll", "shell"])
    said, end = b"", time.monotonic() + 2 * PATIENCE_S
    try:
        for wanted, keys in steps:
            while wanted.encode() not in said:
                said += hear(fd, end, said)
            said = said.partition(wanted.encode())[2]
            os.write(fd, keys.encode())
        while True:
            more = hear(fd, end, None)
            if not more:
                return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said.decode()
            said += more
    except BaseException:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        raise
    finally:
        os.close(fd)


def hear(fd, end, said):
    """What comes next; nothing: it has ended, which is wrong if what was said before is given."""
    if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
        raise Wrong(f"nothing comes; before: {said}")
    try:
        more = os.read(fd, 4096)
    except OSError:
        more = b""
    if not more and said is not None:
        raise Wrong(f"it has ended; before: {said}")
    return more


def terminal():
    """On a terminal lines can be edited, and Ctrl-C ends a command and not the shell."""
    status, said = typed(("# ", "echo $((6 * 7))\n"), ("\n42\r\n# ", "test -t 0 -a -t 1 && echo yes\n"),
                         ("\nyes\r\n# ", "echo wrong\x15echo rigth\x7f\x7fht\n"), ("\nright\r\n# ", "half a li\x03"),
                         ("# ", "echo begun; while :; do :; done\n"), ("\nbegun\r\n", "\x03"), ("# ", "echo $?\n"),
                         ("\n130\r\n# ", "top -d 600\n"), (" name\r\n", "\x03"), ("# ", "echo $?\n"),
                         ("\n130\r\n# ", "sh -c 'echo begun; read x' | cat\n"), ("\nbegun\r\n", "\x03"),
                         ("# ", "cat\n"), ("cat\r\n", "line\n\x04"), ("\nline\r\n# ", "(exit 9)\n"), ("# ", "\x04"))
    if status != 9 or "tty" in said or "signal" in said:
        raise Wrong(f"status {status}, at the end: {said}")


def jobs():
    """Ctrl-Z stops what is in the foreground, which goes on where the shell says; what reads the
    terminal in the background stops.
    """
    status, said = typed(("# ", "cat\n"), ("cat\r\n", "one\n"), ("one\r\none\r\n", "\x1a"), ("Stopped", ""),
                         ("# ", "jobs\n"), ("Stopped", ""), ("# ", "fg\n"), ("cat\r\n", "two\n"),
                         ("two\r\ntwo\r\n", "\x03"), ("# ", "cat &\n"), ("# ", "sleep 0.5; jobs\n"), ("Stopped", ""),
                         ("# ", "fg\n"), ("fg\r\n", "line\n\x04"), ("\nline\r\n# ", "sleep 1 &\n"),
                         ("# ", "wait; exit 6\n"))
    if status != 6:
        raise Wrong(f"status {status}, at the end: {said}")


TESTS = (terminal, jobs, script, command, standard_input, missing, input_in_turn, input_at_once, joined_output,
         mpi_jobs, processes, only_time_sharing, free_space, replaced, small_clusters)


def scenarios(port):
    """Each of them, or that it is skipped."""
    try:
        packages.ensure(("dash", "toybox"))
    except Failure as e:
        if "cannot get" not in str(e):
            raise
        for test in TESTS:
            print(f"skip {port}_{test.__name__}: no network: {e}")
        return
    for test in TESTS:
        yield test.__name__, test


if __name__ == "__main__":
    sys.exit(main(["riscv64"], scenarios))
