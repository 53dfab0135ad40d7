# SPDX-License-Identifier: MIT
"""Builds: their progress, their lock, and what is left when one is interrupted.
With a small Makefile of its own in a folder of its own.
"""

import os
import pty
import re
import signal
import struct
import subprocess
import sys

import pytest

import builder
import lock
import patience
import programs
import rooms
import ui
from ui import BUILD, ROOT

# three steps of `run`, and a program; GATE names a pipe: the second step is half done until
# somebody writes into it
MAKEFILE = r"""
say = @printf '  %-6s %s\n' '$(1)' '$(2)'
O := build/$(PORT)
.DELETE_ON_ERROR:
all run: $(O)/one $(O)/two $(O)/three
$(O)/one $(O)/three $(O)/bin/fn:
	$(call say,CC,$@)
	@mkdir -p $(@D)
	@touch $@
$(O)/two: $(O)/one
	$(call say,CC,$@)
	@echo half > $@; $(if $(GATE),echo $$$$ > $(GATE).pid; read line < $(GATE);) echo whole >> $@
$(O)/three: $(O)/two
"""
DRIVER = """
import sys; sys.path.insert(0, sys.argv[1])
import rooms
import ui; ui.ROOT, ui.BUILD = sys.argv[2], sys.argv[2] + "/build"
import builder, main, programs, setup
setup.ensure = lambda level: None
programs.names = lambda port: ["fn"]
main.dispatch = lambda argv: eval(argv[2])
sys.exit(main.main())
"""


started = []


def members(session):
    """Processes of a session that live."""
    out = []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
                words = f.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        out += [int(pid)] * (words[0] not in "ZX" and int(words[3]) == session)
    return out


def end_session(session):
    """Kill all of it; how many there were."""
    found = members(session)
    for pid in found:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return len(found)


def end_all():
    """Whatever a test has started, and what that has."""
    for p in started:
        assert patience.until(lambda session=p.pid: end_session(session) == 0, 60)
        p.wait()
        if p.stderr is not None:
            p.stderr.close()
    started.clear()


@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    """A folder with its Makefile.
    What was started in it ends with the test, also when that fails.
    """
    (tmp_path / "Makefile").write_text(MAKEFILE)
    (tmp_path / "abi").mkdir()
    yield tmp_path
    end_all()


def start(tree, what, stderr=subprocess.PIPE, **env):
    """Somebody else's front command in that tree, which does `what`."""
    argv = [sys.executable, "-I", "-c", DRIVER, rooms.TOOLS, str(tree), what]
    p = subprocess.Popen(argv, text=True, stdout=subprocess.DEVNULL, stderr=stderr,
                         env=dict(os.environ, **env), start_new_session=True)
    started.append(p)
    return p


def start_half(tree, what="builder.ensure_run('hosted', ['fn'])"):
    """One that stands in the middle of the second step: (its process, the shell of that step)."""
    gate = tree / "gate"
    if not gate.exists():
        os.mkfifo(gate)
        os.mkfifo(f"{gate}.pid")
    p = start(tree, what, GATE=str(gate))
    with open(f"{gate}.pid", encoding="ascii") as f:
        return p, int(f.readline())


def go_on(tree):
    with open(tree / "gate", "w", encoding="ascii") as f:
        f.write("go on\n")


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def test_progress_is_counted_beforehand_and_has_no_control_characters_in_a_file(tree):
    p = start(tree, "setattr(ui.Steps, 'EVERY_S', -1) or builder.ensure_run('hosted', ['fn'])")
    err = patience.communicate(p, 60)[1]
    assert (
        p.returncode == 0
        and "building hosted: 4 steps" in err
        and "4 of 4, CC" in err
        and "building hosted: done" in err
    )
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", err), err
    assert (tree / "build" / "hosted" / "bin" / "fn").exists() and not (tree / "build" / "hosted" / ".whole").exists()


@pytest.mark.parametrize("columns", [1, 17, 40, 0])
def test_progress_fits_a_small_terminal(tree, columns):
    ours, theirs = pty.openpty()
    import fcntl
    import termios
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 5, columns, 0, 0))
    p = start(tree, "builder.make('hosted')", stderr=theirs, TERM="xterm")
    os.close(theirs)
    seen = b""
    while True:
        try:
            seen += os.read(ours, 1000)
        except OSError:
            break
    os.close(ours)
    assert patience.wait(p, 60) == 0
    shown = [line for line in seen.decode().split("\r\x1b[K") if "\n" not in line]
    assert len(shown) >= 3 and all(len(line) < (columns or 80) for line in shown)
    assert columns < 40 or "1 of 3" in seen.decode()


def test_who_waits_says_at_once_for_whom_and_does_not_build_again(tree):
    p, _ = start_half(tree)
    q = start(tree, "builder.ensure_run('hosted')")
    said = q.stderr.readline()
    assert re.fullmatch(rf"atoll: waiting for process {p.pid}, which is building hosted.*\n", said), said
    go_on(tree)
    assert patience.wait(p, 60) == 0 and patience.communicate(q, 60)[1] == "" and q.returncode == 0


def test_who_finds_what_he_needs_current_needs_no_lock(tree):
    assert patience.wait(start(tree, "builder.ensure_run('hosted', ['fn'])"), 60) == 0
    p, _ = start_half(tree, "builder.make('unit')")
    q = start(tree, "builder.ensure_run('hosted', ['fn'])")
    assert patience.communicate(q, 60)[1] == "" and q.returncode == 0 and p.poll() is None
    go_on(tree)
    assert patience.wait(p, 60) == 0


