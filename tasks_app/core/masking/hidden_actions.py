"""The audit as its readers may see it: private searches stay private, hidden values hidden."""

import re
from collections.abc import Mapping
from typing import Any, Final

from tasks_app.core.masking.redaction import MASK, Hidden, folded, masked

EDIT: Final = "edit and requeue"
"""The act whose change is that of a payload: it maps places to their values."""

SEARCHES: Final = frozenset({"save search", "delete search"})
PRIVATE: Final = "a private search"
"""What the audit calls a search that its owner has not shared."""

_STEP: Final = re.compile(r"""\.(\w+)|\[(\d+)\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]""")


def is_private(action: str, detail: Any) -> bool:
    """Whether an act is about a search that nobody but its owner may know."""
    return action in SEARCHES and not (isinstance(detail, Mapping) and detail.get("shared"))


def shown_places(side: Any, hidden: Hidden) -> Any:
    """One side of a payload's change, by place, without what any kind hides.

    >>> shown_places({"$.card['no']": 4111, "$.to": "Ada"}, {"pay": folded(["card"])})
    {"$.card['no']": '[redacted]', '$.to': 'Ada'}
    """
    if not hidden or not isinstance(side, Mapping):
        return side
    keys = frozenset[str]().union(*hidden.values())
    return {
        place: MASK if keys & folded(_keys(place)) else masked(value, keys)
        for place, value in side.items()
    }


def _keys(place: str) -> list[str]:
    return ["".join(parts) for parts in _STEP.findall(place)]
