"""``manage.py config``: the configuration as a YAML file, so that it can live in git."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tasks_app.core.settings_changes import Change
from tasks_app.management.acting import command_line_actor
from tasks_app.management.yaml_documents import YamlRefused, read_yaml, write_yaml
from tasks_app.services.configuration import SettingsInvalid
from tasks_app.services.configuration_files import apply_settings, compare, export_settings

MOST_BYTES: Final = 4 * 1024 * 1024
TROUBLE: Final = 2
"""How ``diff`` ends where it cannot compare, as diff(1) does; 1 says that something differs."""

HEADER: Final = (
    "# Chargehand's configuration. What is not named here stays as it is on the record.\n"
)


class Command(BaseCommand):
    """Writes, compares and applies a file; a fault is told with its place, and changes nothing."""

    help = "Export the configuration as YAML, show what a file would change, or apply it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the three actions."""
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        export = actions.add_parser("export", help="write kinds, limits, settings and groups")
        export.add_argument("file", nargs="?", default="-", help="default: standard output")
        diff = actions.add_parser(
            "diff", help="show what apply would change; exit code 1 if any, 2 for a fault"
        )
        diff.add_argument("file", metavar="FILE", help="- reads standard input")
        apply = actions.add_parser("apply", help="change the record to what the file says")
        apply.add_argument("file", metavar="FILE", help="- reads standard input")
        apply.add_argument("--dry-run", action="store_true", help="show it, change nothing")
        apply.add_argument("--reason", default="", help="why, for the audit")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do the action."""
        try:
            self._handle(options)
        except CommandError as error:
            if options["action"] == "diff":
                error.returncode = TROUBLE
            raise

    def _handle(self, options: Mapping[str, Any]) -> None:
        if options["action"] == "export":
            self._export(options["file"])
            return
        document = _read(options["file"])
        try:
            if options["action"] == "diff" or options["dry_run"]:
                changes: Sequence[Change] = compare(document)
            else:
                changes = apply_settings(document, command_line_actor(), options["reason"])
        except SettingsInvalid as invalid:
            told = (f"  {fault}" for fault in invalid.faults)
            raise CommandError("\n".join(["nothing was changed:", *told])) from invalid
        self._show(changes)
        if options["action"] == "apply":
            done = "would change" if options["dry_run"] else "changed"
            self.stderr.write(f"{len(changes)} {done}.")
        elif changes:
            sys.exit(1)

    def _export(self, name: str) -> None:
        text = HEADER + write_yaml(export_settings())
        if name == "-":
            self.stdout.write(text, ending="")
            return
        try:
            Path(name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(str(error)) from error

    def _show(self, changes: Iterable[Change]) -> None:
        for change in changes:
            for line in change.lines():
                self.stdout.write(line)


def _read(name: str) -> Any:
    try:
        text = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(str(error)) from error
    if len(text) > MOST_BYTES:
        raise CommandError(f"{name} is larger than any configuration may be")
    try:
        return read_yaml(text)
    except YamlRefused as refused:
        raise CommandError(f"{name}: {refused}") from refused
