# SPDX-License-Identifier: MIT
"""Heads of unit tests."""

import pytest

import unitmk


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.c").write_text("")
    (tmp_path / "b.c").write_text("")
    return tmp_path


def test_directives_are_found_in_any_comment_and_over_lines(tree):
    (tree / "x_test.c").write_text("/* SPDX-License-Identifier: MIT\n *\n * Words.\n *\n"
                                   " * needs: a.c\n *\tb.c\n *\n * More words.\n */\n"
                                   "/* sanitize: thread address */\n/* flags: -DX=1 */\n")
    head = unitmk.read_head("x_test.c")
    assert head["needs"] == ["a.c", "b.c"] and head["sanitize"] == ["thread", "address"] and head["flags"] == ["-DX=1"]


def test_a_test_is_built_once_per_sanitizer(tree):
    (tree / "x_test.c").write_text("/* needs: a.c */\n/* sanitize: address thread */\n")
    assert unitmk.main(["--out", "out.mk", "x_test.c"]) == 0
    text = (tree / "out.mk").read_text()
    assert (
        "unit: $(OUT)/x_test\n" in text and "unit: $(OUT)/x_test.thread\n" in text and "obj/thread-hosted/a.c.o" in text
    )


def test_tests_that_are_built_alike_share_objects(tree):
    (tree / "x_test.c").write_text("/* needs: a.c b.c */\n")
    (tree / "y_test.c").write_text("/* needs: a.c */\n")
    (tree / "z_test.c").write_text("/* needs: a.c */\n/* flags: -DX */\n")
    assert unitmk.main(["--out", "out.mk", "x_test.c", "y_test.c", "z_test.c"]) == 0
    text = (tree / "out.mk").read_text()
    assert text.count("/a.c.o: a.c $(UNIT_FLAGS_FILE) |") == 2 and text.count("/b.c.o: b.c $(UNIT_FLAGS_FILE) |") == 1


def test_the_fast_gate_takes_the_first_sanitizer_and_what_the_head_says(tree):
    (tree / "x_test.c").write_text("/* sanitize: address thread */\n/* gate: SEEDS=3 40 */\n")
    (tree / "y_test.c").write_text("/* gate: no */\n")
    assert unitmk.main(["--out", "out.mk", "x_test.c", "y_test.c"]) == 0
    lines = (tree / "out.mk").read_text().splitlines()
    assert [line for line in lines if line.startswith("unit-first:")] == ["unit-first: $(OUT)/x_test # SEEDS=3 40"]
    assert "unit: $(OUT)/y_test" in lines


@pytest.mark.parametrize("head, words", [("/* needs: gone.c */", "gone.c, which does not exist"),
                                         ("/* gate: SEEDS=few */", "gate: is followed by numbers"),
                                         ("/* needs: gone*.c */", "gone*.c, which does not exist"),
                                         ("/* sanitize: magic */", "magic is not one of")])
def test_a_wrong_head_is_refused(tree, capsys, head, words):
    (tree / "x_test.c").write_text(head + "\n")
    assert unitmk.main(["--out", "out.mk", "x_test.c"]) == 1
    assert words in capsys.readouterr().err


def test_wildcards_stand_for_sources_but_not_for_tests(tree):
    (tree / "a_test.c").write_text("/* needs: *.c -b.c build/gen/g*.c */\n")
    (tree / "out").mkdir()
    (tree / "out" / "g1.c").write_text("")
    assert unitmk.main(["--out", "out.mk", "--gen", "out", "a_test.c"]) == 0
    text = (tree / "out.mk").read_text()
    assert (
        "/a.c.o: a.c $(UNIT_FLAGS_FILE) |" in text
        and "b.c.o" not in text
        and "/build/gen/g1.c.o: $(GEN)/g1.c $(UNIT_FLAGS_FILE) |" in text
        and text.count("a_test.c.o: a_test.c $(UNIT_FLAGS_FILE) |") == 1
    )


def test_two_tests_of_one_name_are_refused(tree, capsys):
    for folder in ("p", "q"):
        (tree / folder).mkdir()
        (tree / folder / "x_test.c").write_text("")
    assert unitmk.main(["--out", "out.mk", "p/x_test.c", "q/x_test.c"]) == 1
    assert "same name" in capsys.readouterr().err
