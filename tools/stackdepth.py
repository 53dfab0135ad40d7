# SPDX-License-Identifier: MIT
"""How deep a kernel stack gets, from the kernel's image: frames, calls, the longest way.

A call through a pointer goes to what CALLS names for the function that makes it. The check fails
where the table is not complete: at a pointer call that it does not name, and at a function that
nobody calls. Recursion is an error unless DEEPEST bounds it. The end of the cluster counts, too:
what says why it ended stands on the same stack.
"""
import os
import re
import subprocess

import cheader

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# who calls by a pointer -> what is called so (regular expressions of whole names)
TABLES = ["table_take", "table_give"]
SERVE = ["kcall_serve_.*", "(?!am_).*_serve", "(portal_)?(start|wait|watch)_home", "portal_(read|write)_(start|step)"]
POSTS = ["shoot_down", "core_evict", "role_take", "clear_frames"]
SWEPT = ["shoot_down_done", "evicted", "revoke_done", "taken_away"]
ENTER = ["kcall_enter_.*"]
FINISH = ["kcall_finish_.*", ".*_go"]
CALLS = {
    "table_give": TABLES, "tables_take": TABLES, "drop_table": TABLES,
    "hal_space_init": TABLES, "hal_space_destroy": TABLES, "hal_map": TABLES, "map_any": TABLES, "hal_unmap": TABLES,
    "hal_split": TABLES, "hal_join": TABLES,
    "am_serve_call": SERVE, "am_serve": SERVE, "am_call_kernel": SERVE, "call_shared": SERVE, "call_directly": SERVE,
    "am_serve_posts": POSTS, "sweep_send": POSTS,
    "sweeps_poll": SWEPT, "home_work": SWEPT,
    "wait_rings": ["portal_leave"],
    "remote_call": ENTER, "kernel_trap": ENTER, "kernel_call": ENTER, "known_call": ENTER,
    "core_loop": FINISH, "finish_call": FINISH, "thread_enter": FINISH,
}
# their jumps through a register, which are no calls, stay inside, or are the start-up's, or the return of assembly
SWITCHES = {"home_work", "chore_step", "fmt_vprint", "portal_event", "portal_read_start", "event_take",
            "ikc_event", "translate", "fp_save", "hal_reset", "hal_start"}
# run on the home core only, which calls SERVE itself, too
HOME = {"am_serve_call", "home_work", "ikc_init", "init_start"}
HOME_CALLS = {"call_shared": SERVE, "call_directly": SERVE}
# recursion that ends by itself, with its depth: levels of page tables; an event to the own
# cluster, its answer, and none to that; the stack of a handler cannot be written, and in its handler
# a thread has none
DEEPEST = {"table_give": 3, "event_send": 3, "hal_handler_enter": 1}
# assembly that processor and loader go to, with the stack empty, and its labels that the kernel
# goes to after a fault
ENTRIES = {
    "hal_trap", "kernel_call", "hal_image", "hal_reset", "hal_start", "start", "head", "hal_main",
    "early_trap", "refill_code", "refill_data", "copy_fault", "load_fault", "touch_fault",
}


def stack_bytes(port):
    """Bytes of the kernel stacks of the home core and of another: what hal/cpu/PORT/layout.h says."""
    layout = cheader.Header(os.path.join(ROOT, "hal", "cpu", port, "layout.h"))
    return layout.HOME_STACK_BYTES, layout.STACK_BYTES


