"""Rows as they are found in a file: one at a time, each with its physical lines, none fatal."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TextIO

from tasks_app.core.intake.payloads import LIMITS

LONGEST_ROW: Final = 6 * LIMITS.max_bytes
"""Characters of one row: an escape takes six for a byte that is stored."""

# How "surrogateescape" lets bytes through that are no text.
_BYTE: Final = re.compile("[\udc80-\udcff]")


class FileUnreadable(Exception):
    """The file as a whole cannot be read; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its physical lines from 1, its value or what is wrong with it.

    ``raw`` is the row's text as it stands in the file; a ``blank`` one holds nothing.
    """

    line: int
    raw: str
    value: Any = None
    fault: str = ""
    last_line: int = 0
    blank: bool = False

    @property
    def end(self) -> int:
        """The last of its lines."""
        return max(self.line, self.last_line)

    @property
    def lines(self) -> str:
        """Its lines as a person reads them."""
        return f"line {self.line}" if self.end == self.line else f"lines {self.line} to {self.end}"


class RowTooLong(Exception):
    """A row of more characters than any may have."""

    def __init__(self) -> None:
        super().__init__(f"a row of more than {LONGEST_ROW:,} characters")


class Lines(Iterator[str]):
    """Physical lines that are counted; a reader that fails on one can go on with the next.

    A generator would be over after its first exception, and would hold a row without an end.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._room = LONGEST_ROW
        self._taken: list[str] = []
        self.count = 0

    def __next__(self) -> str:
        line = self._stream.readline(self._room + 1)
        if not line:
            raise StopIteration
        self.count += 1
        self._taken.append(line)
        self._room -= len(line)
        if self._room < 0:
            while not line.endswith(("\n", "\r")) and (line := self._stream.readline(LONGEST_ROW)):
                pass
            raise RowTooLong
        return line

    def begin(self) -> int:
        """Start a new row; return the number of its first line."""
        self._taken.clear()
        self._room = LONGEST_ROW
        return self.count + 1

    def raw(self) -> str:
        """The text of the row begun last."""
        return "".join(self._taken).rstrip("\r\n")


MISREAD: Final = "bytes that are no text in this encoding; give --encoding, such as cp1252"


def misread(texts: Sequence[str]) -> bool:
    """Whether a text holds bytes that the decoder could not read."""
    return any(not text.isascii() and _BYTE.search(text) for text in texts)


def told(raw: str) -> str:
    """A row's text as it can be written: bytes that were no text appear as escapes.

    >>> told("a\\udce9b")
    'a\\\\xe9b'
    """
    return raw.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