def test_a_program_that_was_never_built_is(tree):
    assert patience.wait(start(tree, "builder.ensure_run('hosted')"), 60) == 0
    assert not (tree / "build" / "hosted" / "bin" / "fn").exists()
    assert patience.wait(start(tree, "builder.ensure_run('hosted', ['fn'])"), 60) == 0
    assert (tree / "build" / "hosted" / "bin" / "fn").exists()


def test_what_was_built_before_is_kept_current(tree):
    fn = tree / "build" / "hosted" / "bin" / "fn"
    assert patience.wait(start(tree, "builder.ensure_run('hosted', ['fn'])"), 60) == 0
    (tree / "Makefile").write_text(MAKEFILE + "$(O)/bin/fn: abi/a.h\n")
    (tree / "abi" / "a.h").write_text("new")
    old = fn.stat().st_mtime_ns
    assert patience.wait(start(tree, "builder.ensure_run('hosted')"), 60) == 0
    assert fn.stat().st_mtime_ns > old


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_every_compiler_and_leaves_nothing_half_done(tree, sig):
    p, shell = start_half(tree)
    os.kill(p.pid, sig)
    err = patience.communicate(p, 60)[1]
    assert p.returncode == 130 and err.endswith("atoll: interrupted\n"), err
    assert (
        not lives(shell)
        and not (tree / "build" / "hosted" / "two").exists()
        and not (tree / "build" / "hosted" / ".built").exists()
    )
    p, _ = start_half(tree)
    go_on(tree)
    assert patience.wait(p, 60) == 0 and (tree / "build" / "hosted" / "two").read_text() == "half\nwhole\n"


def test_a_holder_that_was_killed_holds_nothing(tree):
    p, shell = start_half(tree)
    p.kill()
    p.wait()
    os.kill(shell, signal.SIGKILL)
    q = start(tree, "builder.make('hosted')")
    assert patience.wait(q, 60) == 0


def test_a_test_that_fails_leaves_no_process(tree):
    p, shell = start_half(tree)
    assert shell in members(p.pid)
    end_all()
    assert p.returncode == -signal.SIGKILL and not lives(shell) and members(p.pid) == []


def test_a_lock_names_nobody_whom_it_does_not_know(tmp_path, capsys):
    path = tmp_path / "lock"
    path.write_text(f"{2 ** 22 + 1} building what was long ago\n")
    with lock.Lock(str(path), "counting"):
        assert path.read_text() == f"{os.getpid()} counting\n"
    other = lock.Lock(str(path))
    other.fd = os.open(path, os.O_RDWR)
    for text, words in (("4194305 building", "another ./atoll"), ("", "another ./atoll"),
                        (f"{os.getpid()} counting sheep\n", f"{os.getpid()}, which is counting sheep")):
        path.write_text(text)
        assert words in other.holder()
    os.close(other.fd)
    assert capsys.readouterr().err == ""


def test_a_failed_build_shows_the_compilers_words_and_is_not_current(tree):
    (tree / "Makefile").write_text(MAKEFILE + "all run: bad\nbad:\n\t$(call say,CC,$@)\n\t@echo what is wrong; false\n")
    p = start(tree, "builder.ensure_run('hosted')")
    err = patience.communicate(p, 60)[1]
    assert p.returncode == 1 and "what is wrong" in err and "does not build" in err.splitlines()[-1]
    assert not (tree / "build" / "hosted" / ".built").exists()


def test_steps_are_counted_before_the_first(tree, monkeypatch):
    monkeypatch.setattr(builder, "ROOT", str(tree))
    assert builder.count_steps("hosted", (),
                               ()) == 3 and builder.count_steps("hosted", ("run", "build/hosted/bin/fn"), ()) == 4
    assert not (tree / "build").exists()


def test_a_failure_goes_to_standard_output_without_control_characters(monkeypatch, capsys):
    import results
    monkeypatch.setattr(ui.Steps, "_width", lambda self: 80)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    results.run_all("testing", [results.Task("t", lambda: [results.Result("t", "failed", "why")])])
    said = capsys.readouterr()
    assert said.out == "FAIL t: why\n" and "\x1b" in said.err


def test_a_copy_of_the_tree_is_compiled_with_its_own_headers(tmp_path):
    subprocess.run(["make", "-s", "-C", ROOT, f"BUILD={tmp_path}", "view"], check=True)
    links = [os.path.join(at, n) for at, folders, files in os.walk(tmp_path) for n in folders + files
             if os.path.islink(os.path.join(at, n))]
    assert os.path.exists(tmp_path / "view" / "kernel" / "kernel")
    assert not any(os.path.isabs(os.readlink(link)) for link in links)


@pytest.mark.slow
@pytest.mark.parametrize("port", ["hosted", "riscv64", "or1k"])
def test_our_programs_are_those_that_make_builds(port):
    words = subprocess.run(["make", "-C", ROOT, "-pn", "--no-print-directory", f"PORT={port}"],
                           capture_output=True, text=True).stdout
    made = re.search(r"^PROGS :?= (.*)$", words, re.M).group(1).split()
    folder = os.path.relpath(BUILD, ROOT) + f"/{port}/bin/"
    assert sorted(p.removeprefix(folder) for p in made if p.startswith(folder)) == programs.names(port)


@pytest.mark.slow
def test_run_works_beside_a_build_that_holds_the_lock(tmp_path):
    """The tree's own: what runs programs is current, a build of something else goes on."""
    builder.ensure_run("hosted", ["hello"])
    with builder.lock("building something else"):
        p = subprocess.run([os.path.join(ROOT, "atoll"), "run", "-n", "4", "--timeout", "60", "hello"],
                           capture_output=True, text=True)
    assert p.returncode == 0 and p.stdout.count("hello from rank") == 4 and "waiting" not in p.stderr, p.stderr
