"""What differs between two JSON values, place by place: for people and for the audit."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

MOST: Final = 200
"""Places that are told apart; beyond them the values as a whole say it better."""


class _Absent:
    """Stands for a place that one of the two values has not."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True)
class Change:
    """One place (``$.a[0]``) with what stood there before and stands there now.

    ``path`` are the keys and indexes that lead there.
    """

    place: str
    before: Any
    after: Any
    path: tuple[str | int, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The shape that the audit keeps: a side that has nothing there is left out."""
        sides = {"before": self.before, "after": self.after}
        return {"place": self.place, **{k: v for k, v in sides.items() if v is not ABSENT}}


def list_changes(before: Any, after: Any, most: int = MOST) -> list[Change]:
    """The innermost places that differ, at most ``most``; [] where the values are the same JSON.

    >>> [change.as_json() for change in list_changes({"a": [1, 2], "b": 1}, {"a": [1, 3]})]
    [{'place': '$.a[1]', 'before': 2, 'after': 3}, {'place': '$.b', 'before': 1}]
    """
    found = []
    for change in _differ(before, after, ()):
        found.append(change)
        if len(found) >= most:
            break
    return found


def _differ(before: Any, after: Any, path: tuple[str | int, ...]) -> Iterator[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        # In the order of the old value, what is new at the end.
        for key in dict.fromkeys([*before, *after]):
            yield from _differ(before.get(key, ABSENT), after.get(key, ABSENT), (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            old = before[index] if index < len(before) else ABSENT
            new = after[index] if index < len(after) else ABSENT
            yield from _differ(old, new, (*path, index))
    elif not _same(before, after):
        yield Change("$" + "".join(map(_step, path)), before, after, path)


def _step(step: str | int) -> str:
    return f".{step}" if isinstance(step, str) and step.isidentifier() else f"[{step!r}]"


def _same(before: Any, after: Any) -> bool:
    """Python holds True and 1 for equal; JSON does not."""
    if isinstance(before, bool) or isinstance(after, bool):
        return before is after
    return bool(before == after)
