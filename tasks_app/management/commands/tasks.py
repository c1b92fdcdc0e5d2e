"""``manage.py tasks``: the tasks that a query finds, at the command line."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tasks_app.core.query_checks import QueryFault
from tasks_app.core.tables import csv_text, json_text
from tasks_app.services.task_columns import TASK_COLUMNS
from tasks_app.services.task_search import ReadQuery, SearchOrder, read_query
from tasks_app.store.reads.task_lists import iterate_tasks
from tasks_app.store.reads.task_rows import Sort, TaskRow

ORDERS = [f"{sign}{sort}" for sort in Sort for sign in ("", "-")]


class Command(BaseCommand):
    """Writes a table for people, or CSV or JSON lines for programs, to standard output."""

    help = (
        "List the tasks that a query finds, in the language of the search box: "
        'manage.py tasks status:dead -error:Timeout age:">1h"'
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the query and how to write what it finds."""
        parser.add_argument(
            "query",
            nargs="*",
            metavar="QUERY",
            help="such as status:dead kind:mail; write -- before a query that begins with a minus",
        )
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="one JSON object a line")
        form.add_argument("--csv", action="store_true", help="CSV with a line of headings")
        parser.add_argument("--limit", type=int, default=50, metavar="N", help="tasks at most")
        parser.add_argument("--sort", choices=ORDERS, default="age", help="default: newest first")

    def handle(self, *args: Any, **options: Any) -> None:
        """Find them and write them page by page."""
        order = SearchOrder(Sort(options["sort"].removeprefix("-")), options["sort"][0] == "-")
        if options["limit"] < 1:
            raise CommandError(f"--limit: {options['limit']} is no number of tasks; give 1 or more")
        # Whoever may start this reads the database, and with it every payload.
        read = read_query(" ".join(options["query"]), sees_payloads=True, order=order)
        if read.faults:
            # On a line of its own: the word for errors stands before it, and the mark under it.
            raise CommandError("".join(f"\n{_told(read.text, fault)}" for fault in read.faults))
        try:
            self._write(read, options)
        except TimeoutError as error:
            raise CommandError(f"{error}; narrow it by kind or status") from error

    def _write(self, read: ReadQuery, options: dict[str, Any]) -> None:
        if options["csv"]:
            self._say(csv_text(TASK_COLUMNS, (), headings=True))
        found = 0
        for rows in iterate_tasks(read.wanted, options["limit"]):
            found += len(rows)
            if options["csv"]:
                self._say(csv_text(TASK_COLUMNS, rows, headings=False))
            elif options["json"]:
                self._say("".join(json_text(TASK_COLUMNS, row) + "\n" for row in rows))
            else:
                self._say("".join(_line(row) for row in rows))
        if not found:
            self.stderr.write("no task matches")

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
