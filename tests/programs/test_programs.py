# SPDX-License-Identifier: MIT
"""Programs of others, as they are, on our MPI for process ranks. usage: test_programs.py NAME

Fetches and builds the program (table.toml) unless it is there, and does its runs at every number of
ranks. Prints `ok RUN.RANKS` or `FAIL RUN.RANKS: why` for each. Not part of the tests that are run
always: the sources are large, and some take minutes to build.
"""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import program  # noqa: E402
import results  # noqa: E402
from ui import Failure  # noqa: E402

RUN_S = 300


def apart(a, b):
    """How far two numbers are apart relative to their size."""
    return abs(a - b) / max(abs(a), abs(b), 1e-300)


def differs(found, before, within):
    """Why what was found is not what was found before, or None."""
    if within is None:
        return None if found == before else f"{found} here, {before} before"
    if len(found) != len(before):
        return f"{len(found)} numbers here, {len(before)} before"
    far = [(a, b) for a, b in zip(found, before) if apart(float(a), float(b)) > within]
    return f"{far[0][0]} here, {far[0][1]} before" if far else None


def judge(run, ranks, did, seen):
    """Problems of one run; `seen` keeps what must be the same in the next."""
    if did.timed_out:
        return ["no end after {:.0f} s: ".format(did.seconds) + " | ".join(did.output.splitlines()[-60:])]
    bad = []
    if did.status != run.get("status", 0):
        bad.append(f"exit status {did.status}: " + " | ".join(did.output.splitlines()[-8:]))
    for p in (p.replace("{n}", str(ranks)) for p in run.get("says", ())):
        bad += [] if re.search(p, did.output,
                               re.M) else [f"does not say {p!r}: " + " | ".join(did.output.splitlines()[-4:])]
    for p in run.get("never", ()):
        m = re.search(p, did.output, re.M)
        bad += [f"says {m.group(0)!r}"] if m else []
    for p, count in run.get("count", {}).items():
        n = len(re.findall(p, did.output, re.M))
        bad += [f"{n} times {p!r}, not {count}"] if n != count else []
    for p in run.get("same", ()):
        found = re.findall(p, did.output, re.M)
        why = differs(found, seen.setdefault(p, found), run.get("within")) if found else f"nothing like {p!r}"
        bad += [why] if why else []
    return bad


def reference(run, top):
    """What `same` finds in the file that the program brings with it, if the run names one."""
    if "like" not in run:
        return {}
    with open(os.path.join(top, run["like"]), encoding="utf-8", errors="replace") as f:
        text = f.read()
    return {p: re.findall(p, text, re.M) for p in run["same"]}


def do(run, ranks, env, top):
    """One run of a program."""
    command = run["command"].replace("{n}", str(ranks)).replace("{here}", program.HERE)
    return results.call(["sh", "-c", command], run.get("seconds", RUN_S), env, os.path.join(top, run.get("in", "")))


def main(argv):
    """Exit status 0 if every run is as it should be."""
    table = program.load()
    if len(argv) != 1 or argv[0] not in table:
        print(__doc__ + "\nprograms: " + ", ".join(table))
        return 2
    chosen, well = table[argv[0]], True
    try:
        env = chosen.ensure()
    except Failure as e:
        print("FAIL build: " + " | ".join(str(e).splitlines()))
        return 1
    print("ok build", flush=True)
    for run in chosen.runs:
        seen = reference(run, chosen.source)
        for ranks in run["ranks"]:
            did = do(run, ranks, env, chosen.source)
            with open(os.path.join(chosen.folder, f"{run['name']}.{ranks}.log"), "w", encoding="utf-8") as f:
                f.write(did.output)
            bad = judge(run, ranks, did, seen)
            well &= not bad
            print("\n".join(f"FAIL {run['name']}.{ranks}: {b}" for b in bad) or f"ok {run['name']}.{ranks}", flush=True)
    return 0 if well else 1


if __name__ == "__main__":
    os.nice(10)
    sys.exit(main(sys.argv[1:]))
