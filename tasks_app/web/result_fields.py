"""A result's form on a page: what its fields hold, what is wrong with them, what was sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.http import QueryDict

from tasks_app.core.drawing.result_forms import Choice, FieldKind, FormField, ResultForm, read_form
from tasks_app.core.sanitise import clean_text
from tasks_app.services.jobs.result_schemas import Faults, result_faults

PREFIX: Final = "field."
"""Of the names of inputs, so that no schema's property is taken for a token."""

FEW: Final = 6
"""Choices that are shown all at once; more of them fold into a list."""


@dataclass(frozen=True, slots=True)
class BoundField:
    """A field as it is drawn: ``texts`` are what it holds, ``faults`` what is wrong with it."""

    field: FormField
    place: int
    texts: Sequence[str]
    faults: Sequence[str]

    @property
    def name(self) -> str:
        """Of its inputs."""
        return PREFIX + self.field.name

    @property
    def id(self) -> str:
        """Of its first input."""
        return f"field-{self.place}"

    @property
    def text(self) -> str:
        """What a field of one text holds."""
        return self.texts[0] if self.texts else ""

    @property
    def drawn_as(self) -> str:
        """``choices`` that are few are radio buttons, many are a list."""
        if self.field.kind is FieldKind.CHOICE:
            return "radios" if len(self.field.choices) <= FEW else "list"
        return self.field.kind.value

    @property
    def options(self) -> list[tuple[Choice, bool]]:
        """Each choice, and whether it is chosen."""
        return [(choice, choice.value in self.texts) for choice in self.field.choices]

    @property
    def described_by(self) -> str:
        """The ids of what explains it."""
        said = [f"{self.id}-help"] if self.field.help else []
        return " ".join([*said, *([f"{self.id}-fault"] if self.faults else [])])


@dataclass(frozen=True, slots=True)
class BoundForm:
    """The whole form; ``faults`` are those of no field in particular, ``count`` is of all."""

    fields: Sequence[BoundField]
    verdict: BoundField | None
    faults: Sequence[str]
    count: int


def sent_texts(sent: QueryDict) -> dict[str, list[str]]:
    """What was filled in, by field."""
    return {
        name.removeprefix(PREFIX): [clean_text(text) for text in sent.getlist(name)]
        for name in sent
        if name.startswith(PREFIX)
    }


def bind(
    form: ResultForm, texts: Mapping[str, Sequence[str]] | None, faults: Faults | None = None
) -> BoundForm:
    """Fill a form: with what was sent, or (None) with what its schema begins with."""
    wrong = faults or {}
    bound = {
        field.name: BoundField(
            field,
            place,
            field.initial if texts is None else texts.get(field.name, ()),
            wrong.get(field.name, ()),
        )
        for place, field in enumerate(form.every_field, start=1)
    }
    rest = [message for name in wrong if name not in bound for message in wrong[name]]
    return BoundForm(
        fields=[bound[field.name] for field in form.fields],
        verdict=bound[form.verdict.name] if form.verdict else None,
        faults=rest,
        count=sum(len(messages) for messages in wrong.values()),
    )


def read_result(
    form: ResultForm, schema: Any, texts: Mapping[str, Sequence[str]]
) -> tuple[Any, Faults]:
    """The result that was filled in, and all that is wrong with it, each fault at its field."""
    result, unread = read_form(form, texts)
    faults = {} if unread and not isinstance(result, dict) else dict(result_faults(schema, result))
    return result, faults | {name: [message] for name, message in unread.items()}
