# SPDX-License-Identifier: MIT
"""Models are verified, their mutations are found, and changed functions are noticed."""

import shutil

import pytest

import models

GOOD = "/* SPDX-License-Identifier: MIT\n *\n * run: -DN=2\n * mutation: -DN=2 -DBROKEN\n */\n" + """
byte in;
active [N] proctype p() {
	do
	:: atomic { in == 0 -> in++ }; assert(in == 1); in--; break
#ifdef BROKEN
	:: in++; assert(in == 1); in--; break
#endif
	od
}
"""


def outcome(tasks):
    return [(t.name, t.run()[0].state) for t in tasks]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("spin"), reason="spin is not installed")
def test_a_model_holds_and_its_mutation_is_found(tmp_path):
    (tmp_path / "m.pml").write_text(GOOD)
    assert outcome(models.tasks(tmp_path)) == [("model.m.N=2", "passed"), ("model.m.mutation.N=2.BROKEN", "passed")]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("spin"), reason="spin is not installed")
@pytest.mark.parametrize("old, new",
                         [("run: -DN=2\n", "run: -DN=2 -DBROKEN\n"),
                          ("-DN=2 -DBROKEN", "-DN=1 -DBROKEN"), ("byte in;", "bite in;")])
def test_an_error_a_blind_mutation_and_bad_text_fail(tmp_path, old, new):
    (tmp_path / "m.pml").write_text(GOOD.replace(old, new))
    assert "failed" in [state for _, state in outcome(models.tasks(tmp_path))]


def test_a_changed_function_is_noticed(tmp_path):
    (tmp_path / "a.c").write_text("int\nf(void)\n{\n\treturn 1;\n}\n")
    now = models.function_hash(tmp_path, "a.c", "f")
    head = {"proves": [["a.c", "f", now]]}
    assert models.check_proves(tmp_path, "m.pml", head) == []
    (tmp_path / "a.c").write_text("int\nf(void)\n{\n\t/* words do not count */\n\treturn  1;\n}\n")
    assert models.check_proves(tmp_path, "m.pml", head) == []
    (tmp_path / "a.c").write_text("int\nf(void)\n{\n\treturn 2;\n}\n")
    assert "has changed" in models.check_proves(tmp_path, "m.pml", head)[0]
    assert "no function g" in models.check_proves(tmp_path, "m.pml", {"proves": [["a.c", "g", now]]})[0]
