"""The rows of a CSV file: each a mapping of column names to texts."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from tasks_app.core.intake.payloads import LIMITS
from tasks_app.management import csv_shape
from tasks_app.management.file_rows import (
    MISREAD,
    FileUnreadable,
    Lines,
    Row,
    RowTooLong,
    misread,
)


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """How a file is read. ``used`` are the columns that are asked for, None for all of them.

    Without a ``delimiter`` it is a comma, and doubted; ``trusted`` takes the header as it is. A
    field of more than ``line_breaks`` is refused: a quote that does not close swallows rows.
    """

    delimiter: str | None = None
    used: Sequence[str] | None = None
    named: bool = False
    has_header: bool = True
    trusted: bool = False
    line_breaks: int = 5

    @property
    def sign(self) -> str:
        """The delimiter."""
        return self.delimiter or ","


def open_csv(stream: TextIO, wanted: CsvFormat) -> tuple[Sequence[str], Iterator[Row]]:
    """The column names, and the rows. Raises FileUnreadable."""
    reader = _Reader(stream, wanted)
    return reader.header, reader.rows()


class _Reader:
    """One pass over a file, which begins with its header."""

    def __init__(self, stream: TextIO, wanted: CsvFormat) -> None:
        self._wanted = wanted
        self._lines = Lines(stream)
        # Strict, so that a broken quote is told and not guessed at; a field is no longer than what
        # a payload may hold, so that a quote that never closes ends there and not with the file.
        csv.field_size_limit(LIMITS.max_bytes)
        self._reader = csv.reader(self._lines, delimiter=wanted.sign, strict=True)
        self._line, first = self._first()
        self._first_row = None if wanted.has_header else first
        self.header = first if wanted.has_header else _numbered(first)
        self._check(first)
        used = wanted.used
        self._places = [
            (place, name)
            for place, name in enumerate(self.header)
            if name and (used is None or name in used)
        ]
        self._unnamed = [place for place, name in enumerate(self.header) if not name]

    def _first(self) -> tuple[int, list[str]]:
        """The first row that holds anything, and its line."""
        while True:
            line = self._lines.begin()
            try:
                first = next(self._reader)
            except StopIteration:
                if self._wanted.has_header:
                    message = "line 1: there is no header; the first line names the columns"
                    raise FileUnreadable(message) from None
                return line, []
            except (csv.Error, RowTooLong) as error:
                csv_shape.check_file(self._lines.raw())
                raise FileUnreadable(f"line {line}: the header cannot be read: {error}") from error
            if any(first):
                # A byte order mark that the encoding left in belongs to no name.
                first[0] = first[0].removeprefix("\ufeff")
                return line, first

    def _check(self, first: Sequence[str]) -> None:
        wanted, raw = self._wanted, self._lines.raw().removeprefix("\ufeff")
        if not wanted.trusted and first:
            csv_shape.check_file(raw)
            csv_shape.check_delimiter(raw, wanted.sign, given=wanted.delimiter is not None)
        if not wanted.has_header:
            return
        csv_shape.check_text(first)
        if not (wanted.trusted or wanted.named):
            csv_shape.check_names(first)
        csv_shape.check_clashes(first, wanted.used)

    def rows(self) -> Iterator[Row]:
        """Every row behind the header."""
        if self._first_row:
            yield self._row(self._line, self._first_row)
        while True:
            line = self._lines.begin()
            try:
                fields = next(self._reader)
            except StopIteration:
                return
            except (csv.Error, RowTooLong) as error:
                yield self._faulty(line, _told(error))
                continue
            yield self._row(line, fields)

    def _row(self, line: int, fields: Sequence[str]) -> Row:
        raw = self._lines.raw()
        # A cell that is written as "" is an empty text and not nothing.
        if not any(map(str.strip, fields)) and not raw.strip(f"{self._wanted.sign} \t\r\n"):
            return Row(line, raw, blank=True)
        if misread(fields):
            return self._faulty(line, MISREAD)
        if len(fields) != len(self.header):
            message = f"{len(fields)} columns where the header has {len(self.header)}"
            return self._faulty(line, message)
        many = self._lines.count - line > self._wanted.line_breaks
        if many and (fault := self._questioned(fields)):
            return self._faulty(line, fault)
        if self._wanted.used is None and any(fields[place] for place in self._unnamed):
            message = "a value in a column without a name; name it, or name those wanted by --map"
            return self._faulty(line, message)
        value = {name: fields[place] for place, name in self._places}
        return Row(line, raw, value, last_line=self._lines.count)

    def _questioned(self, fields: Sequence[str]) -> str:
        """Why a field of many lines is refused, or ""."""
        breaks = [max(text.count("\n"), text.count("\r")) for text in fields]
        most = max(breaks)
        if most <= self._wanted.line_breaks:
            return ""
        name = self.header[breaks.index(most)]
        message = f"the field {name!r} holds {most} line breaks: is a quote missing or too many?"
        return f"{message} Give --line-breaks {most} where the text is meant so"

    def _faulty(self, line: int, fault: str) -> Row:
        return Row(line, self._lines.raw(), fault=fault, last_line=self._lines.count)


def _told(error: Exception) -> str:
    message = f"no valid CSV: {error}"
    unclosed = any(words in message for words in ("unexpected end", "larger than field limit"))
    return f"{message}; a quote opens here and does not close" if unclosed else message


def _numbered(first: Sequence[Any]) -> list[str]:
    return [f"column{number}" for number in range(1, len(first) + 1)]
