"""Which policies a text violates, told by its words."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from examples.content_moderation.kinds import ALLOW, BLOCK

POLICIES: Final[Mapping[str, re.Pattern[str]]] = {
    "threat": re.compile(r"\b(kill|hurt|find|get) you\b", re.IGNORECASE),
    "insult": re.compile(r"\b(idiot|moron|scum)\b", re.IGNORECASE),
    "adult offer": re.compile(r"\b(hot singles|uncensored|nude pics?)\b", re.IGNORECASE),
    "money trick": re.compile(r"\b(free crypto|double your money)\b", re.IGNORECASE),
    "bank account": re.compile(r"\b[A-Z]{2}\d{2}(?: ?\d{4}){4,7}(?: ?\d{1,3})?\b"),
}


def violations(text: str) -> Sequence[str]:
    """The policies that a text violates.

    >>> violations("Double your money today, you idiot!")
    ['insult', 'money trick']
    """
    return [policy for policy, pattern in POLICIES.items() if pattern.search(text)]


def verdict(found: Sequence[str]) -> str:
    """What follows from the violations found."""
    return BLOCK if found else ALLOW
