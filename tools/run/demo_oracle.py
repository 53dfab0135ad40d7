# SPDX-License-Identifier: MIT
"""What the demo's programs must compute, computed independently: SciPy and an integer convolution
for the filter, brute force for friendly numbers. Runs in the private Python environment; the
reference functions are those of tests/apps.

    demo_oracle.py prepare FOLDER | picture FOLDER PORT MASK SD | friends FILE FIRST COUNT
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "apps"))

import numpy as np  # noqa: E402
import test_apps as apps  # noqa: E402


def camera():
    """The photograph: scikit-image's cameraman, grey."""
    import skimage
    return skimage.data.camera()


def save(folder, name, image):
    """Write a PNG."""
    from PIL import Image
    Image.fromarray(image).save(os.path.join(folder, name))


def prepare(folder):
    """Write the photograph as PGM for the program and as PNG for people."""
    image = camera()
    with open(os.path.join(folder, "camera.pgm"), "wb") as f:
        f.write(apps.pgm(image))
    save(folder, "camera.png", image)
    return f"photograph: scikit-image's camera, {image.shape[1]} x {image.shape[0]} grey pixels"


def picture(folder, port, size, sd):
    """Compare the picture that gf printed; write it."""
    with open(os.path.join(folder, f"gf-{port}.out"), encoding="utf-8") as f:
        result = apps.parse_pgm(apps.printed_file(f.read()))
    image = camera()
    if not np.array_equal(result, apps.filtered(image, size, sd)):
        raise AssertionError("the filtered picture differs from the integer convolution")
    off = np.abs(result.astype(float) - apps.scipy_filtered(image, size, sd)).max()
    if off > 0.51:
        raise AssertionError(f"the filtered picture differs from SciPy's by {off:.2f} grey levels")
    save(folder, f"camera-{port}.png", result)
    save(folder, "beside.png", np.hstack([image, result]))
    return (
        f"right: every pixel equals an independent integer convolution; SciPy's Gaussian is at most {off:.2f} grey"
        " levels away (rounding)"
    )


def friends(path, first, count):
    """Compare what fn printed with brute force."""
    with open(path, encoding="utf-8") as f:
        found = [line for line in apps.lines_of(f.read(), "friends ", "fn: ") if " s on " not in line]
    want = apps.friends(first, count)
    if found != want:
        raise AssertionError("fn's groups differ from brute force")
    perfect = next((line for line in want if line.startswith("friends 2/1:")), want[0])
    return f"right: {want[-1][4:]}, as brute force finds them; {perfect[8:]} are the perfect ones"


def main(argv):
    """Print one line; exit status 1 if something is wrong."""
    what, args = argv[1], argv[2:]
    try:
        if what == "prepare":
            print(prepare(args[0]))
        elif what == "picture":
            print(picture(args[0], args[1], int(args[2]), float(args[3])))
        else:
            print(friends(args[0], int(args[1]), int(args[2])))
    except AssertionError as e:
        print(e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
