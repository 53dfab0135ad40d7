# SPDX-License-Identifier: MIT
"""The signals that end us wait while something is done that must not be left in the middle.

Their handlers raise KeyboardInterrupt wherever Python is. Two places are wrong: a start of a
process whose id nobody has yet, and the import of a module. An import ends with a callback of a
weak reference, and what is raised in there Python reports and drops: we would go on.
"""

import _signal
import builtins

ENDS = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)
_import = builtins.__import__


def held(function, *args, **more):
    """Call a function; a signal that comes meanwhile is handled when it has returned."""
    before = _signal.pthread_sigmask(_signal.SIG_BLOCK, ())
    try:
        _signal.pthread_sigmask(_signal.SIG_BLOCK, ENDS)
        return function(*args, **more)
    finally:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, before)


def _load(*args, **more):
    return held(_import, *args, **more)


def load_modules_whole():
    """From now on no import is interrupted."""
    builtins.__import__ = _load
