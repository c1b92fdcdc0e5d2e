"""Tags of acts on many tasks: the toast that can be undone, states, curves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django import template
from django.contrib.messages.storage.base import Message
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from tasks_app.core.actions.bulks import BulkAction, BulkState
from tasks_app.core.states import Status
from tasks_app.web.act_words import WORDS

register = template.Library()

LOOKS_LIKE: Final[dict[str, Status]] = {
    BulkState.HELD: Status.PENDING,
    BulkState.RUNNING: Status.RUNNING,
    BulkState.DONE: Status.COMPLETED,
    BulkState.UNDONE: Status.SKIPPED,
    BulkState.ABORTED: Status.CANCELLED,
    BulkState.STOPPED: Status.DEAD,
    BulkState.CAME_BACK: Status.DEAD,
}
"""A bulk's state has the shape and the colour of the status that it most resembles."""


ON_TASKS: Final = (
    (BulkAction.REQUEUE, ""),
    (BulkAction.DISMISS, "danger"),
    (BulkAction.CANCEL, "danger"),
    (BulkAction.PRIORITY, ""),
    (BulkAction.DEADLINE, ""),
)
"""What a list of tasks offers: the act, and the look of its button."""


@register.simple_tag
def acts_on_tasks() -> Sequence[tuple[str, str, str]]:
    """What can be done to tasks of any status: the act, its word, and the look of its button."""
    return [(action.value, str(WORDS[action].verb), look) for action, look in ON_TASKS]


@dataclass(frozen=True, slots=True)
class Held:
    """What a toast needs to offer an Undo: the bulk, and the instant at which it may begin."""

    id: UUID
    begins_at: str


@register.simple_tag
def held(message: Message) -> Held | None:
    """The bulk that a message is about, where its extra tags say ``held:ID:INSTANT``."""
    kind, _, rest = (message.extra_tags or "").partition(":")
    bulk_id, _, begins_at = rest.partition(":")
    return Held(UUID(bulk_id), begins_at) if kind == "held" else None


@register.simple_tag
def bulk_state(value: str) -> SafeString:
    """Show where a bulk stands: its shape, its word, its colour."""
    from tasks_app.templatetags.shell import SHAPES

    like = LOOKS_LIKE[value]
    return format_html(
        '<span class="st {}"><i aria-hidden="true">{}</i>{}</span>',
        like.lower(),
        SHAPES[like],
        value.replace("_", " ").capitalize(),
    )


@register.filter
def verb(action: str) -> str:
    """How an act on tasks is called in a list.

    >>> verb("requeue")
    'Requeue'
    """
    return str(WORDS[action].verb)


@register.filter
def done(action: str) -> str:
    """What a bulk has done to a task that it moved.

    >>> done("requeue")
    'requeued'
    """
    return str(WORDS[action].moved)


BAR, GAP, TALL = 5, 1, 22
"""Width of an hour's bar, the gap behind it, and the height of the highest, in CSS pixels."""


@register.simple_tag
def curve(counts: Sequence[int], label: str) -> SafeString:
    """Draw counts as bars, the oldest first; the label says the same in words."""
    most = max([*counts, 1])
    width = len(counts) * (BAR + GAP)
    bars = format_html_join(
        "",
        '<rect x="{}" y="{}" width="{}" height="{}"/>',
        (
            (at * (BAR + GAP), TALL - height, BAR, height)
            for at, count in enumerate(counts)
            if (height := max(round(TALL * count / most), 2) if count else 0)
        ),
    )
    return format_html(
        '<svg class="curve" role="img" aria-label="{}" viewBox="0 0 {} {}" width="{}" height="{}">'
        "<title>{}</title>{}</svg>",
        label,
        width,
        TALL,
        width,
        TALL,
        label,
        bars,
    )
