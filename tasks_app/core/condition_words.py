"""A step's condition as a sentence, for people who read a plan."""

import json
from collections.abc import Mapping
from typing import Any, Final

WORDS: Final[Mapping[str, str]] = {
    "equals": "is",
    "in": "is one of",
    "greater": "is greater than",
    "less": "is less than",
}


def condition_words(when: Any) -> str:
    """Say when a step is done; of a condition that was checked at the door.

    >>> condition_words({"$result": "look.sure", "less": 0.7})
    'look.sure is less than 0.7'
    >>> condition_words({"not": {"or": [{"$result": "a", "exists": True}, {"$result": "b.c",
    ...     "in": [1, "x"]}]}})
    'not (a exists or b.c is one of [1, "x"])'
    """
    if not isinstance(when, Mapping):
        return json.dumps(when, ensure_ascii=False)
    if "not" in when:
        return f"not ({condition_words(when['not'])})"
    for joint in ("and", "or"):
        if joint in when:
            return f" {joint} ".join(_bracketed(each) for each in when[joint])
    place = str(when.get("$result", when.get("$item", "")))
    if "exists" in when:
        return f"{place} {'exists' if when['exists'] else 'does not exist'}"
    return f"{place} " + " and ".join(
        f"{words} {_value(when[name])}" for name, words in WORDS.items() if name in when
    )


def _bracketed(when: Any) -> str:
    said = condition_words(when)
    joined = isinstance(when, Mapping) and ("and" in when or "or" in when)
    return f"({said})" if joined else said


def _value(value: Any) -> str:
    if isinstance(value, Mapping) and "$result" in value:
        return str(value["$result"])
    return json.dumps(value, ensure_ascii=False)
