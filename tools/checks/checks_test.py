# SPDX-License-Identifier: MIT
"""Each check passes what is right and refuses what is wrong."""

import os
import shutil
import subprocess

import pytest

from checks import (conditionals, decisions, kernel_data, layering, layout, modules, originals, papers, porting,
                    sizes, source, tiers, triads)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEAD = "/* SPDX-License-Identifier: MIT */\n"
HEAD_PY = "# SPDX-License-Identifier: MIT\n"


@pytest.mark.parametrize("path, include", [
    ("base/a.c", "<abi/errors.h>"), ("kernel/am/am.c", "<hal/core.h>"),
    ("kernel/am/am.c", "<stdint.h>"), ("hal/cpu/hosted/x.c", "<pthread.h>"),
    ("servers/proc/a.c", "<servers/name/client.h>"), ("apps/x.c", "<mpi.h>"),
    ("mpi/core/a.c", "<string.h>"), ("bench/x.c", "<hal/perf.h>"),
    ("user/start/a.c", "<usercpu/start.h>")])
def test_an_include_that_points_down_is_allowed(tree, path, include):
    assert layering.check(tree(path, f"#include {include}\n")) == []


@pytest.mark.parametrize("path, include", [
    ("base/a.c", "<kernel/am/am.h>"), ("abi/a.h", "<base/list.h>"), ("kernel/a.c", "<atoll/kcalls.h>"),
    ("kernel/a.c", "<stdio.h>"),
    ("user/a.c", "<kernel/am/am.h>"), ("hal/noc/shm/a.c", "<sys/mman.h>"),
    ("apps/a.c", "<mpi/core/comm.h>"), ("servers/a/a.c", "<mpi.h>"),
    ("mpi/core/a.c", "<servers/proc/load.h>"), ("hal/cpu/riscv64/a.c", "<hal/board/virt/x.h>"),
    ("user/a.c", "<stdlib.h>")])
def test_an_include_that_points_elsewhere_is_refused(tree, path, include):
    problems = layering.check(tree(path, f"\n#include {include}\n"))
    assert len(problems) == 1 and problems[0].startswith(f"{path}:2:")


def test_back_ends_never_include_one_another(tree):
    tree("hal/noc/shm/shm.h", "")
    problems = layering.check(tree("hal/cpu/hosted/a.c", '#include "../../noc/shm/shm.h"\n'))
    assert len(problems) == 1 and "never include one another" in problems[0]


def test_a_relative_path_into_another_room_is_refused(tree):
    tree("kernel/k.h", "")
    assert "by a relative path" in layering.check(tree("base/a.c", '#include "../kernel/k.h"\n'))[0]


@pytest.mark.parametrize("below", [tiers.TIERS, modules.BELOW])
def test_no_tier_reaches_itself_through_those_below_it(below):
    def reach(tier, seen):
        assert tier not in seen, f"a circle: {seen}"
        for lower in below[tier]:
            reach(lower, (*seen, tier))
    for tier in below:
        reach(tier, ())


@pytest.mark.parametrize("path, text, found", [
    ("tools/run/a.py", "import b\nimport sys\n", []), ("tools/make/b.py", "import a\n", ["make imports a of run"]),
    ("tools/b.py", "def f():\n    from a import g\n", ["tools imports a of run"]),
    ("tools/make/b_test.py", "import a\n", []), ("tools/make/install.py", "import main\n", [])])
def test_modules_import_what_lies_below_them(tree, path, text, found):
    for room in filter(None, modules.BELOW):
        tree(f"tools/{room}/{room}_module.py", "")
    tree("tools/run/a.py", "")
    tree("tools/cli/main.py", "")
    problems = modules.check(tree(path, text))
    assert [p.split(": ", 1)[1] for p in problems] == found


@pytest.fixture
def library(tree):
    """A copy of the library as it is; `put` changes a file of it."""
    def put(path, old, new):
        text = source.read(tree("here", ""), path)
        assert text.count(old) == 1
        return tree(path, text.replace(old, new))
    shutil.copytree(os.path.join(ROOT, "mpi"), tree("here", "") / "mpi")
    return put


