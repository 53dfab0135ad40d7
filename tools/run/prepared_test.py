# SPDX-License-Identifier: MIT
"""The quick start of `run`: what holds for the front command holds for it, and it never starts what
is no longer so. Needs the hosted port built.
"""

import os
import pty
import select
import shutil
import signal
import subprocess
import time

import pytest

import builder
import launch
import patience
import prepared
import run
import wrapper
from system_test import ATOLL, PROGRAM, alive, atoll, machine_of
from ui import BUILD, ROOT

pytestmark = [pytest.mark.slow]
# says which session and scheduling group it is in
SESSION = """#include <stdio.h>
#include <unistd.h>
int main(void)
{
	char line[100] = "";
	FILE *f = fopen("/proc/self/autogroup", "r");

	printf("%d\\n%s", (int)getsid(0), f != NULL ? fgets(line, sizeof(line), f) : "none\\n");
	return 0;
}
"""
FOR_EVER = -(1 << 62)		# everything counts as settled


@pytest.fixture(scope="module", autouse=True)
def built():
    assert atoll("build", "hosted", timeout=600).returncode == 0


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "prog.c"
    path.write_text(PROGRAM)
    return path


def why(*args, root=ROOT):
    """What the starter says of `run ARGS`: "quick", or why not."""
    return subprocess.run([prepared.STARTER, "--why", root, "run", *map(str, args)],
                          capture_output=True, text=True).stdout.strip()


def prepare(*args):
    """Keep the start of `run ARGS` without starting it; returns its file."""
    args = [str(a) for a in args]
    o = run.parse(args)
    keep = prepared.keeper(["run", *args], o, FOR_EVER)
    job = run.make_job(o)
    launch.prepare(job)
    assert keep(job) and why(*args) == "quick"
    return os.path.join(prepared.FOLDER, prepared.key(os.getcwd(), ["run", *args]))


