# SPDX-License-Identifier: MIT
"""Manual pages: what help texts and comments become."""

import os
import re
import sys

TOOLS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TOOLS)
sys.path.insert(0, TOOLS)
import rooms  # noqa: E402,F401

import install  # noqa: E402
import manpages  # noqa: E402

HELP = """usage: tool [OPTION...] FILE
            [MORE]

Does a thing with \\ and
with more.

  -a, --all        all of it
                   and more
  --long-option-without-text
  -b NAME          .dot

The end.
"""
REQUESTS = {"TH", "SH", "TP", "PP", "B", "br", "nf", "fi", "so"}


def requests_of(page):
    return {line[1:].split()[0] for line in page.splitlines() if line.startswith((".", "'"))}


def test_functions_of_the_library_have_pages():
    made = manpages.library_pages(ROOT)
    for header in ("sem", "tube"):
        with open(os.path.join(ROOT, "user", "include", "atoll", f"{header}.h"), encoding="utf-8") as f:
            for function in re.findall(r"^\w[\w ]* (\w+)\(", f.read(), re.M):
                page = made[f"man3/{function}.3"]
                page = made[page.split()[1]] if page.startswith(".so ") else page
                assert f" {function}(" in page and page.rstrip().split(".SH ")[-1].startswith("BUGS")
                assert requests_of(page) <= REQUESTS | {"I"}


def test_files_have_pages_of_their_own_section():
    made = manpages.library_pages(ROOT)
    assert made["man4/memory.4"] == ".so man4/cores.4\n"
    for name in ("cores", "memory"):
        assert f"/dev/{name}" in made["man4/cores.4"]
    assert requests_of(made["man4/cores.4"]) <= REQUESTS | {"BR"}


def test_a_help_text_becomes_a_page():
    page = manpages.command_page("tool", "do a thing", HELP)
    assert '.SH SYNOPSIS\n.B "tool [OPTION...] FILE"\n.br\n.B "[MORE]"\n' in page
    assert "Does a thing with \\e and\nwith more.\n" in page
    assert (
        '.TP\n.B "\\-a, \\-\\-all"\nall of it\nand more\n.TP\n.B "\\-\\-long\\-option\\-without\\-text"\n.TP\n' in page
    )
    assert '.B "\\-b NAME"\n\\&.dot\n.PP\nThe end.\n' in page


def test_a_summary_ends_with_the_first_stop():
    assert manpages.summary("close it (also: this. or that); more") == "close it (also: this. or that)"
    assert manpages.summary("of a thread, 0 .. its most. More") == "of a thread, 0 .. its most"
    assert manpages.summary("no stop") == "no stop"


def test_each_kernel_call_has_a_page_that_says_what_it_does():
    pages = manpages.kernel_pages(ROOT)
    with open(os.path.join(ROOT, "abi", "kcalls.tbl"), encoding="utf-8") as f:
        names = re.findall(r"^\s*\d+\s+(\w+)", f.read(), re.M)
    assert names and sorted(pages) == sorted(f"man2/k{n}.2" for n in names)
    for name, page in pages.items():
        assert requests_of(page) <= REQUESTS, name
        assert len(re.search(r"\.SH NAME\n(.*)\n", page).group(1)) > 20, name


def test_the_front_command_has_a_page_with_all_commands():
    page = manpages.atoll_page({n: install.help_of(n) for n in ("", "run", "bench")})
    assert requests_of(page) <= REQUESTS
    assert '.SH "./atoll run [OPTION...] PROGRAM [ARG...]"' in page and "\\-\\-timeout S" in page
