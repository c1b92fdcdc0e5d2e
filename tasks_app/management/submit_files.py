"""The file that ``manage.py submit`` reads: opened, told apart, read row by row."""

import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from tasks_app.management.column_mapping import RowMapping
from tasks_app.management.csv_rows import CsvFormat, open_csv
from tasks_app.management.file_rows import FileUnreadable, Row
from tasks_app.management.json_rows import array_rows, json_line_rows

FORMATS: Final = {
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
}
MARKS: Final = ((b"\xff\xfe\x00\x00", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
TAB: Final = ("tab", "\\t", "\t")


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """The file, or standard input where its name is -."""
    if name == "-":
        yield sys.stdin.buffer
    else:
        with Path(name).open("rb") as source:
            yield source


def format_of(options: Mapping[str, Any]) -> str:
    """What the file is. Raises FileUnreadable."""
    found = options["format"] or FORMATS.get(Path(options["file"]).suffix.lower())
    if found is None:
        raise FileUnreadable("give --format csv, jsonl (one object a line) or json (an array)")
    return str(found)


def check_rejects(source: BinaryIO, options: Mapping[str, Any], rejects: Path) -> None:
    """Whether the reject file is another file than the one that is read. Raises FileUnreadable."""
    try:
        same = os.path.samestat(os.fstat(source.fileno()), rejects.stat())
    except (OSError, io.UnsupportedOperation):
        same = False
    if same or (options["file"] != "-" and rejects.resolve() == Path(options["file"]).resolve()):
        raise FileUnreadable("--rejects names the file itself, which would be overwritten")


def rows_of(source: Any, mapping: RowMapping, options: Mapping[str, Any]) -> Iterator[Row]:
    """The rows from ``--from-line`` on. Raises FileUnreadable and MappingInvalid."""
    kind_of_file, encoding = format_of(options), options["encoding"]
    _check_mark(source, encoding)
    try:
        # A byte that is no text costs its own row and not the file.
        text = io.TextIOWrapper(source, encoding, "surrogateescape", newline="")
    except LookupError as error:
        raise FileUnreadable(f"--encoding: {error}") from error
    try:
        for row in _read(text, kind_of_file, mapping, options):
            if row.line >= options["from_line"]:
                yield row
    finally:
        # The wrapper would close the source that belongs to the caller.
        text.detach()


def _check_mark(source: Any, encoding: str) -> None:
    begins = source.peek(4)[:4]
    for mark, name in MARKS:
        if begins.startswith(mark):
            if not encoding.lower().replace("_", "-").startswith(name):
                raise FileUnreadable(f"the file is in {name.upper()}; give --encoding {name}")
            return


def _read(
    text: io.TextIOWrapper, kind_of_file: str, mapping: RowMapping, options: Mapping[str, Any]
) -> Iterator[Row]:
    if kind_of_file == "jsonl":
        return json_line_rows(text, any_value=options["any_json"])
    if kind_of_file == "json":
        return array_rows(text, any_value=options["any_json"])
    header, rows = open_csv(text, _csv_format(mapping, options))
    mapping.check(header)
    return rows


def _csv_format(mapping: RowMapping, options: Mapping[str, Any]) -> CsvFormat:
    delimiter = options["delimiter"]
    if delimiter is None and Path(options["file"]).suffix.lower() == ".tsv":
        delimiter = "\t"
    delimiter = "\t" if delimiter in TAB else delimiter
    return CsvFormat(
        delimiter=delimiter,
        used=mapping.used,
        named=bool(mapping.named),
        has_header=not options["no_header"],
        trusted=options["trust_header"],
        line_breaks=options["line_breaks"],
    )