def popen(*args, **more):
    return subprocess.Popen([ATOLL, "run", *map(str, args)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **more)


@pytest.mark.parametrize("what, status, word",
                         [("hello", 0, ""), ("exit", 7, ""), ("abort", 9, ""),
                          ("crash", 128 + signal.SIGSEGV, "SIGSEGV")])
def test_statuses_and_words_are_the_front_commands(source, what, status, word):
    prepare("-n", 4, source, what)
    p = atoll("run", "-n", 4, source, what)
    q = atoll("--front", "run", "-n", 4, source, what)
    assert (p.returncode, p.stderr) == (q.returncode, q.stderr) and p.returncode == status and word in p.stderr
    assert sorted(p.stdout.splitlines()) == sorted(q.stdout.splitlines())


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("more", [(), ("--timeout", 100)])
def test_whoever_ends_the_quick_start_ends_the_machine(source, sig, more):
    prepare("-n", 4, *more, source, "hang")
    p = popen("-n", 4, *more, source, "hang")
    assert p.stdout.readline() == "waiting\n"
    machine = machine_of(p)
    assert machine and open(f"/proc/{p.pid}/comm").read() == "atoll-start\n"
    p.send_signal(sig)
    err = patience.communicate(p, 30)[1]
    assert (p.returncode, err) == ((-9, "") if sig == signal.SIGKILL else (130, "atoll: interrupted\n"))
    assert patience.until(lambda: not any(map(alive, machine)), 10), [pid for pid in machine if alive(pid)]


@pytest.mark.parametrize("how", [(), ("--front",)])
def test_a_machine_has_a_session_and_the_weight_of_its_caller(tmp_path, how):
    source = tmp_path / "session.c"
    source.write_text(SESSION)
    prepare(source)
    with open("/proc/self/autogroup", encoding="ascii") as f:
        enabled, ours = open("/proc/sys/kernel/sched_autogroup_enabled",
                             encoding="ascii").read() == "1\n", f.read().split()[0]

    def has_weight():
        """The system refuses a change of any group's weight within 100 ms of another one."""
        out = patience.run(["nice", "-n", "3", ATOLL, *how, "run", source], capture_output=True,
                           text=True, timeout=60, check=True).stdout
        session, group = out.splitlines()
        assert int(session) != os.getsid(0)
        assert not enabled or group.split()[0] != ours
        return not enabled or group.endswith("nice 3")
    assert patience.until(has_weight, 60)


def test_a_hang_ends_in_a_dump(source):
    prepare("-n", 4, "--timeout", 1, source, "hang")
    p = atoll("run", "-n", 4, "--timeout", 1, source, "hang")
    assert p.returncode == 124 and "no end after 1 s" in p.stderr and "atoll-host" in p.stderr


def test_standard_input_reaches_rank_0_alone(source):
    args = ("-n", 4, "--machine", "hosted-4x4", "--map", "scatter", source, "read")
    prepare(*args)
    out, err = patience.communicate(popen(*args, stdin=subprocess.PIPE), 60, "first line\nsecond line\n")
    assert err == "" and sorted(out.splitlines()) == ["rank 0 read first line"] + [f"rank {r} read nothing"
                                                                                   for r in range(1, 4)]


@pytest.mark.parametrize("closed, words",
                         [("<&-", "quick"), (">&-", ""), ("2>&-", "standard output or error is closed")])
def test_closed_streams(source, closed, words):
    prepare(source, "exit")
    said = subprocess.run(f"{prepared.STARTER} --why {ROOT} run {source} exit {closed}", shell=True,
                          capture_output=True, text=True).stdout.strip()
    quick, front = [patience.run(f"exec {ATOLL} {how}run {source} exit {closed}", shell=True,
                                 capture_output=True, text=True, timeout=60)
                    for how in ("", "--front ")]
    assert (quick.returncode, quick.stdout, quick.stderr) == (front.returncode, front.stdout,
                                                              front.stderr) and said == words


def test_without_standard_input_a_program_reads_nothing(source):
    prepare(source, "read")
    p = patience.run(f"exec {ATOLL} run {source} read <&-", shell=True, capture_output=True, text=True, timeout=60)
    assert (p.returncode, p.stdout, p.stderr) == (0, "", "")


def on_terminal(*args):
    """`run ARGS` as a terminal's foreground: (process, the terminal)."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(ATOLL, [ATOLL, "run", *map(str, args)])
    return pid, fd


def read_until(fd, text):
    """Everything that a terminal shows until some text, or its end."""
    seen = ""
    while text not in seen:
        assert select.select([fd], [], [], 60)[0], f"nothing more after: {seen}"
        try:
            seen += os.read(fd, 1000).decode()
        except OSError:
            break
    return seen


@pytest.mark.parametrize("typed, words", [(b"typed line\n", "rank 0 read typed line"), (b"\x04", None)])
def test_what_is_typed_reaches_rank_0(source, typed, words):
    prepare(source, "read")
    pid, fd = on_terminal(source, "read")
    os.write(fd, typed)
    seen = read_until(fd, "no such text")
    assert (
        os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        and (words or "") in seen
        and ("rank 0" in seen) == bool(words)
    )
    os.close(fd)


def test_ctrl_c_on_a_terminal_ends_all(source):
    prepare("-n", 2, source, "hang")
    pid, fd = on_terminal("-n", 2, source, "hang")
    assert "waiting" in read_until(fd, "waiting")
    os.write(fd, b"\x03")
    assert "interrupted" in read_until(fd, "interrupted") and os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    os.close(fd)


def test_the_front_command_goes_on_with_a_terminals_lines(source):
    """It has taken the machine over when it says that it begins to dump; the pipe's end is then its
    own.
    """
    prepare("--timeout", 1, source, "read")
    pid, fd = on_terminal("--timeout", 1, source, "read")
    assert "no end after 1 s" in read_until(fd, "no end after 1 s")
    read_until(fd, "no such text")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 124
    os.close(fd)


def test_a_changed_header_is_compiled(tmp_path):
    header, prog = tmp_path / "number.h", tmp_path / "p.c"
    header.write_text("#define NUMBER 3\n")
    prog.write_text('#include "number.h"\nint main(void) { return NUMBER; }\n')
    prepare(prog)
    assert atoll("run", prog).returncode == 3
    header.write_text("#define NUMBER 4\n")
    assert why(prog) == f"{header} is another" and atoll("run", prog).returncode == 4


def test_a_changed_library_is_noticed(source):
    prepare(source)
    library = os.path.join(BUILD, "hosted", "lib", "libatoll.a")
    times = os.stat(library)
    os.utime(library, ns=(times.st_atime_ns, times.st_mtime_ns))	# as it was, but for the time of the change itself
    assert why(source) == f"{library} is another"


def test_a_changed_machine_is_another_machine(tmp_path, source):
    machine = tmp_path / "mine.toml"
    machine.write_text(open(os.path.join(ROOT, "machines", "laptop.toml")).read().replace('"host"', "2"))
    prepare("--machine", machine, source)
    machine.write_text("clusters = none\n")
    assert why("--machine", machine, source) == f"{machine} is another"
    p = atoll("run", "--machine", machine, source)
    assert p.returncode == 2 and "mine" in p.stderr


def compile_status(tmp_path, name, status):
    c, out = tmp_path / "s.c", tmp_path / name
    c.write_text(f"int main(void) {{ return {status}; }}\n")
    assert subprocess.run(wrapper.command([str(c), "-o", str(out)], "hosted")).returncode == 0
    return out


@pytest.mark.parametrize("how", ["renamed over", "written over"])
def test_a_changed_program_is_the_new_one(tmp_path, how):
    prog, other = compile_status(tmp_path, "prog", 5), compile_status(tmp_path, "other", 6)
    times = os.stat(prog)
    prepare(prog)
    assert atoll("run", prog).returncode == 5
    if how == "renamed over":
        os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
        os.replace(other, prog)
    else:
        shutil.copyfile(other, prog)
        os.utime(prog, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert why(prog) == f"{prog} is another" and atoll("run", prog).returncode == 6


def test_a_program_that_changes_while_it_runs_goes_on_as_it_was(tmp_path, source):
    prog = tmp_path / "prog"
    shutil.copy(wrapper.cached(str(source), "hosted"), prog)
    prepare(prog, "read")
    p = popen(prog, "read", stdin=subprocess.PIPE)
    while not machine_of(p):
        assert p.poll() is None
    prog.write_bytes(compile_status(tmp_path, "other", 6).read_bytes())
    assert patience.communicate(p, 60, "a line\n")[0] == "rank 0 read a line\n" and p.returncode == 0
    assert atoll("run", prog, "read").returncode == 6


def test_a_program_of_the_folder_goes_before_ours(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare("empty")
    assert patience.run([ATOLL, "run", "empty"], timeout=60).returncode == 0
    compile_status(tmp_path, "empty", 5)
    assert why("empty") == f"{tmp_path}/empty is another" and patience.run([ATOLL, "run", "empty"],
                                                                           timeout=60).returncode == 5


def test_a_file_in_the_archive_is_read_anew(tmp_path):
    prog = tmp_path / "p.c"
    data = tmp_path / "data"
    data.write_text("one")
    prog.write_text("int main(void) { return 0; }\n")
    prepare("--file", data, prog)
    data.write_text("two")
    assert why("--file", data, prog) == f"{data} is another"


def test_a_file_that_has_just_changed_is_not_relied_on(tmp_path):
    prog = tmp_path / "p.c"
    prog.write_text("int main(void) { return 0; }\n")
    o = run.parse([str(prog)])
    job = run.make_job(o)
    launch.prepare(job)
    assert not prepared.keep(["run", str(prog)], o, job, os.stat(prog).st_mtime_ns)
    assert why(prog) == "nothing is prepared for these arguments in this folder"


@pytest.fixture
def small_tree(tmp_path, monkeypatch):
    """A tree with two sources, and a start that hangs on nothing else."""
    folder = tmp_path / "tree" / "abi"
    folder.mkdir(parents=True)
    (folder / "a.h").write_text("")
    (folder / "b.h").write_text("")
    (folder / "__pycache__").mkdir()
    monkeypatch.setattr(builder, "ROOT", str(tmp_path / "tree"))
    limit = max(os.stat(p).st_mtime_ns for p in (folder, folder / "a.h", folder / "b.h"))
    names = builder.sources()
    assert sorted(names) == ["abi", "abi/a.h", "abi/b.h"]
    head = [prepared.FORMAT, tmp_path / "tree", os.getcwd(), len(os.sched_getaffinity(0)), 2, "run",
            "x", "launcher", "python", 0, 0, "older", limit]
    store = tmp_path / "tree" / "build" / "start"
    store.mkdir(parents=True)
    (store / prepared.key(os.getcwd(),
                          ["run", "x"])).write_bytes(b"".join(str(x).encode() + b"\0"
                                                              for x in [*head, len(names), *names, "end"]))
    return tmp_path / "tree", limit


@pytest.mark.parametrize("change, words", [
    (lambda abi: None, "quick"),
    (lambda abi: (abi / "a.h").write_text("new"), "abi/a.h is newer"),
    (lambda abi: (abi / "c.h").write_text("new"), "abi is newer"),
    (lambda abi: (abi / "deep").mkdir(), "abi is newer"),
    (lambda abi: (abi / "b.h").unlink(), "or gone"),
    (lambda abi: (abi / "__pycache__" / "x.pyc").write_text(""), "quick"),
])
def test_a_source_newer_than_the_build_is_built(small_tree, change, words):
    tree, limit = small_tree
    while time.time_ns() <= limit + 20_000_000:	# a file system's clock ticks
        pass
    change(tree / "abi")
    assert words in why("x", root=str(tree)) and (words == "quick") == (not builder.newest(str(tree / "abi"), limit))


def test_a_copied_tree_starts_nothing_of_the_first(small_tree, tmp_path):
    shutil.copytree(tmp_path / "tree", tmp_path / "copy", copy_function=shutil.copy2)
    assert why("x", root=str(tmp_path / "copy")) == f"it is of the tree {tmp_path}/tree"


def test_a_damaged_start_is_not_used(source):
    path = prepare(source)
    whole = open(path, "rb").read()
    strings = [0] + [i + 1 for i, c in enumerate(whole) if c == 0][:400]
    for length in [*strings[::7], *strings[:40], len(whole) - 1, len(whole) - 4, len(whole) // 2]:
        with open(path, "wb") as f:
            f.write(whole[:length])
        assert why(source) not in ("quick", ""), length
    assert atoll("run", source).returncode == 0


def test_many_starts_are_pruned(tmp_path, monkeypatch):
    monkeypatch.setattr(prepared, "FOLDER", str(tmp_path))
    for i in range(prepared.KEPT + 1):
        (tmp_path / f"{i:03}").write_text("")
        os.utime(tmp_path / f"{i:03}", ns=(i, i))
    prepared._prune()
    assert len(os.listdir(tmp_path)) == prepared.KEPT // 2 and (tmp_path / f"{prepared.KEPT:03}").exists()
