# SPDX-License-Identifier: MIT
"""The options of ./atoll shell, and where it gets its programs from. No machine is started."""

import hashlib

import pytest

import shell
from ui import Failure, Usage


def test_options_come_before_what_the_shell_gets():
    assert shell.parse(["--machine", "mppa256", "--file=a=b", "-c", "ls -l", "x"]) == (
        ["--machine", "mppa256", "--file", "a=b"], ["-c", "ls -l", "x"], [], [])
    assert shell.parse(["--program", "a", "--program=b=c", "/tmp/s.sh", "-c", "1"]) == (
        ["--machine", "riscv-4x4"], ["s.sh", "-c", "1"], ["/tmp/s.sh=s.sh"], ["a", "b=c"])


def test_without_a_terminal_commands_come_from_standard_input(monkeypatch):
    for is_terminal, arguments in ((False, []), (True, ["-i"])):
        monkeypatch.setattr("sys.stdin", type("", (), {"isatty": lambda self, is_terminal=is_terminal: is_terminal})())
        assert shell.parse([])[1] == arguments


@pytest.mark.parametrize("argv", [["-c"], ["--port", "hosted"], ["-x"], ["--machine"]])
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


def test_tools_are_those_that_were_configured():
    config = "CONFIG_LS=y\n# CONFIG_SH is not set\nCONFIG_TOYBOX=y\nCONFIG_ECHO=y\nCONFIG_LOGNAME=y\n"
    table = ('USE_LS(NEWTOY(ls, "x", 0))\nUSE_SH(NEWTOY(sh, 0, 0))\nUSE_ECHO(NEWTOY(echo, 0, 0))\n'
             "USE_LOGNAME(OLDTOY(logname, whoami, 0))\nUSE_TOYBOX(NEWTOY(toybox, 0, 0))\n")
    assert shell.tools_of(config, table) == ["echo", "logname", "ls"]


@pytest.fixture(name="mirror")
def _mirror(tmp_path, monkeypatch):
    there = tmp_path / "mirror"
    there.mkdir()
    monkeypatch.setattr(shell, "MIRROR", f"file://{there}/")
    monkeypatch.setattr(shell, "FOLDER", str(tmp_path))
    monkeypatch.setattr(shell, "SOURCES", {"dash": ("dash.tar.gz", hashlib.sha256(b"source").hexdigest())})
    return there / "dash.tar.gz"


def test_a_source_is_got_once_and_what_is_there_is_used(mirror):
    mirror.write_bytes(b"source")
    path = shell.source("dash")
    mirror.unlink()
    assert shell.source("dash") == path


def test_a_source_that_is_not_what_it_should_be_is_refused(mirror, tmp_path):
    mirror.write_bytes(b"another")
    with pytest.raises(Failure, match="not what it should be"):
        shell.source("dash")
    (tmp_path / "dash.tar.gz").write_bytes(b"cut")
    mirror.write_bytes(b"source")
    assert open(shell.source("dash"), "rb").read() == b"source"


def test_without_a_network_it_is_said_where_a_copy_may_be_put(mirror):
    with pytest.raises(Failure, match="may be put into"):
        shell.source("dash")
