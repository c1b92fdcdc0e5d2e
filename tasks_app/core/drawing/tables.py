"""Rows as CSV and JSON text, safe to open in a spreadsheet."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar
from uuid import UUID

# What a spreadsheet would run, also behind apostrophes: one more can always be taken off again.
_RUNS: Final = re.compile(r"'*[=+\-@\t\r\n]")

Row = TypeVar("Row")
Columns = Mapping[str, Callable[[Row], Any]]
"""By heading, how its cell is read from a row."""


@dataclass(frozen=True, slots=True)
class Json:
    """A value that is JSON in a cell too, whatever it is: a text keeps its quotes."""

    value: Any


def csv_text(columns: Columns[Row], rows: Iterable[Row], *, headings: bool) -> str:
    """Rows as CSV, safe to open in a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    if headings:
        writer.writerow(columns)
    writer.writerows([_cell(read(row)) for read in columns.values()] for row in rows)
    return out.getvalue()


def json_text(columns: Columns[Row], row: Row) -> str:
    """One row as a JSON object on one line."""
    values = {column: _plain(read(row)) for column, read in columns.items()}
    return json.dumps(values, ensure_ascii=False, default=str)


def _plain(value: Any) -> Any:
    if isinstance(value, Json):
        return value.value
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds")
    return str(value) if isinstance(value, UUID) else value


def _cell(value: Any) -> Any:
    """A cell that a spreadsheet takes for text: it would run one that begins like a formula."""
    plain = _plain(value)
    if isinstance(value, Json) or isinstance(plain, dict | list):
        plain = json.dumps(plain, ensure_ascii=False)
    if isinstance(plain, str) and _RUNS.match(plain):
        return f"'{plain}"
    return plain


def unguarded(cell: str) -> str:
    """A cell's text without the apostrophe that the writer put before it.

    >>> unguarded("'=1+1"), unguarded("''-"), unguarded("'tis")
    ('=1+1', "'-", "'tis")
    """
    return cell[1:] if cell[:1] == "'" and _RUNS.match(cell[1:]) else cell
