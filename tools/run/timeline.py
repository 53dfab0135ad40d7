# SPDX-License-Identifier: MIT
"""--trace FILE: what each core of a machine does, as a timeline for ui.perfetto.dev. A tracer writes
events into memory that it shares with us; here they become slices and arrows. On riscv64 that is
the emulator's plugin tools/plugin/trace.c, on the hosted port tools/plugin/trace_hosted.c, which is
linked into an image of its own: a machine that is not traced does nothing for it.
"""

import gzip
import json
import mmap
import os
import struct

import bootrec
import kernelmem
from ui import BUILD, say

EVENTS_MAX = 1 << 20
HEAD = struct.Struct("<QQQ")		# room, next, nothing
EVENT = struct.Struct("<QIIHHI")	# time, a, b, hart, kind, is whole
(USER, KERNEL, WAIT, WAKE, CURRENT, ROLE, CALL, SEND, SERVE, REPLY, POST, TAKE, TAKEN, TICK, FAULT, SPREAD,
 CROWDED, PLACED) = range(18)
PLUGIN = os.path.join(BUILD, "plugin", "libtrace.so")
NEEDS = ("slot", "record", "entry", "acts", "current", "count", "ticks", "faults", "call_busy", "call_fn", "post_busy",
         "post_fn", "spread", "crowded", "thread_tid", "thread_proc", "proc_id", "proc_first", "proc_cores", "procs",
         "procs_max", "process")
# tracks of a core, in their order
TRACK_ROLE, TRACK_WORK, TRACKS = 0, 1, 2
# the process server has put a process on a core, by itself or because somebody has asked for it
KEPT, LET_GO = "process kept on this core", "process may leave this core"


class Buffer:
    """The memory into which the plugin writes."""

    def __init__(self, room=EVENTS_MAX):
        self.fd = os.memfd_create("trace", 0)
        os.truncate(self.fd, HEAD.size + room * EVENT.size)
        os.pwrite(self.fd, HEAD.pack(room, 0, 0), 0)

    def option(self, machine, layout, memory, icount, kernel):
        """QEMU's value of -plugin."""
        address = {"slots": kernel.slots, "table": kernel.table[0],
                   "table_calls": kernel.table[1] // kernel.offset["entry"],
                   "of_cluster": kernel.offset["cluster"]} | {n: kernel.offset[n] for n in NEEDS}
        clusters = [f"cluster={c['first_core']}:{c['cores']}:{c['mem_base']:x}"
                    for c in bootrec.clusters_of(machine, layout)]
        return ",".join([PLUGIN, f"out=/proc/self/fd/{self.fd}", f"memory={memory}",
                         *(f"{n}={v:#x}" for n, v in address.items()), f"icount={int(icount)}", *clusters])

    def read(self):
        """(events in the order of their times, how many found no room)."""
        with mmap.mmap(self.fd, 0, prot=mmap.PROT_READ) as m:
            room, total, _ = HEAD.unpack_from(m)
            events = [e[:5] for e in EVENT.iter_unpack(m[HEAD.size:HEAD.size + min(room, total) * EVENT.size]) if e[5]]
        return sorted(events, key=lambda e: e[0]), max(0, total - room)


class Core:
    """What a core does at the moment: slices that are open on its track, the outer ones first."""

    def __init__(self, cluster, number, first):
        self.cluster, self.number, self.first = cluster, number, first
        self.thread, self.is_user, self.call, self.trap, self.serves = None, False, None, "trap", []
        self.open = []			# [(name, begin, arguments)]
        self.role, self.role_since = None, None
        self.is_waiting = False
        self.inside = False		# has it been seen to enter the kernel since it began to run a thread?
        self.answer = None		# id of the arrow that ends where it goes on

    def slices(self):
        """Names of the slices that should be open now."""
        out = [self.thread] if self.thread else []
        if self.thread and not self.is_user and self.inside:
            out.append(self.call or self.trap)
        return out + (["wait"] if self.is_waiting and out else []) + self.serves


