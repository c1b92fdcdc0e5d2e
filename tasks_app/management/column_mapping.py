"""From the columns of a row to a task: which become the payload, which is the key."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Final

from tasks_app.core import literals
from tasks_app.core.drawing.tables import unguarded
from tasks_app.core.intake.new_tasks import NewTask
from tasks_app.core.literals import NotReadable
from tasks_app.core.strict_json import JsonRefused, read_strict


class RowRefused(ValueError):
    """This row makes no task; ``where`` is the column at fault, ``value`` what it holds."""

    def __init__(self, where: str, message: str, value: str = "") -> None:
        self.where = where
        self.value = value[:80]
        super().__init__(message)


class MappingInvalid(ValueError):
    """The mapping names a column that the file does not have, or cannot be understood."""


CONVERSIONS: Final[dict[str, Callable[[str], Any]]] = {
    "text": str,
    "integer": literals.whole_number,
    "number": literals.decimal_number,
    "boolean": literals.truth,
    "json": read_strict,
}


OWN: Final[dict[str, str]] = {
    "priority": "integer",
    "estimate_seconds": "number",
    "max_attempts": "integer",
    "run_at": "instant",
    "deadline_at": "instant",
    "lock_key": "text",
    "weight": "number",
}
"""What a column may say of the task itself, and how it is read."""

_READERS: Final = {**CONVERSIONS, "instant": literals.instant}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the payload or the task: its column, and how the column's text is read."""

    name: str
    column: str
    reads: str = "text"


def parse_field(text: str) -> Field:
    """Read ``payload_field[:type]=Column``. Raises MappingInvalid.

    >>> parse_field("amount:number=Amount (EUR)")
    Field(name='amount', column='Amount (EUR)', reads='number')
    """
    left, separator, column = text.partition("=")
    name, _, reads = left.partition(":")
    if not (separator and name and column):
        raise MappingInvalid(f"{text!r}: write payload_field=Column")
    if (reads or "text") not in CONVERSIONS:
        raise MappingInvalid(f"{text!r}: a type is one of {', '.join(CONVERSIONS)}")
    return Field(name, column, reads or "text")


def parse_own(text: str) -> Field:
    """Read ``task_field=Column``. Raises MappingInvalid.

    >>> parse_own("deadline_at=Due")
    Field(name='deadline_at', column='Due', reads='instant')
    """
    name, _, column = text.partition("=")
    if name not in OWN or not column:
        raise MappingInvalid(f"{text!r}: write FIELD=Column; a field is one of {', '.join(OWN)}")
    return Field(name, column, OWN[name])


@dataclass(frozen=True, slots=True)
class RowMapping:
    """How each row of one file becomes a task; without ``fields`` it is the payload as it is.

    ``payload_column`` holds the whole payload as JSON. Of a file that was ``exported`` the columns
    of ``EXPORTED`` are taken; in a CSV file of those cells are ``guarded`` by apostrophes.
    """

    kind: str
    fields: Sequence[Field] = field(default_factory=tuple)
    id_column: str | None = None
    priority: int = 0
    own: Sequence[Field] = field(default_factory=tuple)
    payload_column: str | None = None
    exported: bool = False
    guarded: bool = False

    @property
    def named(self) -> Sequence[str]:
        """The columns that are asked for by name."""
        names = [each.column for each in (*self.fields, *self.own)]
        return [*names, *filter(None, (self.id_column, self.payload_column))]

    @property
    def used(self) -> Sequence[str] | None:
        """The columns that are read; None for all of them."""
        whole = not (self.fields or self.payload_column or self.exported)
        return None if whole or self.exported else self.named

    def check(self, header: Sequence[str]) -> None:
        """Compare with the columns there are. Raises MappingInvalid."""
        for column in self.named:
            if column not in header:
                near = get_close_matches(column, header, 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                listed = ", ".join(repr(name) for name in header[:30])
                raise MappingInvalid(f"no column {column!r}{hint} There are: {listed}")

    def task(self, row: Any) -> NewTask:
        """The task of one row. Raises RowRefused."""
        if self.exported:
            row = _of_this_kind(row, self.kind)
        if self.guarded:
            row = {name: unguarded(cell) for name, cell in row.items()}
        task = NewTask(self.kind, self._payload(row), self._key(row), self.priority)
        own = [each for each in EXPORTED if each.column in row] if self.exported else self.own
        if not own:
            return task
        cells = ((each, _cell(row, each.column)) for each in own)
        # An empty cell leaves the field as it would be without the column.
        given = {e.name: _read(e, cell) for e, cell in cells if cell is not None and cell != ""}
        return replace(task, **given)

    def _payload(self, row: Any) -> Any:
        if self.payload_column is not None:
            cell = _cell(row, self.payload_column)
            if self.exported and not self.guarded:
                return cell
            return _read(Field("payload", self.payload_column, "json"), cell)
        if not self.fields:
            return row
        cells = ((each, _cell(row, each.column)) for each in self.fields)
        return {each.name: _read(each, cell) for each, cell in cells if not _absent(each, cell)}

    def _key(self, row: Any) -> str | None:
        if self.id_column is None:
            return None
        value = _cell(row, self.id_column)
        if self.exported and value in (None, ""):
            return None
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise RowRefused(self.id_column, "no id; give a text or a whole number")
        return str(value)


EXPORTED: Final = tuple(
    Field(name, name, OWN[name]) for name in ("priority", "lock_key", "weight", "deadline_at")
)
"""What an export of tasks says of each as it was submitted; attempts and times are its history."""


def exported_mapping(kind: str, *, guarded: bool) -> RowMapping:
    """The mapping of a file that ``manage.py tasks --with-payload`` wrote; guarded if as CSV."""
    return RowMapping(
        kind, id_column="key", payload_column="payload", exported=True, guarded=guarded
    )


def _of_this_kind(row: Any, kind: str) -> Mapping[str, Any]:
    if not isinstance(row, Mapping):
        raise RowRefused("row", "the line is no JSON object")
    if row.get("kind", kind) != kind:
        message = "a task of another kind; submit each kind by itself"
        raise RowRefused("kind", message, str(row["kind"]))
    return row


def _cell(row: Any, column: str) -> Any:
    if not isinstance(row, Mapping):
        raise RowRefused(column, "the line is no JSON object")
    if column not in row:
        raise RowRefused(column, "the line has no such field")
    return row[column]


def _absent(field: Field, value: Any) -> bool:
    """An empty cell is a text, but no number: such a field is left out, as optional ones are."""
    return field.reads != "text" and isinstance(value, str) and not value.strip()


def _read(field: Field, value: Any) -> Any:
    """A column's value; only text is converted."""
    if field.reads == "text" or not isinstance(value, str):
        return value
    try:
        return _READERS[field.reads](value)
    except JsonRefused as refused:
        raise RowRefused(field.column, refused.told, value) from refused
    except NotReadable as error:
        raise RowRefused(field.column, str(error), value) from error
