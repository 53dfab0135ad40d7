# SPDX-License-Identifier: MIT
"""Set-up: what it says without a network, and that an interrupted one is done again.
In a copy of the tools, with an environment of its own.
"""

import os
import shutil
import signal
import socket
import subprocess

import pytest

import patience
import setup
from ui import ROOT


@pytest.fixture
def copy(tmp_path):
    """The front command without what is set up."""
    shutil.copytree(os.path.join(ROOT, "tools"), tmp_path / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    for name in os.listdir(ROOT):
        if name == "atoll" or name.startswith("requirements"):
            shutil.copy(os.path.join(ROOT, name), tmp_path / name)
    return tmp_path


@pytest.fixture
def silent_server():
    """A package server that accepts connections and never answers."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        yield s


def start(copy, port):
    env = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy") and not k.startswith("PIP_")}
    env |= {"PIP_INDEX_URL": f"http://127.0.0.1:{port}/simple", "PIP_RETRIES": "0",
            "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1"}
    return subprocess.Popen([copy / "atoll", "setup", "run"], env=env, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            start_new_session=True)


def group_lives(pgid):
    try:
        os.killpg(pgid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_without_a_network_it_says_so_in_one_line(copy):
    with socket.socket() as s:			# bound, but nobody listens: refused
        s.bind(("127.0.0.1", 0))
        p = start(copy, s.getsockname()[1])
        err = patience.communicate(p, 300)[1]
    assert (
        p.returncode == 1 and "requirements.txt" in err.splitlines()[-1] and "no network" in err.splitlines()[-1]
    ), err
    assert not (copy / ".venv" / ".atoll-run").exists() and "Traceback" not in err and "\x1b" not in err


@pytest.mark.slow
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_installation_leaves_no_process_and_is_done_again(copy, silent_server, sig):
    p = start(copy, silent_server.getsockname()[1])
    silent_server.settimeout(300)
    with silent_server.accept()[0]:		# pip is at work
        os.kill(p.pid, sig)
        err = patience.communicate(p, 60)[1]
    assert p.returncode == 130 and err.endswith("atoll: interrupted\n") and not group_lives(p.pid), err
    assert (copy / ".venv" / ".begun-requirements.txt").exists() and not (copy / ".venv" / ".atoll-run").exists()


def test_packages_that_may_be_there_in_part_are_all_installed_again(tmp_path, monkeypatch):
    monkeypatch.setattr(setup, "VENV", str(tmp_path))
    called = []
    monkeypatch.setattr(setup, "_call", lambda argv, what: called.append(argv))
    python, name = os.path.join(os.path.dirname(setup.__file__), "..", "..", ".venv", "bin",
                                "python3"), "requirements.txt"
    setup.install_requirements(python, name)
    assert called == []				# they are all there
    (tmp_path / f".begun-{name}").write_text("")
    setup.install_requirements(python, name)
    assert "--force-reinstall" in called[0] and not (tmp_path / f".begun-{name}").exists()


@pytest.mark.parametrize("said", [
    "WARNING: Retrying (Retry(total=0 after connection broken by 'NewConnectionError(... Failed to "
    "establish a new connection: [Errno -3] ...",
    "W: Failed to fetch http://deb.debian.org/debian/dists/bookworm/InRelease  Temporary failure "
    "resolving 'deb.debian.org'",
    "E: Failed to fetch http://x/y.deb  Could not connect to x:80 (1.2.3.4), connection timed out"])
def test_the_words_of_apt_and_pip_without_a_network_are_known(said):
    assert setup._call(["sh", "-c", 'echo "$0"; exit 1', said],
                       "pip install").startswith("pip install found no network")
    assert "exit status 1" in setup._call(["sh", "-c", "echo no space left; exit 1"], "pip install")
    assert setup._call(["sh", "-c", 'echo "$0"', said], "pip install") is None


def test_the_synthesiser_is_compiled_once_whole_or_not_at_all(tmp_path, monkeypatch):
    monkeypatch.setattr(setup, "VENV", str(tmp_path))
    tool = tmp_path / "bin" / setup.SYNTHESISER
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\n[ "$1" = -V ] && echo code > "$YOWASP_CACHE_DIR/code" && exit 3\n')
    tool.chmod(0o755)
    with pytest.raises(setup.Failure, match="exit status 3"):
        setup.compile_synthesiser()
    assert list((tmp_path / "hw").iterdir()) == []
    tool.write_text(tool.read_text().replace("exit 3", "exit 0"))
    setup.compile_synthesiser()
    made = os.path.join(setup.synthesiser_code(), "code")
    assert open(made).read() == "code\n"
    tool.unlink()
    setup.compile_synthesiser()
    assert os.path.exists(made)


def test_the_demo_installs_no_compiler_but_its_own():
    groups = setup.NEEDS["demo"]
    packages = {p for g in groups for p in setup.PACKAGES[g].values()}
    python = {p.split("==")[0] for g in groups if setup.REQUIREMENTS[g] for p in setup.pinned(setup.REQUIREMENTS[g])}
    assert packages == {"make", "gcc", "libc6-dev",
                        "util-linux"} and python == {"ziglang", "numpy", "scipy", "scikit-image"}
