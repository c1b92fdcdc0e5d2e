"""``manage.py submit``: the rows of a CSV or JSON file as tasks of one kind."""

import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error
from tqdm import tqdm

from tasks_app.core.intake.new_tasks import HIGHEST_PRIORITY, unknown_kind
from tasks_app.management.arguments import whole_number
from tasks_app.management.column_mapping import (
    OWN,
    MappingInvalid,
    RowMapping,
    exported_mapping,
    parse_field,
    parse_own,
)
from tasks_app.management.file_rows import FileUnreadable
from tasks_app.management.file_submission import Intake
from tasks_app.management.interrupts import Interrupts
from tasks_app.management.reject_file import RejectFile, check_replaceable
from tasks_app.management.submit_files import check_rejects, format_of, opened, rows_of
from tasks_app.services.intake.submission import Rehearsal
from tasks_app.store.reads.settings.configuration import kind_doors
from tasks_app.store.reads.submission_right import why_not_writable

SOME_REJECTED: Final = 2
REMEDY: Final = (
    "To go on without doubles: correct the rows that the reject file holds, and submit them alone; "
    "with --id-column the whole file can be submitted again."
)
DRY_REMEDY: Final = (
    "Nothing was submitted: correct these rows in the file, and submit the file without --dry-run."
)
STOPPED: Final = 128
"""Added to the number of the signal, as shells do."""


