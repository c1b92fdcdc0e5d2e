"""What a change of a group's rights would do to those who are in it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tasks_app.core.settings.settings_changes import Settings
from tasks_app.core.words import Words, say, say_count


@dataclass(frozen=True, slots=True)
class Members:
    """The active people of a group, and how many of them have each right from elsewhere too."""

    people: int
    elsewhere: Mapping[str, int]


def preview_rights(members: Members, before: Settings, after: Settings) -> Iterator[Words]:
    """Say how many people would gain or lose each right.

    >>> change = [{"permissions": names} for names in ([], ["app.see"])]
    >>> list(preview_rights(Members(3, {"app.see": 1}), *change))
    ['app.see: of 3 active people in this group 2 would gain it.']
    """
    old, new = (frozenset[str](each["permissions"]) for each in (before, after))
    people = say_count(
        "%(count)s active person in this group",
        "%(count)s active people in this group",
        members.people,
    )
    for right in [*sorted(new - old), *sorted(old - new)]:
        count = f"{members.people - members.elsewhere.get(right, 0):,}"
        told = {"right": right, "people": people, "count": count}
        if right in new:
            yield say("%(right)s: of %(people)s %(count)s would gain it.", **told)
        else:
            yield say("%(right)s: of %(people)s %(count)s would lose it.", **told)
