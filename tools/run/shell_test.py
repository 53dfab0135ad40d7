# SPDX-License-Identifier: MIT
"""The options of ./atoll shell. No machine is started."""

import pytest

import shell
from ui import Usage


def test_options_come_before_what_the_shell_gets():
    assert shell.parse(["--machine", "mppa256", "--file=a=b", "-c", "ls -l", "x"]) == (
        ["--machine", "mppa256", "--file", "a=b"], ["-c", "ls -l", "x"], [], [], ["dash", "toybox"])
    assert shell.parse(["--program", "a", "--program=b=c", "/tmp/s.sh", "-c", "1"]) == (
        ["--machine", "riscv-4x4"], ["s.sh", "-c", "1"], ["/tmp/s.sh=s.sh"], ["a", "b=c"], ["dash", "toybox"])


def test_the_cluster_with_the_most_memory_has_the_shell():
    for name, cluster in (("mppa256", "0"), ("riscv-288", "4"), ("riscv-4x4", "0"), ("nix32", "0")):
        assert shell.room(name)[:2] == ["--cluster", cluster], name


def test_more_programs_are_asked_for_by_name():
    assert shell.parse(["--with", "tcc,make", "--with=tcc"])[4] == ["dash", "toybox", "tcc", "make"]


def test_without_a_terminal_commands_come_from_standard_input(monkeypatch):
    for is_terminal, arguments in ((False, []), (True, ["-i"])):
        monkeypatch.setattr("sys.stdin", type("", (), {"isatty": lambda self, is_terminal=is_terminal: is_terminal})())
        assert shell.parse([])[1] == arguments


@pytest.mark.parametrize("argv", [["-c"], ["--port", "hosted"], ["-x"], ["--machine"], ["--with", "tcc,nothing"]])
def test_wrong_options_are_refused(argv):
    with pytest.raises(Usage):
        shell.parse(argv)


def test_programs_are_files_or_all_those_of_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("launch.check_program", lambda path, data, port: None)
    for name, data in (("b", b"\x7fELF2"), ("a", b"\x7fELF1"), ("text", b"no program")):
        (tmp_path / name).write_bytes(data)
    there = [(str(tmp_path / name), name) for name in ("a", "b")]
    assert shell.programs_of(str(tmp_path)) == there
    assert shell.programs_of(there[0][0]) == there[:1]
    assert shell.programs_of(there[0][0] + "=c") == [(there[0][0], "c")]
    for wrong in (f"{tmp_path}=c", str(tmp_path / "none")):
        with pytest.raises(Usage):
            shell.programs_of(wrong)
