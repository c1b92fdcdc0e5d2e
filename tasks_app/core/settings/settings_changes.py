"""Settings as plain values: what differs between two of them, and how a person reads it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Settings = Mapping[str, Any]
"""The settings of one entry by name."""


def differing(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings that differ, as they were and as they become.

    >>> differing({"a": 1, "b": 2}, {"a": 1, "b": 3})
    ({'b': 2}, {'b': 3})
    """
    names = [name for name in after if before.get(name) != after[name]]
    return {name: before.get(name) for name in names}, {name: after[name] for name in names}


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the configuration that becomes another; ``before`` is None where it is new."""

    section: str
    name: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any]

    @property
    def place(self) -> str:
        """Where it stands in a file."""
        return f"{self.section}.{self.name}" if self.name else self.section

    def lines(self) -> Iterator[str]:
        """One line for each setting that changes.

        >>> change = Change("kinds", "mail", {"timeout_seconds": 900.0}, {"timeout_seconds": 15.0})
        >>> list(change.lines())
        ['kinds.mail.timeout_seconds: 900.0 -> 15.0']
        >>> list(Change("limits", "mail", None, {"burst": 2}).lines())
        ['limits.mail: new', 'limits.mail.burst: 2']
        """
        if self.before is None:
            yield f"{self.place}: new"
            for name, value in self.after.items():
                yield f"{self.place}.{name}: {_written(value)}"
            return
        old, new = differing(self.before, self.after)
        for name in new:
            yield f"{self.place}.{name}: {_written(old[name])} -> {_written(new[name])}"


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
