# SPDX-License-Identifier: MIT
"""RTL with several defects to choose from: controls for tests.

A simulator takes a while to build, so one has all defects of its units in it: each expression
becomes a choice between itself and what stands there instead, and the environment variable
HW_DEFECT says which when it runs (hw/test/defect.h); 0 is none.
"""


class Unmarked(ValueError):
    """A defect whose text is not in its unit, or not once."""


def marked(text, defects):
    """The source `text` with all `defects` to choose from.

    A defect is (number, text with the expression between @, what stands there instead).
    """
    places = {}
    for number, place, instead in defects:
        before, expression, after = place.split("@")
        if text.count(before + expression + after) != 1:
            raise Unmarked(f"defect {number}: '{place}' is not there once")
        start = text.index(before + expression + after) + len(before)
        places.setdefault((start, start + len(expression)), []).append((number, instead))
    for (start, end), choices in sorted(places.items(), reverse=True):
        chosen = text[start:end]
        for number, instead in choices:
            chosen = f"($c32(\"hw_defect\") == 32'd{number} ? ({instead}) : ({chosen}))"
        text = text[:start] + chosen + text[end:]
    return text
