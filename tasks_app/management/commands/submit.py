"""``manage.py submit``: the rows of a CSV or JSON Lines file as tasks of one kind."""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error
from tqdm import tqdm

from tasks_app.core.new_tasks import HIGHEST_PRIORITY, unknown_kind
from tasks_app.management.intake import Intake, RejectFile
from tasks_app.management.mapping import OWN, MappingInvalid, RowMapping, parse_field, parse_own
from tasks_app.management.rows import FileUnreadable, Row, csv_header, json_rows
from tasks_app.store.reads.configuration import kind_doors

FORMATS: Final = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
SOME_REJECTED: Final = 2


class Command(BaseCommand):
    """Submits the good rows in batches and sets the bad ones aside, in constant memory."""

    help = (
        "Submit each row of a CSV or JSON Lines file as a task. Exit code: 0 when every row was "
        "submitted or on record already, 2 when some were rejected, 1 when nothing could be read."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the file, how its rows become tasks, and where the bad ones go."""
        add = parser.add_argument
        add("kind", metavar="KIND", help="the kind of work, as the admin lists it")
        add("file", metavar="FILE", help="a .csv, .jsonl or .ndjson file; - reads standard input")
        add("--format", choices=["csv", "jsonl"], help="needed where the file's name has no ending")
        add(
            "--map",
            action="append",
            default=[],
            metavar="FIELD[:TYPE]=COLUMN",
            help="a field of the payload and its column; TYPE is text, integer, number, boolean "
            "or json, and an empty cell of another type than text leaves its field out. Repeat "
            "it; the payload has these fields alone (default: all columns, as text)",
        )
        add(
            "--task",
            action="append",
            default=[],
            metavar="FIELD=COLUMN",
            help=f"a column that says something of the task itself: {', '.join(OWN)}. Repeat it; "
            "an empty cell leaves the field as it is without",
        )
        add("--id-column", metavar="COLUMN", help="the idempotency key: no row makes two tasks")
        add("--priority", type=int, default=0, help="of every task (default: %(default)s)")
        add("--dry-run", action="store_true", help="check everything and submit nothing")
        add("--rejects", type=Path, metavar="FILE", help="default: FILE.rejects.jsonl")
        add("--delimiter", default=",", help='of a CSV file; "tab" is one (default: comma)')
        add("--encoding", default="utf-8-sig", help="of the file (default: UTF-8, BOM or not)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Submit the file; leave by the exit code."""
        mapping = _mapping(options)
        name = options["file"]
        rejects = options["rejects"] or Path(
            "stdin.rejects.jsonl" if name == "-" else f"{name}.rejects.jsonl"
        )
        if name != "-" and rejects.resolve() == Path(name).resolve():
            raise CommandError("--rejects names the file itself, which would be overwritten")
        try:
            with _opened(name) as source, RejectFile(rejects) as reject_file:
                intake = Intake(mapping, reject_file, options["dry_run"])
                self._take(source, intake, options)
        except (OSError, FileUnreadable, MappingInvalid) as error:
            raise CommandError(str(error)) from error
        self._conclude(intake, rejects)

    def _take(self, source: BinaryIO, intake: Intake, options: dict[str, Any]) -> None:
        seekable = source.seekable()
        size = Path(options["file"]).stat().st_size if seekable and options["file"] != "-" else None
        # disable=None: a bar on a terminal, and nothing where the output goes to a file.
        bar = tqdm(total=size, unit="B", unit_scale=True, disable=None)
        line = 0
        with bar:
            try:
                for row in _rows(source, intake.mapping, options):
                    intake.take(row)
                    line = row.line
                    if size is not None and intake.taken % 100 == 0:
                        bar.update(source.tell() - bar.n)
                intake.flush()
            except UnicodeError as error:
                raise FileUnreadable(f"after line {line}: {error}; give --encoding") from error
            except Error as error:
                raise CommandError(
                    f"the database failed near line {line}: {error}\n{_count(intake)} stand; run "
                    "it again with --id-column, which submits nothing twice"
                ) from error

    def _conclude(self, intake: Intake, rejects: Path) -> None:
        if not intake.taken:
            raise CommandError("the file has no rows")
        told = f"{intake.taken:,} rows: {_count(intake)}"
        if intake.rejected:
            told += f", {intake.rejected:,} rejected, see {rejects}"
        self.stdout.write(told)
        if intake.rejected:
            sys.exit(SOME_REJECTED)


def _count(intake: Intake) -> str:
    verb = "would be submitted" if intake.dry_run else "submitted"
    return f"{intake.created:,} {verb}, {intake.existing:,} on record already"


def _mapping(options: dict[str, Any]) -> RowMapping:
    kinds = kind_doors()
    if options["kind"] not in kinds:
        raise CommandError(f"{options['kind']}: {unknown_kind(options['kind'], kinds)}")
    if not -HIGHEST_PRIORITY <= options["priority"] <= HIGHEST_PRIORITY:
        raise CommandError(f"--priority: give -{HIGHEST_PRIORITY} to {HIGHEST_PRIORITY}")
    try:
        fields = [parse_field(text) for text in options["map"]]
    except MappingInvalid as error:
        raise CommandError(f"--map {error}") from error
    try:
        own = [parse_own(text) for text in options["task"]]
    except MappingInvalid as error:
        raise CommandError(f"--task {error}") from error
    return RowMapping(options["kind"], fields, options["id_column"], options["priority"], own)


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
    else:
        with Path(name).open("rb") as source:
            yield source


def _rows(source: Any, mapping: RowMapping, options: dict[str, Any]) -> Iterator[Row]:
    kind_of_file = options["format"] or FORMATS.get(Path(options["file"]).suffix.lower())
    if kind_of_file is None:
        raise FileUnreadable("give --format csv or --format jsonl")
    if options["encoding"] == "utf-8-sig" and source.peek(2)[:2] in UTF_16:
        raise FileUnreadable("the file is in UTF-16; give --encoding utf-16")
    try:
        # A byte that is no text costs its own row and not the file.
        text = io.TextIOWrapper(source, options["encoding"], "surrogateescape", newline="")
    except LookupError as error:
        raise FileUnreadable(str(error)) from error
    try:
        if kind_of_file == "jsonl":
            yield from json_rows(text)
            return
        delimiter = "\t" if options["delimiter"] == "tab" else options["delimiter"]
        if len(delimiter) != 1:
            raise FileUnreadable("--delimiter: give one character, or tab")
        header, rows = csv_header(text, delimiter)
        mapping.check(header)
        yield from rows
    finally:
        # The wrapper would close the source that belongs to the caller.
        text.detach()
