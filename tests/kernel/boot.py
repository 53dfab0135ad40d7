# SPDX-License-Identifier: MIT
"""Boot a machine whose init is one of the tests in tests/kernel, on the hosted port, on riscv64 or
on or1k, and return what it said.

    python3 tests/kernel/boot.py PORT TEST [CLUSTERS CORES [ROLE0 [MEGABYTES [CONNECTORS [DOMAINS POLICY]]]]]

Tests at random take CALLS and SEED from the environment (SEED with CALLS only); ICOUNT=1 makes a
run on riscv64 repeatable. Standard library only. A machine that does not end in time is killed, and
says so.
"""

import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import archive  # noqa: E402
import bootrec  # noqa: E402
import machine as machines  # noqa: E402
import or1k  # noqa: E402
import patience  # noqa: E402

BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
NOC = {"mailbox_ports": 16, "portal_ports": 16}

# Under -icount QEMU runs one hart after the other, and each may go on until the machine's next timer
# is due. A hart that arms its own makes way for the others, so two that loop without end would run
# until that is due, each time, and a thread that shares its core would never execute an instruction.
# A timer of QEMU's own, of a filter of packets that nobody sends, ends each turn after 1 ms. QEMU 7.2
# takes that out of the turn of the next hart, which is none then: while a hart loops without end, and
# rings nobody, the one behind it executes nothing, not even where its interrupt is pending. So `roles`
# may hang in such a run, when a thread computes on core 0 and what would end it is on core 1; the log of
# QEMU (exec) shows one hart only then. Without -icount harts are threads of the host.
ICOUNT = ["-icount", "shift=3,sleep=off", "-netdev", "user,id=none,restrict=on", "-device",
          "virtio-net-device,netdev=none", "-object", "filter-buffer,id=turns,netdev=none,interval=1000"]


def shape(port, clusters, cores, role0, megabytes, connectors=0, *domains):
    """A machine of equal clusters: core 0 has role0, the others run user threads.
    `connectors`: for mailboxes, and as many for portals. `domains`: how many, and the policy.
    """
    made = [machines.Cluster([role0] + ["AC"] * (cores - 1), megabytes << 20, *domains)
            for _ in range(clusters)]
    shared = {"mailbox_connectors": connectors, "portal_connectors": connectors}
    return machines.Machine("ktest", "kernel test", [port], machines.read_noc(NOC | shared), made)


def qemu(layout, m, record, image):
    """The QEMU command line."""
    def load(path, at):
        return ["-device", f"loader,file={path},addr={at:#x},force-raw=on"]
    out = os.path.join(BUILD, "riscv64")
    argv = ["qemu-system-riscv64", "-bios", "none", "-M", "virt,aclint=on", "-smp", str(m.cores()), "-m",
            f"{layout.ram_bytes >> 20}M", "-display", "none", "-serial", "stdio", "-monitor", "none", "-no-reboot",
            "-kernel", os.path.join(out, "boot.elf")]
    argv += ICOUNT if "ICOUNT" in os.environ else []
    return argv + load(os.path.join(out, "kernel.bin"), bootrec.KERNEL_AT) + load(record, bootrec.RECORD_AT) + \
        load(image, layout.archive)


def or1k_qemu(layout, m, paths, folder):
    """The QEMU command line on or1k."""
    def store(name, data):
        path = os.path.join(folder, name)
        with open(path, "wb") as f:
            f.write(data)
        return path
    argv = or1k.qemu(m, layout, store, os.path.join(BUILD, "or1k", "kernel"))
    return argv + or1k.load(paths[0], layout.record) + or1k.load(paths[1], layout.archive)


def boot(port, name, m, timeout=60, extra=(), host="atoll-host"):
    """Boot test `name`; (exit status or None, output, seconds). `host`: the image of the hosted port."""
    with open(os.path.join(BUILD, port, "tests", "kernel", name), "rb") as f:
        program = f.read()
    arguments = " ".join(os.environ[n] for n in ("CALLS", "SEED") if n in os.environ) + "\n"
    image, places = archive.pack([("bin/init", program), ("etc/args", arguments.encode())])
    layout = bootrec.Layout(m, port, len(image))
    data = bootrec.write(m, port, layout, init=(program, name, places["bin/init"]))
    with tempfile.TemporaryDirectory(prefix="atoll-ktest-") as folder:
        paths = [os.path.join(folder, n) for n in ("record", "archive")]
        for path, content in zip(paths, (data, image)):
            with open(path, "wb") as f:
                f.write(content)
        if port == "hosted":
            argv = [os.path.join(BUILD, "hosted", host), "--record", paths[0], "--archive", paths[1]]
        elif port == "or1k":
            argv = or1k_qemu(layout, m, paths, folder)
        else:
            argv = qemu(layout, m, *paths)
        start = time.monotonic()
        try:
            done = patience.run(argv + list(extra), stdin=subprocess.DEVNULL, capture_output=True,
                                timeout=timeout, check=False)
        except subprocess.TimeoutExpired as e:
            said = (e.stdout or b"") + (e.stderr or b"")
            return None, said.decode(errors="replace") + "[killed: it did not end in time]", time.monotonic() - start
        return done.returncode, (done.stdout + done.stderr).decode(errors="replace"), time.monotonic() - start


def machine_of(port, words):
    """The machine of a command line: [CLUSTERS CORES [ROLE0 [MEGABYTES [CONNECTORS [DOMAINS POLICY]]]]]."""
    clusters, cores = (int(w) for w in (words[:2] or (1, 4)))
    role0 = words[2] if len(words) > 2 else "KC"
    megabytes = int(words[3]) if len(words) > 3 else 64
    return shape(port, clusters, cores, role0, megabytes, *(int(w) for w in words[4:6]), *words[6:7])


def main(argv):
    port, name = argv[1], argv[2]
    m = machine_of(port, argv[3:])
    status, output, seconds = boot(port, name, m, timeout=float(os.environ.get("TIMEOUT", "60")))
    sys.stdout.write(output)
    print(f"status {status}, {seconds:.2f} s")
    return 0 if status == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