@pytest.mark.parametrize("path, include", [
    ("mpi/core/comm.h", "<mpi/coll/locality.h>"), ("mpi/core/lock.c", "<mpi/pt2pt/pt2pt.h>"),
    ("mpi/transport/packet.h", "<mpi/core/rank.h>"),
    ("mpi/transport/atoll/far.c", "<mpi/pt2pt/match.h>"), ("mpi/pt2pt/send.c", "<mpi/coll/coll.h>"),
    ("mpi/coll/coll.c", "<mpi/api/call.h>"),
    ("mpi/transport/process/far.c", '"../atoll/state.h"'), ("mpi/fortran/requests.c", "<mpi/core/rank.h>")])
def test_an_include_that_climbs_is_refused(library, path, include):
    first = " */\n#include" if path.endswith(".c") else "\n#include <stdint.h>"
    problems = tiers.check(library(path, first, first.replace("\n", f"\n#include {include}\n")))
    assert len(problems) == 1 and problems[0].startswith(path + ":") and "tiers include those below them" in problems[0]


def test_an_upcall_that_nobody_named_is_refused(library):
    problems = tiers.check(library("mpi/core/comm.h", "MPI_Comm mpi_comm_handle(",
                                   "int mpi_wait_longer(struct mpi_rank *self, struct request "
                                   "*r);\nMPI_Comm mpi_comm_handle("))
    assert len(problems) == 1 and "mpi_wait_longer is declared in mpi/core and supplied by mpi/pt2pt" in problems[0]


def test_an_upcall_that_is_gone_is_noticed(library):
    problems = tiers.check(library("mpi/core/comm.h",
                                   "void mpi_locality_leave(struct mpi_rank *self, struct locality *v);\n", ""))
    assert problems == ["mpi: mpi_locality_leave is no upcall: UPCALLS names it in vain"]


def test_a_folder_that_is_no_tier_is_refused(library, tree):
    library("mpi/core/comm.h", "MPI_Comm mpi_comm_handle(", "MPI_Comm mpi_comm_handle( ")
    assert tiers.check(tree("mpi/more/a.c", HEAD)) == ["mpi/more/a.c: mpi/more is no tier"]


def body(lines):
    return "{\n" + "\tx();\n" * (lines - 3) + "}\n"


def test_a_function_is_measured_from_its_name_to_its_brace():
    found = source.functions(HEAD + "static int\nf(int a, char (*b)(int, int))\n" + body(10))
    assert [(f.name, f.line, f.lines, f.parameters) for f in found] == [("f", 3, 10, 2)]


def test_strings_and_comments_do_not_count_as_code():
    found = source.functions('void\nf(void)\n{\n\tputs("}\\n{");\n\t/*\n}\n*/\n}\nint\ng(void)\n{\n}\n')
    assert [f.name for f in found] == ["f", "g"] and found[0].lines == 7


def test_reasonable_sizes_pass(tree):
    assert sizes.check(tree("base/a.c", HEAD + "int\nf(int a, int b, int c, int d, int e, int f)\n" + body(12))) == []


@pytest.mark.parametrize("text, words", [
    (HEAD + "int\nf(void)\n" + body(61), "f has 61 lines"),
    (HEAD + "int\nf(int a, int b, int c, int d, int e, int g, int h)\n" + body(5), "7 parameters"),
    (HEAD + "\n" * 801, "802 lines"), ("int x;\n", "SPDX")])
def test_what_is_too_large_is_refused(tree, text, words):
    assert any(words in p for p in sizes.check(tree("base/a.c", text)))


@pytest.mark.parametrize("paths, fine", [
    ("base/a.c base/b.c mpi/c.c", True), ("base/a.c base/b.c mpi/c.c user/d.c", False),
    ("base/a.c base/b.c mpi/c.c tests/x/d.c", True),
    ("base/a.c base/b.c mpi/c.c mpi/d_test.c", True), ("hal/a.c hal/b.c kernel/c.c mpi/d.c", False),
    ("base/a.c bench/b.c apps/c.c kernel/d.c", True)])
def test_at_most_three_functions_have_one_name(tree, paths, fine):
    for path in paths.split():
        root = tree(path, HEAD + "int\nfind(void)\n" + body(4) + "int\nmain(void)\n" + body(4))
    problems = sizes.check(root)
    assert (problems == []) if fine else (len(problems) == 1
                                          and "4 functions are called find; 3 at most" in problems[0])


