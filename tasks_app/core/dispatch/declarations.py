"""What a worker may declare of itself, whichever way it registers."""

from collections.abc import Iterator, Mapping
from typing import Final

from tasks_app.core.bounds import HIGHEST_SKILL, LOWEST_SKILL, MOST_SLOTS
from tasks_app.core.intake.new_tasks import LONGEST_NAME, between, fault_of_text, shown

LONGEST_HOST: Final = 200
"""Characters; the width of the column."""

LONGEST_RELEASE: Final = 100
"""Characters of the version of a worker's handlers; the width of the column."""

MOST_KINDS: Final = 1000
"""Kinds that one worker may offer: each is a row of its registration."""

LARGEST_PID: Final = 2**31 - 1


def declaration_faults(
    *, name: object, slots: object, skills: Mapping[str, object], host: str, pid: int, version: str
) -> Iterator[str]:
    """Every fault of a registration, as a sentence that names the field, the value and the bounds.

    >>> list(declaration_faults(
    ...     name="w1", slots=0, skills={"job": 1e-306}, host="h", pid=1, version=""
    ... ))  # doctest: +NORMALIZE_WHITESPACE
    ['slots is 0: give a whole number from 1 to 1,000',
     'the skill of job is 1e-306: give a number from 0.001 to 1,000']
    """
    if message := fault_of_text(name, LONGEST_NAME):
        yield f"the worker's name is {shown(name)}: {message}"
    if not _whole(slots, 1, MOST_SLOTS):
        yield f"slots is {shown(slots)}: give a whole number from 1 to {MOST_SLOTS:,}"
    if not _whole(pid, 0, LARGEST_PID):
        yield f"the process id is {shown(pid)}: give a whole number from 0 to {LARGEST_PID:,}"
    for field, text, longest in (
        ("host name", host, LONGEST_HOST),
        ("version", version, LONGEST_RELEASE),
    ):
        if text != "" and (message := fault_of_text(text, longest)):
            yield f"the {field} is {shown(text)}: {message}"
    if len(skills) > MOST_KINDS:
        yield f"{len(skills):,} kinds are offered: at most {MOST_KINDS:,} by one worker"
        return
    for kind, skill in skills.items():
        if message := fault_of_text(kind, LONGEST_NAME):
            yield f"the kind {shown(kind)} cannot be offered: {message}"
        if message := skill_fault(skill):
            yield f"the skill of {kind} {message}"


def skill_fault(skill: object) -> str:
    """Why a number is no skill; "" when it is one."""
    if between(skill, LOWEST_SKILL, HIGHEST_SKILL):
        return ""
    return f"is {shown(skill)}: give a number from {LOWEST_SKILL:g} to {HIGHEST_SKILL:,.0f}"


def _whole(value: object, lowest: int, highest: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest
