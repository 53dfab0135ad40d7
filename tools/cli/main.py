# SPDX-License-Identifier: MIT
"""The front command's entry: finds the subcommand and turns errors into one line and an exit
status.

Runs under `python3 -I -S`: only the standard library may be imported on the way to `run`.
"""

import _signal		# built in, so it is there at once

IGNORED = _signal.getsignal(_signal.SIGINT) == _signal.SIG_IGN
if not IGNORED:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)		# Ctrl-C while modules are loaded ends us without a word

import os  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import rooms  # noqa: E402  (before those that lie in its folders)

import held  # noqa: E402
from ui import Failure, Usage, say  # noqa: E402

HELP = """usage: ./atoll COMMAND ...

  run [-n N] [--port P] [--machine M] PROGRAM [ARG...]   run a program: a .c file, a built program,
                                                         or a name (fn, gf ...)
  shell [-c COMMAND]          a shell on an emulated riscv64 machine
  cores                       what the cores of a running riscv64 machine do, live
  top                         what its processes take, live
  memory                      what its memory domains have, live
  selfhost                    build Lua on that machine, with make and a compiler that run there
  demo                        run the main programs on both ports and check their results
  test [NAME...]              run every test; ends with "N passed, N failed"
  check                       the fast gate, under a minute
  bench [NAME...]             run benchmarks; --port P, --icount, --json FILE; mpi --peers: other MPIs beside ours
  mpicc ARG...                compile an MPI program; --port P and what compiler wrappers take (-show, -c, -l ...)
  cc ARG...                   the same without the MPI library
  install --prefix DIR        MPI for process ranks: mpicc, mpiexec, libmpi_abi.so.1, in a tree that stands alone
  build [PORT]                build a port (hosted, riscv64, coroutine, process, unit)
  codesign [--quick|--full]   the co-designed cluster: design space, power and energy as one page
  machines [NAME]             what machines there are
  measures                    how large and how plain the sources are
  doctor                      what is installed, what is missing
  clean                       remove what was built

The first use of a command installs what it needs and says so. `./atoll COMMAND --help` tells more.
"""

# command -> module with main(argv) -> exit status
COMMANDS = {
    "run": "run", "demo": "demo", "test": "testall", "check": "check", "bench": "bench",
    "mpicc": "wrapper", "cc": "wrapper",
    "build": "builder", "machines": "listing", "measures": "measures", "doctor": "doctor",
    "codesign": "design", "install": "install", "clean": "builder",
    "setup": "setup", "shell": "shell", "selfhost": "selfhost", "cores": "cores", "top": "top",
    "memory": "memory",
}


def available():
    """Commands whose module is there."""
    return [c for c, m in COMMANDS.items() if rooms.path_of(m)]


def dispatch(argv):
    """Run one subcommand; returns its exit status."""
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(HELP, end="")
        return 0 if argv else 2
    name = argv[0]
    if name == "+adopt":
        import prepared
        return prepared.adopt(argv[1:])
    if name not in available():
        raise Usage(f"unknown command '{name}': use one of {', '.join(available())}")
    module = __import__(COMMANDS[name])
    return module.main(argv[1:], name) if COMMANDS[name] in ("wrapper", "builder") else module.main(argv[1:])


def _stop(signum, frame):
    raise KeyboardInterrupt


def _keep_streams():
    """A standard stream that is closed reads and writes nothing: no file of ours takes its number.
    """
    for fd, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(fd)
        except OSError:
            os.set_inheritable(os.open(os.devnull, mode), True)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)


def main():
    """Exit status: the command's; 2 usage, 1 failure, 130 interrupted."""
    _keep_streams()
    held.load_modules_whole()
    if not IGNORED:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):		# as Ctrl-C: whatever was started is ended; nohup stays nohup
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _stop)
    try:
        status = dispatch(sys.argv[1:])
        sys.stdout.flush()
        return status
    except Usage as e:
        say(str(e))
        return 2
    except Failure as e:
        say(str(e))
        return 1
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for fd in (1, 2):		# one of them is the broken one, and what it has still to say is lost
            os.dup2(nowhere, fd)
        return 141
    except OSError as e:
        say(f"{e.filename or 'the host'}: {e.strerror or e}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
