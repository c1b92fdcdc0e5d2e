"""Which keys of a kind's JSON are shown only to some, and JSON without their values."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

MASK: Final = "[redacted]"
"""What stands in the place of a value that must not be shown."""

Hidden = Mapping[str, frozenset[str]]
"""By kind, the keys (case-folded) whose values somebody may not see; empty for who may see all."""


def folded(keys: Iterable[str]) -> frozenset[str]:
    """Keys as they are compared: whatever their case.

    >>> sorted(folded(["Password", "IBAN"]))
    ['iban', 'password']
    """
    return frozenset(key.casefold() for key in keys)


def masked(value: Any, keys: frozenset[str]) -> Any:
    """The JSON value with the values of these keys masked, at any depth; never deeper than it is.

    >>> masked({"name": "Ada", "Card": {"no": 1}, "all": [{"card": 2}]}, folded(["card"]))
    {'name': 'Ada', 'Card': '[redacted]', 'all': [{'card': '[redacted]'}]}
    """
    if not keys:
        return value
    if isinstance(value, dict):
        return {
            name: MASK if str(name).casefold() in keys else masked(each, keys)
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [masked(each, keys) for each in value]
    return value


def kinds_that_hide(hidden: Hidden) -> list[str]:
    """The kinds that hide anything."""
    return sorted(kind for kind, keys in hidden.items() if keys)


def kinds_that_hide_path(hidden: Hidden, path: tuple[str, ...]) -> list[str]:
    """The kinds in which a value at this path may not be compared with a guess.

    >>> kinds_that_hide_path({"pay": folded(["card"])}, ("Card", "no"))
    ['pay']
    """
    keys = folded(path)
    return sorted(kind for kind, hides in hidden.items() if hides & keys)
