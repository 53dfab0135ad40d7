# SPDX-License-Identifier: MIT
"""Start a machine, watch it, and leave nothing running. Standard library only, and little of it:
this is `run`'s path.

A machine is one process group: the hosted launcher with its clusters, or QEMU. It dies with us
(parent-death signal), by Ctrl-C and by the time limit; a machine that overruns is dumped first.
"""

import os
import signal
import sys

import bootrec
import elf
import machine as machines
from held import held
from ui import BUILD, Failure, Usage, say

GRACE_S = 2
LOOK_S = 10
QUIT_STATUS = 124


class Job:
    """What to run: a machine, its archive members and how to start it."""

    def __init__(self, m, port, members, init="bin/proc"):
        self.machine, self.port, self.members, self.init = m, port, members, init
        self.quiet, self.icount, self.timeout_s, self.keep = True, False, 0, None
        self.image = None		# the kernel or another image in its place
        self.plugins = ()		# QEMU plugins with their arguments
        self.trace = None		# hosted, riscv64: a path for what every core did (timeline.py)
        self.environment = os.environ	# of the machine's process
        self.domains = None		# riscv64: a path for modelled times of windows (domains.py)
        self.rtl, self.report, self.seed = False, None, 0	# or1k: simulated in RTL, its report, the replication
        self.reader = None		# cluster that gets our standard input; None: nobody
        self.devices = ()		# riscv64: console, random
        self.shares = ()		# riscv64: folders of ours (share.py)
        self.input = None		# riscv64: where the running machine finds what it reads
        self.output = None		# file descriptor for the machine's console instead of ours
        self.files = {}			# members that are files as they lie: name -> path
        self.memory = None		# riscv64: path of the machine's memory
        self.write_trace = None		# with trace: a function, once it is prepared
        self.made = None		# (record, archive, offsets in it) once it is prepared


def members_of(port, names):
    """(name, bytes) pairs of a port's programs for the boot archive."""
    out = []
    for name in names:
        path = os.path.join(BUILD, port, name)
        try:
            with open(path, "rb") as f:
                out.append((name, f.read()))
        except OSError:
            raise Failure(f"{path} is missing: run ./atoll build {port}") from None
    return out


def _memfd(name, data):
    fd = os.memfd_create(name, 0)
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]
    return fd


def _is_open(fd):
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def _store(job, name, data):
    """Put boot data where the machine finds it; returns the path that it is given."""
    if job.keep:
        os.makedirs(job.keep, exist_ok=True)
        path = os.path.join(job.keep, name)
        with open(path, "wb") as f:
            f.write(data)
        return path
    return f"/proc/self/fd/{_memfd(name, data)}"


def boot_data(job):
    """Make record and archive, job.made; returns their layout."""
    import archive
    image, offsets = archive.pack(job.members)
    layout = bootrec.Layout(job.machine, job.port, len(image))
    init = None
    if job.init:
        init = (dict(job.members)[job.init], job.init, offsets[job.init])
    record = bootrec.write(job.machine, job.port, layout, init, bootrec.QUIET if job.quiet else 0)
    job.made = (record, image, offsets)
    return layout


def prepare(job):
    """Make record and archive; returns the machine's command line."""
    layout = boot_data(job)
    record, image, offsets = job.made
    record_path, archive_path = _store(job, "record.bin", record), _store(job, "archive.cpio", image)
    if job.port == "hosted":
        argv = [job.image or os.path.join(BUILD, "hosted", "atoll-host"), "--record", record_path,
                "--archive", archive_path]
        if job.trace:
            argv[0] = _traced_hosted(job, layout)
    elif job.port == "or1k":
        import or1k
        shared = ((record_path, layout.record), (archive_path, layout.archive))
        argv = or1k.command(job, layout, lambda name, data: _store(job, name, data), shared)
    else:
        argv = _qemu(job, layout, record_path, archive_path)
        if job.reader is not None:
            argv += _shared_memory(job, layout, offsets)
        if job.trace:
            argv += _traced(job, layout)
    if not os.path.exists(argv[0]) and job.port == "hosted":
        raise Failure(f"{argv[0]} is missing: run ./atoll build {job.port}")
    if job.keep:
        with open(os.path.join(job.keep, "command"), "w", encoding="utf-8") as f:
            f.write(" ".join(argv) + "\n")
    return argv


