"""Files given to ``manage.py submit`` in a folder of their own."""

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management import CommandError, call_command

from tasks_app.models import Task


@dataclass(frozen=True)
class Told:
    """How a run ended and what it said on both outputs."""

    code: int
    out: str


@dataclass
class Desk:
    """A folder with files, and the command."""

    folder: Path

    def write(self, content: bytes | str, name: str = "t.csv") -> Path:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def submit(
        self, content: bytes | str, *args: str, name: str = "t.csv", kind: str = "anything"
    ) -> Told:
        return self.run(self.write(content, name), *args, kind=kind)

    def run(self, path: Path, *args: str, kind: str = "anything") -> Told:
        out = io.StringIO()
        try:
            call_command("submit", kind, str(path), *args, stdout=out, stderr=out)
        except SystemExit as left:
            return Told(int(left.code or 0), out.getvalue())
        except CommandError as error:
            return Told(error.returncode, f"{out.getvalue()}{error}")
        return Told(0, out.getvalue())

    def rejects(self, name: str = "t.csv.rejects.jsonl") -> list[dict[str, Any]]:
        text = (self.folder / name).read_text()
        return [json.loads(line) for line in text.splitlines()]

    @property
    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())


def payloads() -> list[Any]:
    return list(Task.objects.order_by("id").values_list("payload", flat=True))