def test_python_is_measured_too(tree):
    text = "# SPDX-License-Identifier: MIT\ndef f():\n" + "    x = 1\n" * 61
    assert any("f has 62 lines" in p for p in sizes.check(tree("tools/a.py", text)))


def test_guards_and_cplusplus_pass(tree):
    text = HEAD + "#ifndef A_H\n#define A_H\n#ifdef __cplusplus\n#endif\n#endif\n"
    assert conditionals.check(tree("mpi/include/a.h",
                                   text)) == [] and conditionals.check(tree("hal/cpu/x/a.c",
                                                                            "#ifdef X\n#endif\n")) == []


@pytest.mark.parametrize("path, text", [
    ("kernel/a.c", "#ifdef X\n#endif\n"),
    ("base/a.h", "#ifndef A_H\n#define A_H\n#if X\n#endif\n#endif\n"), ("kernel/a.h", "#ifdef __cplusplus\n#endif\n")])
def test_conditional_compilation_is_refused(tree, path, text):
    assert conditionals.check(tree(path, HEAD + text))


@pytest.mark.parametrize("text, bad", [
    ("static const int table[2] = {1, 2};\nint f(int i) { return table[i]; }\n", None),
    ("const char *const names[] = {\"a\", \"b\"};\n", None),
    ("int counter = 1;\n", "counter"), ("static int zero;\nint *f(void) { return &zero; }\n", "zero"),
    ("int f(void) { static int hidden; return hidden++; }\n", "hidden")])
def test_mutable_data_of_the_kernel_is_found_in_its_objects(tmp_path, text, bad):
    folder = tmp_path / "build/hosted/k/kernel"
    folder.mkdir(parents=True)
    (tmp_path / "a.c").write_text(text)
    subprocess.run([shutil.which("gcc"), "-O2", "-fPIE", "-fdata-sections", "-c", "-o",
                    folder / "a.c.o", tmp_path / "a.c"], check=True)
    problems = kernel_data.check(tmp_path)
    assert (problems == []) if bad is None else (len(problems) == 1 and bad in problems[0])


def test_a_kernel_that_was_not_built_is_not_clean(tmp_path):
    assert "build first" in kernel_data.check(tmp_path)[0]


@pytest.mark.parametrize("text, words", [
    ("int\nf(void)\n{\n    return 1;\n}\n", "use tabs"), ("int x; \n", "blanks at the end"), ("int x;", "no line end"),
    ("int f(void)\n{\n}\n", "column 0"), ("typedef struct x x_t;\n", "typedef"),
    ("\t" * 12 + "x() ;\n", "longer than 100 columns")])
def test_layout_is_refused(tree, text, words):
    assert any(words in p for p in layout.check(tree("base/a.c", text)))


def test_lines_may_be_as_long_as_their_room_allows(tree):
    assert layout.check(tree("base/a.c", "\t" * 12 + "x();\n")) == []
    assert layout.check(tree("hw/sim/a.h", "\t" * 14 + "x();\n")) == []


def test_long_lines_of_python_are_refused(tree):
    assert layout.check(tree("tests/boot/a.py", HEAD_PY + "x = " + "1" * 117 + "\n")) == [
        "tests/boot/a.py:2: longer than 120 columns"]
    assert layout.check(tree("tests/boot/a.py", HEAD_PY + "x = '" + "\t" * 100 + "'\n")) == []


def test_documents_have_a_width_but_for_tables_and_commands(tree):
    wide = "word " * 24 + "\n"
    good = f"# One\n\n| {wide.strip()} |\n\n```\n{wide}```\n\nWords.\n"
    assert layout.check(tree("docs/a.md", good)) == []
    assert layout.check(tree("docs/a.md", good + wide)) == ["docs/a.md:10: 120 columns, 100 at most"]


def test_good_layout_passes(tree):
    text = (
        HEAD
        + "#define M(x) do { \\\n    x(); \\\n} while (0)\nstatic inline int\nf(void)\n{\n\treturn g(1,\n\t    2);\n}\n"
    )
    assert layout.check(tree("base/a.c", text)) == []


PAPERS = '["000"]\ntitle = "t"\nbackground = []\n["000".sections]\n"II" = ["mailbox", "portal"]\n'
GOOD = ["| 000 II | mailbox | works | `kernel/a.c` | `kernel/a_test.c` | `calls` |",
        "| 000 II | portal | not yet | | | |"]


