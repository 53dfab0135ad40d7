# SPDX-License-Identifier: MIT
"""mpiexec as a server of its ranks: programs that overlap or follow one another, readers that do
not read, and the terminal.

Prints `ok NAME`, `FAIL NAME: why` or `skip NAME: why` for each scenario.
"""

import fcntl
import os
import pty
import re
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from scenario import (
    MPIEXEC, PATIENCE_S, WORK, Skip, Wrong, call, mpiexec, must, must_be, program, run_all,
    tests_of, tool
)  # noqa: E402
import patience  # noqa: E402

SHOW_SESSION = ("python3", "-c", "import os; print(os.getsid(0), os.getpgid(0))")
# a rank that says who it is and then says what it reads
ECHO = ("sh", "-c", "echo rank $PMI_RANK is $$; while read x; do echo rank $PMI_RANK got $x; done")


def fifo(name):
    """A named pipe, open for reading and writing, so that nobody waits for its other end."""
    path = os.path.join(WORK, name)
    os.mkfifo(path)
    return path, os.open(path, os.O_RDWR | os.O_CLOEXEC)


def read_until(fd, done, what):
    """Read until a condition holds of what was read; nothing for too long is a failure."""
    text = ""
    while not done(text):
        if not patience.readable([fd], PATIENCE_S):
            raise Wrong(f"{what}: nothing more after '{text[-1000:]}'")
        try:
            got = os.read(fd, 65536)
        except OSError:
            got = b""
        if not got:
            raise Wrong(f"{what}: ends after '{text[-1000:]}'")
        text += got.decode(errors="replace")
    return text


def test_a_process_that_has_finalised_lives_on_when_another_joins():
    says, one = fifo("says")
    hears, two = fifo("hears")
    script = (
        f"{program('outlive.c')} < {hears} > {says} & read x < {says}; {program('once.c')}; echo go > {hears}; read x <"
        f" {says}; echo $x; wait $!"
    )
    done = must(mpiexec("sh", "-c", f"exec 3<>{says} 4<>{hears}; {script}"), 0, "rank 0 of 1", "still there")
    must_be(done.err, "", "errors")
    os.close(one)
    os.close(two)


def test_programs_that_follow_one_another_cost_nothing():
    once = program("once.c")
    loop = (
        f"i=0; while [ $i -lt 40 ]; do {once} || exit 1; i=$((i + 1)); done > /dev/null; grep -c atoll-job"
        " /proc/$PPID/maps"
    )
    done = must(call(["sh", "-c", f"ulimit -n 32; exec {MPIEXEC} -n 2 sh -c '{loop}'"]), 0)
    must_be([int(n) <= 2 for n in done.out.split()], [True, True], f"pieces of memory in {done}")


def test_ranks_that_miss_a_later_program_are_told():
    once = program("once.c")
    must(mpiexec("-n", "2", "sh", "-c", f"{once}; test $PMI_RANK = 0 || exit 0; {once}"), 1,
         "rank 1 ended without another MPI_Init, and others wait for it")


class Unread:
    """A job whose standard output nobody reads, in a pipe that holds one page.
    Each rank runs a script after it has written more than that.
    """

    def __init__(self, script, *options, flood="head -c 40000 /dev/zero | tr '\\0' '\\n'"):
        self.path, self.signs = fifo(f"signs{len(os.listdir(WORK))}")
        self.out, theirs = os.pipe()
        fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, 4096)
        argv = [MPIEXEC, "-n", "2", *options, "sh", "-c", f"{flood}; {script}", self.path]
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=theirs,
                                        stderr=subprocess.PIPE, start_new_session=True)
        os.close(theirs)

    def wait_for_signs(self):
        """Both ranks have written a line into the named pipe."""
        read_until(self.signs, lambda t: t.count("\n") == 2, "signs of the ranks")

    def end(self, reads=False):
        """The exit status, and what was written if somebody reads in the end."""
        out = read_all(self.out) if reads else None
        try:
            err = patience.communicate(self.process, PATIENCE_S)[1].decode()
        except subprocess.TimeoutExpired:
            raise Wrong("mpiexec does not end while nobody reads") from None
        finally:
            os.killpg(self.process.pid, signal.SIGKILL) if self.process.poll() is None else None
            os.close(self.out)
            os.close(self.signs)
        return self.process.returncode, out, err


