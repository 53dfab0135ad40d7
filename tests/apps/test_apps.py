# SPDX-License-Identifier: MIT
"""Programs of apps/ on both ports, their results compared with independent computations: brute
force for friendly numbers, SciPy and an integer convolution for the Gaussian filter. Prints `ok
NAME` or `FAIL NAME: why`."""

import base64
import os
import re
import subprocess
import sys
import tempfile
import traceback
from fractions import Fraction

import numpy as np
from scipy import ndimage

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import rooms  # noqa: E402,F401
import patience  # noqa: E402

MACHINES = {"hosted": "hosted-4x4", "riscv64": "riscv-4x4"}
SMALL = "mppa256-12"		# twelve ranks fill a cluster of 2 MB
TIMEOUT_S = 100
MASK_ONE = 65536


def atoll(port, ranks, program, *args, options=(), machine=None):
    """Run a program; (exit status, standard output, standard error)."""
    argv = [os.path.join(ROOT, "atoll"), "run", "-n", str(ranks), "--port", port, "--machine",
            machine or MACHINES[port],
            "--timeout", str(TIMEOUT_S), *options, program, *args]
    p = patience.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S + 60)
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


def expect(condition, what):
    """Fail the running test."""
    if not condition:
        raise AssertionError(what)


def abundance(n):
    """Sum of the divisors over n."""
    return Fraction(sum(d + (n // d if n // d != d else 0) for d in range(1, int(n ** 0.5) + 1) if n % d == 0), n)


def friends(first, count):
    """Lines that fn must print."""
    groups = {}
    for n in range(first, first + count):
        groups.setdefault(abundance(n), []).append(n)
    groups = sorted((g, a) for a, g in groups.items() if len(g) > 1)
    lines = [f"friends {a.numerator}/{a.denominator}: {' '.join(map(str, g))}" for g, a in groups]
    members = sum(len(g) for g, _ in groups)
    return lines + [f"fn: {len(groups)} groups with {members} members among {count} numbers from {first}"]


def lines_of(text, *starts):
    """Lines that start with one of some words."""
    return [line.rstrip() for line in text.splitlines() if line.startswith(starts)]


def check_fn(port, ranks, first, count, **more):
    """fn says what brute force says."""
    status, out, err = atoll(port, ranks, "fn", "--from", str(first), "--count", str(count), **more)
    expect(status == 0, f"status {status}: {err[-300:]}")
    found = [line for line in lines_of(out, "friends ", "fn: ") if " s on " not in line]
    expect(found == friends(first, count), f"wrong groups: {found[-3:]}")


def mask(size, sd):
    """The weights as apps/capbench/mask.h defines them."""
    at = np.arange(size) - size // 2
    g = np.exp(-(at[:, None] ** 2 + at[None, :] ** 2) / (2 * sd * sd))
    w = np.floor(g / g.sum() * MASK_ONE + 0.5).astype(np.int64)
    w[size // 2, size // 2] += MASK_ONE - w.sum()
    return w


def filtered(image, size, sd):
    """Integer convolution, border pixels repeated."""
    w, reach = mask(size, sd), size // 2
    padded = np.pad(image.astype(np.int64), reach, mode="edge")
    total = np.zeros(image.shape, dtype=np.int64)
    for y in range(size):
        for x in range(size):
            total += w[y, x] * padded[y:y + image.shape[0], x:x + image.shape[1]]
    return ((total + MASK_ONE // 2) // MASK_ONE).astype(np.uint8)


def scipy_filtered(image, size, sd):
    """SciPy's Gaussian with the same reach."""
    return ndimage.gaussian_filter(image.astype(float), sd, mode="nearest", truncate=(size // 2 + 0.5) / sd - 0.5 / sd)


def pgm(image):
    """An image as a file."""
    return b"P5\n# test\n%d %d\n255\n" % (image.shape[1], image.shape[0]) + image.tobytes()


def parse_pgm(data):
    """An image of a file that gf wrote."""
    m = re.match(rb"P5\n(\d+) (\d+)\n255\n", data)
    expect(m is not None, "not a PGM file")
    return np.frombuffer(data[m.end():], dtype=np.uint8).reshape(int(m.group(2)), int(m.group(1)))


def printed_file(text):
    """The file in an output, see apps/capbench/picture.h."""
    m = re.search(r"-----BEGIN FILE (\S+) (\d+)-----\r?\n(.*?)-----END FILE \1-----", text, re.S)
    expect(m is not None, f"no file in the output: {text[:200]}")
    data = base64.b64decode(m.group(3))
    expect(len(data) == int(m.group(2)), "the file has another length than its header says")
    return data


def check_gf(port, ranks, image, size, sd, **more):
    """gf's picture is the integer convolution, and SciPy's but for rounding."""
    with tempfile.TemporaryDirectory(prefix="atoll-apps-") as folder:
        path = os.path.join(folder, "in.pgm")
        with open(path, "wb") as f:
            f.write(pgm(image))
        status, out, err = atoll(port, ranks, "gf", "--in", "in.pgm", "--out", "-", "--mask",
                                 str(size), "--sd", str(sd),
                                 options=["--file", path], **more)
    expect(status == 0, f"status {status}: {err[-300:]}")
    result = parse_pgm(printed_file(out))
    expect(np.array_equal(result, filtered(image, size, sd)), "differs from the integer convolution")
    off = np.abs(result.astype(float) - scipy_filtered(image, size, sd)).max()
    expect(off <= 0.51 if size >= 8 * sd else off <= 2, f"differs from SciPy by {off}")


def noise(height, width, seed=1):
    """A noisy gradient."""
    r = np.random.default_rng(seed)
    return ((np.arange(height)[:, None] * 200 // height + r.integers(0, 56, (height, width))) & 255).astype(np.uint8)


def synthetic_checksum(images, size):
    """What `gf --images` must print."""
    total, pixels = 0, size * size
    for index in range(images):
        x = (index * 2654435761 + 12345) & 0xffffffff
        values = np.empty(pixels, dtype=np.uint8)
        for i in range(pixels):
            x = (x * 1664525 + 1013904223) & 0xffffffff
            values[i] = (i * 255 // pixels + (x >> 25)) & 255
        h = 14695981039346656037
        for v in filtered(values.reshape(size, size), 7, 0.8).ravel().tolist():
            h = ((h ^ v) * 1099511628211) & (2 ** 64 - 1)
        total = (total + h * (index + 1)) & (2 ** 64 - 1)
    return total


def test_fn_finds_what_brute_force_finds(port):
    for ranks, first, count in ((12, 1, 3000), (12, 1000001, 1536), (2, 7, 50), (1, 1, 300)):
        check_fn(port, ranks, first, count)


def test_fn_works_with_every_number_of_ranks(port):
    for ranks in (3, 5, 7) if port == "hosted" else (5,):
        check_fn(port, ranks, 1, 400, options=["--map", "scatter"])


def test_fn_takes_ranges_smaller_than_the_team(port):
    check_fn(port, 12, 220, 3)


def test_fn_and_gf_run_with_twelve_ranks_in_two_megabytes(port):
    check_fn(port, 12, 1, 1200, machine=SMALL)
    check_gf(port, 12, noise(101, 67), 7, 0.8, machine=SMALL)


def test_fn_refuses_bad_arguments(port):
    for args in (["--from", "0"], ["--count", "-1"], ["--from", "x"], ["--count", ""]):
        status, _, err = atoll(port, 2, "fn", *args)
        expect(status == 2, f"{args}: status {status}, not 2: {err[-200:]}")


def test_gf_is_the_convolution_with_the_mask(port):
    for shape, size, sd, ranks in (((203, 301), 7, 0.8, 12), ((64, 64), 9, 1.0, 5),
                                   ((5, 3), 7, 0.8, 12), ((1, 1), 3, 0.4, 2)):
        check_gf(port, ranks, noise(*shape), size, sd)


def test_gf_alone_gives_the_same(port):
    check_gf(port, 1, noise(33, 47), 7, 0.8)


def test_gf_on_a_photograph(port):
    from skimage import data
    check_gf(port, 12, data.camera()[:256, 100:400], 7, 0.8)


def test_gf_synthetic_pictures_have_the_known_checksum(port):
    want = f"gf: 5 images of 32 x 32, checksum {synthetic_checksum(5, 32):016x}"
    for ranks in (1, 4, 12):
        status, out, err = atoll(port, ranks, "gf", "--images", "5", "--size", "32")
        expect(status == 0 and want in out, f"status {status}: {out[-200:]} {err[-200:]} instead of {want}")


def test_gf_refuses_bad_input(port):
    with tempfile.TemporaryDirectory(prefix="atoll-apps-") as folder:
        for name, data in (("a.pgm", b"P6\n1 1\n255\nabc"), ("b.pgm", b"P5\n10 10\n255\nshort"),
                           ("c.pgm", b""), ("d.pgm", b"P5\n0 5\n255\n")):
            path = os.path.join(folder, name)
            with open(path, "wb") as f:
                f.write(data)
            status, _, err = atoll(port, 2, "gf", "--in", name, "--out", "-", options=["--file", path])
            expect(status not in (0, 124, 139), f"{name}: status {status}: {err[-200:]}")
    for args in (["--mask", "4"], ["--mask", "99"], ["--sd", "0"], ["--sd", "x"], ["--size", "0"],
                 ["--in", "x.pgm"], ["--images", "-1"]):
        status, _, err = atoll(port, 2, "gf", *args)
        expect(status == 2, f"{args}: status {status}, not 2: {err[-200:]}")


def test_examples_say_what_they_should(port):
    for program, args, want in (("hello", [], "hello from rank 11 of 12 on cluster3 (its counter says 11)"),
                                ("ring", ["4"], "came back with 264"),
                                ("pi", ["20000"], "pi is about 3.14159265")):
        status, out, err = atoll(port, 12, program, *args)
        expect(status == 0 and want in out, f"{program}: status {status}: {out[-200:]} {err[-200:]}")


def main_of(names, argv):
    """Run the tests among some names, on the ports of a command line (both)."""
    failed = 0
    tests = [(n[5:], f) for n, f in names.items() if n.startswith("test_")]
    for port in argv[1:] or ("hosted", "riscv64"):
        for name, function in tests:
            try:
                function(port)
                print(f"ok {port}.{name}", flush=True)
            except Exception as e:  # noqa: BLE001 - a broken test must not hide the others
                failed += 1
                where = traceback.extract_tb(e.__traceback__)[-1].lineno
                print(f"FAIL {port}.{name}: {type(e).__name__}: {e} (line {where})", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main_of(globals(), sys.argv))