@pytest.fixture
def papers_of(tree):
    def put(*lines):
        for path, text in (("docs/papers.toml", PAPERS), ("kernel/a.c", ""), ("kernel/a_test.c", ""),
                           ("bench/micro/calls.toml", "")):
            root = tree(path, text)
        tree("docs/papers.md", "\n".join(("# What", "| source | what |", *lines)) + "\n")
        return papers.check(root)
    return put


def test_a_table_with_a_row_for_everything_passes(papers_of):
    assert papers_of(*GOOD) == []


@pytest.mark.parametrize("row, words", [
    ("", "no row for '000 II, portal'"),
    ("| 000 II | portal | not yet | | |", "5 cells"),
    ("| 000 II | portal | soon | | | |", "'soon' is no state"),
    ("| 000 II | portal | partial | `kernel/a.c` | | |", "'partial' is no state"),
    ("| 000 II | portal | partial: not all | | | |", "has a place"),
    ("| 000 II | portal | works | `kernel/a.c` | | |", "a place and a test"),
    ("| 000 II | portal | works | `kernel/a.c` | `kernel/gone_test.c` | |", "kernel/gone_test.c is not there"),
    ("| 000 II | portal | works | `kernel/gone.c` | `kernel/a_test.c` | |", "kernel/gone.c is not there"),
    ("| 000 II | portal | works | `kernel/a.c` | `kernel/a.c` | |", "kernel/a.c is no test"),
    ("| 000 II | portal | not yet | | | `warp` |", "no benchmark is called warp"),
    (GOOD[1] + "\n" + GOOD[1], "a second row"),
    (GOOD[1] + "\n| 000 III | portal | not yet | | | |", "'000 III, portal' is not in"),
])
def test_a_table_that_says_what_is_not_so_is_refused(papers_of, row, words):
    problems = papers_of(GOOD[0], row)
    assert any(words in p for p in problems), problems


@pytest.mark.parametrize("said, right",
                         [("of 2 rows 1 work, 0 work in\npart, 1 are not there yet", True),
                          ("of 3 rows 1 work, 0 work in part, 1 are not there yet", False),
                                         ("many rows", False)])
def test_the_readme_counts_the_rows(papers_of, tree, said, right):
    tree("README.md", said)
    assert (papers_of(*GOOD) == []) == right


@pytest.fixture
def originals_of(tree):
    def put(*lines):
        tree("docs/calls.toml", 'numbered = ["1 _exit", "2 write"]\nlater = ["freeze"]\n')
        tree("abi/kcalls.tbl", "  0  proc_exit  local  yes (int status) -> - ; 000\n")
        tree("docs/adr/0007-why.md", "")
        tree("user/write.c", "")
        head = ("# Calls", "", "| original | here | |", "|---|---|---|")
        root = tree("docs/calls.md", "\n".join((*head, *lines)) + "\n")
        return originals.check(root)
    return put


ORIGINALS = ("| 1 _exit | `proc_exit` | |", "| 2 write | `user/write.c` | |", "| freeze | none: ADR 0007 | |")


def test_each_call_of_the_original_has_a_row(originals_of):
    assert originals_of(*ORIGINALS) == []
    assert originals_of(*ORIGINALS[:2], "| freeze | not yet: soon | |") == []


@pytest.mark.parametrize("row, words", [
    ("", "0 rows for 'freeze'"),
    ("| freeze | none: ADR 0007 | |\n| freeze | none: ADR 0007 | |", "2 rows for 'freeze'"),
    ("| freeze | none: ADR 0007 | |\n| thaw | none: ADR 0007 | |", "'thaw' is not in"),
    ("| freeze | `proc_stop` | |", "neither a kernel call nor a file"),
    ("| freeze | later | |", "is no counterpart"),
    ("| freeze | none: ADR 0008 | |", "no ADR 0008"),
    ("| freeze | none: ADR 0007 |", "2 cells"),
])
def test_a_call_of_the_original_that_is_forgotten_is_missed(originals_of, row, words):
    problems = originals_of(*ORIGINALS[:2], row)
    assert any(words in p for p in problems), problems


def test_few_calls_of_the_original_have_no_counterpart(originals_of):
    lines = [f"| {i} | none: ADR 0007 | |" for i in range(6)]
    assert any("6 calls have no counterpart" in p for p in originals_of(*lines))


