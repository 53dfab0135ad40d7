# SPDX-License-Identifier: MIT
"""Bad input to the front command: one line that says what to do, exit status 2 or 1, nothing left
running.
"""

import os
import signal
import subprocess
import sys

import pytest

import launch
import patience
import results
import rooms
import run
import setup
import wrapper
from ui import ROOT, Failure, Usage

ATOLL = os.path.join(ROOT, "atoll")
# a shell that starts us in the background has it ignored, and so would what we start
signal.signal(signal.SIGINT, signal.default_int_handler)


def atoll(*argv):
    return patience.run([ATOLL, *argv], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("argv, words", [
    (["frobnicate"], "unknown command 'frobnicate'"),
    (["run"], "no program given"),
    (["run", "-n"], "-n needs a value"),
    (["run", "-n", "0", "hello"], "-n needs a number"),
    (["run", "-n", "two", "hello"], "-n needs a number"),
    (["run", "-n", "-3", "hello"], "-n needs a number"),
    (["run", "--warp", "hello"], "unknown option '--warp'"),
    (["run", "--port", "vax", "hello"], "unknown port 'vax'"),
    (["run", "--machine", "toaster", "hello"], "unknown machine 'toaster'"),
    (["run", "--port", "riscv64", "--machine", "laptop", "hello"], "does not run on port riscv64"),
    (["run", "--machine", "/no/such.toml", "hello"], "unknown machine"),
    (["run", "--map", "random", "hello"], "unknown mapping 'random'"),
    (["run", ""], "the program's name is empty"),
    (["run", "/etc"], "/etc is a folder"),
    (["run", "Hello"], "unknown program 'Hello' (is hello meant?)"),
    (["run", "README.md"], "README.md is not a program"),
    (["run", "--cluster", "9", "hello"], "--cluster 9: machine laptop has no such cluster"),
    (["run", "--cluster", "first", "hello"], "no such cluster"),
    (["run", "--channels", "1", "hello"], "--channels: channels must be a multiple of"),
    (["run", "--channels", "much", "hello"], "--channels"),
    (["run", "--channels", "64K", "--ranks", "process", "hello"], "--channels is for ranks that are threads"),
    (["run", "--limit", "patience=1", "hello"], "--limit needs memory=SIZE"),
    (["run", "--limit", "threads", "hello"], "not 'threads'"),
    (["run", "--limit", "threads=0", "hello"], "not 'threads=0'"),
    (["run", "--limit", "threads=1K", "hello"], "not 'threads=1K'"),
    (["run", "--limit", "memory=lots", "hello"], "not 'memory=lots'"),
    (["run", "--limit", "memory=1M", "--ranks", "process", "hello"], "for jobs of thread ranks"),
    (["run", "--repeat", "0", "hello"], "--repeat needs a number"),
    (["run", "--repeat", "2", "--port", "riscv64", "--bare", "hello"], "for jobs of thread ranks"),
    (["run", "--env", "novalue", "hello"], "NAME=VALUE"),
    (["run", "--timeout", "soon", "hello"], "needs seconds"),
    (["run", "--icount", "hello"], "--icount is for"),
    (["mpicc", "--port", "vax", "x.c"], "unknown port 'vax'"),
    (["machines", "toaster"], "unknown machine 'toaster'"),
    (["machines", "--colour"], "usage:"),
    (["check", "everything"], "usage:"),
    (["test", "-j"], "-j needs a number"),
    (["check", "-jmany"], "-j needs a number"),
    (["test", "-j0"], "-j needs a number"),
    (["test", "nonsense"], "unknown test group 'nonsense'"),
    (["doctor", "now"], "usage:"),
    (["build", "vax"], "unknown port 'vax'"),
    (["setup", "everything"], "usage:"),
])
def test_bad_usage_is_one_line_and_exit_2(argv, words):
    p = atoll(*argv)
    assert p.returncode == 2 and p.stdout == ""
    assert words in p.stderr and p.stderr.startswith("atoll: ") and p.stderr.count("\n") == 1


@pytest.mark.parametrize("argv", [["--help"], ["run", "--help"], ["mpicc", "--help"],
                                  ["machines", "-h"], ["check", "-h"], ["test", "-h"], ["doctor", "-h"]])
def test_help_goes_to_stdout(argv):
    p = atoll(*argv)
    assert p.returncode == 0 and "./atoll" in p.stdout and p.stderr == ""


def test_no_command_shows_the_help_and_fails():
    p = atoll()
    assert p.returncode == 2 and "usage: ./atoll COMMAND" in p.stdout


def test_it_works_from_another_folder(tmp_path):
    p = patience.run([ATOLL, "machines", "laptop"], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert p.returncode == 0 and "cluster  0" in p.stdout


def test_runs_path_imports_only_the_standard_library_and_little_of_it():
    code = ("import sys; sys.path.insert(0, sys.argv[1]); import rooms, main, run, launch; "
            "bad = [m for m in ('subprocess', 'argparse', 'hashlib', 'socket', 'numpy', 'asyncio') "
            "if m in sys.modules]; sys.exit(', '.join(bad) or 0)")
    p = subprocess.run([sys.executable, "-I", "-S", "-c", code, rooms.TOOLS],
                       capture_output=True, text=True)
    assert p.returncode == 0, p.stderr


def test_options_end_at_the_program():
    o = run.parse(["-n", "3", "--port=hosted", "--env", "A=1", "--env=B=2", "prog", "-n", "9"])
    assert (o.n, o.env, o.program, o.args) == (3, ["A=1", "B=2"], "prog", ["-n", "9"])


def test_devices_are_asked_for_by_kind(tmp_path):
    o = run.parse(["--port=riscv64", "--device", "console", "--device=random", f"--share={tmp_path}:/a,ro", "prog"])
    options = launch.devices(o.device, o.share)
    assert "virtio-rng-device" in options and options[-1] == "virtio-9p-device,fsdev=share0,mount_tag=0"
    assert f"path={tmp_path}," in options[-3] and "readonly=on" in options[-3]
    assert launch.devices([], []) == []
    for wrong in (["--device", "disk"], ["--device", "files"], ["--share", "/no/where"],
                  ["--device", "random", "--device", "random"], ["--device", "console=x"]):
        with pytest.raises(Usage):
            run.parse(["--port=riscv64", *wrong, "prog"])
    with pytest.raises(Usage, match="riscv64"):
        run.parse(["--device", "random", "prog"])


def test_memory_servers_are_for_thread_ranks():
    assert run.parse(["--rmem", "prog"]).rmem and not run.parse(["prog"]).rmem
    for wrong in (["--port=or1k", "--rmem"], ["--port=riscv64", "--bare", "--rmem"], ["--ranks=process", "--rmem"]):
        with pytest.raises(Usage):
            run.parse(wrong + ["prog"])


def test_too_many_ranks_name_the_limit(tmp_path):
    with pytest.raises(Usage, match="257 ranks are too many for machine mppa256, which takes 256"):
        run.make_job(run.parse(["-n", "257", "--machine", "mppa256", "x"]))


@pytest.mark.parametrize("content, words",
                         [(b"#!/bin/sh\n", "not an ELF"), (b"\x7fELF" + bytes(20), "not an ELF"),
                          (b"\x7fELF\x02\x01" + bytes(90), "machine 0")])
def test_what_is_no_program_is_refused(tmp_path, content, words):
    path = tmp_path / "prog"
    path.write_bytes(content)
    with pytest.raises(Usage, match=words):
        launch.check_program(str(path), content, "hosted")


def test_a_program_of_the_host_is_not_one_of_ours():
    path = os.path.realpath("/bin/true")
    with open(path, "rb") as f:
        with pytest.raises(Usage, match="mpicc"):
            launch.check_program(path, f.read(), "hosted")


def test_a_missing_package_without_root_or_sudo_says_what_to_install(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(setup.shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None)
    with pytest.raises(Failure, match="apt-get install spin make"):
        setup.install_packages(["spin", "make"])


def test_a_system_without_apt_names_the_packages(monkeypatch):
    monkeypatch.setattr(setup.shutil, "which", lambda name: None)
    with pytest.raises(Failure, match="qemu-system-misc"):
        setup.install_packages(["qemu-system-misc"])


def test_a_failed_installation_says_why(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(setup, "_call", lambda argv, what: f"{what} failed (exit status 100):\nno network")
    with pytest.raises(Failure, match="(?s)cannot install spin.*no network"):
        setup.install_packages(["spin"])


def test_wrapper_shows_what_it_would_do():
    p = atoll("mpicc", "-show", "-O1", "a.c", "-o", "a")
    assert (
        p.returncode == 0
        and "x86_64-linux-musl" in p.stdout
        and "libmpi_abi.a" in p.stdout
        and " -O1 " in p.stdout
        and "-O2" not in p.stdout
    )
    assert "libmpi_abi" not in atoll("cc", "-show", "a.c").stdout
    assert "riscv64-linux-musl" in atoll("mpicc", "--port", "riscv64", "-showme:compile").stdout
    assert "-I" not in atoll("mpicc", "-showme:link").stdout


@pytest.mark.parametrize("argv, links",
                         [(["a.c"], True), (["-c", "a.c"], False), (["-E", "a.c"], False),
                          (["--version"], False), (["-o", "a", "a.o", "-lm"], True)])
def test_wrapper_links_only_when_the_compiler_would(argv, links, monkeypatch):
    monkeypatch.setattr(setup, "zig", lambda: "zig")
    assert any("libmpi_abi.a" in a for a in wrapper.command(argv, "hosted")) == links


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(condition, seconds=10):
    return patience.until(condition, seconds)


# A launcher in the place of the machine: it has a child, and either ends or sleeps for good.
SLEEPER = ("import os, subprocess, sys, time\np = subprocess.Popen(['sleep', '1000'])\n"
           "open(sys.argv[1], 'w').write(f'{os.getpid()} {p.pid}')\n"
           "time.sleep(1000)\n")
DRIVER = ("import sys; sys.path.insert(0, sys.argv[1]); import rooms, launch, main\n"
          "launch.prepare = lambda job: [sys.executable, '-c', sys.argv[2], sys.argv[3]]\n"
          "job = launch.Job(None, 'hosted', [])\njob.timeout_s = float(sys.argv[4])\n"
          "main.dispatch = lambda argv: launch.run(job)\nsys.exit(main.main())\n")


def start_sleeper(tmp_path, timeout_s=0):
    pids = tmp_path / "pids"
    p = subprocess.Popen([sys.executable, "-I", "-c", DRIVER, rooms.TOOLS, SLEEPER,
                          str(pids), str(timeout_s)],
                         stderr=subprocess.PIPE, text=True)
    assert wait_until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    return p, [int(x) for x in pids.read_text().split()]


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_everything_that_was_started(tmp_path, sig):
    p, pids = start_sleeper(tmp_path)
    p.send_signal(sig)
    assert "interrupted" in patience.communicate(p, 20)[1] and p.returncode == 130
    assert not any(lives(pid) for pid in pids)


TESTS = ("import sys; sys.path.insert(0, sys.argv[1]); import rooms, main, results\n"
         "tasks = [results.program_task(f't{i}', ['sh', '-c', f'echo $$ > {sys.argv[2]}/{i}.part; "
         "mv {sys.argv[2]}/{i}.part {sys.argv[2]}/{i}; sleep 1000']) for i in range(5)]\n"
         "main.dispatch = lambda argv: results.run_all('testing', tasks)\nsys.exit(main.main())\n")


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_every_test_that_runs_and_starts_no_other(tmp_path, sig):
    p = subprocess.Popen([sys.executable, "-I", "-c", TESTS, rooms.TOOLS, str(tmp_path)],
                         stderr=subprocess.PIPE, text=True)
    assert wait_until(lambda: len([n for n in os.listdir(tmp_path) if n.isdecimal()]) == results.JOBS)
    p.send_signal(sig)
    err = patience.communicate(p, 60)[1]
    assert p.returncode == 130 and err.endswith("atoll: interrupted\n"), err
    assert not any(lives(int((tmp_path / str(i)).read_text()))
                   for i in range(results.JOBS)) and len(os.listdir(tmp_path)) == results.JOBS


# Runs are interrupted at each call and return of the main thread in turn, when all threads that it has begun run their
# tests, until it waits for these.
EVERYWHERE = """
import _thread, os, sys, time
begun, pids, begin = [], [], _thread.start_new_thread
_thread.start_new_thread = lambda *args: (begin(*args), begun.append(1))[0]
sys.path.insert(0, sys.argv[1])
import rooms
import results
started = results.started
results.started = lambda pid: (started(pid), pids.append(pid))
tasks = [results.program_task(f't{i}', ['sleep', '1000'], 1000) for i in range(5)]

def lives(pid):
    try:
        os.killpg(pid, 0)
        return True
    except ProcessLookupError:
        return False

def waits_when_interrupted_at(number):
    waits = False
    def look(frame, event, what):
        nonlocal number, waits
        waits = event == 'c_call' and what.__qualname__ == 'SimpleQueue.get'
        number -= 1
        if waits or number == 0:
            sys.setprofile(None)
            while len(pids) < len(begun):
                time.sleep(0.001)
            raise KeyboardInterrupt
    results._state['ended'] = False
    sys.setprofile(look)
    try:
        results.run_all('testing', tasks)
    except KeyboardInterrupt:
        return waits

number = 1
while not waits_when_interrupted_at(number):
    number += 1
print(len(pids) > 2, sum(map(lives, pids)), len(results._groups))
"""


def test_an_interrupt_ends_every_test_wherever_it_comes():
    p = patience.run([sys.executable, "-I", "-c", EVERYWHERE, rooms.TOOLS], 60, capture_output=True,
                     text=True)
    assert (p.returncode, p.stdout) == (0, "True 0 0\n"), p.stdout + p.stderr[-2000:]


# `run` is interrupted at each call and return of our code in turn, until it waits for the machine.
# That is a sleeper whose start takes so long that it would not die with `run`, but keep its standard
# error open. Each run is a fork.
STARTS = """
import os, select, signal, sys
sys.path.insert(0, sys.argv[1])
import rooms
import launch, main
launch.prepare = lambda job: ['sleep', '5']
launch._shared_memory = lambda *args: []
job = launch.Job(None, sys.argv[2], [])
job.reader = 0

def run_interrupted_at(number):
    def look(frame, event, what):
        nonlocal number
        if frame.f_code.co_filename.startswith(sys.argv[1]):
            waits = event == 'c_call' and what.__name__ == 'select'
            number -= 1
            if waits or number == 0:
                sys.setprofile(None)
                print('waits' if waits else 'runs', file=sys.stderr, flush=True)
                os.kill(os.getpid(), signal.SIGTERM)
    main.dispatch = lambda argv: (sys.setprofile(look), launch.run(job))
    os._exit(main.main())

number, wrong, said = 0, [], ''
while 'waits' not in said and len(wrong) < 3:
    number += 1
    begin, end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(begin)
        os.dup2(end, 2)
        os.close(end)
        run_interrupted_at(number)
    os.close(end)
    status, said = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), os.read(begin, 4096).decode()
    if not select.select([begin], [], [], 0)[0] or os.read(begin, 1) or status != 130:
        wrong.append((number, status, said))
    os.close(begin)
print(number > 50, wrong)
"""


@pytest.mark.slow
@pytest.mark.parametrize("port", ["hosted", "riscv64"])
def test_an_interrupt_ends_a_machine_wherever_it_comes(tmp_path, port):
    slow = tmp_path / "setpriv"
    slow.write_text('#!/bin/sh\nsleep 1\nshift 2\nexec "$@"\n')
    slow.chmod(0o755)
    p = patience.run([sys.executable, "-I", "-S", "-c", STARTS, rooms.TOOLS, port], 60,
                     stdin=subprocess.DEVNULL, capture_output=True, text=True,
                     env=dict(os.environ, PATH=f"{tmp_path}:{os.environ['PATH']}"))
    assert (p.returncode, p.stdout) == (0, "True []\n"), p.stdout + p.stderr[-2000:]


def test_when_the_front_command_is_killed_the_machine_dies(tmp_path):
    p, pids = start_sleeper(tmp_path)
    p.kill()
    assert wait_until(lambda: not lives(pids[0]))
    os.kill(pids[1], signal.SIGKILL)	# the stand-in's child asks for no parent-death signal; clusters do
    p.communicate()


@pytest.mark.slow
def test_a_machine_that_overruns_its_time_is_dumped_and_ended(tmp_path):
    p, pids = start_sleeper(tmp_path, 0.5)
    err = patience.communicate(p, 60)[1]
    assert p.returncode == launch.QUIT_STATUS and "no end after 0.5 s" in err and f"process {pids[0]}" in err
    assert not any(lives(pid) for pid in pids)


@pytest.mark.parametrize("status, code, words",
                         [(3 << 8, 3, None), (139 << 8, 139, "signal 11 (SIGSEGV)"),
                          (9, 137, "ended by signal 9"), (0, 0, None)])
def test_exit_statuses_are_told_apart(status, code, words):
    got, why = launch.exit_status(status, "hosted")
    assert got == code and (why is None if words is None else words in why)


@pytest.mark.parametrize("script, states, words", [
    ("echo ok a; echo ok b", ["passed", "passed"], ""),
    ("echo ok a; echo 'FAIL b: bad'; exit 1", ["passed", "failed"], "bad"),
    ("echo ok a; kill -SEGV $$", ["passed", "failed"], "signal 11"),
    ("echo ok a; exit 1", ["passed", "failed"], "exit status 1"),
    ("echo 'FAIL a: x'", ["failed", "failed"], "ends with 0"),
    ("echo 'skip a: no such thing'; echo ok b", ["skipped", "passed"], ""),
    ("true", ["failed"], "ran no test"),
])
def test_what_a_test_program_says_is_believed_only_if_it_ends_well(script, states, words):
    found = results.parse_output("t", results.call(["sh", "-c", script], 10))
    assert [r.state for r in found] == states and words in found[-1].why


@pytest.mark.slow
def test_a_test_program_that_hangs_fails_with_a_dump():
    found = results.parse_output("t", results.call(["sh", "-c", "echo ok a; sleep 100"], 0.5))
    assert [r.state for r in found] == ["passed", "failed"] and "no end" in found[1].why and "sleep" in found[1].why


def test_jobs_are_taken_out_of_a_command_line(monkeypatch):
    monkeypatch.setitem(results._state, "jobs", results.JOBS)
    assert results.take_jobs(["-v", "unit", "-j1", "model"], ("-v",)) == ["unit", "model"] and results.jobs() == 1


def test_an_interrupt_ends_what_runs_and_what_is_about_to_start(monkeypatch):
    monkeypatch.setitem(results._state, "ended", False)
    monkeypatch.setattr(results, "_groups", set())
    p = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    results.started(p.pid)
    results.kill_all()
    assert patience.wait(p, 10) == -signal.SIGKILL
    q = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    results.started(q.pid)
    assert patience.wait(q, 10) == -signal.SIGKILL


def test_the_last_line_counts(capsys, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    r = results.Result
    assert results.summary([r("a", "passed"), r("b", "skipped", "no device")]) == 0
    assert capsys.readouterr().out.endswith("skipped b: no device\n1 passed, 0 failed, 1 skipped\n")
    assert results.summary([r("a", "failed")]) == 1 and capsys.readouterr().out.endswith("0 passed, 1 failed\n")
    assert results.summary([]) == 1


def test_in_ci_a_skip_that_nobody_announced_fails(monkeypatch):
    monkeypatch.setenv("CI", "true")
    assert results.summary([results.Result("a", "passed"), results.Result("b", "skipped", "x")]) == 1


def test_asking_for_help_removes_and_builds_nothing():
    for name in ("clean", "build"):
        p = atoll(name, "--help")
        assert p.returncode == 0 and p.stdout.startswith(f"usage: ./atoll {name}") and p.stderr == ""
    assert atoll("clean", "everything").returncode == 2


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "1e10", "soon"])
def test_a_time_limit_is_a_number_of_seconds(text):
    p = atoll("run", "--timeout", text, "fn")
    assert p.returncode == 2 and p.stderr.count("\n") == 1 and "--timeout needs" in p.stderr


def test_the_wrapper_names_a_file_that_is_not_there(tmp_path):
    p = atoll("mpicc", "-o", str(tmp_path / "out.o"), "-c", str(tmp_path / "nosuch.c"))
    assert p.returncode == 1 and p.stderr == f"atoll: {tmp_path}/nosuch.c: no such file\n"


@pytest.mark.parametrize("argv", [("bench", "--json", "/nonexistent/rows", "l_kcall"),
                                  # what is run is built first
                                  pytest.param(("run", "--keep", "/proc/nonexistent", "fn"), marks=pytest.mark.slow)])
def test_a_place_that_cannot_be_written_is_named(argv):
    p = atoll(*argv)
    assert p.returncode == 1 and p.stderr.splitlines()[-1] == f"atoll: {argv[2]}: No such file or directory", p.stderr


def test_a_library_replaced_while_a_program_is_linked_makes_it_stale(tmp_path, monkeypatch):
    library, source = tmp_path / "lib.a", tmp_path / "p.c"
    library.write_text("old")
    source.write_text("")

    def link(line, **_):
        out = line[line.index("-o") + 1]
        for name, text in ((out, "program"), (out + ".d", f"p: {source}\n"), (library, "new")):
            with open(name, "w", encoding="utf-8") as f:
                f.write(text)
        return subprocess.CompletedProcess(line, 0)

    monkeypatch.setattr(wrapper, "BUILD", str(tmp_path))
    monkeypatch.setattr(wrapper, "link_flags", lambda port: [str(library)])
    monkeypatch.setattr(wrapper, "command", lambda args, port: args)
    monkeypatch.setattr(subprocess, "run", link)
    out = wrapper.cached(str(source), "hosted")
    assert not wrapper._fresh(os.path.join(os.path.dirname(out), "deps"))
    wrapper.cached(str(source), "hosted")
    assert wrapper._fresh(os.path.join(os.path.dirname(out), "deps"))


@pytest.mark.parametrize("fd", [0, 1, 2])
def test_a_standard_stream_that_is_closed_is_no_error(fd):
    p = subprocess.run(["/bin/sh", "-c", f'exec "$0" machines {fd}>&-', os.path.join(ROOT, "atoll")],
                       capture_output=True, text=True, check=False)
    assert p.returncode == 0 and "Traceback" not in p.stderr and ("laptop" in p.stdout) == (fd != 1)


def test_an_interrupt_while_modules_are_loaded_says_nothing():
    main = os.path.join(rooms.TOOLS, "cli", "main.py")
    slow = (
        "import sys, os, _signal\nclass Stop:\n    def find_spec(self, name, *rest):\n        if name == 'ui':\n       "
        "     os.kill(os.getpid(), 2)\n"
    )
    code = (
        slow
        + f"sys.meta_path.insert(0, Stop())\nexec(compile(open({main!r}).read(), {main!r}, 'exec'), {{'__name__': 'x',"
        f" '__file__': {main!r}}})"
    )
    p = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert p.returncode == -signal.SIGINT and p.stderr == ""
