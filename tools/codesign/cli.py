# SPDX-License-Identifier: MIT
"""What ./atoll codesign runs inside the private Python environment: gathers, writes the report,
says where it is.
"""

import os
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import rooms  # noqa: E402,F401
from ui import say  # noqa: E402

from codesign import (
    compare, cycles, gather, instructions, measure, paper, report, rtl, space, store, synth
)  # noqa: E402

PROBLEMS = (rtl.Missing, synth.Broken, store.Damaged, instructions.Unknown, cycles.BadRow, measure.Failed)


def show(configs):
    """Print what is known of some configurations: synthesised or predicted."""
    data = gather.Data(gather.stored_results(), "stored").complete()
    for name in configs:
        p = next(q for q in data.points if q.name == space.canonical(name))
        r = p.resources
        print(f"{space.nickname(name):<40} {r['lut']:.0f} LUT {r['ff']:.0f} FF {r['bram36']:g} "
              f"BRAM {r['dsp']:.0f} DSP {p.mw:.1f} mW "
              f"({'synthesised' if p.measured else 'predicted'})")


def ended(number, _):
    """SIGTERM ends a sweep as Ctrl-C does: what it started ends with it."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main(argv):
    """argv: mode (quick, normal, full), folder, configurations to show.
    Exit status 1 for what is missing, 2 outside the space, 130 stopped.
    """
    mode, folder, configs = argv[0], argv[1], argv[2:]
    try:
        if configs:
            show(configs)
            return 0
        data = gather.gather(mode, say)
        path = report.write(data, folder)
    except space.OutsideSpace as e:
        say(str(e))
        return 2
    except PROBLEMS as e:
        say(str(e))
        return 1
    except KeyboardInterrupt:
        say(rtl.STOPPED)
        return 130
    print(f"K-Core cluster: {data.saving.text()} less power in-sample, {data.unseen_saving.text()} "
          f"by a model that has not seen the two cores; "
          f"the paper: {paper.SAVING_PERCENT} %")
    failed = 0
    for what, holds, words in compare.gates(data.results):
        print(f"{'holds' if holds else 'FAILS'}  {what}: {words}")
        failed += not holds
    print(path)
    return 1 if failed else 0


def process(argv):
    """The whole process: main() that SIGTERM ends in order."""
    signal.signal(signal.SIGTERM, ended)
    sys.exit(main(argv))


if __name__ == "__main__":
    process(sys.argv[1:])
