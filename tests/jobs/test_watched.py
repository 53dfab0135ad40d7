# SPDX-License-Identifier: MIT
"""What is seen of a machine from outside: ./atoll cores and top, and --trace. As test_shell.py.
"""

import collections
import functools
import json
import os
import subprocess
import sys
import tempfile

from test_jobs import PATIENCE_S, ROOT, Wrong, main

sys.path.append(os.path.join(ROOT, "tests", "kernel"))
import boot  # noqa: E402
import bootrec  # noqa: E402  (boot.py knows where tools are)
import kernelmem  # noqa: E402
import patience  # noqa: E402
import timeline  # noqa: E402

ATOLL = os.path.join(ROOT, "atoll")
MACHINE = ("--machine", "riscv-1x4")
# that `hello` makes: on the hosted port its lines are written by Linux
CALL = {"hosted": "thread_sleep", "riscv64": "console_write"}
# more programs than cores: the kernel makes ACs TCs, and threads go to cores that become free
MIXED = """echo provision off > /dev/cores
spin() { i=0; while [ $i -lt 4000 ]; do i=$((i+1)); done; }
for n in 1 2 3 4 5; do spin & done
wait
echo core 2 role kc > /dev/cores
cat /dev/cores
"""


# one that computes, the shell, and three that keep calling on three ACs: those that call are gathered
GATHERED = """spin() { while :; do :; done; }
look() { come=0 gone=0; while read -r a b role c d e f g h i j k l m gathered released n; do
	[ $role = role ] || { come=$((come + gathered)); gone=$((gone + released)); }; done < /dev/cores; }
all=
for n in 1 2 3; do calls & all="$all $!"; done
for n in 1; do spin & all="$all $!"; done
while look; [ $come -lt 2 ]; do sleep 0.1; done
echo provision off > /dev/cores
while look; [ $gone -lt $come ]; do sleep 0.1; done
kill $all; wait
cat /dev/cores
"""
FOREVER = "int main(void) { for (volatile unsigned long n = 0;; n++) continue; }"
CALLS = "#include <unistd.h>\nint main(void) { for (;;) usleep(1000); }"


