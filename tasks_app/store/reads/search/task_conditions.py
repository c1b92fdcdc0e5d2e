"""What a query asks of a task, as SQL over ``task t``.

``hidden`` names the keys that the asker may not see, by kind: what is masked on a screen must not
be found by guessing either.
"""

from typing import Any, Final

from tasks_app.core.failures.fingerprints import UNMARKED
from tasks_app.core.masking.redaction import Hidden, kinds_that_hide, kinds_that_hide_path
from tasks_app.core.search.queries import AllOf, AnyOf, Match, Node, Not, Op, Text
from tasks_app.core.search.query_fields import (
    cause_of,
    decimal_of,
    id_range,
    instant_of,
    number_of,
    seconds_of,
    whole_id,
)
from tasks_app.core.states import Status
from tasks_app.store import sql

INDEXED_CHARACTERS: Final = 200
"""Of a payload's value that an index holds: longer ones would not fit into a page of it."""

HELD_BY = """
EXISTS (SELECT FROM worker w WHERE (w.name = {name} OR w.id::text = {name})
           AND (EXISTS (SELECT FROM lease e WHERE e.task_id = t.id AND e.worker_id = w.id)
             OR EXISTS (SELECT FROM attempt a WHERE a.task_id = t.id AND a.worker_id = w.id)))
"""

HAS_TEXT = """
(t.id = ANY (%(found)s::uuid[]) OR t.key ILIKE {like} OR {error} OR {payload})
"""

OF_JOB = """
t.job_id IN (SELECT id FROM job WHERE name = {name} ORDER BY id DESC LIMIT 1000)
"""

DURATION = """
coalesce((SELECT extract(epoch FROM a.ended_at - a.started_at) FROM attempt a
           WHERE a.token = t.token),
         (SELECT extract(epoch FROM statement_timestamp() - e.started_at) FROM lease e
           WHERE e.task_id = t.id))::float8
"""

# What a task was filled in from, or got as an input, it may hold and repeat under any name.
NOTHING_FROM: Final = """
(t.origins IS NULL OR NOT EXISTS (SELECT FROM jsonb_array_elements(t.origins) o
                                   WHERE o ->> 1 IS NULL OR o ->> 1 = ANY ({kinds})))
AND (t.dependency_count = 0 OR NOT EXISTS (
        SELECT FROM dependency d JOIN task p ON p.id = d.depends_on_id
         WHERE d.task_id = t.id AND (p.kind = ANY ({kinds}) OR p.origins IS NOT NULL)))
"""

NUMBERS: Final = {"attempts": "t.attempts", "requeues": "t.requeues", "priority": "t.priority"}
INSTANTS: Final = {"created": "t.created_at", "ended": "t.finished_at"}
EXACT: Final = {"kind": "t.kind", "reason": "t.dead_reason"}