def read_all(fd):
    """Everything up to the end."""
    parts = []
    while patience.readable([fd], PATIENCE_S):
        parts.append(os.read(fd, 65536))
        if not parts[-1]:
            return b"".join(parts)
    raise Wrong(f"no end after {sum(map(len, parts))} bytes")


def test_ranks_join_while_nobody_reads_the_output():
    job = Unread(f"{program('once.c')} > $0")
    job.wait_for_signs()
    must_be(job.end(reads=True), (0, b"\n" * 80000, ""), "status, output and errors")


def test_a_signal_is_heard_while_nobody_reads_the_output():
    job = Unread("echo here > $0; exec yes")
    job.wait_for_signs()
    job.process.terminate()
    must_be(job.end(), (143, None, ""), "status and errors")


def test_time_is_kept_while_nobody_reads_the_output():
    status, _, err = Unread("exec yes", "--timeout", "1").end()
    must_be((status, err), (124, "mpiexec: no end after 1 s: the job is ended\n"), "status and errors")
    status, _, err = Unread("true", "--timeout", "1").end()
    must_be((status, err), (124, "mpiexec: no end after 1 s: the job is ended\n"), "status and errors after the ranks")


def test_a_failure_is_noticed_while_nobody_reads_the_output():
    status, out, err = Unread("test $PMI_RANK = 0 && exec yes; exit 3").end(reads=True)
    must_be((status, set(out) <= set(b"\ny"), "rank 1 (process" in err), (3, True, True), "status, output and errors")


def test_memory_is_bounded_while_nobody_reads_the_output():
    job = Unread("echo here > $0; exec yes")
    job.wait_for_signs()
    must_wait(lambda: all_sleep(job.process.pid), "mpiexec and the ranks do not wait")
    with open(f"/proc/{job.process.pid}/status", encoding="ascii") as f:
        peak = int(re.search(r"VmHWM:\s+(\d+) kB", f.read()).group(1))
    job.process.terminate()
    job.end()
    must_be(peak < 32768, True, f"peak of {peak} KiB below 32 MiB")


def descendants(pid):
    """Processes below one, and it."""
    out = [pid]
    for parent in out:
        with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as f:
            out += map(int, f.read().split())
    return out


def state_of(pid):
    """Letter of a process's state; Z if it has gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return "Z"


def all_sleep(pid):
    """Does nobody of a job run?"""
    return set(map(state_of, descendants(pid))) <= {"S"}


def must_wait(condition, what):
    """Look again until it holds; never is a failure."""
    if not patience.until(condition, PATIENCE_S):
        raise Wrong(what)


def test_ranks_have_a_session_of_their_own():
    done = must(mpiexec("-n", "2", *SHOW_SESSION), 0)
    (session, group), other = (x.split() for x in done.out.splitlines())
    must_be(([session, group] == other, session == group, int(session) == os.getsid(0)), (True, True, False), done.out)
    done = must(mpiexec(*SHOW_SESSION), 0)
    must_be(int(done.out.split()[0]) == os.getsid(0), False, "session of a single rank")


def test_ranks_are_a_scheduling_group_with_the_weight_of_their_caller():
    try:
        with open("/proc/sys/kernel/sched_autogroup_enabled", encoding="ascii") as f:
            enabled = f.read().strip() == "1"
    except FileNotFoundError:
        enabled = False
    if not enabled:
        raise Skip("sched_autogroup_enabled is not 1: the system groups by other means")
    with open("/proc/self/autogroup", encoding="ascii") as f:
        ours = f.read().split()[0]
    done = must(mpiexec("-n", "2", "cat", "/proc/self/autogroup"), 0)
    one, two = done.out.splitlines()
    must_be((one == two, ours in one, one.endswith("nice 0")), (True, False, True), done.out)
    # the system refuses a change of any group's weight within 100 ms of another one
    weighed = ["nice", "-n", "5", MPIEXEC, "-n", "1", "cat", "/proc/self/autogroup"]
    must_be(patience.until(lambda: "nice 5" in must(call(weighed), 0).out, 60), True, "weight")


class Terminal:
    """A program at a terminal of its own, the leader of a session there."""

    def __init__(self, *argv):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(PS1="$ ", HISTFILE="", ENV="", BASH_SILENCE_DEPRECATION_WARNING="1")
            os.execvp(argv[0], argv)
            os._exit(127)

    def type(self, text):
        """Keys."""
        os.write(self.fd, text.encode())

    def expect(self, pattern):
        """Wait for some text after what was found before; returns the match."""
        if not re.search(pattern, self.text):
            self.text += read_until(self.fd, lambda t: re.search(pattern, self.text + t),
                                    f"'{pattern}' at the terminal after '{self.text[-500:]}'")
        found = re.search(pattern, self.text)
        self.text = self.text[found.end():]
        return found

    def ranks(self, count):
        """The processes that say `rank N is PID`, by rank."""
        found = dict(self.expect(r"rank (\d) is (\d+)\r\n").groups() for _ in range(count))
        return [int(found[str(r)]) for r in range(count)]

    def end(self):
        """Wait for the program's own end; returns how it ended."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return status

    def close(self):
        """Hang up; returns how the program ended."""
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def shell():
    """A shell with job control at a terminal."""
    t = Terminal(tool("bash"), "--norc", "--noprofile", "--noediting", "-i")
    t.expect(r"\$ ")
    return t