class Riscv:
    """What a line of the disassembly does, as riscv64-unknown-elf-objdump writes it."""
    objdump = "riscv64-unknown-elf-objdump"
    frame = re.compile(r"\t(?:c\.)?add(?:i|i16sp)?\tsp,sp,-(\d+)")
    strange_frame = re.compile(r"\tsub\tsp,")
    direct = re.compile(r"\t(?:jal|j|call|tail|b\w+)\t(?:.*,)?(?:ra,)?([0-9a-f]{16}) <([^>+]+)>")
    pointer = re.compile(r"\t(?:jalr|jr)\t(?!ra$)")
    # functions of the compiler's library that make and drop the frame of their caller
    framing = re.compile(r"<__riscv_(save|restore)_(\d+)>")

    @staticmethod
    def framing_bytes(how, registers):
        """What the caller's frame grows by: more than two pairs are saved below a full frame first."""
        return 0 if how == "restore" else 112 if registers > 3 else 16 * (registers // 2 + 1)


class Or1k:
    """The same of or1k-elf-objdump."""
    objdump = "or1k-elf-objdump"
    frame = re.compile(r"\tl\.addi r1,r1,-(\d+)")
    strange_frame = re.compile(r"\tl\.sub r1,")
    direct = re.compile(r"\tl\.(?:jal|j|bf|bnf) ([0-9a-f]+) <([^>+]+)>")
    pointer = re.compile(r"\tl\.(?:jalr|jr) (?!r9$)")
    framing = None


class Wrong(Exception):
    """What the image has that the check does not understand."""


class Function:
    def __init__(self, name):
        self.name = name
        self.frame = 0
        self.calls = set()
        self.by_pointer = False


def base_name(name):
    """Without what the compiler adds to copies of a function."""
    return re.sub(r"\.(isra|part|constprop|cold|lto_priv)\.?.*", "", name)


def parse(text, arch):
    """Functions by address."""
    functions, current = {}, None
    for line in text.splitlines():
        head = re.match(r"([0-9a-f]+) <(.+)>:$", line)
        if arch.framing and arch.framing.search(line) and head:
            current = None
        elif head:
            current = functions.setdefault(int(head.group(1), 16), Function(base_name(head.group(2))))
        elif current is not None:
            parse_line(line.rstrip(), arch, current)
    for at, f in functions.items():
        f.calls = {c for c in f.calls if c in functions and c != at or c == at and f.name in DEEPEST}
    return functions


def parse_line(line, arch, f):
    frame, call = arch.frame.search(line), arch.direct.search(line)
    framing = arch.framing and arch.framing.search(line)
    if framing:
        f.frame += arch.framing_bytes(framing.group(1), int(framing.group(2)))
        return
    if frame:
        f.frame += int(frame.group(1))
    if arch.strange_frame.search(line):
        raise Wrong(f"{f.name}: a frame of unknown size")
    if call:
        f.calls.add(int(call.group(1), 16))
    elif arch.pointer.search(line) and ("jalr" in line or f.name not in SWITCHES):
        f.by_pointer = True


def resolve(functions):
    """Add the calls through pointers. Returns the addresses of the entries."""
    called = set()
    for f in functions.values():
        called |= f.calls
        if not f.by_pointer:
            continue
        if f.name not in CALLS:
            raise Wrong(f"{f.name} calls through a pointer: name what, in CALLS")
        targets = {a for a, g in functions.items() if any(re.fullmatch(p, g.name) for p in CALLS[f.name])}
        f.calls |= targets
        called |= targets
    entries = {a for a, f in functions.items() if f.name in ENTRIES}
    lost = {f.name for a, f in functions.items() if a not in called | entries}
    if lost:
        raise Wrong("nobody calls " + " ".join(sorted(lost)))
    return entries


class Depth:
    """The deepest stack below each function, and the way there."""

    def __init__(self, functions):
        self.functions = functions
        self.known = {}

    def below(self, at, way=()):
        """(bytes, names) of a function that is called by those of `way`."""
        f = self.functions[at]
        if f.name in DEEPEST and way.count(at) >= DEEPEST[f.name]:
            return 0, ()
        if at in way and not any(self.functions[a].name in DEEPEST for a in way[way.index(at):]):
            raise Wrong("recursion: " + " ".join(self.functions[a].name for a in way[way.index(at):] + (at,)))
        # what is below depends on how often each recursion was entered on the way
        key = at, tuple(sorted(a for a in way if self.functions[a].name in DEEPEST))
        if key not in self.known:
            below = max((self.below(c, way + (at,)) for c in f.calls), default=(0, ()))
            self.known[key] = f.frame + below[0], (f.name,) + below[1]
        return self.known[key]


def elsewhere(functions):
    """Take away what happens only on the home core."""
    for f in functions.values():
        away = HOME_CALLS.get(f.name, [])
        f.calls = {c for c in f.calls if functions[c].name not in HOME and
                   not any(re.fullmatch(p, functions[c].name) for p in away)}


def measure(path, arch):
    """[(bytes, names of the functions)] of the deepest stack in an image on the home core, and on
    another.
    """
    text = subprocess.run([arch.objdump, "-d", "--no-show-raw-insn", path], capture_output=True,
                          text=True, check=True).stdout
    functions = parse(text, arch)
    entries = resolve(functions)
    home = Depth(functions)
    deepest = max(home.below(at) for at in entries)
    elsewhere(functions)
    other = Depth(functions)
    return [deepest, max(other.below(at) for at in entries)]
