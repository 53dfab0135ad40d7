# SPDX-License-Identifier: MIT
"""What --share says. No machine is started."""

import os

import pytest

import share
from ui import Usage


def parsed(spec):
    s = share.parse(spec)
    return s.folder, s.mount, s.is_read_only


def test_a_folder_has_a_place_and_may_be_for_reading_only(tmp_path):
    at = os.path.realpath(tmp_path)
    assert parsed(at) == (at, "/share", False)
    assert parsed(f"{at}:/mnt//x/") == (at, "/mnt/x", False)
    assert parsed(f"{at}:/mnt,ro") == (at, "/mnt", True)
    assert parsed(f"{at},ro") == (at, "/share", True)


def test_colons_and_commas_of_a_folders_name_count(tmp_path):
    for name in ("a:b", "a,ro", "a:", "b,rw,ro"):
        at = os.path.realpath(tmp_path) + "/" + name
        os.mkdir(at)
        assert parsed(at) == (at, "/share", False)
        assert parsed(f"{at}:/m") == (at, "/m", False)


@pytest.mark.parametrize("place, words", [(":/", "no place"), (":/a/../b", "no place"), (":/" + "x" * 60, "no place"),
                                          (":/proc/a", "own"), (":/bin", "own"), ("/none", "no such folder")])
def test_wrong_places_are_refused(tmp_path, place, words):
    with pytest.raises(Usage, match=words):
        share.parse(f"{tmp_path}{place}")


def test_two_are_not_in_one_anothers_way(tmp_path):
    for places in ((":/a", ":/a"), (":/a", ":/a/b"), (":/a/b", ":/a"), ("", ":/share/x")):
        with pytest.raises(Usage, match="way"):
            share.parse_all([f"{tmp_path}{place}" for place in places])
    both = share.parse_all([f"{tmp_path}:/a", f"{tmp_path}:/ab"])
    assert share.members(both) == [("etc/shares", b"/a\n/ab\n")] and share.members([]) == []
    with pytest.raises(Usage, match="at most"):
        share.parse_all([f"{tmp_path}:/a{i}" for i in range(9)])


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "f").write_text("")
    with pytest.raises(Usage, match="not a folder"):
        share.parse(str(tmp_path / "f"))
