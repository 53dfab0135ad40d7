# SPDX-License-Identifier: MIT
"""Text files of results that the tree keeps: the first line is a checksum of the rest, so that a
figure that was changed by hand is refused.
"""

import csv
import hashlib
import io
import os

from codesign import rtl


class Damaged(Exception):
    """What is kept cannot be trusted; the message says why."""


def sealed(body):
    """A file's text."""
    return f"# sha256 {hashlib.sha256(body.encode()).hexdigest()}\n{body}"


def opened(data):
    """The body of a file's text; Damaged if the checksum does not fit."""
    first, _, body = data.partition("\n")
    if first != f"# sha256 {hashlib.sha256(body.encode()).hexdigest()}":
        raise Damaged("the checksum in its first line does not fit: let the tool that measures write it anew")
    return body


def read(path):
    """The body of a file, "" if it does not exist."""
    try:
        with open(path, encoding="utf-8", newline="") as f:
            return opened(f.read())
    except FileNotFoundError:
        return ""
    except Damaged as e:
        raise Damaged(f"{os.path.relpath(path, rtl.ROOT)}: {e}") from None


def write(path, body):
    """The whole file anew, or not at all."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(f"{path}.{os.getpid()}", "w", encoding="utf-8", newline="") as f:
        f.write(sealed(body))
        f.flush()
        os.fsync(f.fileno())
    os.replace(f.name, path)


def read_rows(path):
    """Rows of a CSV file as dictionaries of texts."""
    return list(csv.DictReader(io.StringIO(read(path))))


def write_rows(path, fields, rows):
    """Keep dictionaries as a CSV file."""
    out = io.StringIO()
    table = csv.DictWriter(out, fields, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    write(path, out.getvalue())
