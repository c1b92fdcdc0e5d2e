"""``manage.py work``: a worker over the direct link, with handlers from Python modules."""

import argparse
import gc
import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tasks_app.management.arguments import seconds, whole_number
from tasks_app.sdk.handlers import HandlerError
from tasks_app.sdk.options import Options, default_name
from tasks_app.sdk.runtime import Worker
from tasks_app.services.attempts import handler_connections
from tasks_app.services.attempts.direct_link import DirectLink
from tasks_app.services.attempts.rescue import rescue_link

LONGEST_NAME = 100
"""Characters; the width of the columns that hold a worker's name and its version."""


class Command(BaseCommand):
    """Claims tasks of the kinds that its handlers can do, and runs them, until told to stop."""

    help = (
        "Run a worker. SIGTERM or Ctrl-C drains it: it finishes what it runs and hands back the "
        "rest; a second Ctrl-C quits at once."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare name, handlers, size and manners."""
        parser.add_argument(
            "--name", type=_name, help="default: host name, process id and random letters"
        )
        parser.add_argument(
            "--handlers",
            required=True,
            action="append",
            metavar="MODULE[,MODULE]",
            help="modules whose @handler functions do the work; may be repeated",
        )
        # Django's own --version is that of Django.
        parser.add_argument(
            "--release",
            type=_name,
            default=os.environ.get("CHARGEHAND_RELEASE") or None,
            help="version of the handlers, shown beside what they did "
            "(default: the environment's CHARGEHAND_RELEASE)",
        )
        parser.add_argument(
            "--slots",
            type=whole_number(1, 1000),
            default=8,
            help="tasks at once (default: %(default)s)",
        )
        parser.add_argument(
            "--processes",
            action="store_true",
            help="run handlers in child processes: hard time limits, and a crash kills only one",
        )
        parser.add_argument(
            "--grace",
            type=seconds,
            default=30.0,
            help="seconds that running tasks may go on when told to stop (default: %(default)g)",
        )

        _add_children(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until a signal asks to stop; the exit code is the worker's."""
        for option in ("max_tasks_per_child", "max_memory_per_child"):
            if options[option] is not None and not options["processes"]:
                flag = option.replace("_", "-")
                raise CommandError(f"--{flag} needs --processes: without it there are no children")
        modules = [name.strip() for names in options["handlers"] for name in names.split(",")]
        handler_connections.wait_for_connections()
        try:
            worker = Worker(
                DirectLink(),
                Options(
                    modules=[name for name in modules if name],
                    name=options["name"] or default_name(),
                    version=options["release"] or "",
                    slots=options["slots"],
                    processes=options["processes"],
                    grace=options["grace"],
                    max_tasks_per_child=options["max_tasks_per_child"],
                    max_memory_per_child=options["max_memory_per_child"],
                    child_setup=handler_connections.set_up_child,
                    before_task=handler_connections.before_handler,
                    after_task=handler_connections.after_handler,
                    kept=handler_connections.KEPT,
                    rescue_link=rescue_link,
                ),
            )
            # What was imported stays: the collector need not look through it again and again.
            gc.freeze()
            code = worker.run()
        except HandlerError as error:
            raise CommandError(str(error)) from error
        if code:
            sys.exit(code)


def _name(text: str) -> str:
    name = text.strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise argparse.ArgumentTypeError(f"a name has 1 to {LONGEST_NAME} printable characters")
    return name


def _add_children(parser: CommandParser) -> None:
    parser.add_argument(
        "--max-tasks-per-child",
        type=whole_number(1),
        metavar="TASKS",
        help="with --processes: replace a child after it has run this many tasks (default: never)",
    )
    parser.add_argument(
        "--max-memory-per-child",
        type=whole_number(1),
        metavar="MIB",
        help="with --processes, on Linux: replace a child that holds more than this many MiB "
        "after a task (default: never)",
    )
