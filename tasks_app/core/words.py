"""Sentences that are English here and can be said in another language by whoever shows them."""

from typing import Any, Self


class Words(str):
    """A sentence in English that remembers what it was made of.

    It is its English text for all who know nothing of languages: logs, the API, the command line.
    ``template`` has named places, ``%(name)s``, filled from ``params``, which may be ``Words``
    themselves. Where there is a ``many``, it is the template for every ``number`` but one.
    """

    __slots__ = ("many", "number", "params", "template")

    template: str
    many: str
    number: int
    params: dict[str, Any]

    @classmethod
    def of(cls, template: str, many: str, number: int, params: dict[str, Any]) -> Self:
        """Fill the places of the template that fits the count."""
        made = cls((many if many and number != 1 else template) % params)
        made.template, made.many, made.number, made.params = template, many, number, params
        return made

    def __str__(self) -> str:
        """The sentence itself, so that an exception made with it still can be translated."""
        return self


def say(template: str, /, **params: Any) -> Words:
    """Make a sentence; the catalogue finds its template by the name of this function.

    >>> say("%(kind)s is paused.", kind="mail")
    'mail is paused.'
    """
    return Words.of(template, "", 0, params)


def say_count(one: str, many: str, count: int, /, **params: Any) -> Words:
    """Make a sentence about so many things; ``%(count)s`` is the number with its thousands apart.

    >>> say_count("%(count)s task", "%(count)s tasks", 1), say_count("a %(x)s", "b %(x)s", 2, x=1)
    ('1 task', 'b 1')
    """
    return Words.of(one, many, count, {"count": f"{count:,}", **params})


def side_by_side(*parts: str, between: str = " ") -> Words:
    """Put sentences one after the other; each is translated by itself.

    >>> side_by_side(say("It ended."), "", say("It began."))
    'It ended. It began.'
    """
    said = {f"part{number}": part for number, part in enumerate(filter(None, parts))}
    places = (f"%({name})s" for name in said)
    return Words.of(between.replace("%", "%%").join(places), "", 0, said)
