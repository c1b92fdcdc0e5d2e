"""Rows into tasks: submitted in batches, each bad row set aside with what is wrong with it."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TextIO

from tasks_app.core.new_tasks import NewTask
from tasks_app.management.mapping import RowMapping, RowRefused
from tasks_app.management.rows import Row, told
from tasks_app.services.submission import SubmissionInvalid, submit_tasks

BATCH: Final = 1000
"""Rows in one transaction; ten times as many gain a tenth of the time."""

BATCH_CHARACTERS: Final = 8 * 1024 * 1024
"""Text of the rows in one transaction, so that long rows take no more memory than short ones."""


class RejectFile:
    """JSON Lines of what was not submitted; made with the first of them, gone where none is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        # What an earlier run rejected would pass for this one's.
        self.path.unlink(missing_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, row: Row, faults: list[dict[str, str]]) -> None:
        """Set a row aside: its line, its faults, and its text as it stands in the file."""
        if self._file is None:
            self._file = self.path.open("w", encoding="utf-8")
        entry = {"line": row.line, "faults": faults, "row": told(row.raw)}
        self._file.write(json.dumps(entry, ensure_ascii=False) + "\n")


@dataclass(slots=True)
class Intake:
    """Takes rows one at a time; ``created``, ``existing`` and ``rejected`` count them."""

    mapping: RowMapping
    rejects: RejectFile
    dry_run: bool = False
    created: int = 0
    existing: int = 0
    rejected: int = 0
    _rows: list[Row] = field(default_factory=list)
    _tasks: list[NewTask] = field(default_factory=list)
    _keys: set[str] = field(default_factory=set)
    _characters: int = 0

    @property
    def taken(self) -> int:
        """Rows taken and settled so far."""
        return self.created + self.existing + self.rejected

    def take(self, row: Row) -> None:
        """Take one row; it is submitted with its batch."""
        if row.fault:
            self._reject(row, [{"field": "row", "value": "", "message": row.fault}])
            return
        try:
            task = self.mapping.task(row.value)
        except RowRefused as refused:
            self._reject(
                row, [{"field": refused.where, "value": refused.value, "message": str(refused)}]
            )
            return
        # A key that comes again in the file finds the first one's task on record, whether or not
        # a batch ends between the two.
        if task.key in self._keys:
            self.flush()
        self._rows.append(row)
        self._tasks.append(task)
        if task.key is not None:
            self._keys.add(task.key)
        self._characters += len(row.raw)
        if len(self._tasks) >= BATCH or self._characters >= BATCH_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Submit what was taken: the good ones together, the others to the reject file."""
        while self._tasks:
            try:
                report = submit_tasks(self._tasks, dry_run=self.dry_run)
            except SubmissionInvalid as invalid:
                self._set_aside(invalid)
            else:
                self.created += report.created_count
                self.existing += report.existing_count
                break
        self._rows.clear()
        self._tasks.clear()
        self._keys.clear()
        self._characters = 0

    def _set_aside(self, invalid: SubmissionInvalid) -> None:
        faults: dict[int, list[dict[str, str]]] = {}
        for fault in invalid.faults:
            told = {"field": fault.field, "value": fault.value, "message": fault.message}
            faults.setdefault(fault.index, []).append(told)
        for index, found in faults.items():
            self._reject(self._rows[index], found)
        good = [index for index in range(len(self._tasks)) if index not in faults]
        self._rows = [self._rows[index] for index in good]
        self._tasks = [self._tasks[index] for index in good]

    def _reject(self, row: Row, faults: list[dict[str, str]]) -> None:
        self.rejected += 1
        self.rejects.add(row, faults)
