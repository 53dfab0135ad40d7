# SPDX-License-Identifier: MIT
"""The generator of kernel calls: what it writes and what it refuses."""
import os
import shutil
import subprocess
import sys

import pytest

TOOLS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TOOLS)
sys.path.insert(0, TOOLS)

import kcallgen  # noqa: E402

ERRORS = "1 PERM not permitted\n14 FAULT bad address\n22 INVAL invalid\n"
LIMITS = "#define KC_FIRST 4096\n#define BIG 512\n#define HUGE 100000\n#define CONTEXT_SIZE 512\n#define SELF (-1)\n"


def make_abi(tmp_path, calls, errors=ERRORS):
    abi = tmp_path / "abi"
    abi.mkdir()
    (abi / "kcalls.tbl").write_text("# comment\n" + calls)
    (abi / "errors.tbl").write_text(errors)
    (abi / "limits.abi.h").write_text(LIMITS)
    return str(abi)


def run(tmp_path, calls, *more, errors=ERRORS):
    return kcallgen.main(["--abi", make_abi(tmp_path, calls, errors), "--out", str(tmp_path / "gen"), *more])


REFUSED = [
    ("0 a remote yes () -> - ; s", "2: a: a remote call must not block"),
    ("0 a local no () -> - ; s\n2 b local no () -> - ; s", "3: b has number 2, expected 1"),
    ("1 a local no () -> - ; s", "2: a has number 1, expected 0"),
    ("0 a local no () -> NOPE ; s", "2: a: unknown error NOPE"),
    ("0 a local no () -> - ; s\n1 a local no () -> - ; s", "3: duplicate name a"),
    ("0 a local no (in x[NOWHERE]) -> - ; s", "'NOWHERE' is neither a number nor a constant"),
    ("0 a local no (in x[HUGE]) -> - ; s", "size HUGE = 100000 is outside"),
    ("0 a local no (in x[SELF]) -> - ; s", "size SELF = -1 is outside"),
    ("0 a local no (in x[0]) -> - ; s", "size 0 = 0 is outside"),
    ("0 a remote no (out x[BIG]) -> - ; s", "out buffer of 512 bytes is longer than 136"),
    ("0 a remote no (out x[128], out y[16]) -> - ; s", "2: the out buffers are together longer"),
    ("0 a remote no (out x[len<=8]) -> - ; s", "an out buffer has a fixed size"),
    ("0 a remote no (in x[n<=8]) -> - ; s", "write [len<=N]"),
    ("0 a local no (int a, int b, int c, int d, int e, int f, int g) -> - ; s", "7 argument words, at most 6 fit"),
    ("0 a local no (in x[len<=8], in y[len<=8], in z[len<=8], int e) -> - ; s", "7 argument words"),
    ("0 a local no (float x) -> - ; s", "cannot read argument 'float x'"),
    ("0 a local no (int x,, int y) -> - ; s", "empty argument"),
    ("0 a local no (int x, u32 x) -> - ; s", "bad or duplicate argument name 'x'"),
    ("0 a here no () -> - ; s", "where is local or remote"),
    ("0 a local maybe () -> - ; s", "blocks is yes or no"),
    ("0 a local no () -> - ;", "no source"),
    ("0 A local no () -> - ; s", "bad name 'A'"),
    ("0 a local no -> - ; s", "expected 'nr name where"),
    ("", "no calls"),
]


@pytest.mark.parametrize("calls,message", REFUSED)
def test_a_bad_table_is_refused_with_its_line(tmp_path, capsys, calls, message):
    assert run(tmp_path, calls) == 1
    err = capsys.readouterr().err
    assert message in err
    assert "kcalls.tbl" in err
    assert err.count("\n") == 1
    assert not (tmp_path / "gen").exists()


@pytest.mark.parametrize("errors,message", [
    ("1 PERM x\n1 NOENT y\n", "errors.tbl:2: duplicate error number 1"),
    ("1 PERM x\n2 PERM y\n", "errors.tbl:2: duplicate error name PERM"),
    ("4000 PARK x\n", "errors.tbl:1: error number 4000 is outside"),
    ("PERM x\n", "errors.tbl:1: expected"),
])
def test_a_bad_error_table_is_refused_with_its_line(tmp_path, capsys, errors, message):
    assert run(tmp_path, "0 a local no () -> - ; s", errors=errors) == 1
    assert message in capsys.readouterr().err


def test_a_call_without_a_test_is_refused_by_name(tmp_path, capsys):
    src = tmp_path / "src"
    (src / "tests").mkdir(parents=True)
    (src / "tests" / "x.c").write_text("/* test: call_a */\n")
    (src / "y_test.c").write_text("/* test: call_b call_c */\n")
    (src / "y.c").write_text("/* test: call_d */\n")
    table = "\n".join(f"{i} call_{c} local no () -> - ; s" for i, c in enumerate("abcd"))
    assert run(tmp_path, table, "--require-tests", str(src)) == 1
    err = capsys.readouterr().err
    assert "calls without a test" in err and err.rstrip().endswith(": call_d")


