# SPDX-License-Identifier: MIT
"""Signals that end us are neither lost nor handled too early."""

import os
import sys

import patience
import rooms

# An import is interrupted at each call and return in turn.
IMPORTS = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import rooms
import lock, main		# what it imports is there then

def is_interrupted_at(number):
    def look(frame, event, what):
        nonlocal number
        number -= 1
        if number == 0:
            sys.setprofile(None)
            os.kill(os.getpid(), signal.SIGTERM)
    sys.modules.pop('lock', None)
    sys.setprofile(look)
    try:
        import lock
        sys.setprofile(None)
    except KeyboardInterrupt:
        return True
    return number > 0 and None

def count(argv):
    number, lost = 1, []
    while (interrupted := is_interrupted_at(number)) is not None:
        lost += [] if interrupted else [number]
        number += 1
    print(number > 50, lost)

main.dispatch = count
main.main()
"""


def test_an_interrupt_is_not_lost_while_a_module_is_loaded():
    p = patience.run([sys.executable, "-I", "-S", "-c", IMPORTS, rooms.TOOLS], 60, capture_output=True,
                     text=True)
    assert (p.returncode, p.stdout, p.stderr) == (0, "True []\n", "")
