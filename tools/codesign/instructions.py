# SPDX-License-Identifier: MIT
"""Static analysis of the kernel's instructions by class (seed 001, Figure 2), for every port, out
of what the disassembler prints.

The portable kernel (kernel/, base/ and the generated call stubs) is counted, so that ports are
comparable; what the hardware layer adds is counted apart. Mnemonics that no rule knows end in an
error: a class is never guessed.

    python3 tools/codesign/instructions.py [PORT...]      counts what is built now
    python3 tools/codesign/instructions.py --kept         counts what is kept (images.py) and writes
                                                          hw/results/instructions.csv
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from codesign import images, kept, rtl  # noqa: E402

BUILD = os.path.join(rtl.ROOT, "build")
STORED = os.path.join(rtl.ROOT, "hw", "results", "instructions.csv")
FIELDS = ("port", "part", "class", "count")

# port -> (name of the ISA, disassembler)
PORTS = {"hosted": ("x86-64", "objdump"), "riscv64": ("riscv64", "riscv64-unknown-elf-objdump"),
         "or1k": ("or1k", "or1k-elf-objdump")}
# what the report shows: or1k-u is the or1k kernel compiled for a core that multiplies and divides
SHOWN = {"hosted": "x86-64", "riscv64": "riscv64", "or1k-u": "or1k, for a U-Core", "or1k": "or1k, for a K-Core"}
PARTS = {"kernel": ("kernel", "base", "gen"), "hardware": ("hal",)}
# column -> kernel of the study (rtlbench.KERNELS), None: the port's
FROZEN = {"hosted": None, "riscv64": None, "or1k-u": "u", "or1k": "opt"}
LINKERS = {"hosted": "ld", "riscv64": "riscv64-unknown-elf-ld", "or1k": "or1k-elf-ld"}
UNREAD = [word for name in (".rel*", ".rodata*", ".data*", ".sdata*", ".srodata*", ".bss*", ".sbss*",
                            ".comment*", ".eh_frame*", ".riscv*") for word in ("-R", name)]
STRIPPERS = {"hosted": "objcopy", "riscv64": "riscv64-unknown-elf-objcopy", "or1k": "or1k-elf-objcopy"}

CLASSES = ("load", "store", "arithmetic", "shift", "move", "compare", "branch", "jump", "multiply",
           "divide", "float", "atomic", "system", "nop")
TITLES = {"load": "loads", "store": "stores", "arithmetic": "add, subtract, logic", "shift": "shifts",
          "move": "moves and constants", "compare": "compares",
          "branch": "conditional branches", "jump": "jumps, calls, returns",
          "multiply": "multiplications", "divide": "divisions",
          "float": "floating point", "atomic": "atomics and fences", "system": "system", "nop": "no operation, padding"}


class Unknown(Exception):
    """A mnemonic without a class."""


OR1K = (
    ("multiply", r"l\.(mul\w*|mac\w*|msb\w*)"), ("divide", r"l\.divu?"), ("float", r"lf\..*"),
    ("atomic", r"l\.(lwa|swa|msync)"),
    ("load", r"l\.l(wz|ws|bz|bs|hz|hs|d)"), ("store", r"l\.s(w|b|h|d)"), ("compare", r"l\.sf\w+"),
    ("branch", r"l\.bn?f"), ("jump", r"l\.(j|jal|jr|jalr)"),
    ("shift", r"l\.(sll|srl|sra|ror)i?"), ("move", r"l\.(movhi|cmov|ext\w+)"), ("nop", r"l\.nop"),
    ("system", r"l\.(sys|trap|rfe|mtspr|mfspr|psync|csync)"),
    ("arithmetic", r"l\.(add|addi|addc|addic|sub|and|andi|or|ori|xor|xori|ff1|fl1|adrp)"))

RISCV64 = (
    ("atomic", r"(amo\w+|lr|sc)\.[wd](\.\w+)?|fence(\.\w+)?"),
    ("multiply", r"mul\w*"),
    ("divide", r"(div|rem)u?w?"),
    ("load", r"l(b|h|w|d)u?|fl[wd]"),
    ("store", r"s[bhwd]|fs[wd]"),
    ("float", r"f(?!ence|r?csr|s?csr).+\.[sd].*"),
    ("branch", r"b(eq|ne|lt|ge|gt|le)(u|z)?"),
    ("jump", r"j|jal|jalr|jr|ret|call|tail"),
    ("shift", r"(sll|srl|sra)i?w?"),
    ("compare", r"slti?u?|s(eq|ne|lt|gt)z"),
    ("move", r"mv|li|lui|auipc|sext\.[bwh]|zext\.[bhw]"),
    ("nop", r"nop|unimp"),
    (
        "system",
        r"csr\w+|[sm]ret|ecall|ebreak|wfi|sfence\.vma|rdtime|rdcycle|rdinstret|fr?csr|f[rs]csr|fs?rm|frflags|fsflags",
    ),
    ("arithmetic", r"(add|and|or|xor)i?w?|addiw|subw?|not|negw?"),
)

X86_64 = (
    ("atomic", r"[lms]fence|cmpxchg\w*|xadd"),
    ("multiply", r"i?mul"),
    ("divide", r"i?div"),
    (
        "float",
        r"(add|sub|mul|div|sqrt|min|max|u?comi|cvt\w*)(ss|sd|ps|pd)|cvt\w+|f(ld|i?st|ild|add|i?sub|"
        r"i?mul|i?div|xch|chs|abs|u?com|sqrt|n|wait)\w*",
    ),
    ("branch", r"j(?!mp)\w+|loop\w*"),
    ("jump", r"jmp|call|ret|leave|notrack"),
    ("shift", r"sh[lr]d?|sa[lr]|ro[lr]|shlx|shrx|sarx"),
    ("compare", r"cmp|test|bt|set\w+|pcmp\w+"),
    ("nop", r"nop\w*|data16|cs|endbr64|int3|hlt|ud2"),
    (
        "arithmetic",
        r"add|sub|adc|sbb|inc|dec|neg|and|or|xor|not|bts|btr|btc|bsf|bsr|tzcnt|lzcnt|popcnt|bswap|"
        r"paddd|paddq|pand|por|pxor|psrldq|xorps|andn",
    ),
    (
        "system",
        r"syscall|cpuid|rdtsc\w*|pause|in|out|lgdt|lidt|iretq?|sysretq?|swapgs|cli|sti|cld|std|(rd|"
        r"wr)(fs|gs)base|(rd|wr)msr|f?xsave\w*|f?xrstor\w*|ldmxcsr|stmxcsr",
    ),
)
X86_MOVES = re.compile(
    r"mov\w*|cmov\w+|push|pop|xchg|lea|c(wd|dq|qo|dqe|wde|bw)e?|punpck\w+|pshuf\w+|shufps|"
    r"stos\w*|movs\w*|rep\w*|unpck\w+|pinsr\w|pextr\w"
)


def rules(table):
    """Compiled rules."""
    return [(kind, re.compile(pattern + r"\Z")) for kind, pattern in table]


RULES = {"or1k": rules(OR1K), "riscv64": rules(RISCV64), "x86-64": rules(X86_64)}


def x86_move(word, operands):
    """Class of an instruction that only moves: by where memory stands in Intel's order."""
    if word in ("push", "call") or word.startswith(("stos", "rep")):
        return "store"
    if word == "pop":
        return "load"
    if word == "lea" or "PTR" not in operands and "[" not in operands:
        return "move"
    if word == "xchg":
        return "atomic"
    target = operands.split(",", 1)[0]
    return "store" if "[" in target else "load"


