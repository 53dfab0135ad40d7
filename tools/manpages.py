# SPDX-License-Identifier: MIT
"""Manual pages, made from what the commands say themselves (--help) and from abi/kcalls.tbl.

`pages` makes atoll.1, mpiexec.1, mpicc.1, one page of section 2 for each kernel call, and those that
stand in docs/man; `write` puts them below PREFIX/share/man. What a kernel call does
is taken from the comment at the function of the kernel, which begins with "kc_NAME:". A help text
begins with "usage: ..." (and lines that continue it), then come paragraphs, and options: lines that
begin with two spaces, where two spaces or more separate the option from its description. Lines that
are indented further continue the description.
"""

import os
import re

import cheader
import kcallgen
import kcalltext

OPTION = re.compile(r"  (\S.*?)(?:\s{2,}(\S.*))?$")
COMMENT = re.compile(r"/\*\s*(?:\* )?kc_(\w+): (.*?)\*/", re.S)
CONTINUED = re.compile(r" {4,}(\S.*)$")


def escaped(text):
    """Text without roff's escapes."""
    return text.replace("\\", "\\e").replace("-", "\\-")


def quoted(text):
    """A line of text as roff takes it: it is no request either."""
    text = escaped(text)
    return "\\&" + text if text[:1] in ("'", ".") else text


def argument(text):
    """One argument of a request."""
    return '"' + escaped(text).replace('"', '\\(dq') + '"'


def head(name, section, line):
    """The head of a page with its one-line description."""
    return f".TH {argument(name)} {section} \"\" Atoll\n.SH NAME\n{quoted(name)} \\- {quoted(line)}\n"


def usage(text):
    """(synopsis lines, the other lines) of a help text."""
    lines = text.strip("\n").split("\n")
    synopsis = [lines[0].removeprefix("usage: ")]
    while len(lines) > len(synopsis) and lines[len(synopsis)].startswith("       "):
        synopsis.append(lines[len(synopsis)].strip())
    return synopsis, lines[len(synopsis):]


def body(lines):
    """Roff of paragraphs and options."""
    out, inside = [], False
    for line in lines:
        option, continued = OPTION.match(line), CONTINUED.match(line)
        if not line.strip():
            inside = False
            out.append(".PP")
        elif continued and inside:
            out.append(quoted(continued.group(1)))
        elif option:
            inside = True
            out += [".TP", ".B " + argument(option.group(1))] + ([quoted(option.group(2))] if option.group(2) else [])
        else:
            if inside:
                out.append(".PP")
            inside = False
            out.append(quoted(line.strip()))
    return "\n".join(out) + "\n"


def synopsis_of(lines):
    return ".SH SYNOPSIS\n" + "".join(f".B {argument(line)}\n.br\n" for line in lines)


def command_page(name, line, text):
    """The page of a command from its help text."""
    synopsis, rest = usage(text)
    return head(name, 1, line) + synopsis_of(synopsis) + ".SH DESCRIPTION\n" + body(rest)


def atoll_page(helps):
    """The page of `atoll`: `helps` has the help text of each of its commands, and its own under ''.
    """
    page = command_page("atoll", "run, test and measure programs of many cores", helps[""])
    for name in sorted(n for n in helps if n):
        synopsis, rest = usage(helps[name])
        page += f".SH {argument(synopsis[0])}\n" + body(synopsis[1:] + rest)
    return page


def comments(kernel):
    """{call: lines of its comment} from the sources in the folder `kernel`."""
    found = {}
    for folder, _, names in os.walk(kernel):
        for name in sorted(n for n in names if n.endswith(".c")):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                for call, text in COMMENT.findall(f.read()):
                    found[call] = [re.sub(r"^ \* ?", "", line).rstrip() for line in text.rstrip().split("\n")]
    return found


def summary(text):
    """Its beginning, up to the first stop that is not in parentheses."""
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth and letter in ".;:" and text[i - 1] not in " ." and text[i + 1:i + 2] in ("", " "):
            return text[:i]
    return text


def call_page(call, errors, comment):
    """The page of a kernel call."""
    name = "k" + call.name
    page = (
        head(name, 2, summary(" ".join(" ".join(comment).split())))
        + ".SH SYNOPSIS\n.nf\n.B #include <atoll/kcalls.h>\n\n"
    )
    page += f".B long {name}({quoted(kcalltext.parameters(call))});\n.fi\n.SH DESCRIPTION\n"
    page += body([comment[0][:1].upper() + comment[0][1:]] + comment[1:]) + ".PP\n"
    failures = []
    for line in kcalltext.describe(call, errors):
        if line.startswith("-E_"):
            failures.append(line.partition(": "))
        else:
            page += f"{quoted(line)}\n.br\n"
    page += ".SH RETURN VALUE\nA value of at least 0, or one of:\n"
    return page + "".join(f".TP\n.B {argument(e)}\n{quoted(meaning)}\n" for e, _, meaning in failures)


def kernel_pages(root):
    """{path below share/man: text} of the kernel calls of the tree `root`."""
    abi = os.path.join(root, "abi")
    limits = cheader.Header(os.path.join(abi, "limits.abi.h")).names
    errors = kcallgen.read_errors(os.path.join(abi, "errors.tbl"))
    calls = kcallgen.read_calls(os.path.join(abi, "kcalls.tbl"), limits, errors)
    said = comments(os.path.join(root, "kernel"))
    return {f"man2/k{c.name}.2": call_page(c, errors, said[c.name]) for c in calls}


def library_pages(root):
    """The pages that stand in docs/man, as NAME.SECTION, and a link for each further name: of functions
    of libatoll, and of files.
    """
    made = {}
    folder = os.path.join(root, "docs", "man")
    for file in sorted(os.listdir(folder)):
        with open(os.path.join(folder, file), encoding="utf-8") as f:
            text = f.read()
        section = file.rpartition(".")[2]
        made[f"man{section}/{file}"] = text
        names = re.search(r"^\.SH NAME\n(.*?) \\-", text, re.M).group(1).split(", ")
        made.update({f"man{section}/{name}.{section}": f".so man{section}/{file}\n"
                     for name in names if f"{name}.{section}" != file})
    return made


def pages(helps, mpiexec, mpicc, root):
    """{path below share/man: text}.
    `helps`: see atoll_page; the help texts of mpiexec and mpicc; the project's tree.
    """
    made = {
        "man1/atoll.1": atoll_page(helps),
        "man1/mpiexec.1": command_page("mpiexec", "run a job of MPI ranks on this host", mpiexec),
        "man1/mpicc.1": command_page("mpicc", "compile and link a program with MPI", mpicc),
        "man1/mpirun.1": ".so man1/mpiexec.1\n",
    }
    made.update({f"man1/{name}.1": ".so man1/mpicc.1\n"
                 for name in ("mpicxx", "mpic++", "mpifort", "mpif77", "mpif90")})
    return {**made, **kernel_pages(root), **library_pages(root)}


def write(prefix, made):
    """Put pages into a tree."""
    for path, text in made.items():
        target = os.path.join(prefix, "share", "man", path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as f:
            f.write(text)