def command(*args):
    """A command line for the shell."""
    return " ".join([MPIEXEC, *("'" + a.replace("'", "'\\''") + "'" for a in args)])


def test_a_terminal_reaches_the_ranks():
    t = shell()
    t.type(command("-n", "2", *ECHO) + "\r")
    pids = t.ranks(2)
    t.type("hello\r")
    t.expect("rank 0 got hello\r\n")
    t.type("\x03")
    t.type("echo status $?\r")
    t.expect("status 130\r\n")
    must_be([state_of(p) for p in pids], ["Z", "Z"], "ranks after Ctrl-C")
    t.close()


def test_a_terminal_interrupts_what_ranks_have_started():
    t = shell()
    t.type(command("-n", "2", "sh", "-c",
                   "trap 'echo trapped; exit 0' INT; echo rank $PMI_RANK is $$; cat; sleep 1000") + "\r")
    t.ranks(2)
    t.type("\x03")
    t.expect("trapped\r\n")
    t.expect("trapped\r\n")
    t.type("echo status $?\r")
    t.expect("status 130\r\n")
    t.close()


def bring_back(t, typed):
    """`fg`, a line for rank 0, and the end of the input."""
    t.type("fg\r")
    t.expect("PMI_RANK")
    t.type(f"{typed}\r")
    t.expect(f"rank 0 got {typed}\r\n")
    t.type("\x04")
    t.type("echo status $?\r")
    t.expect("status 0\r\n")
    t.close()


def test_a_terminal_stops_a_job_and_lets_it_go_on():
    t = shell()
    t.type(command("-n", "2", *ECHO) + "\r")
    reader = t.ranks(2)[0]
    t.type("\x1a")
    t.expect("Stopped")
    must_wait(lambda: state_of(reader) == "T", "the rank does not stop")
    bring_back(t, "again")


def test_a_job_in_the_background_leaves_the_keyboard_to_the_shell():
    t = shell()
    t.type(command("-n", "2", *ECHO) + " &\r")
    reader = t.ranks(2)[0]
    for i in range(3):
        t.type(f"echo $((40 + {i})) is for the shell\r")
        t.expect(f"{40 + i} is for the shell\r\n")
    must_be(state_of(reader), "S", "rank 0 in the background")
    bring_back(t, "mine")


def test_closing_the_terminal_ends_the_job():
    for ranks in (1, 2):
        t = Terminal(MPIEXEC, "-n", str(ranks), *ECHO)
        # the others have no input and end
        watch = os.pidfd_open(t.ranks(ranks)[0])
        must_be(t.close(), 129, "status")
        must_be(patience.readable([watch], PATIENCE_S), [watch], "rank that has ended")
        os.close(watch)


def test_a_single_rank_has_the_terminal():
    t = Terminal(MPIEXEC, "sh", "-c", "test -t 0 && test -t 1 && : < /dev/tty && echo mine")
    t.expect("mine\r\n")
    must_be(t.end(), 0, "status")


if __name__ == "__main__":
    sys.exit(run_all(tests_of(sys.modules["__main__"])))
