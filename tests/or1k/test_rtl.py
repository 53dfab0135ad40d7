# SPDX-License-Identifier: MIT
"""The real kernel on the cluster in RTL: one K-Core, three U-Cores.
Prints the test protocol; about 3 M cycles.
"""

import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import patience  # noqa: E402

TIMEOUT_S = 280
# core, instruction, address, function
NAMED = re.compile(r"core 0: illegal instruction 0x[be]\w{7} at 0x\w{8} in [a-z]\S+\+0x\w+ "
                   r"\(supervisor mode\); stopped")


def run(*argv):
    """(exit status or None, output) of ./atoll run --port or1k."""
    line = [os.path.join(ROOT, "atoll"), "run", "--port", "or1k", "--machine", "optimsoc4", *argv]
    try:
        p = patience.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, errors="replace",
                           timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as e:
        return None, (e.stdout or b"").decode(errors="replace") + "[killed: it did not end in time]"
    return p.returncode, p.stdout


def check(name, argv, words, status=0):
    """One run must end as it should and say these words."""
    code, text = run(*argv)
    missing = [w for w in words if (not w.search(text) if isinstance(w, re.Pattern) else w not in text)]
    if code == status and not missing:
        print(f"ok {name}", flush=True)
        return 0
    print(f"FAIL {name}: status {code}, not found: {missing}; {' | '.join(text.splitlines()[-6:])}", flush=True)
    return 1


def hard_kernel():
    """A kernel with multiply instructions, for U-Cores only; its path without ending, or None if it
    does not build.
    """
    folder = os.path.join("build", "hard")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    argv = ["make", "-s", "-C", ROOT, "PORT=or1k", f"BUILD={folder}", "TUNE_HARD=1", "TUNE_SOFT=0", "image"]
    done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    return os.path.join(folder, "or1k", "kernel") if done.returncode == 0 else None


def left_alone():
    """In cycles: a core that computes is not interrupted while others call the kernel, and one whose program gives
    memory back is. 1 if not so.
    """
    name, argv = "a_core_that_computes_is_left_alone", ["bench", "slices", "--rtl", "--quick", "--json", "-"]
    p = patience.run([os.path.join(ROOT, "atoll"), *argv], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                     timeout=TIMEOUT_S, check=False)
    rows = json.loads(p.stdout) if p.returncode == 0 else []
    found = {r["name"]: r["value"] for r in rows if r["params"].get("count") == "exceptions"}
    alone, beside, control = (found.get(f"slice_{n}") for n in ("alone", "beside_calls", "interrupted"))
    if alone == beside == 0 and control:
        print(f"ok {name}", flush=True)
        return 0
    print(f"FAIL {name}: status {p.returncode}, exceptions {found}; {p.stderr[-500:]}", flush=True)
    return 1


def main():
    """Exit status."""
    tests = os.path.join("build", "or1k", "tests", "kernel", "first")
    failed = check("threads_run_on_u_cores_and_the_kernel_on_the_k_core",
                   ["--rtl", "--bare", os.path.join(ROOT, tests)], ["6 passed, 0 failed"])
    failed += check("a_program_runs_with_all_servers", ["--rtl", "kcalls", "--calls", "10"],
                    ["row l_kcall", "row r_kcall"])
    kernel = hard_kernel()
    failed += check("a_multiplication_in_the_kernel_on_a_k_core_is_named",
                    ["--rtl", "--bare", "--kernel", kernel, "kcalls"],
                    [NAMED, *(f"core {c}: " for c in range(4))], 125) if kernel else 1
    failed += left_alone()
    failed += check("qemu_runs_the_same_program", ["kcalls", "--calls", "10"], ["row l_kcall", "row r_kcall"])
    failed += check("a_machine_too_large_for_qemu_is_refused", ["--machine", "optimsoc8", "kcalls"],
                    ["QEMU's or1k at most 4"], 2)
    failed += check("a_machine_without_hardware_is_refused_in_rtl",
                    ["--rtl", "--machine", "or1k-2x2", "kcalls"], ["it has no table [hardware]"], 1)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