def _qemu(job, layout, record_path, archive_path):
    kernel = job.image or os.path.join(BUILD, "riscv64", "kernel.bin")
    boot = os.path.join(BUILD, "riscv64", "boot.elf")
    for path in (kernel, boot):
        if not os.path.exists(path):
            raise Failure(f"{path} is missing: run ./atoll build riscv64")
    if os.path.getsize(kernel) > bootrec.KERNEL_MAX:
        raise Failure(f"{kernel} is larger than {bootrec.KERNEL_MAX >> 20} MB")
    argv = ["qemu-system-riscv64", "-bios", "none", "-M", "virt,aclint=on", "-smp", str(job.machine.cores()),
            "-m", f"{layout.ram_bytes >> 20}M", "-nodefaults", "-no-user-config", "-display",
            "none", "-serial", "stdio", "-kernel", boot]
    for path, at in ((kernel, bootrec.KERNEL_AT), (record_path, bootrec.RECORD_AT), (archive_path, layout.archive)):
        argv += ["-device", f"loader,file={path},addr={at:#x},force-raw=on"]
    if job.icount:
        # who waits for a share waits for the host, which time that jumps would not let come
        argv += ["-icount", f"shift=3,sleep={'on' if job.shares else 'off'}"]
    for plugin in job.plugins:
        argv += ["-plugin", plugin]
    if job.domains:
        import domains
        argv += domains.options(job.machine, layout, job.domains)
    return argv + devices(job.devices, job.shares)


def devices(kinds, shares):
    """QEMU's options for devices."""
    argv = ["-global", "virtio-mmio.force-legacy=false"] if kinds or shares else []
    if "random" in kinds:
        argv += ["-device", "virtio-rng-device"]
    for number, share in enumerate(shares):
        argv += ["-fsdev", f"local,id=share{number},path={share.folder.replace(',', ',,')},security_model=none,"
                 f"readonly={'on' if share.is_read_only else 'off'},multidevs=remap",
                 "-device", f"virtio-9p-device,fsdev=share{number},mount_tag={number}"]
    return argv


class Started:
    """A machine that runs already, our child: its process, since when (of the monotonic clock), the
    pipe into its standard input or -1.
    """

    def __init__(self, pid, since, pipe):
        self.pid, self.since, self.pipe = pid, since, pipe


def _shared_memory(job, layout, offsets):
    """The machine's memory is one that we see, too: QEMU's options.
    Where it reads its input goes into job.input.
    """
    import mmap
    import streams
    path = _store(job, "memory", b"")
    os.truncate(path, layout.ram_bytes)
    job.memory = path
    at = layout.archive - bootrec.RAM + offsets[streams.INPUT]
    first = at - at % mmap.ALLOCATIONGRANULARITY
    with open(path, "r+b") as f:
        whole = mmap.mmap(f.fileno(), at + streams.INPUT_BYTES - first, offset=first)
    job.input = memoryview(whole)[at - first:]
    return ["-object", f"memory-backend-file,id=ram,mem-path={path},size={layout.ram_bytes},share=on",
            "-machine", "memory-backend=ram"]


def _traced(job, layout):
    """QEMU's options for --trace."""
    import kernelmem
    import timeline
    buffer, kernel = timeline.Buffer(), kernelmem.LinkedKernel()
    job.write_trace = lambda: timeline.write(job.trace, job.machine, layout, buffer, kernel, job.icount)
    return ["-plugin", buffer.option(job.machine, layout, job.memory, job.icount, kernel)]


def _traced_hosted(job, layout):
    """The image for --trace, in which a tracer stands between the kernel and the HAL."""
    import kernelmem
    import timeline
    buffer, kernel = timeline.Buffer(), kernelmem.Kernel("hosted")
    job.environment = os.environ | {"ATOLL_TRACE": f"/proc/self/fd/{buffer.fd}"}
    job.write_trace = lambda: timeline.write(job.trace, job.machine, layout, buffer, kernel, False)
    return os.path.join(BUILD, "hosted", "atoll-host-trace")


def _patient_clock(pid, since):
    """For tests (ATOLL_PATIENT): a clock for which a busy host's time does not count; else None,
    for users' limits are the wall's.
    """
    if not os.environ.get("ATOLL_PATIENT"):
        return None
    import patience
    clock = patience.Clock(pid)
    clock.last = since
    return clock