@pytest.fixture
def decided(tree):
    def put(name, text):
        tree("docs/adr/0000-how.md", "# 0000 How we decide\n")
        root = tree(f"docs/adr/{name}", text)
        tree("docs/adr/README.md", decisions.index(root))
        return decisions.check(root)
    return put


def test_a_page_of_the_usual_form_passes(decided):
    assert decided("0001-a.md", "# 0001 One kernel\n\n## Decision\n\nOne.\n\n| " + "wide " * 30 + "|\n") == []


@pytest.mark.parametrize("name, text, words", [
    ("0002-a.md", "# 0002 One\n\n## Decision\n", "should be 0001"),
    ("0001-a.md", "# 0001: One\n\n## Decision\n", "'# 0001 Title'"),
    ("0001-a.md", "# 0001 one\n\n## Decision\n", "'# 0001 Title'"),
    ("0001-a.md", "# 0002 One\n\n## Decision\n", "'# 0001 Title'"),
    ("0001-a.md", "# 0001 One\n\n**Decision.** Two.\n", "no section"),
    ("0001-a.md", "# 0001 One\n\n## Decision\n\n" + "word " * 21 + "\n", "105 columns"),
])
def test_a_page_of_another_form_is_refused(decided, name, text, words):
    problems = decided(name, text)
    assert len(problems) == 1 and words in problems[0], problems


def test_a_page_that_is_not_listed_is_noticed(decided, tree):
    decided("0001-a.md", "# 0001 One\n\n## Decision\n")
    problems = decisions.check(tree("docs/adr/0002-b.md", "# 0002 Two\n\n## Decision\n"))
    assert problems == ["docs/adr/README.md: is not the list of the pages: run tools/checks/decisions.py"]


PORTING = "`hal_a` `hal_b` `kernel_c`\n| one | 10 | 5 |\n"


@pytest.fixture
def ported(tree):
    tree("hal/include/hal/x.h", "int hal_a(void);\nvoid (hal_b)(int n);\n/* kernel_c(n) */\n")
    tree("hal/cpu/one/a.c", "\n" * 10)
    tree("hal/cpu/one/a_test.c", "\n" * 100)
    tree("user/cpu/one/a.S", "\n" * 3)
    tree("abi/cpu/one/context.h", "\n" * 2)
    return tree


def test_a_page_that_names_the_contract_passes(ported):
    assert porting.check(ported("docs/porting.md", PORTING)) == []


@pytest.mark.parametrize("old, new, words", [
    ("`hal_b` ", "", "does not name hal_b"), ("`hal_a`", "`hal_a` `hal_old`", "names hal_old"),
    ("| 10 |", "| 12 |", "says 12 lines for one, there are 10"),
    ("| 5 |", "| 4 |", "says 4 lines for one, there are 5"), ("| one | 10 | 5 |", "", "one row for each of one")])
def test_a_page_that_does_not_is_noticed(ported, old, new, words):
    problems = porting.check(ported("docs/porting.md", PORTING.replace(old, new)))
    assert len(problems) == 1 and words in problems[0]


@pytest.fixture
def triad(tree):
    def put(*cases):
        tree("tests/kernel/a.c", "TEST(one)\n{\n\texpect_eq(kcall(\n\t\t1), -E_INVAL);\n}\n\n"
             "static void\nhelp(int a)\n{\n}\n")
        listed = ", ".join(f'"tests/kernel/{c}"' for c in cases)
        return triads.check(tree("tests/kernel/triads.toml",
                                 f"[mailbox]\nsource = [0, 1, 0]\napi = []\nfault = [{listed}]\nstress = []\n"))
    return put


def test_a_case_that_is_there_passes(triad):
    assert triad("a.c one") == [] and triad("a.c one: kcall( 1), -E_INVAL", "a.c help") == []


@pytest.mark.parametrize("cases, words", [
    ((), "0 cases, the source has 1"), (("b.c one",), "b.c is not there"), (("a.c two",), "has no two"),
    (("a.c one: kcall(2)",), "is not in one"), (("a.c one", "a.c one"), "there twice")])
def test_a_case_that_is_not_there_is_refused(triad, cases, words):
    problems = triad(*cases)
    assert any(words in p for p in problems), problems
