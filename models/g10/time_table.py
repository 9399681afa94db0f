"""The artifact's tables of one value per kernel: lines of ``NUMBER VALUE UNIT`` in the order of the kernels.

Read as the artifact does (``main.cc``, ``loadKernelTimes`` and ``loadWorkspaceSizes``), with exact decimal arithmetic.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from g10c.ir.errors import Diagnostic
from g10c.ir.program import Op
from g10c.ir.source import Source, Span

NS_PER_MS_DIGITS = 6
_DECIMAL = re.compile(r"[0-9]{1,15}(\.[0-9]*)?([eE][+-]?[0-9]{1,2})?\Z")


@dataclass(frozen=True, slots=True)
class Entry:
    """A value of the table, with the span of its line."""

    value: int
    source: Source
    line: int

    @property
    def span(self) -> Span:
        """The line of the table."""
        return self.source.line_span(self.line)


def parse_times(source: Source, kernels: Sequence[Op], diagnostics: list[Diagnostic]) -> list[Entry]:
    """Durations in ns, from a table in ms; every mistake is added to ``diagnostics``."""
    return _Table(source, kernels, "ms", "time", diagnostics).entries()


def parse_sizes(source: Source, kernels: Sequence[Op], diagnostics: list[Diagnostic]) -> list[Entry]:
    """Workspaces in bytes, from a table in B; every mistake is added to ``diagnostics``."""
    return _Table(source, kernels, "B", "workspace", diagnostics).entries()


def milliseconds(text: str) -> int | str:
    """Exact nanoseconds of a positive decimal number of milliseconds, or why there are none."""
    whole, _, fraction = text.partition(".")
    if (
        whole.isascii()
        and whole.isdigit()
        and len(whole) < 13
        and len(fraction) <= NS_PER_MS_DIGITS
        and fraction.isascii()
        and fraction.isdigit()
    ):
        value = int(whole + fraction.ljust(NS_PER_MS_DIGITS, "0"))
    elif not _DECIMAL.match(text):
        return "is not a positive decimal number"
    else:
        exact = Decimal(text).scaleb(NS_PER_MS_DIGITS)
        value = int(exact)
        if value != exact:
            return "is not a whole number of nanoseconds"
    if not 0 < value < 1 << 63:
        return "is not positive" if not value else "is too large"
    return value


def whole_bytes(text: str) -> int | str:
    """A whole number of bytes, or why it is none."""
    if text.isascii() and text.isdigit() and len(text) < 19:
        return int(text)
    return "is not a whole number of bytes"


class _Table:
    """One table being read."""

    def __init__(self, source: Source, kernels: Sequence[Op], unit: str, what: str, diagnostics: list[Diagnostic]) -> None:
        self.source = source
        self.kernels = kernels
        self.unit = unit
        self.what = what
        self.diagnostics = diagnostics
        self.convert = milliseconds if unit == "ms" else whole_bytes

    def entries(self) -> list[Entry]:
        """Read all lines. The list has one entry per kernel unless there were mistakes."""
        found: list[Entry] = []
        numbers: dict[int, int] = {}
        expected = 0
        for line, text in enumerate(self.source.text.split("\n"), 1):
            words = text.split()
            if not words:
                continue
            number = self._number(words[0], line, expected)
            expected = number + 1
            numbers.setdefault(number, line)
            value = self._value(words, line)
            if value is not None:
                found.append(Entry(value, self.source, line))
        self._check_count(numbers)
        return found

    def _number(self, text: str, line: int, expected: int) -> int:
        """Kernel of a line, ``expected`` where it has none. A number out of order is noted; the lines after it count on from there."""
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
        if number == expected:
            return number
        if number is None:
            self._note(f"expected the number of a kernel, {expected}, found {text!r}", line, text)
            return expected
        self._note(f"expected kernel {expected}, found {number}", line, text, "one line for each kernel, numbered from 0")
        return number

    def _value(self, words: list[str], line: int) -> int | None:
        if len(words) != 3:
            hint = f"such as '0012 {'0.197632' if self.unit == 'ms' else '4096'} {self.unit}'"
            self._note(f"expected a number, a {self.what} and {self.unit!r}, found {len(words)} words", line, "", hint)
            return None
        _, text, unit = words
        value = self.convert(text)
        if isinstance(value, str):
            self._note(f"the {self.what} {text!r} {value}", line, text)
            return None
        if unit != self.unit:
            self._note(f"expected unit {self.unit!r}, found {unit!r}", line, unit)
            return None
        return value

    def _check_count(self, numbers: dict[int, int]) -> None:
        """Note kernels without a line and lines without a kernel. ``numbers`` has the first line of each number in the table."""
        count = len(self.kernels)
        missing = next((number for number in range(count) if number not in numbers), None)
        extra = next((number for number in numbers if number >= count), None)
        if missing is None and extra is None:
            return
        message = f"{len(numbers)} kernels in the table, {count} in the network"
        line = None
        if missing is not None:
            op = self.kernels[missing]
            message += f"; the first without a {self.what} is kernel {missing}, {op.name} of {op.attrs['layer']} ({op.location})"
            line = next((line for number, line in numbers.items() if number > missing), max(numbers.values(), default=None))
        if extra is not None:
            message += f"; the first too many is kernel {extra}"
            line = numbers[extra]
        location = self.source.line_span(line) if line else None
        message = message if location else f"{self.source.name}: {message}"
        self.diagnostics.append(Diagnostic(message, location, "is it the table of this network, and complete?"))

    def _note(self, message: str, line: int, word: str, hint: str = "") -> None:
        span = self.source.line_span(line)
        self.diagnostics.append(Diagnostic(message, span.find(word) if word else span, hint))