class Machine:
    """A machine: until it runs, its process id is None."""

    def __init__(self, job):
        self.job, self.pid, self.monitor, self.feed, self.watch = job, None, None, None, None

    def start(self):
        """Begin to run the job."""
        import time
        job = self.job
        if not _is_open(0):
            os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)	# nothing of ours may take its place
        argv = prepare(job)
        if job.port == "riscv64" and job.output is None:
            import streams
            self.feed = streams.Streams(job.input)
        elif job.reader is not None:
            argv += ["--stdin", str(job.reader)]
            if os.isatty(0):
                import feed
                self.feed = feed.Feed()
        if job.port != "hosted" and not job.rtl and job.timeout_s:
            self._open_monitor(argv)
        held(self._spawn, ["setpriv", "--pdeathsig", "KILL"] + argv)
        self.since = time.monotonic()

    def adopt(self, started):
        """Go on with one that somebody has Started."""
        self.pid, self.since = started.pid, started.since
        if started.pipe >= 0:
            import feed
            self.feed = feed.Feed(end=started.pipe)

    def _open_monitor(self, argv):
        import socket
        self.monitor, other = socket.socketpair()
        os.set_inheritable(other.fileno(), True)
        self.other = other
        argv += ["-chardev", f"socket,id=mon,fd={other.fileno()}", "-mon", "chardev=mon,mode=readline"]

    def _spawn(self, argv):
        """Until setpriv has done its work the machine does not die with us: no interrupt may come
        between its start and our knowing whom to end.
        """
        actions = []
        if self.feed and self.feed.into is not None:
            actions.append((os.POSIX_SPAWN_DUP2, self.feed.into, 1))
        if self.feed and self.feed.out is not None:
            actions.append((os.POSIX_SPAWN_DUP2, self.feed.out, 0))
        elif (self.feed or self.job.reader is None) and "console" not in self.job.devices:
            actions.append((os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0))
        if self.job.output is not None:
            actions += [(os.POSIX_SPAWN_DUP2, self.job.output, 1), (os.POSIX_SPAWN_DUP2, self.job.output, 2)]
        try:
            self.pid = os.posix_spawnp(argv[0], argv, self.job.environment, file_actions=actions, setsid=True,
                                       setsigmask=(), setsigdef=(signal.SIGPIPE, signal.SIGINT, signal.SIGTERM))
        except OSError as e:
            raise Failure(f"cannot start {argv[0]}: {e.strerror}; ./atoll doctor tells what is missing") from None
        self._keep_nice()
        if self.feed:
            self.feed.started()

    def _keep_nice(self):
        """A new session is a scheduling group of its own (with sched_autogroup_enabled), which
        begins without the weight that nice(1) gave us.
        """
        nice = os.getpriority(os.PRIO_PROCESS, 0)
        if nice:
            try:
                with open(f"/proc/{self.pid}/autogroup", "w", encoding="ascii") as f:
                    f.write(str(nice))
            except OSError:
                pass	# not enabled, or too soon after another change

    def kill(self):
        """End the whole process group: a hosted machine politely first; QEMU has nothing to tidy
        up. What it said last is passed on.
        """
        if self.pid is None:
            return
        self._end_group()
        if self.feed:
            self.feed.finish()

    def _end_group(self):
        import time
        for sig, wait in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, 10))[self.job.port != "hosted":]:
            try:
                os.killpg(self.pid, sig)
            except ProcessLookupError:
                return
            end = time.monotonic() + wait
            while time.monotonic() < end:
                if not self._group_lives():
                    return
                time.sleep(0.01)

    def _group_lives(self):
        """Reap what is ours; True while the process group has members."""
        try:
            os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            pass
        try:
            os.killpg(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        import dump
        return bool(dump.group_members(self.pid))

    def wait(self):
        """Wait for the end; returns a wait status, or None if the time ran out."""
        import select
        import time
        fd, end = os.pidfd_open(self.pid), self.since + self.job.timeout_s
        clock = _patient_clock(self.pid, self.since) if self.job.timeout_s else None
        try:
            while True:
                left = end - time.monotonic() if self.job.timeout_s else LOOK_S
                if clock:
                    left = clock.waits(self.job.timeout_s) or 0
                if left <= 0:
                    return None
                left = min(left, LOOK_S)
                if self.feed.pump(fd, left) if self.feed else select.select([fd], [], [], left)[0]:
                    return os.waitpid(self.pid, 0)[1]
                self._look()
        finally:
            os.close(fd)

    def _look(self):
        """Now and then: a machine that gets no CPU must not seem to hang.
        A test knows, and compares what is said.
        """
        if os.environ.get("ATOLL_PATIENT"):
            return
        import starved
        self.watch = self.watch or starved.Watch(self.pid)
        line = self.watch.look()
        if line:
            say(line)

    def got(self):
        """What the machine had of the host, in words."""
        import starved
        return starved.verdict(self.pid)

    def dump(self):
        """What every core does now, as text."""
        import dump
        if self.job.rtl:
            return "  (what the cores do in RTL tells the simulator's own watchdog)"
        if self.job.port == "or1k":
            return dump.or1k(self.monitor, os.path.join(BUILD, "or1k"))
        if self.job.port == "riscv64":
            return dump.qemu(self.monitor, os.path.join(BUILD, "riscv64"))
        return dump.hosted(self.pid)


def exit_status(status, port):
    """Exit status for a machine's wait status, and what went wrong, or None."""
    if os.WIFSIGNALED(status):
        sig = os.WTERMSIG(status)
        what = "the machine itself" if port == "hosted" else "the emulator"
        return 128 + sig, f"{what} was ended by signal {sig} ({signal.Signals(sig).name})"
    code = os.WEXITSTATUS(status)
    if code > 128 and code - 128 in [s.value for s in signal.Signals]:
        return code, f"the program was ended by signal {code - 128} ({signal.Signals(code - 128).name})"
    return code, None


def run(job, keep=None):
    """Run a job to its end; `keep(job)` is called when the machine runs.
    Returns the exit status; says on stderr what went wrong.
    """
    return watch(job, None, keep)


def watch(job, started, keep=None):
    """Run a job, or go on with a machine that somebody has Started for it and who has left us its
    signals blocked.
    """
    def stop(signum, frame):
        raise KeyboardInterrupt
    old = signal.signal(signal.SIGTERM, stop)
    m = Machine(job)
    try:
        if started:
            m.adopt(started)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
        else:
            m.start()
        if keep:
            keep(job)
        status = m.wait()
        if status is None:
            say(f"no end after {job.timeout_s:g} s ({m.got()}); what every core does now:")
            print(m.dump(), file=sys.stderr, flush=True)
            m.kill()
            return QUIT_STATUS
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        m.kill()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        raise
    finally:
        signal.signal(signal.SIGTERM, old)
        m.kill()
        if job.write_trace and m.pid is not None:
            job.write_trace()
    code, why = exit_status(status, job.port)
    # a shell's status is that of its last command
    if why and not (os.WIFEXITED(status) and m.feed and m.feed.has_shell):
        say(why)
    lost = m.feed.lost if m.feed else None
    if lost:
        say(f"output of the program was lost: {lost}")
    return code or (1 if lost else 0)


def load_machine(name, port):
    """Find a machine that runs on a port, or say which do."""
    try:
        m = machines.load(name)
    except machines.MachineError as e:
        raise Usage(str(e)) from None
    if port not in m.ports:
        others = [n for n in machines.names() if port in machines.load(n).ports]
        raise Usage(f"machine {name} does not run on port {port}: use one of {', '.join(others)}, "
                    f"or --port {m.ports[0]}")
    return m


def check_program(path, data, port):
    """Refuse what the loader could not start."""
    try:
        e = elf.Elf(data, path)
    except elf.ElfError as err:
        raise Usage(f"{err}; give a .c file, a program built with ./atoll mpicc, or a program's name") from None
    want = {"hosted": "x86_64", "riscv64": "riscv64", "or1k": "or1k"}[port]
    if e.machine != want:
        raise Usage(f"{path} is built for {e.machine}, port {port} needs {want}: build it with "
                    f"./atoll mpicc --port {port}")
    if not e.is_static_pie():
        raise Usage(f"{path} is not a static position-independent program: build it with ./atoll mpicc --port {port}")
