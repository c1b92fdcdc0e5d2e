"""Whether the first line of a CSV file can be its header, and what to add where it cannot."""

import csv
import re
from collections.abc import Sequence
from typing import Final

from tasks_app.management.file_rows import MISREAD, FileUnreadable, misread, told

DELIMITERS: Final = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}
"""Those that files have, each as it is written behind --delimiter."""

_OTHER_FILES: Final[tuple[tuple[str, str], ...]] = (
    (r"PK\x03\x04", "an Excel workbook or a zip file: save the sheet as CSV"),
    (r"\x1f.?\x8b|\x1f", "compressed: unpack it first"),
    (r"%PDF", "a PDF document, which holds no rows"),
    (r"\s*<[!?a-zA-Z]", "HTML or XML: export the rows as CSV or JSON"),
    (r"\s*\{\s*(\"|\}|$)", "JSON: give --format jsonl"),
    (r"\s*\[\s*([\[{\"\]0-9]|$)", "a JSON array: give --format json"),
)
_SEPARATOR: Final = re.compile(r"sep=(.)", re.IGNORECASE)
_DATA: Final = re.compile(
    r"[-+]?[0-9][0-9.,' ]*%?"  # a number
    r"|[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}([T ].*)?"  # a date
    r"|[^@\s]+@[^@\s]+\.[^@\s]+"  # an e-mail address
    r"|https?://.*"
    r"|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
)


def check_file(first: str) -> None:
    """Look at the first line as text. Raises FileUnreadable for a file that is no CSV."""
    if "\x00" in first:
        message = "holds NUL characters: give its --encoding, such as utf-16-le"
        raise FileUnreadable(f"line 1 {message}; a workbook is first saved as CSV")
    for pattern, what in _OTHER_FILES:
        if re.match(pattern, first):
            raise FileUnreadable(f"line 1: the file is {what}")
    if first.startswith("\u00ef\u00bb\u00bf"):
        raise FileUnreadable("the file is in UTF-8 with a byte order mark: leave --encoding out")
    if separator := _SEPARATOR.fullmatch(first.strip('\r\n"')):
        shown = DELIMITERS.get(separator[1], f"'{separator[1]}'")
        message = f"line 1 is not the header but {first.strip()!r}: take it out"
        raise FileUnreadable(f"{message} and give --delimiter {shown}")


def check_delimiter(first: str, delimiter: str, *, given: bool) -> None:
    """Compare with the other delimiters. Raises FileUnreadable where another fits better.

    One that was given is doubted only where it splits nothing.
    """
    columns = _columns(first, delimiter)
    if given and columns > 1:
        return
    others = [each for each in DELIMITERS if each != delimiter]
    best = max(others, key=lambda each: _columns(first, each))
    if (count := _columns(first, best)) > columns:
        now = "1 column" if columns == 1 else f"{columns} columns"
        used = DELIMITERS.get(delimiter, repr(delimiter))
        raise FileUnreadable(
            f"line 1 has {now} with the delimiter {used} and {count} with {DELIMITERS[best]}: "
            f"give --delimiter {DELIMITERS[best]}, or --trust-header where it is right"
        )


def _columns(line: str, delimiter: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:
        return 0


def check_names(header: Sequence[str]) -> None:
    """Whether names can be names. Raises FileUnreadable where one looks like data."""
    data = [name for name in header if _DATA.fullmatch(name.strip())]
    if data:
        raise FileUnreadable(
            f"line 1 looks like data and not like a header ({told(data[0])[:60]!r}): give "
            "--no-header, or --trust-header where these are the names of the columns"
        )


def check_text(header: Sequence[str]) -> None:
    """Whether names are text. Raises FileUnreadable."""
    if misread(header):
        raise FileUnreadable(f"line 1: the header is no text in this encoding: {MISREAD}")


def check_clashes(header: Sequence[str], used: Sequence[str] | None) -> None:
    """Whether a column that is used has a name of its own. Raises FileUnreadable."""
    names = [name for name in header if name] if used is None else used
    twice = sorted({name for name in names if header.count(name) > 1})
    if twice:
        raise FileUnreadable(
            f"line 1: {header.count(twice[0])} columns have the name {told(twice[0])[:60]!r}; "
            "rename them, or name the columns that are wanted by --map"
        )
