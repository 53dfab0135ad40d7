# SPDX-License-Identifier: MIT
"""The rooms of the front command: which of them imports which. A room imports itself and those
below it, so that there are no circles.
"""
import ast
import os

# room -> the rooms whose modules it may import; "": what lies in tools/ itself
BELOW = {
    "": (),
    "make": ("",),
    "run": ("make", ""),
    "bench": ("run", "make", ""),
    "test": ("run", "make", ""),
    "cli": ("test", "bench", "run", "make", ""),
}
# (module, module that it imports when it is needed): the one is only a name for the other
UPWARD = {
    ("install", "main"),		# the manual pages are what the commands say of themselves
    ("run", "collbench"),		# `run --mpi-coll list`
}


def imports(text):
    """The modules that a source imports, with the line of each."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.split(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module.split(".")[0]


def check(root):
    """What is imported from above, as "path:line: text"."""
    problems, tools = [], os.path.join(root, "tools")
    home = {name[:-3]: room for room in BELOW for name in os.listdir(os.path.join(tools, room))
            if name.endswith(".py") and not name.endswith("_test.py")}
    for module, room in sorted(home.items()):
        path = os.path.join("tools", room, module + ".py")
        with open(os.path.join(root, path), encoding="utf-8") as f:
            text = f.read()
        problems += [f"{path}:{line}: {room or 'tools'} imports {name} of {home[name] or 'tools'}"
                     for line, name in imports(text)
                     if name in home and home[name] not in (room, *BELOW[room]) and (module, name) not in UPWARD]
    return problems