def classify(isa, word, operands=""):
    """The class of one instruction; Unknown if no rule names it."""
    if isa == "x86-64" and X86_MOVES.fullmatch(word):
        return x86_move(word, operands)
    if isa == "or1k" and word in ("l.or", "l.ori", "l.addi") and is_or1k_move(word, operands):
        return "move"
    for kind, pattern in RULES[isa]:
        if pattern.match(word):
            return kind
    raise Unknown(f"no class for {isa} instruction '{word} {operands}': add it to tools/codesign/instructions.py")


def is_or1k_move(word, operands):
    """A register copy or a constant, which this ISA writes as an operation with r0 or with one
    source twice.
    """
    parts = [p.strip() for p in operands.split(",")]
    if len(parts) != 3:
        return False
    return (word == "l.or" and (parts[1] == parts[2] or "r0" in parts[1:])) or (word != "l.or"
                                                                                and (parts[1] == "r0"
                                                                                     or parts[2] in ("0", "0x0")))


LINE = re.compile(r"\s*[0-9a-f]+:\t(lock )?([a-z][\w.]*)\s*(.*)")
NAME = re.compile(r"[0-9a-f]+ <([^>]+)>:")


def scan(isa, text):
    """[(function, class)] of a disassembly."""
    out, function = [], ""
    for line in text.splitlines():
        name = NAME.match(line)
        if name:
            function = function if name.group(1).startswith(".L") else name.group(1)
            continue
        m = LINE.match(line)
        if m:
            out.append((function, "atomic" if m.group(1) else classify(isa, m.group(2), m.group(3))))
    return out


