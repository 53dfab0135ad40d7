# SPDX-License-Identifier: MIT
"""What the tests of the checks share."""

import pytest


@pytest.fixture
def tree(tmp_path):
    """Writes a file into a tree of its own; returns the tree's root."""
    def put(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return tmp_path
    return put
