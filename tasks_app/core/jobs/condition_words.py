"""A step's condition as a sentence, for people who read a plan."""

import json
from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

from tasks_app.core.words import Words, say, side_by_side


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
        return say("not (%(condition)s)", condition=condition_words(when["not"]))
    for joint, each in (("and", _and), ("or", _or)):
        if joint in when:
            return reduce(each, map(_bracketed, when[joint]))
    place = str(when.get("$result", when.get("$item", "")))
    if "exists" in when:
        there = when["exists"]
        return (
            say("%(place)s exists", place=place)
            if there
            else say("%(place)s does not exist", place=place)
        )
    return reduce(_and, _compared(place, when))


def _and(one: str, other: str) -> Words:
    return say("%(one)s and %(other)s", one=one, other=other)


def _or(one: str, other: str) -> Words:
    return say("%(one)s or %(other)s", one=one, other=other)


def _compared(place: str, when: Mapping[str, Any]) -> Iterator[Words]:
    if "equals" in when:
        yield say("%(place)s is %(value)s", place=place, value=_value(when["equals"]))
    if "in" in when:
        yield say("%(place)s is one of %(value)s", place=place, value=_value(when["in"]))
    if "greater" in when:
        yield say("%(place)s is greater than %(value)s", place=place, value=_value(when["greater"]))
    if "less" in when:
        yield say("%(place)s is less than %(value)s", place=place, value=_value(when["less"]))


def _bracketed(when: Any) -> str:
    said = condition_words(when)
    joined = isinstance(when, Mapping) and ("and" in when or "or" in when)
    return side_by_side("(", said, ")", between="") if joined else said


def _value(value: Any) -> str:
    if isinstance(value, Mapping) and "$result" in value:
        return str(value["$result"])
    return json.dumps(value, ensure_ascii=False)
