# SPDX-License-Identifier: MIT
"""Write the make rules of the unit tests.

Each test names in a comment at its head what it is linked with and how it is built:

    /* needs: kernel/am/am.c base/ring.c */   sources, also over several lines until the comment's
                                              end or the next key; may have wildcards, a[a-z]*.c
                                              (tests are left out); -a.c takes one back;
                                              build/gen/... is generated
    /* sanitize: thread */                    thread | address (the default: address and undefined behaviour) | none
    /* cpu: coroutine */                      whose <cpu/...> headers it sees (default: hosted)
    /* flags: -DX=1 */  /* libs: -lm */       more for the compiler, more for the linker
    /* gate: 300 FIRST=1 */                   arguments and environment in the fast gate; `no`: it
                                              neither builds nor runs the test
"""

import argparse
import glob
import os
import re
import sys
import zlib

HEAD_LINES = 40
KEYS = ("needs", "sanitize", "cpu", "flags", "libs", "gate")
SANITIZERS = ("address", "thread", "none")
GENERATED = "build/gen/"


class UnitError(Exception):
    """A test's head that cannot be used; the message names the file."""


def read_head(path):
    """Return the directives of one test as a dict of word lists."""
    with open(path, encoding="utf-8") as f:
        head = "".join(line for _, line in zip(range(HEAD_LINES), f))
    found = {key: [] for key in KEYS}
    for comment in re.findall(r"/\*(.*?)\*/", head, re.S):
        key = None
        for line in comment.splitlines():
            line = line.strip().lstrip("*").strip()
            m = re.match(r"(%s):\s*(.*)" % "|".join(KEYS), line)
            if m:
                key, line = m.group(1), m.group(2)
            elif re.match(r"\w+:", line) or not line:
                key = None
            if key:
                found[key] += line.split()
    return found


def expand(words, gen):
    """Sources that the words of `needs:` stand for, each once."""
    out = []
    for word in words:
        if word.startswith("-"):
            out = [s for s in out if s != word[1:]]
        elif "*" in word:
            real = word.replace(GENERATED, gen + "/", 1) if word.startswith(GENERATED) else word
            found = [s for s in sorted(glob.glob(real)) if not s.endswith("_test.c")]
            out += [s.replace(gen + "/", GENERATED, 1) if real != word else s for s in found] or [word]
        else:
            out.append(word)
    return list(dict.fromkeys(out))


def check_head(path, head):
    """Refuse what would only fail later, in make's words."""
    for source in head["needs"]:
        if "*" in source or not (os.path.exists(source) or source.startswith(GENERATED)):
            raise UnitError(f"{path}: needs {source}, which does not exist")
    for word in head["sanitize"]:
        if word not in SANITIZERS:
            raise UnitError(f"{path}: sanitize: {word} is not one of {', '.join(SANITIZERS)}")
    if head["gate"] != ["no"] and not all(re.fullmatch(r"([A-Z]+=)?\d+", word) for word in head["gate"]):
        raise UnitError(f"{path}: gate: is followed by numbers, NAME=NUMBER, or no")


def flavour(head, san):
    """(folder for objects, compiler flags): tests that are built alike share their objects."""
    cpu = (head["cpu"] or ["hosted"])[0]
    context = cpu if os.path.isdir(f"abi/cpu/{cpu}") else "hosted"
    extra = " ".join(head["flags"])
    folder = f"{san}-{cpu}" + (f"-{zlib.crc32(extra.encode()):08x}" if extra else "")
    return (
        folder,
        f"$(UNIT_FLAGS) $(UNIT_SAN_{san}) -Ihal/cpu/{cpu}/include -Iabi/cpu/{context} -Iuser/cpu/{context} {extra}",
    )


def rule(path, head, objects):
    """Make rules of one test, once per sanitizer it asks for; the first is enough for the fast
    gate. `objects`: object -> rule, for all tests.
    """
    name = os.path.basename(path)[: -len(".c")]
    out = []
    for number, san in enumerate(head["sanitize"] or ["address"]):
        exe = f"$(OUT)/{name}" + (f".{san}" if number else "")
        folder, flags = flavour(head, san)
        mine = []
        for source in dict.fromkeys([path] + head["needs"]):
            obj = f"$(OUT)/obj/{folder}/{source}.o"
            mine.append(obj)
            real = source.replace(GENERATED, "$(GEN)/", 1) if source.startswith(GENERATED) else source
            objects[obj] = (f"{obj}: {real} $(UNIT_FLAGS_FILE) | $(PREPARE)\n\t$(call "
                            f"say,UNIT,{source} {folder})\n\t$(Q)mkdir -p $(@D)\n"
                            f"\t$(Q)$(UCC_UNIT) {flags} -c -o $@ $<\n-include {obj[:-2]}.d\n")
        out.append(f"{exe}: {' '.join(mine)}\n\t$(call say,LINK,$@)\n"
                   f"\t$(Q)$(UCC_UNIT) $(UNIT_SAN_{san}) -o $@ $^ -pthread {' '.join(head['libs'])}\n")
        out.append(f"unit: {exe}\n")
        if not number and head["gate"] != ["no"]:
            out.append(" ".join([f"unit-first: {exe} #", *head["gate"]]) + "\n")
    return "".join(out)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--gen", default="build/gen", help="folder of generated sources")
    parser.add_argument("tests", nargs="*")
    args = parser.parse_args(argv)
    text = ["# generated by tools/unitmk.py\n"]
    names, objects = {}, {}
    try:
        for path in args.tests:
            name = os.path.basename(path)
            if name in names:
                raise UnitError(f"{path}: {names[name]} has the same name")
            names[name] = path
            head = read_head(path)
            head["needs"] = expand(head["needs"], args.gen)
            check_head(path, head)
            text.append(rule(path, head, objects))
    except UnitError as e:
        print(f"unitmk: {e}", file=sys.stderr)
        return 1
    with open(args.out, "w", encoding="utf-8") as f:
        f.write("\n".join(text + list(objects.values())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
