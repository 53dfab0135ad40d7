# SPDX-License-Identifier: MIT
"""The boot archive: what goes in comes out, and cpio agrees."""

import shutil
import subprocess

import pytest

import archive

MEMBERS = [("bin/proc", b"\x7fELF" + bytes(range(256))), ("etc/job", b"program bin/x\n"),
           ("empty", b""), ("odd", b"abc")]


def test_what_is_packed_is_unpacked():
    image, _ = archive.pack(MEMBERS)
    assert archive.unpack(image) == MEMBERS


def test_what_comes_under_several_names_is_stored_once():
    program = b"\x7fELF" + bytes(9000)
    members = [("bin/ls", program), ("etc/x", b"short"), ("bin/cat", program), ("etc/y", b"short")]
    image, offsets = archive.pack(members)
    assert archive.unpack(image) == members
    assert offsets["bin/ls"] == offsets["bin/cat"] and offsets["etc/x"] != offsets["etc/y"]
    assert len(image) < 2 * len(program)


def test_programs_start_on_a_page_and_offsets_are_right():
    image, offsets = archive.pack([("a", b"x" * 77)] + MEMBERS)
    assert offsets["bin/proc"] % archive.ALIGN == 0
    for name, data in MEMBERS:
        assert image[offsets[name]:offsets[name] + len(data)] == data


@pytest.mark.skipif(not shutil.which("cpio"), reason="cpio is not installed")
def test_cpio_lists_the_same_names():
    image, _ = archive.pack(MEMBERS)
    out = subprocess.run(["cpio", "-it", "--quiet"], input=image, capture_output=True,
                         check=True).stdout.decode().split()
    assert out == [n for n, _ in MEMBERS]


@pytest.mark.parametrize("name", ["", "/etc/passwd", "TRAILER!!!", "a\0b"])
def test_a_bad_name_is_refused(name):
    with pytest.raises(archive.ArchiveError):
        archive.pack([(name, b"")])


def test_a_name_twice_is_refused():
    with pytest.raises(archive.ArchiveError, match="twice"):
        archive.pack([("a", b""), ("a", b"")])


@pytest.mark.parametrize("damage", [lambda b: b[:50], lambda b: b"x" + b[1:], lambda b: b[:4200]])
def test_a_damaged_archive_is_refused(damage):
    with pytest.raises(archive.ArchiveError):
        archive.unpack(damage(archive.pack(MEMBERS)[0]))


def test_a_job_is_lines_of_key_and_value():
    text = archive.job_text("bin/fn", 12, "scatter", ["--from", "1 2"], ["A=b"], [(1, 1, 3, 4096)])
    assert text == b"program bin/fn\nranks 12\nmap scatter\ncluster 1 1 3 4096\narg --from\narg 1 2\nenv A=b\n"


def test_limits_and_repetitions_of_a_job_are_lines():
    text = archive.limits_text({"threads": 4, "memory": 4096}, 3)
    assert text == b"limit memory 4096\nlimit threads 4\nrepeat 3\n" and archive.limits_text({}, 1) == b""
    assert archive.limits_text({}, 1, ["end-servers"], (0, 0, 4, 8192)) == b"only 0 0 4 8192\nmay end-servers\n"


def test_an_argument_may_have_line_ends():
    text = archive.job_text("p", 1, "compact", ["a\n\nb", "c"], ["A=\n"])
    assert text == b"program p\nranks 1\nmap compact\nends 2\narg a\n\nb\narg c\nends 1\nenv A=\n\n"


def test_a_zero_byte_in_an_argument_is_refused():
    with pytest.raises(archive.ArchiveError, match="zero byte"):
        archive.job_text("p", 1, "compact", ["a\0b"], [])
