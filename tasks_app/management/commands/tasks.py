"""``manage.py tasks``: the tasks that a query finds, at the command line."""

import math
import sys
from collections.abc import Sequence
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tasks_app.core.drawing.tables import csv_text, json_text
from tasks_app.core.search.query_checks import QueryFault
from tasks_app.management.arguments import whole_number
from tasks_app.services.search.task_columns import TASK_COLUMNS, WHOLE_COLUMNS, with_payloads
from tasks_app.services.search.task_search import ReadQuery, SearchOrder, read_query
from tasks_app.store.reads.search.task_lists import iterate_pages, newest_id
from tasks_app.store.reads.search.task_rows import Sort, TaskRow

ORDERS = [f"{sign}{sort}" for sort in Sort for sign in ("", "-")]
ON_A_TERMINAL: Final = 50
PAGE: Final = 1000
PAGE_OF_PAYLOADS: Final = 100
"""A payload may have 256 KiB."""

CUT: Final = 3
"""How it ends where more tasks match than it wrote, and nobody asked for that number."""


class Command(BaseCommand):
    """Writes a table for people, or CSV or JSON lines for programs, to standard output."""

    help = (
        "List the tasks that a query finds, in the language of the search box: "
        'manage.py tasks status:dead -error:Timeout age:">1h". All of them where the output goes '
        f"to a file or a program, {ON_A_TERMINAL} on a terminal. Exit code: {CUT} when it was cut."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the query and how to write what it finds."""
        add = parser.add_argument
        add(
            "query",
            nargs="*",
            metavar="QUERY",
            help="such as status:dead kind:mail; write -- before a query that begins with a minus",
        )
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="one JSON object a line")
        form.add_argument("--csv", action="store_true", help="CSV with a line of headings")
        add(
            "--with-payload",
            action="store_true",
            help="of --csv and --json: payload, weight and deadline too, so that the file can be "
            "submitted again (manage.py submit KIND FILE --exported)",
        )
        add("--bom", action="store_true", help="of --csv: begin with the mark that Excel needs")
        add(
            "--limit",
            type=whole_number(1),
            metavar="N",
            help=f"tasks at most (default: all; {ON_A_TERMINAL} on a terminal)",
        )
        add("--sort", choices=ORDERS, default="age", help="default: newest first")

    def handle(self, *args: Any, **options: Any) -> None:
        """Find them and write them page by page."""
        if options["bom"] and not options["csv"]:
            raise CommandError("--bom is for --csv; add it or leave --bom out")
        if options["with_payload"] and not (options["csv"] or options["json"]):
            raise CommandError("--with-payload is for --csv and --json; add one of them")
        sort = Sort(options["sort"].removeprefix("-"))
        # What is submitted meanwhile is left out, or an export from the oldest on may never end.
        order = SearchOrder(sort, options["sort"][0] == "-", newest_id())
        # Whoever may start this reads the database, and with it every payload.
        read = read_query(" ".join(options["query"]), sees_payloads=True, order=order)
        if read.faults:
            # On a line of its own: the word for errors stands before it, and the mark under it.
            raise CommandError("".join(f"\n{_told(read.text, fault)}" for fault in read.faults))
        try:
            self._write(read, options)
        except TimeoutError as error:
            told = f"{error}; what was written is not all of it. Narrow it by kind or status"
            raise CommandError(told) from error

    def _write(self, read: ReadQuery, options: dict[str, Any]) -> None:
        self._say_head(options)
        most = options["limit"] or (ON_A_TERMINAL if self.stdout.isatty() else math.inf)
        size = PAGE_OF_PAYLOADS if options["with_payload"] else PAGE
        found, stopped = 0, None
        # One more than is written tells whether there are more.
        for page in iterate_pages(read.wanted, most + 1, size):
            rows = page.rows[: int(min(most - found, len(page.rows)))]
            self._say_rows(rows, options)
            found += len(page.rows)
            stopped = page.stopped_at if read.wanted.sort is not Sort.AGE else None
        if not found:
            self.stderr.write("no task matches")
        elif found > most:
            self.stderr.write(f"{most:,} tasks written, and more match: give --limit N")
            if options["limit"] is None:
                sys.exit(CUT)
        elif stopped is not None:
            self.stderr.write(
                f"only tasks submitted since {stopped:%Y-%m-%d %H:%M:%S} UTC were sorted and "
                "written; earlier ones may match: leave --sort out, or narrow the query"
            )
            sys.exit(CUT)

    def _say_head(self, options: dict[str, Any]) -> None:
        if options["csv"]:
            mark = "\ufeff" if options["bom"] else ""
            plain = csv_text(TASK_COLUMNS, (), headings=True)
            whole = csv_text(WHOLE_COLUMNS, (), headings=True)
            self._say(mark + (whole if options["with_payload"] else plain))

    def _say_rows(self, rows: Sequence[TaskRow], options: dict[str, Any]) -> None:
        if not options["csv"] and not options["json"]:
            self._say("".join(map(_line, rows)))
        elif options["with_payload"]:
            whole = with_payloads(rows)
            if options["csv"]:
                self._say(csv_text(WHOLE_COLUMNS, whole, headings=False))
            else:
                self._say("".join(json_text(WHOLE_COLUMNS, task) + "\n" for task in whole))
        elif options["csv"]:
            self._say(csv_text(TASK_COLUMNS, rows, headings=False))
        else:
            self._say("".join(json_text(TASK_COLUMNS, row) + "\n" for row in rows))

    def _say(self, text: str) -> None:
        self.stdout.write(text, ending="")


def _line(row: TaskRow) -> str:
    shown = [
        f"{row.status:<9}",
        str(row.id),
        row.kind,
        row.key or "-",
        f"{row.attempts}/{row.max_attempts}",
        f"{row.created_at:%Y-%m-%d %H:%M:%S}",
        f"{row.error_name}: {row.error}" if row.error_type else "",
    ]
    return "  ".join(shown).rstrip() + "\n"


def _told(text: str, fault: QueryFault) -> str:
    """The query with the wrong place underlined, what is wrong, and what to write instead."""
    under = " " * fault.at.start + "^" * max(1, fault.at.end - fault.at.start)
    remedies = "".join(f"\n  try: {remedy}" for remedy in fault.remedies if remedy)
    return f"{text}\n{under}\n{fault.message}{remedies}"