def objects(port, part, build=BUILD):
    """The object files of a part of a port."""
    return sorted(f for d in PARTS[part]
                  for f in glob.glob(os.path.join(build, port, "k", d, "**", "*.o"), recursive=True))


def disassemble(port, files):
    """The disassembler's text; Missing if it is not installed."""
    tool = PORTS[port][1]
    if not shutil.which(tool):
        raise rtl.Missing(f"the disassembler {tool} is not installed: run ./atoll setup hw")
    flags = ["-M", "intel"] if PORTS[port][0] == "x86-64" else []
    return subprocess.run([tool, "-d", "--no-show-raw-insn", *flags, *files], capture_output=True,
                          text=True, check=True).stdout


def analyse(port, build=BUILD):
    """[(part, function, class)] of a port; Missing if it was not built."""
    out = []
    for part in PARTS:
        files = objects(port, part, build)
        if part == "kernel" and not files:
            raise rtl.Missing(f"the kernel was not built for {port}: run ./atoll build {port}")
        if files:
            out += [(part, f, c) for f, c in scan(PORTS[port][0], disassemble(port, files))]
    return out


def counts(found):
    """{part: {class: number}}."""
    out = {}
    for part, _, kind in found:
        out.setdefault(part, dict.fromkeys(CLASSES, 0))[kind] += 1
    return out


def where(found, kinds):
    """{function: number} of the instructions of some classes in the portable kernel."""
    out = {}
    for part, function, kind in found:
        if part == "kernel" and kind in kinds:
            out[function] = out.get(function, 0) + 1
    return out


def port_of(column):
    """The port whose disassembler reads a column of the table."""
    return column.removesuffix("-u")


def joined(port, files):
    """The code of object files in one, with the names of its functions and nothing else: bytes."""
    with tempfile.TemporaryDirectory(prefix="atoll-text-") as folder:
        whole, text = os.path.join(folder, "whole.o"), os.path.join(folder, "text.o")
        subprocess.run([LINKERS[port], "-r", "--unique", "-o", whole, *files], check=True, stdin=subprocess.DEVNULL)
        subprocess.run([STRIPPERS[port], "-w", *UNREAD, "--strip-debug", "--discard-locals", whole, text],
                       check=True, stdin=subprocess.DEVNULL)
        with open(text, "rb") as f:
            return f.read()


def analyse_kept():
    """{column: [(part, function, class)]} of what is kept: the kernels that the tables show."""
    out, folder = {}, images.folder()
    for column in SHOWN:
        port = port_of(column)
        out[column] = [(part, *found) for part in PARTS
                       for found in scan(PORTS[port][0],
                                         disassemble(port, [os.path.join(folder, "text", f"{column}-{part}.o")]))]
    return out


def read(path=STORED):
    """{port: {part: {class: number}}} as the tree keeps it."""
    out = {}
    for row in kept.read_rows(path):
        out.setdefault(row["port"], {}).setdefault(row["part"],
                                                   dict.fromkeys(CLASSES, 0))[row["class"]] = int(row["count"])
    return out


def write(tables, path=STORED):
    """Keep {port: {part: {class: number}}}."""
    kept.write_rows(path, FIELDS,
                    [dict(zip(FIELDS, (port, part, kind, n))) for port,
                     parts in tables.items() for part, row in parts.items()
                                   for kind, n in row.items()])


def main(argv):
    """Print percentages per class, and which functions multiply and divide."""
    try:
        if argv == ["--kept"]:
            write({column: counts(found) for column, found in analyse_kept().items()})
            return 0
        for port in argv or PORTS:
            if port not in PORTS:
                print(f"unknown port '{port}': use one of {', '.join(PORTS)}", file=sys.stderr)
                return 2
            found = analyse(port)
            for part, row in counts(found).items():
                total = sum(row.values())
                print(f"{port} {part}: {total} instructions: " +
                      ", ".join(f"{k} {100 * n / total:.1f} %" for k, n in row.items()))
            print(f"{port}: multiply or divide: {where(found, ('multiply', 'divide'))}")
    except (rtl.Missing, Unknown, kept.Damaged) as e:
        print(e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
