# SPDX-License-Identifier: MIT
"""Files that tools generate."""

import os


def write(path, text):
    """Write a file unless it says so already (so that nothing is rebuilt for nothing)."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            if f.read() == text:
                return
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
