"""Tags of the pages about tasks: outcomes of attempts, reasons, progress."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from tasks_app.core.facts import Left
from tasks_app.core.search.queries import quoted_if_needed
from tasks_app.core.states import BootEnding, DeadReason, OnDead, Outcome, Status
from tasks_app.services.search.found_searches import pinned_of
from tasks_app.store.reads.search.searches import SearchRow
from tasks_app.templatetags.shell import SHAPES
from tasks_app.web.task_address import ListAddress

register = template.Library()

LOOKS_LIKE: Final[dict[str, Status]] = {
    Outcome.COMPLETED: Status.COMPLETED,
    Outcome.ERROR: Status.FAILED,
    Outcome.TIMEOUT: Status.FAILED,
    Outcome.CRASHED: Status.DEAD,
    Outcome.WORKER_LOST: Status.DEAD,
    Outcome.NOT_NAMED: Status.DEAD,
    Outcome.DEADLINE: Status.DEAD,
    Outcome.RELEASED: Status.PENDING,
    Outcome.EXPIRED: Status.PENDING,
    Outcome.REPLACED: Status.PENDING,
    Outcome.STOPPED: Status.PENDING,
    Outcome.CANCELLED: Status.CANCELLED,
}
"""An outcome has the shape and the colour of the status that it most resembles."""

ENDINGS: Final[dict[str, Promise]] = {
    BootEnding.LEFT: _("Stopped normally"),
    BootEnding.DRAINING: _("Ended while draining"),
    BootEnding.SILENT: _("No heartbeat"),
    BootEnding.REPLACED: _("Replaced by a newer process"),
    BootEnding.EVICTED: _("Evicted"),
}
"""Why a boot of a worker ended."""

REASONS: Final[dict[str, Promise]] = {
    DeadReason.PERMANENT: _("Its error can never pass, so no attempt was wasted on trying again."),
    DeadReason.EXHAUSTED: _("Every attempt of its budget was used up."),
    DeadReason.POISON: _("Workers died while they ran it, so it is the likely cause."),
    DeadReason.DEADLINE: _("Its deadline passed before it ended."),
    DeadReason.DEPENDENCY: _("A task that it depends on is dead or was closed for good."),
    DeadReason.UNROUTABLE: _("No worker on record ever could do its kind."),
}

LEFT: Final[dict[str, Promise]] = {
    Left.KIND_PAUSED: _("Its kind %(name)s is paused."),
    Left.KIND_QUARANTINED: _(
        "Its kind %(name)s is in quarantine: its tasks took workers down, or an operator put it "
        "there."
    ),
    Left.BREAKER_OPEN: _(
        "Its kind %(name)s is held back by its circuit breaker after failures in a row."
    ),
    Left.FOR_PEOPLE: _("It waits for a person, who takes it from the inbox."),
    Left.LIMIT_PAUSED: _(
        "Its limit %(name)s is paused because the other side asked for a pause (HTTP 429)."
    ),
    Left.LIMIT_BREAKER_OPEN: _(
        "Its limit %(name)s is held back by its circuit breaker after failures of its kinds."
    ),
    Left.LIMIT_FULL: _("Its limit %(name)s has no room now: as much as it allows is in flight."),
    Left.RATE_LIMITED: _("Its limit %(name)s has used up its rate for the moment."),
    Left.LOCKED: _("Another task holds its lock."),
    Left.NO_CAPABLE_WORKER: _("No live worker can do it: start one with a handler of that name."),
    Left.ALL_BUSY: _("Every worker that can do it has as much as it may hold."),
    Left.BEST_BUSY: _("It waits for the most skilled worker, which is busy."),
}


@register.filter
def boot_ending(value: str | None) -> str:
    """Say why a boot ended; empty where that was not recorded, or it has not ended."""
    return str(ENDINGS.get(value or "", ""))


@register.filter
def pretty_json(value: object) -> str:
    """A JSON value, indented.

    >>> pretty_json([1])
    '[\\n  1\\n]'
    """
    return json.dumps(value, indent=2, ensure_ascii=False)


@register.simple_tag
def outcome(value: str) -> SafeString:
    """Show how an attempt ended: shape, word, colour."""
    like = LOOKS_LIKE[value]
    return format_html(
        '<span class="st {}"><i aria-hidden="true">{}</i>{}</span>',
        like.lower(),
        SHAPES[like],
        value.replace("_", " ").capitalize(),
    )


@register.filter
def dead_because(reason: str) -> str:
    """Say why a task was given up."""
    return str(REASONS.get(reason, ""))


@register.simple_tag
def left_because(left: str, name: str = "") -> SafeString:
    """Say why a round would leave a task where it is; ``name`` is its kind's or its limit's.

    >>> left_because("all_busy"), left_because("limit_full", "api")[:26]
    ('Every worker that can do it has as much as it may hold.', 'Its limit <code>api</code>')
    """
    before, named, after = str(LEFT.get(left, "")).partition("%(name)s")
    code = format_html("<code>{}</code>", name) if named and name else ""
    return format_html("{}{}{}", before, code, after)


IT_DIES: Final[dict[str, Promise]] = {
    OnDead.WAIT: _("If it dies, this one waits for a human."),
    OnDead.FAIL: _("If it dies, this one is dead too."),
    OnDead.CONTINUE: _("If it dies, this one goes on without it."),
}

THIS_DIES: Final[dict[str, Promise]] = {
    OnDead.WAIT: _("If this one dies, that one waits for a human."),
    OnDead.FAIL: _("If this one dies, that one is dead too."),
    OnDead.CONTINUE: _("If this one dies, that one goes on without it."),
}


@register.filter
def when_it_dies(on_dead: str) -> str:
    """Say what a task does when the one that it depends on is dead.

    >>> when_it_dies("wait")
    'If it dies, this one waits for a human.'
    """
    return str(IT_DIES[on_dead])


@register.filter
def when_this_dies(on_dead: str) -> str:
    """Say what a dependent does when the task on the page is dead.

    >>> when_this_dies("fail")
    'If this one dies, that one is dead too.'
    """
    return str(THIS_DIES[on_dead])


@register.filter
def of_hundred(fraction: float) -> int:
    """A share as a whole percentage.

    >>> of_hundred(0.256)
    26
    """
    return round(100 * fraction)


@register.filter
def part_of(fraction: float, whole: float) -> str:
    """A share of a length, for drawings.

    >>> part_of(0.25, 40), rest_of(0.25, 40)
    ('10.0', '30.0')
    """
    return f"{fraction * whole:.1f}"


@register.filter
def rest_of(fraction: float, whole: float) -> str:
    """What a share leaves of a length, for drawings."""
    return f"{(1 - fraction) * whole:.1f}"


@register.filter
def utc_minute(second: float) -> str:
    """The minute of an instant (seconds since the epoch).

    >>> utc_minute(60)
    '00:01 UTC'
    """
    return datetime.fromtimestamp(second, tz=UTC).strftime("%H:%M UTC")


@register.filter
def share_of(part: float, whole: float) -> int:
    """A part of a whole in percent.

    >>> share_of(1, 4), share_of(3, 0)
    (25, 0)
    """
    return round(100 * part / whole) if whole else 0


@register.simple_tag
def query_link(address: ListAddress, query: str, kind: str = "") -> str:
    """The address of the list with another query, narrowed to a kind if one is given."""
    narrowed = f"kind:{quoted_if_needed(kind)} {query}" if kind else query
    return reverse("web:tasks") + address.link(q=narrowed)


@register.simple_tag
def search_link(search: SearchRow) -> str:
    """The address of the list that a saved search is."""
    parts = filter(None, (urlencode({"q": search.query}) if search.query else "", search.address))
    return f"{reverse('web:tasks')}?{'&'.join(parts)}"


@register.simple_tag(takes_context=True)
def rail_searches(context: Context) -> Sequence[SearchRow]:
    """What this user has pinned to the side bar; one query."""
    user = context["request"].user
    return pinned_of(user) if user.is_authenticated else ()


@register.simple_tag
def tasks_where(field: str, value: str, also: str = "") -> str:
    """The address of the list of tasks in which a field has a value, and what else must hold."""
    query = f"{field}:{quoted_if_needed(value)} {also}".rstrip()
    return f"{reverse('web:tasks')}?{urlencode({'q': query})}"