def source(folder, name, text=FOREVER):
    """Path of a program, one that does not end."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return path


def traced(arguments, status):
    """(what ./atoll ARGUMENTS --trace FILE said, the file)."""
    with tempfile.NamedTemporaryFile(prefix="atoll-trace-", suffix=".json") as f:
        r = patience.run([ATOLL, arguments[0], *MACHINE, "--trace", f.name, *arguments[1:]], capture_output=True,
                         timeout=2 * PATIENCE_S, check=False, text=True)
        if r.returncode != status:
            raise Wrong(f"status {r.returncode}, not {status}:\n{r.stdout}{r.stderr}")
        return r.stdout, json.load(f)


def check_form(trace):
    """Slices of a track nest; each arrow that ends has begun before."""
    tracks, begun = {}, {}
    for e in trace["traceEvents"]:
        if e["ph"] == "X":
            tracks.setdefault((e["pid"], e["tid"]), []).append((e["ts"], -e["dur"]))
        if e["ph"] == "s":
            begun[e["id"]] = e["ts"]
    for e in trace["traceEvents"]:
        if e["ph"] == "f" and begun.get(e["id"], e["ts"] + 1) > e["ts"]:
            raise Wrong(f"an arrow without a begin: {e}")
    for track, found in tracks.items():
        ends = []
        for begin, dur in sorted(found):
            while ends and ends[-1] <= begin + 1e-9:
                ends.pop()
            if ends and begin - dur > ends[-1] + 1e-6:
                raise Wrong(f"slices of {track} cross at {begin}")
            ends.append(begin - dur)


def names(trace, ph):
    """How often there is what."""
    return collections.Counter(e["name"] for e in trace["traceEvents"] if e["ph"] == ph)


def calls_and_messages(port):
    """A trace shows the threads of a job, their calls, and who served them."""
    _, trace = traced(["run", "--port", port, "-n", "3", "hello"], 0)
    check_form(trace)
    slices, arrows = names(trace, "X"), names(trace, "s")
    call = CALL[port]
    if not slices[call] or not any(n.startswith(f"serve {call} of core") for n in slices):
        raise Wrong(f"no {call} was served: {slices}")
    if len([n for n in slices if n.startswith("thread ")]) < 4 or slices["tc"] != 1 or slices["ac"] != 3:
        raise Wrong(f"not the threads and roles of the machine: {slices}")
    if not arrows["call"] == arrows["answer"] == names(trace, "f")["call"] or not arrows["message"]:
        raise Wrong(f"messages without an end: {arrows}")
    if trace["otherData"]["events lost"] != 0:
        raise Wrong(f"{trace['otherData']}")


def an_end_by_force(port):
    """Where the machine is killed the trace is of what was before."""
    with tempfile.TemporaryDirectory(prefix="atoll-watched-") as folder:
        _, trace = traced(["run", "--port", port, "--timeout", "3", "-n", "2", source(folder, "forever.c")], 124)
    check_form(trace)
    if not names(trace, "X"):
        raise Wrong("nothing was traced")


def traced_cores(script):
    """(lines of /dev/cores that a shell script prints, as {column: word}; its trace)."""
    with tempfile.TemporaryDirectory(prefix="atoll-watched-") as folder:
        text, trace = traced(["shell", "--program", source(folder, "calls.c", CALLS),
                              source(folder, "script.sh", script)], 0)
    head, *lines = (line.split() for line in text.splitlines())
    return [dict(zip(head, line)) for line in lines], trace


def decisions(_):
    """The kernel counts what it decides, and the trace shows as much, at its core."""
    rows, trace = traced_cores(MIXED)
    check_form(trace)
    shown = names(trace, "i")
    for column, name in (("spread", "thread sent to a core of its own"),
                         ("crowded", "has threads of two processes: a tc now")):
        counted = sum(int(r[column]) for r in rows)
        if counted > shown[name] or (column == "crowded" and counted == 0):
            raise Wrong(f"{column}: {counted} counted, {shown[name]} traced")
    if rows[2]["role"] != "kc" or rows[2]["acts"] != "kc" or names(trace, "X")["kc"] != 1:
        raise Wrong(f"core 2 is no kc: {rows[2]}")
    for r in rows:
        if sum(int(r[k]) for k in ("idle-ms", "tc-ms", "kc-ms", "ac-ms", "xc-ms")) == 0:
            raise Wrong(f"a core without time: {r}")


def hosted_decisions(_):
    """The same of the kernel's own test of roles, in which programs crowd cores and go to others."""
    buffer = timeline.Buffer(1 << 21)
    os.environ["ATOLL_TRACE"] = f"/proc/{os.getpid()}/fd/{buffer.fd}"
    try:
        m = boot.machine_of("hosted", ("1", "4", "TC"))
        status, text, _ = boot.boot("hosted", "roles", m, PATIENCE_S, host="atoll-host-trace")
    finally:
        del os.environ["ATOLL_TRACE"]
    if status != 0:
        raise Wrong(f"status {status}: {text}")
    events, lost = buffer.read()
    for kind in (timeline.SPREAD, timeline.CROWDED):
        counts = [(core, count) for _, core, count, _, of in events if of == kind]
        if not counts or sorted(counts) != sorted(set(counts)) or not all(count for _, count in counts):
            raise Wrong(f"event {kind}: not how often each core was counted: {counts}")
    trace = {"traceEvents": timeline.timeline([{"first_core": 0, "cores": 4}], [bootrec.C.ROLE_TC] * 4,
                                              kernelmem.Kernel("hosted").calls(), events)}
    check_form(trace)
    # who waits there calls all the time: on a busy machine the last ones may find no room
    if not all(names(trace, "X")[role] for role in ("idle", "tc", "ac", "kc")):
        raise Wrong(f"roles are missing, {lost} events lost: {names(trace, 'X')}")


