# SPDX-License-Identifier: MIT
"""Read what C and Python share from the C headers that say it: numbers, formulas and structures of
explicit widths. Standard library only.

    #define NAME expression              a number; the expression may use names that were defined before it
    #define NAME(a, b) expression        a formula: a Python function of integers
    struct NAME { uint32_t x; struct other y[N]; };     a structure, packed by the names of its fields

Expressions have integers, names, + - * / % << >> & | ~ and brackets; what is anything else is left
out. Structures have no gaps: a field that would need one is refused.
"""

import re
import struct

TEXT = re.compile(r"/\*.*?\*/|\\\n", re.S)
NUMBER = re.compile(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]*\b")
PLAIN = re.compile(r"[\w\s()+\-*/%<>&|~,]+")
FIELD = re.compile(r"(?:(u?int(?:8|16|32|64)_t|char)|struct\s+(\w+))\s+(\w+)(?:\[([^\]]+)\])?")
CODES = {"uint8_t": "B", "int8_t": "b", "char": "s", "uint16_t": "H", "int16_t": "h",
         "uint32_t": "I", "int32_t": "i", "uint64_t": "Q", "int64_t": "q"}


class HeaderError(Exception):
    """A header that says something else than expected; one line."""


class Header:
    """What some headers say, later ones with the names of earlier ones."""

    def __init__(self, *paths):
        self.names, self.fields = {}, {}
        for path in paths:
            with open(path, encoding="utf-8") as f:
                text = TEXT.sub(" ", f.read())
            self._read_defines(text)
            for m in re.finditer(r"^struct (\w+) \{\n(.*?)^\};", text, re.M | re.S):
                self._read_struct(m.group(1), m.group(2))

    def __getattr__(self, name):
        try:
            return self.names[name]
        except KeyError:
            raise HeaderError(f"no header defines {name}") from None

    def _read_defines(self, text):
        for m in re.finditer(r"^#define[ \t]+(\w+)(\([\w, ]*\))?[ \t]+(\S.*?)[ \t]*$", text, re.M):
            name, parameters, expression = m.groups()
            expression = NUMBER.sub(r"\1", expression).replace("/", "//")
            if not PLAIN.fullmatch(expression):
                continue
            try:
                self.names[name] = eval(f"lambda {parameters[1:-1]}: {expression}" if parameters
                                        else expression, self.names)
            except (NameError, SyntaxError, TypeError):
                continue
        self.names.pop("__builtins__", None)

    def _read_struct(self, name, body):
        fields = []
        for line in filter(None, (part.strip() for part in body.split(";"))):
            m = FIELD.fullmatch(line)
            if not m:
                return                          # not one of explicit widths
            try:
                count = eval(NUMBER.sub(r"\1", m.group(4)), {}, self.names) if m.group(4) else None
            except NameError:
                return                          # of a length that these headers do not say
            fields.append((m.group(3), m.group(1) or m.group(2), count))
        self.fields[name] = fields

    def _align(self, kind):
        return struct.calcsize(CODES[kind].replace("s", "B")) if kind in CODES else max(self._align(k)
                                                                                        for _, k,
                                                                                        _ in self.fields[kind])

    def size(self, kind):
        """Bytes of a structure or a basic type."""
        if kind in CODES:
            return self._align(kind)
        total = 0
        for name, of, count in self.fields[kind]:
            if total % self._align(of):
                raise HeaderError(f"struct {kind}: there is a gap before {name}")
            total += self.size(of) * (1 if count is None else count)
        if total % self._align(kind):
            raise HeaderError(f"struct {kind}: there is a gap at the end")
        return total

    def pack(self, order, kind, values):
        """The bytes of a structure. values: a dict; arrays may be short, the rest is zero. A field
        without a value, or a value without a field, is an error."""
        self.size(kind)
        fields = self.fields[kind]
        unknown = set(values) ^ {name for name, _, _ in fields}
        if unknown:
            raise HeaderError(f"struct {kind}: {', '.join(sorted(unknown))} "
                              f"{'is' if len(unknown) == 1 else 'are'} not on both sides")
        return b"".join(self._pack_field(order, of, count, values[name]) for name, of, count in fields)

    def _pack_field(self, order, of, count, value):
        if of == "char" or count is None:
            data = value.ljust(count, b"\0") if of == "char" else self._pack_one(order, of, value)
        else:
            data = b"".join(self._pack_one(order, of, v) for v in value).ljust(count * self.size(of), b"\0")
        if len(data) != self.size(of) * (1 if count is None else count):
            raise HeaderError(f"{len(data)} bytes are too many for an array of {count} {of}")
        return data

    def _pack_one(self, order, of, value):
        return struct.pack(order + CODES[of], value) if of in CODES else self.pack(order, of, value)

    def unpack(self, order, kind, data):
        """What the bytes of a structure say, as pack takes it."""
        self.size(kind)
        values, at = {}, 0
        for name, of, count in self.fields[kind]:
            size = self.size(of)
            parts = [data[i:i + size] for i in range(at, at + size * (1 if count is None else count), size)]
            at += size * len(parts)
            if of == "char":
                values[name] = b"".join(parts)
            else:
                found = [struct.unpack(order + CODES[of], p)[0] if of in CODES else self.unpack(order, of, p)
                         for p in parts]
                values[name] = found[0] if count is None else found
        return values