class Command(BaseCommand):
    """Submits the good rows in batches and sets the bad ones aside, in constant memory."""

    help = (
        "Submit each row of a CSV or JSON file as a task. Exit code: 0 when every row was "
        "submitted or on record already, 2 when some were rejected, 1 when the file could not be "
        "read to its end, 128 and more when a signal ended it. It always says how many rows stand."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the file, how its rows become tasks, and where the bad ones go."""
        add = parser.add_argument
        add("kind", metavar="KIND", help="the kind of work, as the admin lists it")
        add("file", metavar="FILE", help="a .csv, .tsv, .jsonl, .ndjson or .json file; - is stdin")
        add(
            "--format",
            choices=["csv", "jsonl", "json"],
            help="jsonl is one object a line, json one array; needed where the name has no ending",
        )
        _add_mapping(parser)
        _add_reading(parser)
        add("--dry-run", action="store_true", help="check everything and submit nothing")
        add(
            "--rejects",
            type=Path,
            metavar="FILE",
            help="default: FILE.rejects.jsonl. Only the reject file of an earlier run is replaced, "
            "and by a dry run none",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Submit the file; leave by the exit code. Each end says how many rows stand."""
        options["delimiter"] = _delimiter(options)
        intake, interrupts = None, Interrupts()
        try:
            mapping = _mapping(options)
            rejects = _rejects(options)
            with ExitStack() as stack:
                source = stack.enter_context(opened(options["file"]))
                check_rejects(source, options, rejects)
                reject_file = stack.enter_context(RejectFile(rejects))
                rehearsal = stack.enter_context(Rehearsal()) if options["dry_run"] else None
                stack.enter_context(interrupts)
                intake = Intake(mapping, reject_file, rehearsal)
                self._take(source, intake, interrupts, options)
        except CommandError:
            raise
        except (OSError, FileUnreadable, MappingInvalid, UnicodeError) as error:
            hint = "; give --encoding" if isinstance(error, UnicodeError) else ""
            raise CommandError(f"{error}{hint}\n{_stand(intake, options)}") from error
        except Error as error:
            message = f"the database failed: {str(error).strip()}"
            raise CommandError(f"{message}\n{_stand(intake, options, doubt=True)}") from error
        except KeyboardInterrupt:
            self.stderr.write(f"stopped by a signal\n{_stand(intake, options)}")
            sys.exit(STOPPED + interrupts.number)
        except BaseException:
            self.stderr.write(_stand(intake, options, doubt=True))
            raise
        self._conclude(intake, rejects)

    def _take(
        self, source: BinaryIO, intake: Intake, interrupts: Interrupts, options: dict[str, Any]
    ) -> None:
        seekable = source.seekable()
        size = Path(options["file"]).stat().st_size if seekable and options["file"] != "-" else None
        # disable=None: a bar on a terminal, and nothing where the output goes to a file.
        with tqdm(total=size, unit="B", unit_scale=True, disable=None) as bar:
            for row in rows_of(source, intake.mapping, options):
                interrupts.guard(partial(intake.take, row))
                if size is not None and intake.taken % 100 == 0:
                    bar.update(source.tell() - bar.n)
            interrupts.guard(intake.flush)

    def _conclude(self, intake: Intake, rejects: Path) -> None:
        told = f"{intake.taken:,} rows: {_count(intake)}"
        if intake.rejected:
            told += f", {intake.rejected:,} rejected"
        if intake.conflicts:
            told += f", {intake.conflicts:,} with other content under an id on record"
        if intake.rejects.entries:
            told += f", see {rejects}"
        if intake.blank:
            told += f"; {intake.blank:,} blank rows skipped"
        self.stdout.write(told)
        if intake.rejects.entries:
            more = intake.rejects.entries - len(intake.told)
            self.stderr.write("\n".join(intake.told) + (f"\nand {more:,} more" if more else ""))
            self.stderr.write(DRY_REMEDY if intake.rehearsal else REMEDY)
            sys.exit(SOME_REJECTED)


def _add_mapping(parser: CommandParser) -> None:
    add = parser.add_argument
    add(
        "--map",
        action="append",
        default=[],
        metavar="FIELD[:TYPE]=COLUMN",
        help="a field of the payload and its column; TYPE is text, integer, number, boolean "
        "or json, and an empty cell of another type than text leaves its field out. Repeat "
        "it; the payload has these fields alone (default: all columns, as text)",
    )
    add("--payload-column", metavar="COLUMN", help="the whole payload, as JSON, in place of --map")
    add(
        "--task",
        action="append",
        default=[],
        metavar="FIELD=COLUMN",
        help=f"a column that says something of the task itself: {', '.join(OWN)}. Repeat it; "
        "an empty cell leaves the field as it is without",
    )
    add("--id-column", metavar="COLUMN", help="the idempotency key: no row makes two tasks")
    add(
        "--exported",
        action="store_true",
        help="the file was written by manage.py tasks --with-payload: payload, key, priority, "
        "lock, weight and deadline are taken from its columns",
    )
    most = HIGHEST_PRIORITY
    add(
        "--priority",
        type=whole_number(-most, most),
        default=0,
        help="of every task (default: %(default)s)",
    )


def _add_reading(parser: CommandParser) -> None:
    add = parser.add_argument
    add("--delimiter", help='of a CSV file; "tab" is one (default: comma)')
    add("--no-header", action="store_true", help="name the columns column1, column2 and so on")
    add("--trust-header", action="store_true", help="take the header as it is, however odd")
    add(
        "--line-breaks",
        type=whole_number(0),
        default=5,
        metavar="N",
        help="line breaks that a field of a CSV file may hold (default: %(default)s); more are "
        "refused, because a quote that does not close swallows rows",
    )
    add("--any-json", action="store_true", help="take JSON values that are no objects as payloads")
    add("--encoding", default="utf-8-sig", help="of the file (default: UTF-8, BOM or not)")
    add(
        "--from-line",
        type=whole_number(1),
        default=1,
        metavar="N",
        help="pass over the rows that begin before this line: to go on after a run that stopped",
    )


def _count(intake: Intake) -> str:
    verb = "submitted" if intake.rehearsal is None else "would be submitted"
    return f"{intake.created:,} {verb}, {intake.existing:,} on record already"


def _stand(intake: Intake | None, options: dict[str, Any], *, doubt: bool = False) -> str:
    """How many rows stand after an end in the midst, and how to go on without doubles."""
    if options["dry_run"] or intake is None or not (intake.settled or intake.pending):
        return "Nothing was submitted."
    told = f"{_count(intake)}: these rows stand, up to line {intake.settled}."
    if intake.rejects.entries:
        told += f" {intake.rejects.entries:,} were set aside in {intake.rejects.path}; keep it."
    again = "To go on without doubles, run the same command again"
    if intake.mapping.id_column is not None:
        return f"{told}\n{again}: rows that stand are known by their id."
    if doubt and intake.pending is not None:
        first, last = intake.pending
        told += (
            f"\nLines {first} to {last} were being submitted, and may stand or not: look for one "
            "of them with manage.py tasks before you go on."
        )
    on = f"--from-line {intake.settled + 1} and another --rejects"
    return f"{told}\n{again} with {on}; with --id-column no row is ever submitted twice."


def _delimiter(options: dict[str, Any]) -> str | None:
    given: str | None = options["delimiter"]
    if given is not None and given not in ("tab", "\\t") and (len(given) != 1 or given in '"\r\n'):
        raise CommandError(
            f"--delimiter: {given!r} is not one character; give one such as ; or tab"
        )
    return given


def _rejects(options: dict[str, Any]) -> Path:
    name = options["file"]
    default = "stdin.rejects.jsonl" if name == "-" else f"{name}.rejects.jsonl"
    path = Path(options["rejects"] or default)
    if options["dry_run"] and path.exists():
        check_replaceable(path)
        # What a run has rejected is not replaced by what one would reject.
        return path.with_name(f"{path.name}.dry-run")
    return path


def _mapping(options: dict[str, Any]) -> RowMapping:
    if why := why_not_writable():
        raise CommandError(f"{why}. Nothing was submitted.")
    kinds = kind_doors()
    if options["kind"] not in kinds:
        raise CommandError(f"{options['kind']}: {unknown_kind(options['kind'], kinds)}")
    whole = [name for name in ("payload_column", "exported") if options[name]]
    if len(whole) > 1 or (whole and options["map"]):
        raise CommandError("give one of --map, --payload-column and --exported")
    if options["exported"]:
        if options["task"] or options["id_column"]:
            raise CommandError("--exported names the columns itself; leave --task, --id-column out")
        return exported_mapping(options["kind"], guarded=format_of(options) == "csv")
    try:
        fields = [parse_field(text) for text in options["map"]]
    except MappingInvalid as error:
        raise CommandError(f"--map {error}") from error
    try:
        own = [parse_own(text) for text in options["task"]]
    except MappingInvalid as error:
        raise CommandError(f"--task {error}") from error
    return RowMapping(
        options["kind"],
        fields,
        options["id_column"],
        options["priority"],
        own,
        options["payload_column"],
    )
