# SPDX-License-Identifier: MIT
"""Programs for the machine: where their sources come from, and what the machine gets of them. None is
built.
"""

import hashlib

import pytest

import packages
from ui import Failure


def test_tools_are_those_that_were_configured():
    config = "CONFIG_LS=y\n# CONFIG_SH is not set\nCONFIG_TOYBOX=y\nCONFIG_ECHO=y\nCONFIG_LOGNAME=y\n"
    table = ('USE_LS(NEWTOY(ls, "x", 0))\nUSE_SH(NEWTOY(sh, 0, 0))\nUSE_ECHO(NEWTOY(echo, 0, 0))\n'
             "USE_LOGNAME(OLDTOY(logname, whoami, 0))\nUSE_TOYBOX(NEWTOY(toybox, 0, 0))\n")
    assert packages.tools_of(config, table) == ["echo", "logname", "ls"]


@pytest.fixture(name="mirror")
def _mirror(tmp_path, monkeypatch):
    there = tmp_path / "mirror"
    there.mkdir()
    monkeypatch.setattr(packages, "MIRROR", f"file://{there}/")
    monkeypatch.setattr(packages, "FOLDER", str(tmp_path))
    digest = hashlib.sha256(b"source").hexdigest()
    monkeypatch.setattr(packages, "SOURCES", {"dash": ("dash.tar.gz", digest)})
    return there / "dash.tar.gz"


def test_a_source_is_got_once_and_what_is_there_is_used(mirror):
    mirror.write_bytes(b"source")
    path = packages.source("dash")
    mirror.unlink()
    assert packages.source("dash") == path


def test_a_source_that_is_not_what_it_should_be_is_refused(mirror, tmp_path):
    mirror.write_bytes(b"another")
    with pytest.raises(Failure, match="not what it should be"):
        packages.source("dash")
    (tmp_path / "dash.tar.gz").write_bytes(b"cut")
    mirror.write_bytes(b"source")
    assert open(packages.source("dash"), "rb").read() == b"source"


def test_without_a_network_it_is_said_where_a_copy_may_be_put(mirror):
    with pytest.raises(Failure, match="may be put into"):
        packages.source("dash")


def test_a_package_brings_its_tree(tmp_path, monkeypatch):
    monkeypatch.setattr(packages, "FOLDER", str(tmp_path))
    folder = tmp_path / "trees" / "x" / "bin"
    folder.mkdir(parents=True)
    (folder / "one").write_text("1")
    (folder / "also").symlink_to("one")
    assert packages.files("x") == [(str(folder / "one"), "bin/also"), (str(folder / "one"), "bin/one")]


def test_a_tree_is_there_whole_or_not_at_all(tmp_path, monkeypatch):
    def breaks(work):
        work.write(f"{work.tree}/half", "")
        raise Failure("half")

    class Nothing(packages.Work):
        """One without a source."""

        def __init__(self, _name, _folder, made):
            self.tree = made

    monkeypatch.setattr(packages, "FOLDER", str(tmp_path))
    monkeypatch.setattr(packages, "Work", Nothing)
    monkeypatch.setattr(packages, "source", lambda name: name)
    monkeypatch.setattr(packages, "PACKAGES", {"x": ("x", breaks), "y": ("y", lambda work: None)})
    with pytest.raises(Failure, match="half"):
        packages._build("x")
    packages._build("y")
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")) == ["trees", "trees/y"]