class Timeline:
    """The events of Chrome's trace format that Perfetto reads."""

    def __init__(self, clusters, calls):
        self.calls, self.out, self.flows, self.start = calls, [], 0, None
        self.cores, self.sent, self.posted, self.places = {}, {}, {}, {}
        self.queue = {c["first_core"]: 0 for c in clusters}
        for n, c in enumerate(clusters):
            self._meta("process_name", n + 1, 0, f"cluster {n}")
            for i in range(c["cores"]):
                self.cores[c["first_core"] + i] = Core(n, i, c["first_core"])
                for track, name in ((TRACK_ROLE, "role"), (TRACK_WORK, "work")):
                    self._meta("thread_name", n + 1, self._tid(i, track), f"core {c['first_core'] + i} {name}")
                    self.out.append({"ph": "M", "name": "thread_sort_index", "pid": n + 1, "tid": self._tid(i, track),
                                     "args": {"sort_index": self._tid(i, track)}})

    @staticmethod
    def _tid(core, track):
        return core * TRACKS + track + 1

    def _meta(self, what, pid, tid, name):
        self.out.append({"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}})

    def _put(self, ph, core, track, time, **more):
        self.out.append({"ph": ph, "pid": core.cluster + 1, "tid": self._tid(core.number, track),
                         "ts": (time - self.start) / 1000} | more)

    def _close(self, core, keep, time):
        while len(core.open) > keep:
            name, begin = core.open.pop()
            self._put("X", core, TRACK_WORK, begin, name=name, dur=(time - begin) / 1000)

    def _follow(self, core, time):
        """Close what is over, open what begins."""
        wanted = core.slices()
        same = 0
        while same < min(len(wanted), len(core.open)) and core.open[same][0] == wanted[same]:
            same += 1
        self._close(core, same, time)
        core.open += [[name, time] for name in wanted[same:]]

    @staticmethod
    def _rename(core, name):
        """What the core does in the kernel has turned out to be this."""
        for entry in core.open:
            if entry[0] == core.trap and core.call is None:
                entry[0] = name

    def _arrow(self, core, time, name):
        self.flows += 1
        self._put("s", core, TRACK_WORK, time, name=name, cat="message", id=self.flows)
        return self.flows

    def _end_arrow(self, core, time, name, number):
        if number is not None:
            self._put("f", core, TRACK_WORK, time, name=name, cat="message", id=number, bp="e")

    def _instant(self, core, time, name, **more):
        self._put("i", core, TRACK_WORK, time, name=name, s="t", **more)

    def _waiting(self, core, time, more):
        self.queue[core.first] += more
        self._put("C", self.cores[core.first], TRACK_WORK, time, name=f"messages waiting, cluster {core.cluster}",
                  args={"messages": self.queue[core.first]})

    # --- one event ---

    def _mode(self, core, time, kind):
        core.is_user, core.inside = kind == USER, True
        if kind == KERNEL:
            core.call, core.trap = None, "trap"
        self._follow(core, time)

    def _role(self, core, time, role):
        name = kernelmem.ROLES.get(role, str(role))
        if core.role == name:
            return
        if core.role is not None:
            self._put("X", core, TRACK_ROLE, core.role_since, name=core.role, dur=(time - core.role_since) / 1000)
        core.role, core.role_since = name, time

    def _serve(self, core, time, sender):
        if core.serves or self.sent.get(sender) is None:
            return
        of = self.cores[sender]
        core.serves = [f"serve {of.call or 'kernel'} of core {sender}"]
        self._waiting(core, time, -1)
        self._follow(core, time)
        self._end_arrow(core, time, "call", self.sent.pop(sender))

    def _message(self, core, time, kind, other):
        """A message from a core to its cluster's first one, or from that."""
        if kind == SEND:
            if self.sent.get(other) is not None:
                self._waiting(core, time, -1)		# its sender was dead before it was served
            self.sent[other] = self._arrow(core, time, "call")
            self._waiting(core, time, 1)
        elif kind == SERVE:
            self._serve(core, time, other)
        elif kind == REPLY:
            self.cores[other].answer = self._arrow(core, time, "answer")
            core.serves = []
        elif kind == POST:
            self.posted[other] = self._arrow(core, time, "message")
        elif kind == TAKE:
            core.serves = core.serves or ["message of core 0"]
            self._follow(core, time)
            self._end_arrow(core, time, "message", self.posted.pop(other, None))
        else:
            core.serves = []
        self._follow(core, time)

    def _placed(self, cluster, time, process, cores):
        """A process may be on these cores (first, how many) from now on: on those of its parent at its start, on
        those of its job then, and on one while it is kept there.
        """
        was, self.places[cluster, process] = self.places.get((cluster, process), cores), cores
        if was != cores and 1 in (was[1], cores[1]):
            core, name = (cores[0], KEPT) if cores[1] == 1 else (was[0], LET_GO)
            self._instant(self.cores[cluster + core], time, name, args={"process": process})

    def event(self, time, a, b, hart, kind):
        """Take the next one."""
        core = self.cores.get(hart)
        if core is None:
            return
        if core.answer is not None and (kind == WAKE or not core.is_waiting):
            self._end_arrow(core, time, "answer", core.answer)
            core.answer = None
        if kind in (USER, KERNEL):
            self._mode(core, time, kind)
        elif kind in (WAIT, WAKE):
            core.is_waiting = kind == WAIT
            self._follow(core, time)
        elif kind == CURRENT:
            core.thread = f"thread {a} of process {b}" if a else None
            core.inside = core.is_user = False
            core.call = None
        elif kind == ROLE:
            self._role(self.cores[core.first + b], time, a)
        elif kind == CALL:
            name = self.calls.get(a, str(a))
            self._rename(core, name)
            core.call = name
        elif kind in (SEND, SERVE, REPLY, POST, TAKE, TAKEN):
            self._message(core, time, kind, core.first + a)
        elif kind in (FAULT, TICK):
            name = "fault" if kind == FAULT else "tick"
            self._rename(core, name)
            core.trap = name
        elif kind == PLACED:
            self._placed(core.first, time, a, (b & 0xffff, b >> 16))
        else:
            self._instant(self.cores[core.first + a], time, "thread sent to a core of its own" if kind == SPREAD else
                          "has threads of two processes: a tc now")
        self._follow(core, time)

    def end(self, time):
        """Close what is open."""
        for core in self.cores.values():
            self._close(core, 0, time)
            if core.role is not None:
                self._role(core, time, -1)
        return self.out


def timeline(clusters, roles, calls, events):
    """The trace events of a run; `roles`: with which cores begin."""
    t = Timeline(clusters, calls)
    if events:
        t.start = events[0][0]
        last = t.start - 1
        for hart, role in enumerate(roles):
            t.event(t.start, role, t.cores[hart].number, hart, ROLE)
    for time, *e in events:
        last = max(time, last + 1)		# with --icount several have one time
        t.event(last, *e)
    return t.end(last) if events else t.out


def write(path, machine, layout, buffer, kernel, icount):
    """The file, of what the machine has done up to now. Returns how many events it is made of."""
    events, lost = buffer.read()
    roles = [getattr(bootrec.C, "ROLE_" + role) for c in machine.clusters for role in c.roles]
    out = timeline(bootrec.clusters_of(machine, layout), roles, kernel.calls(), events)
    about = {"machine": machine.name, "events": len(events), "events lost": lost,
             "time": "8 ns for each instruction of any core" if icount else "the host's"}
    with (gzip.open if path.endswith(".gz") else open)(path, "wt", encoding="ascii") as f:
        json.dump({"traceEvents": out, "displayTimeUnit": "ns", "otherData": about}, f, separators=(",", ":"))
    say(f"wrote {len(events)} events to {path}; ui.perfetto.dev shows them" +
        (f"; {lost} more found no room" if lost else ""))