def test_a_missing_table_is_one_line(tmp_path, capsys):
    assert kcallgen.main(["--abi", str(tmp_path), "--out", str(tmp_path / "gen")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_an_unchanged_file_keeps_its_time(tmp_path):
    assert run(tmp_path, "0 a local no () -> - ; s") == 0
    path = tmp_path / "gen" / "kcalls.md"
    os.utime(path, (1, 1))
    assert kcallgen.main(["--abi", str(tmp_path / "abi"), "--out", str(tmp_path / "gen")]) == 0
    assert os.stat(path).st_mtime == 1


def generated(tmp_path, table, name):
    assert run(tmp_path, table) == 0
    return (tmp_path / "gen" / name).read_text()


def test_numbers_begin_at_the_first_kernel_call(tmp_path):
    text = generated(tmp_path, "0 a local no () -> - ; s\n1 b remote no () -> - ; s", "include/abi/kcalls.h")
    assert "#define KC_A (KC_FIRST + 0)" in text
    assert "#define KC_B (KC_FIRST + 1)" in text
    assert "#define KC_COUNT 2" in text


def test_a_length_becomes_its_own_parameter_and_is_checked_before_the_copy(tmp_path):
    text = generated(tmp_path, "0 mailbox_write remote no (in text[len<=BIG]) -> - ; s", "kcall_kernel.c")
    assert text.index("hal_frame_arg(frame, 1) > BIG") < text.index("hal_copy_in(")
    assert "hal_publish(staging" in text and "hal_acquire(" in text
    header = (tmp_path / "gen/include/atoll/kcalls.h").read_text()
    assert "long kmailbox_write(const void *text, uint32_t text_len);" in header
    assert "-E_INVAL" in header and "-E_FAULT" in header


def test_a_call_without_buffers_copies_nothing(tmp_path):
    text = generated(tmp_path, "0 self local no () -> - ; s\n1 far remote no (int x) -> - ; s", "kcall_kernel.c")
    assert "hal_copy" not in text and "staging" not in text
    assert "KCALL_LOCAL | KCALL_FAST" in text


def test_outputs_are_probed_before_the_call_acts_and_inputs_are_not(tmp_path):
    table = ("0 mailbox_write remote no (in text[8]) -> - ; s\n1 get remote no (int x, out v[8], out w[16]) -> - ; s\n"
             "2 join local yes (int tid, out value[8]) -> - ; s\n3 ask local no (in q[8], out a[8]) -> - ; s")
    text = generated(tmp_path, table, "kcall_kernel.c")
    stubs = {name: text[text.index(f"kcall_enter_{name}("):].split("\n}\n")[0]
             for name in ("mailbox_write", "get", "join", "ask")}
    assert "hal_user_probe" not in stubs["mailbox_write"]
    assert stubs["get"].count("hal_user_probe") == 2 and "hal_user_probe(hal_frame_arg(frame, 2), 16)" in stubs["get"]
    for name, acts, out in (("get", "am_call_kernel(", "hal_copy_out("), ("join", "kc_join(", "kcall_give("),
                            ("ask", "kc_ask(", "kcall_give(")):
        assert (
            stubs[name].rindex("hal_user_probe(") < stubs[name].index(acts) < stubs[name].index(out)
        ), stubs[name]


def test_an_output_of_a_waiting_call_is_copied_when_it_ends(tmp_path):
    text = generated(tmp_path, "0 join local yes (int tid, out value[8]) -> - ; s", "kcall_kernel.c")
    assert "{kcall_enter_join, {kcall_finish_join}," in text
    assert "#define KCALL_WAKE_BYTES 8" in (tmp_path / "gen/include/kernel/kcalls.h").read_text()


@pytest.mark.parametrize("arguments,said", [
    ("()", "KCALL_REMOTE, 0, 0, 0, 0"),
    ("(int x, word y)", "KCALL_REMOTE, 0, 2, 0, 0"),
    ("(int x, in b[8])", "KCALL_REMOTE | KCALL_IN, 0, 2, 1, 8"),
    ("(in b[BIG], int x)", "KCALL_REMOTE | KCALL_IN | KCALL_STAGED, 0, 2, 0, BIG"),
    ("(int x, in b[len<=64])", "KCALL_REMOTE | KCALL_IN | KCALL_LENGTH, 0, 3, 1, 64"),
    ("(in c[context])", "KCALL_REMOTE | KCALL_IN | KCALL_STAGED, 0, 1, 0, sizeof(struct context)"),
    ("(int x, int y, out v[16])", "KCALL_REMOTE | KCALL_OUT, 0, 3, 2, 16"),
])
def test_a_remote_call_that_is_rare_has_no_stub_but_is_described(tmp_path, arguments, said):
    text = generated(tmp_path, f"0 far remote no {arguments} -> - ; s", "kcall_kernel.c")
    assert "\t{kcall_enter_remote, {.serve = kcall_serve_far}, " + said + "},\n" in text
    assert "kcall_enter_far" not in text and "hal_copy" not in text


def test_only_calls_that_are_often_made_or_have_several_buffers_have_a_stub(tmp_path):
    text = generated(tmp_path, "0 void_remote remote no () -> - ; s\n1 two remote no (out a[8], out b[8]) -> - ; s\n"
                     "2 far remote no () -> - ; s", "kcall_kernel.c")
    assert "kcall_enter_void_remote(" in text and "kcall_enter_two(" in text
    abi = os.path.join(ROOT, "abi")
    limits = kcallgen.cheader.Header(os.path.join(abi, "limits.abi.h")).names
    calls = kcallgen.read_calls(os.path.join(abi, "kcalls.tbl"), limits,
                                kcallgen.read_errors(os.path.join(abi, "errors.tbl")))
    assert set(kcallgen.OFTEN) <= {c.name for c in calls}


def test_the_real_table_is_accepted_and_compiles(tmp_path):
    gen = tmp_path / "gen"
    assert kcallgen.main(["--out", str(gen)]) == 0
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    subprocess.run(
        ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-fsyntax-only",
         f"-I{ROOT}", f"-I{gen}/include",
         f"-I{ROOT}/hal/include", f"-I{ROOT}/abi/cpu/riscv64", f"-I{ROOT}/hal/cpu/riscv64/include",
         f"{gen}/kcall_kernel.c"], check=True)


def test_every_call_of_the_real_table_has_a_test():
    assert kcallgen.main(["--require-tests", ROOT]) == 0
