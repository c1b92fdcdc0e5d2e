"""The rows of JSON files: one object a line, or the elements of one array, read as a stream."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TextIO

from tasks_app.core.intake.payloads import parse_json
from tasks_app.management.file_rows import (
    LONGEST_ROW,
    MISREAD,
    FileUnreadable,
    Lines,
    Row,
    RowTooLong,
    misread,
)

CHUNK: Final = 64 * 1024
"""Characters of an array that are looked at at once."""

_OUTSIDE: Final = re.compile(r'["\[\]{},]')
_INSIDE: Final = re.compile(r'["\\]')
_NAMES: Final = {str: "a text", bool: "true or false", type(None): "null", list: "an array"}


def json_line_rows(stream: TextIO, *, any_value: bool = False) -> Iterator[Row]:
    """One JSON object a line, or with ``any_value`` any JSON. Raises FileUnreadable."""
    lines = Lines(stream)
    strange: list[Row] = []
    first = True
    while True:
        line = lines.begin()
        try:
            text = next(lines)
        except StopIteration:
            break
        except RowTooLong as error:
            yield Row(line, lines.raw(), fault=str(error))
            continue
        row = _row(line, lines.count, text.removeprefix("\ufeff"), any_value=any_value)
        if first and not row.blank:
            _check_first(row, any_value=any_value)
            first = False
            if row.fault and not row.raw.lstrip().startswith("{"):
                strange.append(row)
                continue
        if strange:
            if row.fault and not row.blank and not row.raw.lstrip().startswith("{"):
                raise FileUnreadable(f"line {line}: no JSON; give --format csv where it is CSV")
            yield strange.pop()
        yield row
    yield from strange


def _check_first(row: Row, *, any_value: bool) -> None:
    text = row.raw.strip()
    if text.startswith("[") and (row.fault or not any_value):
        raise FileUnreadable(f"line {row.line}: this is a JSON array; use --format json")
    if text == "{":
        message = f"line {row.line}: this is JSON over several lines; write one object a line"
        raise FileUnreadable(f"{message}, or an array of objects for --format json")


def array_rows(stream: TextIO, *, any_value: bool = False) -> Iterator[Row]:
    """The elements of one JSON array, each a row. Raises FileUnreadable where there is none."""
    scan = _Scan()
    while chunk := stream.read(CHUNK):
        for element in scan.elements(chunk):
            yield element.row(any_value=any_value)
    if scan.begun and not scan.done:
        last = scan.current
        message = "the file ends before its array does"
        yield Row(last.line, last.text, fault=message, last_line=scan.line)
    elif not scan.begun:
        raise FileUnreadable("line 1: there is no JSON array; it begins with [")


@dataclass(slots=True)
class _Element:
    """The text of one element so far; of one that is too long only its beginning is kept."""

    line: int = 1
    last_line: int = 1
    text: str = ""
    parts: list[str] = field(default_factory=list)
    size: int = 0

    def add(self, text: str, line: int) -> None:
        """Take more of it; ``line`` is where this part begins."""
        if not self.size:
            bare = text.lstrip()
            line += text.count("\n", 0, len(text) - len(bare))
            text = bare
            self.line = line
        self.size += len(text)
        if solid := text.rstrip():
            self.last_line = line + solid.count("\n")
        if self.size <= LONGEST_ROW:
            self.parts.append(text)
            self.text = ""
        elif self.parts:
            self.text = "".join(self.parts)
            self.parts = []

    def row(self, *, any_value: bool) -> Row:
        """It as a row."""
        if self.size > LONGEST_ROW:
            return Row(self.line, self.text, fault=str(RowTooLong()), last_line=self.last_line)
        text = "".join(self.parts).strip()
        if not text:
            message = "nothing stands between two commas, or behind the last one"
            return Row(self.line, "", fault=message, last_line=self.last_line)
        return _row(self.line, self.last_line, text, any_value=any_value)


class _Scan:
    """Where elements of an array begin and end, whatever piece of the text is seen at a time."""

    def __init__(self) -> None:
        self.line = 1
        self.depth = 0
        self.begun = self.done = False
        self.current = _Element()
        self._in_text = self._escaped = self._comma = False

    def elements(self, chunk: str) -> Iterator[_Element]:
        """The elements that end in this piece. Raises FileUnreadable for what is no array."""
        at = 0
        for place, sign in self._signs(chunk):
            if sign in "[{":
                self.depth += 1
                if self.depth == 1:
                    self._begin(chunk[at:place], sign)
                    at = place + 1
            elif sign == "," and self.depth == 1:
                self._take(chunk[at:place])
                yield self._ended()
                self._comma, at = True, place + 1
            elif sign in "]}":
                self.depth -= 1
                if self.depth == 0:
                    self._take(chunk[at:place])
                    self.done, at = True, place + 1
                    if self.current.size or self._comma:
                        yield self._ended()
        self._take(chunk[at:])

    def _signs(self, chunk: str) -> Iterator[tuple[int, str]]:
        """The signs outside of texts that divide, each with its place."""
        place = 1 if self._escaped else 0
        self._escaped = False
        while found := (_INSIDE if self._in_text else _OUTSIDE).search(chunk, place):
            place = found.end()
            if found[0] == '"':
                self._in_text = not self._in_text
            elif self._in_text:
                self._escaped = place == len(chunk)
                place += 1
            else:
                yield found.start(), found[0]

    def _begin(self, before: str, sign: str) -> None:
        self._take(before)
        if self.done:
            raise FileUnreadable(f"line {self.line}: something follows the array; take it out")
        if sign == "{":
            message = "this is a JSON object and no array; put it into [ ]"
            raise FileUnreadable(f"line 1: {message}, or use --format jsonl for one object a line")
        self.begun = True

    def _take(self, text: str) -> None:
        if self.begun and not self.done:
            if self.current.size or text.strip():
                self.current.add(text, self.line)
        elif self.done and text.strip():
            raise FileUnreadable(f"line {self.line}: something follows the array; take it out")
        elif text.strip("\ufeff \t\r\n"):
            raise FileUnreadable("line 1: there is no JSON array; it begins with [")
        self.line += text.count("\n")

    def _ended(self) -> _Element:
        element = self.current
        if not element.size:
            element.line = element.last_line = self.line
        self.current = _Element()
        return element


def _row(line: int, last_line: int, text: str, *, any_value: bool) -> Row:
    raw = text.rstrip("\r\n")
    if not text.strip():
        return Row(line, raw, blank=True)
    if misread([text]):
        return Row(line, raw, fault=MISREAD, last_line=last_line)
    parsed = parse_json(text.rstrip(), first_line=line)
    fault = "; ".join(map(str, parsed.faults))
    if not fault and not any_value and not isinstance(parsed.value, dict):
        what = _NAMES.get(type(parsed.value), "a number")
        fault = f'a row is a JSON object such as {{"id": 1}}, and this is {what}'
    return Row(line, raw, parsed.value, fault, last_line)
