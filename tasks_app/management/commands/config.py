"""``manage.py config``: the configuration as a YAML file, so that it can live in git."""

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tasks_app.core.settings.settings_changes import Change
from tasks_app.management.command_actor import command_line_actor
from tasks_app.management.yaml_documents import YamlRefused, read_yaml, write_yaml
from tasks_app.services.settings.configuration import SettingsInvalid
from tasks_app.services.settings.configuration_files import (
    BY_NAME,
    apply_settings,
    compare,
    export_settings,
)
from tasks_app.services.settings.configuration_versions import hold_against, version_of
from tasks_app.services.settings.settings_previews import preview

MOST_BYTES: Final = 4 * 1024 * 1024
TROUBLE: Final = 2
"""How ``diff`` ends where it cannot compare, as diff(1) does; 1 says that something differs."""

VERSION: Final = re.compile(rb"^# Exported from version: ([0-9a-f]+)\s*$", re.MULTILINE)
HEADER: Final = (
    "# Chargehand's configuration. What is not named here stays as it is on the record.\n"
    "# Exported from version: {version}\n"
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
        apply.add_argument(
            "--if-unchanged",
            action="store_true",
            help="only if nothing changed since FILE was exported; its header names the version",
        )
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
        document, version = _read(options["file"])
        exported = _needed(version) if options.get("if_unchanged") else None
        try:
            foretold = changes = compare(document)
            told = [line for change in foretold for line in _told(change)]
            if options["action"] == "diff" or options["dry_run"]:
                if exported is not None:
                    hold_against(exported, export_settings())
            else:
                actor = command_line_actor()
                changes = [*apply_settings(document, actor, options["reason"], exported=exported)]
        except SettingsInvalid as invalid:
            faults = (f"  {fault}" for fault in invalid.faults)
            raise CommandError("\n".join(["nothing was changed:", *faults])) from invalid
        self._show(changes)
        for line in told:
            self.stdout.write(line)
        if options["action"] == "apply":
            done = "would change" if options["dry_run"] else "changed"
            self.stderr.write(f"{len(changes)} {done}.")
        elif changes:
            sys.exit(1)

    def _export(self, name: str) -> None:
        document = export_settings()
        text = HEADER.format(version=version_of(document)) + write_yaml(document)
        if name == "-":
            self.stdout.write(text, ending="")
            return
        try:
            if _is_foreign(Path(name)):
                raise CommandError(
                    f"{name} exists and is no configuration; give another path, or move it "
                    "away. Nothing was written."
                )
            Path(name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(str(error)) from error

    def _show(self, changes: Iterable[Change]) -> None:
        for change in changes:
            for line in change.lines():
                self.stdout.write(line)


def _read(name: str) -> tuple[Any, str | None]:
    try:
        text = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(str(error)) from error
    if len(text) > MOST_BYTES:
        raise CommandError(f"{name} is larger than any configuration may be")
    try:
        return read_yaml(text), _version(text)
    except YamlRefused as refused:
        raise CommandError(f"{name}: {refused}") from refused


def _is_foreign(path: Path) -> bool:
    """Whether an export to ``path`` would replace something else than a configuration."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        earlier = file.read(MOST_BYTES)
    if not earlier.strip() or VERSION.search(earlier):
        return False
    try:
        document = read_yaml(earlier)
    except YamlRefused:
        return True
    return not isinstance(document, dict) or not document.keys() <= BY_NAME.keys()


def _version(text: bytes) -> str | None:
    """The version that the header of an export names, wherever it was moved to."""
    found = VERSION.search(text)
    return found[1].decode() if found else None


def _needed(version: str | None) -> str:
    if version is None:
        raise CommandError(
            "nothing was changed: the file does not say which version it was exported from; keep "
            'the line "# Exported from version: ..." of an export'
        )
    return version


def _told(change: Change) -> Iterable[str]:
    """What a change would do to what is on record, as the admin's preview tells it."""
    if change.before is None:
        return []
    said = preview(BY_NAME[change.section], change.name, change.before, change.after).said
    return [f"# {change.place}: {sentence}" for sentence in said]
