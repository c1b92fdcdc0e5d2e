"""Rows into tasks: submitted in batches, each bad row set aside with what is wrong with it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from tasks_app.core.intake.new_tasks import NewTask
from tasks_app.management.column_mapping import RowMapping, RowRefused
from tasks_app.management.file_rows import Row
from tasks_app.management.reject_file import RejectFile
from tasks_app.services.intake.submission import (
    KeyConflict,
    Rehearsal,
    SubmissionInvalid,
    submit_tasks,
)

BATCH: Final = 1000
"""Rows in one transaction; ten times as many gain a tenth of the time."""

BATCH_CHARACTERS: Final = 8 * 1024 * 1024
"""Text of the rows in one transaction, so that long rows take no more memory than short ones."""

MOST_TOLD: Final = 5
"""Rejected rows that are told at once; the reject file has all of them."""

# The keys of a batch are told by the index of an item, and people look for a line.
_LINE: Final = re.compile(r"\bitem ([0-9]+)\b")


@dataclass(slots=True)
class Intake:
    """Takes rows one at a time and counts what became of them.

    ``conflicts`` are rejected for an id on record that has other content, ``rejected`` for anything
    else; ``settled`` is the line up to which all rows were submitted or set aside.
    """

    mapping: RowMapping
    rejects: RejectFile
    rehearsal: Rehearsal | None = None
    created: int = 0
    existing: int = 0
    rejected: int = 0
    conflicts: int = 0
    blank: int = 0
    settled: int = 0
    told: list[str] = field(default_factory=list)
    _rows: list[Row] = field(default_factory=list)
    _tasks: list[NewTask] = field(default_factory=list)
    _characters: int = 0
    _end: int = 0

    @property
    def taken(self) -> int:
        """Rows taken and settled so far."""
        return self.created + self.existing + self.rejected + self.conflicts

    @property
    def pending(self) -> tuple[int, int] | None:
        """The first and last line of what is taken and not settled."""
        return (self._rows[0].line, self._rows[-1].end) if self._rows else None

    def take(self, row: Row) -> None:
        """Take one row; it is submitted with its batch."""
        if row.blank:
            self.blank += 1
        elif row.fault:
            self._reject(row, [{"field": "row", "value": "", "message": row.fault}])
        else:
            self._take(row)
        self._end = row.end
        if len(self._tasks) >= BATCH or self._characters >= BATCH_CHARACTERS:
            self.flush()
        elif not self._tasks:
            self.settled = self._end

    def _take(self, row: Row) -> None:
        try:
            task = self.mapping.task(row.value)
        except RowRefused as refused:
            fault = {"field": refused.where, "value": refused.value, "message": str(refused)}
            self._reject(row, [fault])
            return
        self.rejects.begin()
        self._rows.append(row)
        self._tasks.append(task)
        self._characters += len(row.raw)

    def flush(self) -> None:
        """Submit what was taken: the good ones together, the others to the reject file."""
        while self._tasks:
            try:
                report = submit_tasks(self._tasks, rehearsal=self.rehearsal)
            except SubmissionInvalid as invalid:
                self._set_aside(invalid)
            else:
                self.created += report.created_count
                self.existing += report.existing_count
                break
        self._rows.clear()
        self._tasks.clear()
        self._characters = 0
        self.settled = self._end

    def _set_aside(self, invalid: SubmissionInvalid) -> None:
        faults: dict[int, list[dict[str, str]]] = {}
        conflicts = {fault.index for fault in invalid.faults if isinstance(fault, KeyConflict)}
        for fault in invalid.faults:
            told = {"field": fault.field, "value": fault.value, "message": fault.message}
            faults.setdefault(fault.index, []).append(told)
        for index, found in faults.items():
            row = self._rows[index]
            only = index in conflicts and len(found) == 1
            self._reject(row, self._by_line(found) if only else found, conflict=only)
        good = [index for index in range(len(self._tasks)) if index not in faults]
        self._rows = [self._rows[index] for index in good]
        self._tasks = [self._tasks[index] for index in good]

    def _by_line(self, faults: Iterable[dict[str, str]]) -> list[dict[str, str]]:
        """Conflicts within a batch, told by the line of the row and not by its place."""
        return [{**fault, "message": _LINE.sub(self._line, fault["message"])} for fault in faults]

    def _line(self, found: re.Match[str]) -> str:
        return f"line {self._rows[int(found[1])].line}"

    def _reject(self, row: Row, faults: list[dict[str, str]], *, conflict: bool = False) -> None:
        self.rejects.begin()
        self.rejects.add(row, faults)
        if conflict:
            self.conflicts += 1
        else:
            self.rejected += 1
        if len(self.told) < MOST_TOLD:
            self.told.append(f"{row.lines}: {faults[0]['field']}: {faults[0]['message']}")