def gathered(_):
    """Those that keep calling make room for those that compute; the trace shows each move at its core."""
    rows, trace = traced_cores(GATHERED)
    check_form(trace)
    if len(rows) != 4 or int(rows[0]["gathered"]) != 0 or trace["otherData"]["events lost"]:
        raise Wrong(f"not the cores of the machine, or not all events: {rows}, {trace['otherData']}")
    shown = collections.Counter((e["tid"], e["name"]) for e in trace["traceEvents"] if e["ph"] == "i")
    for r in rows:
        track = int(r["core"]) * timeline.TRACKS + timeline.TRACK_WORK + 1
        for column, name in (("gathered", timeline.KEPT), ("released", timeline.LET_GO)):
            if int(r[column]) != shown[track, name]:
                raise Wrong(f"core {r['core']}: {r[column]} {column}, {shown[track, name]} traced")
    if names(trace, "X")["core_role"] < 1:
        raise Wrong("no core became a tc for those that are gathered")


def child_of(pid):
    """The processes that a run has started itself."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return f.read().split()


def live(port):
    """./atoll cores and top read the memory of a machine that runs, and say when there is none."""
    with tempfile.TemporaryDirectory(prefix="atoll-watched-") as folder:
        run = subprocess.Popen([ATOLL, "run", "--port", port, *MACHINE, "-n", "3", source(folder, "forever.c")],
                               stdin=subprocess.DEVNULL)
        try:
            machine, rows = watched(run)
            processes = looked(machine, "top", "--seconds", "0.2")
            busy = [r["busy"] for r in looked(machine)]
            memory = looked(machine, "memory")
        finally:
            run.terminate()
            run.wait()
    if [r["role"] for r in rows] != ["tc", "ac", "ac", "ac"] or int(rows[0]["messages"]) == 0:
        raise Wrong(f"{rows}")
    if busy[1:] != ["100"] * 3:
        raise Wrong(f"cores that compute are not busy: {busy}")
    if memory[0]["pages"] != str(int(memory[0]["used"]) + int(memory[0]["free"])) or \
            not 0 < int(memory[0]["kernel"]) < int(memory[0]["used"]):
        raise Wrong(f"memory that is not all used or free: {memory}")
    if looked(machine) or looked(machine, "top") or looked(machine, "memory"):
        raise Wrong("a machine that has ended is shown")
    if not processes or not processes[0]["badge"].startswith("job") or processes[0]["threads"] != "3" or \
            processes[0]["role"] != "ac" or float(processes[0]["cpu"]) < 299:
        raise Wrong(f"not a job that computes on three cores: {processes}")


def watched(run):
    """(process, rows) of a run's machine, once all three ranks compute."""
    while run.poll() is None:
        for pid in child_of(run.pid):
            rows = looked(pid)
            if len([r for r in rows if r["thread"] != "-"]) >= 3:
                return pid, rows
    raise Wrong(f"the run has ended: {run.returncode}")


def looked(pid, *command):
    """The rows of ./atoll cores, or another command; none if there is no such machine."""
    r = subprocess.run([ATOLL, *(command or ["cores"]), "--pid", pid], capture_output=True, text=True,
                       timeout=PATIENCE_S, check=False)
    head, *lines = (line.split() for line in r.stdout.splitlines() or [""])
    return [dict(zip(head, line)) for line in lines] if r.returncode == 0 else []


def scenarios(port):
    """Name and function of each. A hosted machine has no shell, whose programs crowd its cores."""
    own = (decisions, gathered) if port == "riscv64" else (hosted_decisions,)
    for test in (calls_and_messages, an_end_by_force, live, *own):
        yield test.__name__, functools.partial(test, port)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], scenarios))