class Conditions:
    """Turns parts of one query into SQL; ``params`` collects their values."""

    def __init__(self, params: dict[str, Any], hidden: Hidden) -> None:
        self.params = params
        self._hidden = hidden

    def of(self, node: Node) -> str:
        """The condition that this part of a query is."""
        if isinstance(node, AllOf):
            return "(" + " AND ".join(self.of(part) for part in node.parts) + ")"
        if isinstance(node, AnyOf):
            return "(" + " OR ".join(self.of(part) for part in node.parts) + ")"
        if isinstance(node, Not):
            # What is not known does not match: then its denial does.
            return f"NOT coalesce({self.of(node.of)}, false)"
        if isinstance(node, Text):
            return self._text(node.text)
        return self._match(node)

    def value(self, value: Any) -> str:
        """A placeholder for a value."""
        name = f"v{len(self.params)}"
        self.params[name] = value
        return f"%({name})s"

    def _like(self, text: str) -> str:
        return self.value(f"%{unlike(text)}%")

    def _text(self, text: str) -> str:
        like = self._like(text)
        payload = self._within("t.payload::text", like)
        has = HAS_TEXT.format(like=like, error=self._in_error(like), payload=payload)
        return f"({has} OR {self._id(text)})" if id_range(text) else has

    def _in_error(self, like: str) -> str:
        # A message may repeat what is hidden; the class of an error is the handler's own.
        message = self._within("t.error ->> 'message'", like)
        return f"(t.error ->> 'type' ILIKE {like} OR {message})"

    def _within(self, text: str, like: str) -> str:
        sought = f"{text} ILIKE {like}"
        hiding = kinds_that_hide(self._hidden)
        if not hiding:
            return sought
        return f"({self._none_of(hiding)} AND {self._nothing_from(hiding)} AND {sought})"

    def _none_of(self, kinds: list[str]) -> str:
        return f"NOT t.kind = ANY ({self.value(kinds)}::text[])"

    def _nothing_from(self, kinds: list[str]) -> str:
        return NOTHING_FROM.format(kinds=f"{self.value(kinds)}::text[]")

    def _lock(self, value: str) -> str:
        sought = f"t.lock_key = {self.value(value)}"
        hiding = kinds_that_hide(self._hidden)
        return f"({sought} AND {self._nothing_from(hiding)})" if hiding else sought

    def _match(self, match: Match) -> str:
        field, value = match.field, match.value
        if field in EXACT:
            return f"{EXACT[field]} = {self.value(value.lower() if field == 'reason' else value)}"
        named = {
            "status": self._status,
            "worker": self._worker,
            "job": self._job,
            "error": self._error,
            "key": self._key,
            "id": self._id,
            "cause": self._cause,
            "lock": self._lock,
        }.get(field)
        return self._compared(match) if named is None else named(value)

    def _status(self, value: str) -> str:
        return f"t.status = {self.value(Status(value.upper()).value)}"

    def _worker(self, value: str) -> str:
        return HELD_BY.format(name=self.value(value))

    def _job(self, value: str) -> str:
        job = whole_id(value)
        return f"t.job_id = {self.value(job)}" if job else OF_JOB.format(name=self.value(value))

    def _error(self, value: str) -> str:
        return self._in_error(self._like(value))

    def _id(self, value: str) -> str:
        low, high = id_range(value) or (None, None)
        return f"t.id BETWEEN {self.value(low)} AND {self.value(high)}"

    def _cause(self, value: str) -> str:
        if cause_of(value) == UNMARKED:
            return "t.fingerprint IS NULL"
        return f"t.fingerprint = {self.value(cause_of(value))}"

    def _key(self, value: str) -> str:
        if value.endswith("*"):
            return f"t.key LIKE {self.value(unlike(value[:-1]) + '%')}"
        return f"t.key = {self.value(value)}"

    def _compared(self, match: Match) -> str:
        field, op = match.field, match.op or "="
        if field in NUMBERS:
            return f"{NUMBERS[field]} {op} {self.value(number_of(match.value))}"
        if field in INSTANTS:
            return f"{INSTANTS[field]} {op} {self.value(instant_of(match.value))}"
        if field == "duration":
            return f"{DURATION} {op} {self.value(seconds_of(match.value))}"
        if field == "age":
            # Older than an hour is submitted before an hour ago.
            ago = f"statement_timestamp() - {self.value(seconds_of(match.value))} * interval '1 s'"
            return f"t.created_at {op.translate(str.maketrans('<>', '><'))} {ago}"
        return self._json(match)

    def _json(self, match: Match) -> str:
        if not match.path:
            return self._within(f"t.{match.field}::text", self._like(match.value))
        place = f"t.{match.field} #>> {self.value(list(match.path))}::text[]"
        if match.op is Op.IS:
            sought = f"{place} = {self.value(match.value)}"
        else:
            typed = place.replace("#>>", "#>", 1)
            number = self.value(decimal_of(match.value))
            sought = (
                f"CASE WHEN jsonb_typeof({typed}) = 'number'"
                f" THEN ({place})::numeric {match.op} {number} END"
            )
        return f"({sought}{self._unless_hidden(match)})"

    def _unless_hidden(self, match: Match) -> str:
        if not kinds_that_hide(self._hidden):
            return ""
        place = f"t.{match.field} #> {self.value(list(match.path))}::text[]"
        hiders = self._none_of(kinds_that_hide(self._hidden))
        plain = f"({hiders} OR jsonb_typeof({place}) NOT IN ('object', 'array'))"
        elsewhere = self._nothing_from(kinds_that_hide(self._hidden))
        own = self._none_of(kinds_that_hide_path(self._hidden, match.path))
        return f" AND {plain} AND {own} AND {elsewhere}"


def indexed_expression(path: tuple[str, ...]) -> str:
    r"""What the index of a searchable payload path holds, for a statement that has parameters.

    >>> indexed_expression(("customer", "id"))
    'left(payload #>> \'{"customer","id"}\'::text[], 200)'
    """
    keys = sql.texts(path).replace("'", "''").replace("%", "%%")
    return f"left(payload #>> '{keys}'::text[], {INDEXED_CHARACTERS})"


def unlike(text: str) -> str:
    """The text with what LIKE takes for patterns taken literally."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
