"""Rows of a CSV or JSON Lines file: one at a time, each with its physical line, none fatal."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TextIO

from tasks_app.core.payloads import LIMITS, parse_json

LONGEST_ROW: Final = 6 * LIMITS.max_bytes
"""Characters of one row: an escape takes six for a byte that is stored."""

# How "surrogateescape" lets bytes through that are no text.
_BYTE: Final = re.compile("[\udc80-\udcff]")


class FileUnreadable(Exception):
    """The file as a whole cannot be read; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it was found: its first physical line from 1, its value or what is wrong.

    ``raw`` is the row's text as it stands in the file.
    """

    line: int
    raw: str
    value: Any = None
    fault: str = ""


class _RowTooLong(Exception):
    pass


class _Lines(Iterator[str]):
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
            raise _RowTooLong(f"a row of more than {LONGEST_ROW:,} characters")
        return line

    def begin(self) -> int:
        """Start a new row; return the number of its first line."""
        self._taken.clear()
        self._room = LONGEST_ROW
        return self.count + 1

    def raw(self) -> str:
        """The text of the row begun last."""
        return "".join(self._taken).rstrip("\r\n")


def csv_header(stream: TextIO, delimiter: str) -> tuple[Sequence[str], Iterator[Row]]:
    """The column names, and the rows after them as objects. Raises FileUnreadable.

    A column without a name is left out.
    """
    lines = _Lines(stream)
    # Strict, so that a broken quote is told and not guessed at; a field is no longer than what a
    # payload may hold, so that a quote that never closes ends there and not with the file.
    csv.field_size_limit(LIMITS.max_bytes)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        header = next(reader, [])
    except (csv.Error, _RowTooLong) as error:
        raise FileUnreadable(f"line 1: the header cannot be read: {error}") from error
    if not any(header):
        raise FileUnreadable("line 1: there is no header; the first line names the columns")
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        raise FileUnreadable(f"line 1: two columns have the name {twice[0]!r}; rename one")
    if _misread(header):
        raise FileUnreadable("line 1: the header is no text in this encoding; give --encoding")
    return header, _csv_rows(reader, lines, header)


def _csv_rows(reader: Any, lines: _Lines, header: Sequence[str]) -> Iterator[Row]:
    while True:
        line = lines.begin()
        try:
            fields = next(reader)
        except StopIteration:
            return
        except (csv.Error, _RowTooLong) as error:
            yield Row(line, lines.raw(), fault=f"no valid CSV: {error}")
            continue
        if not fields:
            continue
        if _misread(fields):
            yield Row(line, lines.raw(), fault="bytes that are no text in this encoding")
        elif len(fields) != len(header):
            message = f"{len(fields)} columns where the header has {len(header)}"
            yield Row(line, lines.raw(), fault=message)
        else:
            named = {name: text for name, text in zip(header, fields, strict=True) if name}
            yield Row(line, lines.raw(), named)


def json_rows(stream: TextIO) -> Iterator[Row]:
    """One JSON value a line; blank lines are passed over."""
    lines = _Lines(stream)
    while True:
        line = lines.begin()
        try:
            text = next(lines)
        except StopIteration:
            return
        except _RowTooLong as error:
            yield Row(line, lines.raw(), fault=str(error))
            continue
        if not text.strip():
            continue
        if _misread([text]):
            yield Row(line, lines.raw(), fault="bytes that are no text in this encoding")
            continue
        parsed = parse_json(text)
        faults = "; ".join(f"{fault.place}: {fault.message}" for fault in parsed.faults)
        yield Row(line, lines.raw(), parsed.value, faults)


def _misread(texts: Sequence[str]) -> bool:
    """Whether a text holds bytes that the decoder could not read."""
    return any(not text.isascii() and _BYTE.search(text) for text in texts)


def told(raw: str) -> str:
    """A row's text as it can be written: bytes that were no text appear as escapes.

    >>> told("a\\udce9b")
    'a\\\\xe9b'
    """
    return raw.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
