"""References in templates: ``{"$result": "classify.label"}`` stands for an earlier step's result.

``{"$item": "name"}`` is a part of the item that a ``for_each`` task is for ("" the whole of it),
``{"$literal": ...}`` keeps what is within from being read as a reference. A ``default`` beside
``$result`` or ``$item`` stands in where there is no such part. Only data is moved: a reference is a
path through objects and lists, never an expression.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tasks_app.core.faults import Fault

RESULT: Final = "$result"
ITEM: Final = "$item"
LITERAL: Final = "$literal"
DEFAULT: Final = "default"

MOST_PARTS: Final = 32
"""Parts of one path; as deep as a result may be."""


class Missing(Exception):
    """A reference points to nothing and has no default; the message says where it broke off."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A place in a step's result, or in the item where ``step`` is None."""

    step: str | None
    path: tuple[str, ...]

    def __str__(self) -> str:
        """The reference as it is written."""
        return ".".join((*([self.step] if self.step is not None else []), *self.path))


@dataclass(frozen=True, slots=True)
class Scope:
    """What references may point to: the steps' results by name, and the item with ``has_item``.

    ``void`` are steps without which a plan goes on: references to them are null where data is
    wanted.
    """

    results: Mapping[str, Any]
    void: frozenset[str] = frozenset()
    item: Any = None
    has_item: bool = False


def is_reference(value: object) -> bool:
    """Tell whether a value is a reference or a literal, well-formed or not.

    >>> is_reference({"$result": "a.b"}), is_reference({"label": 1})
    (True, False)
    """
    return isinstance(value, dict) and bool(value.keys() & {RESULT, ITEM, LITERAL})


def parse_reference(value: Mapping[str, Any]) -> Reference:
    """Read a reference. Raises ValueError with a sentence for one that is malformed.

    >>> str(parse_reference({"$result": "classify.rows.0"}))
    'classify.rows.0'
    """
    marks = [mark for mark in (RESULT, ITEM) if mark in value]
    strange = sorted(value.keys() - {RESULT, ITEM, DEFAULT})
    if len(marks) != 1 or strange:
        raise ValueError(
            'a reference is {"$result": "step.path"} or {"$item": "path"}, with "default" at most; '
            'write {"$literal": ...} around data that only looks like one'
        )
    text = value[marks[0]]
    if not isinstance(text, str):
        raise ValueError('the path is a text, such as "classify.label"')
    parts = tuple(text.split(".")) if text else ()
    if len(parts) > MOST_PARTS or not all(parts):
        raise ValueError(f"a path is 1 to {MOST_PARTS} names with dots between")
    if marks[0] == ITEM:
        return Reference(None, parts)
    if not parts:
        raise ValueError('name the step whose result is meant, such as "classify.label"')
    return Reference(parts[0], parts[1:])


def find_references(template: object, place: str) -> Iterator[tuple[str, Reference | Fault]]:
    """Every reference in a template with its place; a malformed one is a Fault.

    >>> [(at, str(ref)) for at, ref in find_references({"a": [{"$result": "x.y"}]}, "payload")]
    [('payload.a[0]', 'x.y')]
    """
    if is_reference(template):
        assert isinstance(template, dict)
        if set(template) == {LITERAL}:
            return
        try:
            yield place, parse_reference(template)
        except ValueError as error:
            yield place, Fault(place, str(error))
    elif isinstance(template, dict):
        for key, value in template.items():
            yield from find_references(value, f"{place}.{key}")
    elif isinstance(template, list | tuple):
        for index, value in enumerate(template):
            yield from find_references(value, f"{place}[{index}]")


def has_references(template: object) -> bool:
    """Tell whether a template is anything but plain data."""
    if is_reference(template):
        return True
    if isinstance(template, dict):
        return any(has_references(value) for value in template.values())
    return isinstance(template, list | tuple) and any(has_references(v) for v in template)


def substitute(template: Any, scope: Scope) -> Any:
    """The template with every reference replaced. Raises Missing.

    >>> scope = Scope({"classify": {"label": "card"}})
    >>> substitute({"about": {"$result": "classify.label"}, "n": 1}, scope)
    {'about': 'card', 'n': 1}
    """
    if is_reference(template):
        if set(template) == {LITERAL}:
            return template[LITERAL]
        reference = parse_reference(template)
        try:
            return look_up(reference, scope)
        except Missing:
            if DEFAULT not in template and reference.step not in scope.void:
                raise
            return template.get(DEFAULT)
    if isinstance(template, dict):
        return {key: substitute(value, scope) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [substitute(value, scope) for value in template]
    return template


def assemble(template: Any, scope: Scope) -> Any:
    """The same, with null for every reference that points to nothing.

    >>> assemble({"label": {"$result": "skipped.label"}}, Scope({}))
    {'label': None}
    """
    if is_reference(template):
        try:
            return substitute(template, scope)
        except Missing:
            return None
    if isinstance(template, dict):
        return {key: assemble(value, scope) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [assemble(value, scope) for value in template]
    return template


def look_up(reference: Reference, scope: Scope) -> Any:
    """What a reference points to. Raises Missing.

    >>> look_up(Reference("split", ("rows", "1")), Scope({"split": {"rows": ["a", "b"]}}))
    'b'
    """
    if reference.step is None:
        if not scope.has_item:
            raise Missing("there is no item outside a for_each")
        value, walked = scope.item, "the item"
    elif reference.step in scope.results:
        value, walked = scope.results[reference.step], f"the result of {reference.step}"
    else:
        raise Missing(f"step {reference.step} has no result")
    for part in reference.path:
        value = _part_of(value, part, walked)
        walked = f"{walked}.{part}"
    return value


def _part_of(value: Any, part: str, walked: str) -> Any:
    if isinstance(value, dict) and part in value:
        return value[part]
    # Numbers of more digits than any list has entries are not even converted.
    if isinstance(value, list) and part.isascii() and part.isdecimal() and len(part) < 10:
        index = int(part)
        if index < len(value):
            return value[index]
    raise Missing(f"{walked} has no {part}")
