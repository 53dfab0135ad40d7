# SPDX-License-Identifier: MIT
"""What is kept comes out as it went in, and anything else is refused: files with checksums, the
archive of images, a run that is run again.
"""

import json
import random

import pytest

from codesign import images, kept, measure, replay, space

MEMBERS = {"kernels/a.o": b"1234", "jobs/x/record.bin": bytes(300)}


def test_a_file_is_sealed_and_opened():
    assert kept.opened(kept.sealed("a\nb\n")) == "a\nb\n"


@pytest.mark.parametrize("seed", range(8))
def test_a_character_that_was_changed_is_found(seed, tmp_path):
    rng, path = random.Random(seed), tmp_path / "x.csv"
    kept.write_rows(str(path), ("a", "b"), [{"a": i, "b": 7 * i} for i in range(20)])
    assert kept.read_rows(str(path))[3] == {"a": "3", "b": "21"}
    text = path.read_text()
    spot = rng.randrange(len(text))
    path.write_text(text[:spot] + ("x" if text[spot] != "x" else "y") + text[spot + 1:])
    with pytest.raises(kept.Damaged, match="x.csv: the checksum"):
        kept.read_rows(str(path))


def test_no_file_is_no_rows(tmp_path):
    assert kept.read_rows(str(tmp_path / "none.csv")) == []


def test_an_archive_comes_out_as_it_went_in(tmp_path):
    path = str(tmp_path / "a" / "study.tar.xz")
    images.write(MEMBERS, {"linker": "ld 1"}, path)
    assert images.read(path) == MEMBERS and images.about(path)["linker"] == "ld 1"
    assert images.pack(MEMBERS) == images.pack(dict(reversed(MEMBERS.items()))) and images.digest(
        MEMBERS
    ) != images.digest({**MEMBERS, "b": b""})
    folder = images.folder(path, str(tmp_path / "out"))
    with open(f"{folder}/kernels/a.o", "rb") as f:
        assert f.read() == b"1234"


@pytest.mark.parametrize("change", ["bytes", "sum", "gone"])
def test_an_archive_that_was_touched_is_refused(tmp_path, change):
    path = tmp_path / f"{change}.tar.xz"
    images.write(MEMBERS, {}, str(path))
    if change == "bytes":
        path.write_bytes(images.pack({**MEMBERS, "kernels/a.o": b"1235"}))
    elif change == "sum":
        (tmp_path / f"{change}.json").write_text(json.dumps({"members": "0"}))
    else:
        path.unlink()
    with pytest.raises(kept.Damaged, match=change):
        images.read(str(path))


def job(setup="k", replication=0, latency=0, kernel="k-core"):
    return measure.Job(setup, [kernel, "u-core"], replication, latency)


def rows(one, value=1000):
    """A run's rows as they are measured."""
    return [{**one.row(b, value + one.replication + len(b), memory="m",
                       activity=[{"core": 0, "toggles": 5}]), "source": "s", "image": "i"} for b in ("buffer", "join")]


def test_one_run_of_each_is_chosen():
    have = [r for j in (job(replication=1), job(), job(latency=10), job("k-opt"),
                        job("dse", kernel="i-core"), job("dse")) for r in rows(j)]
    assert replay.chosen(have, ["k", "k@10"]) == [job().key(),
                                                  job(latency=10).key()] and len(replay.chosen(have, None)) == 5
    with pytest.raises(ValueError, match="no run of u at latency 0 is kept"):
        replay.chosen(have, ["u"])


def test_a_run_that_comes_out_again_is_equal():
    found = replay.again(rows(job()), [job().key()], rows, lambda text: None)
    assert found == [("k, kernel on K-Core of 2 cores, latency 0, link order 0", [])]


@pytest.mark.parametrize("change", [{"cycles": 1007}, {"activity": [{"core": 0, "toggles": 6}]}, {"image": "j"}])
def test_one_cycle_one_bit_or_another_image_is_a_difference(change):
    have = rows(job())
    have[0].update(change)
    ((_, wrong),) = replay.again(have, [job().key()], rows, lambda text: None)
    assert len(wrong) == 1 and wrong[0].startswith(f"buffer, {next(iter(change))}: ")


def test_a_row_that_is_missing_is_a_difference():
    ((_, wrong),) = replay.again(rows(job())[:1], [job().key()], rows, lambda text: None)
    assert wrong == ["join: measured now, not kept"]


def test_a_row_without_kept_activity_is_compared_without_it():
    have = [{k: v for k, v in r.items() if k != "activity"} for r in rows(job())]
    assert replay.again(have, [job().key()], rows,
                        lambda text: None)[0][1] == [] and space.canonical("k-core") in have[0]["cores"]
