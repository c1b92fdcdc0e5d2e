"""Tags of every page: statuses, instants, figures and the rail."""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from tasks_app.core.drawing.visible import visible as made_visible
from tasks_app.core.jobs.job_states import JobStatus
from tasks_app.core.states import Status, WorkerState
from tasks_app.services.people.people import may_administer
from tasks_app.store.reads.dispatch.counts import count_by_status
from tasks_app.store.reads.jobs.inbox import waiting_label
from tasks_app.translation import translated

register = template.Library()
register.filter("translated", translated)

SHAPES: Final[dict[str, str]] = {
    Status.PENDING: "○",
    Status.ASSIGNED: "◔",
    Status.RUNNING: "◑",
    Status.COMPLETED: "●",
    Status.FAILED: "↻",
    Status.DEAD: "✕",
    Status.DISMISSED: "⊘",
    Status.CANCELLED: "□",
    Status.SKIPPED: "↷",
    JobStatus.COMPENSATING: "↶",
    JobStatus.COMPENSATED: "⊖",
    WorkerState.ACTIVE: "●",
    WorkerState.DRAINING: "◒",
    WorkerState.STOPPED: "□",
    WorkerState.LOST: "✕",
    WorkerState.PERSON: "◇",
}
"""Each status has a shape of its own, so that colour is never the only sign."""


@register.simple_tag
def status(value: str, word: str = "") -> SafeString:
    """Show a task's status or a worker's state: its shape, its word (or another), its colour."""
    return format_html(
        '<span class="st {}"><i aria-hidden="true">{}</i>{}</span>',
        value.lower(),
        SHAPES.get(value, "·"),
        word or value.capitalize(),
    )


@register.filter
def shape(value: str) -> str:
    """The shape alone, for drawings.

    >>> shape("RUNNING")
    '◑'
    """
    return SHAPES.get(value, "·")


@register.simple_tag
def when(instant: datetime | None) -> SafeString:
    """Show an instant: UTC here, local time once the page's script runs, UTC on hover."""
    return _time(instant, "local", "%Y-%m-%d %H:%M:%S UTC")


@register.simple_tag
def left(instant: datetime | None) -> SafeString:
    """Show how long it is until an instant: UTC here, what is left of it once the script runs."""
    return _time(instant, "left", "%H:%M:%S UTC")


@register.simple_tag
def ago(instant: datetime | None) -> SafeString:
    """Show how long ago an instant was: UTC here, an age that ticks once the script runs."""
    return _time(instant, "ago", "%H:%M:%S UTC")


def _time(instant: datetime | None, kind: str, pattern: str) -> SafeString:
    if instant is None:
        return format_html('<span class="soft">{}</span>', gettext("never"))
    at = instant.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{}" data-time="{}">{}</time>',
        at.isoformat(timespec="milliseconds"),
        at.strftime("%Y-%m-%d %H:%M:%S UTC"),
        kind,
        at.strftime(pattern),
    )


@register.simple_tag
def server_time() -> str:
    """Seconds since the epoch by this machine, by which the browser corrects its own clock."""
    return f"{time.time():.3f}"


STEPS: Final = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"))


@register.filter
def duration(seconds: float | None) -> str:
    """Write seconds short: two digits that matter and their unit.

    >>> duration(27e-6), duration(0.0421), duration(4.2), duration(75), duration(7200)
    ('27 µs', '42 ms', '4.2 s', '75 s', '2.0 h')
    >>> duration(0), duration(None)
    ('0 s', '-')
    """
    if seconds is None:
        return "-"
    if 0 < seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    if 0 < seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    for size, unit in STEPS:
        # Two of the next unit, so that 75 s is not a coarse 1 min.
        if seconds >= 2 * size:
            value = seconds / size
            return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{seconds:.1f} s" if 0 < seconds < 10 else f"{seconds:.0f} s"


@register.filter
def figure(number: float | None) -> str:
    """Write a number with its thousands apart; a fraction only where it matters.

    >>> figure(3080), figure(41.84), figure(0.25), figure(None)
    ('3,080', '41.8', '0.25', '-')
    """
    if number is None:
        return "-"
    if isinstance(number, int) or number >= 100 or number == int(number):
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 10 else f"{number:.2f}"


@register.filter
def visible(value: object) -> str:
    """A value's text with controls and direction marks written out."""
    return made_visible(str(value))


@register.filter
def words(name: str) -> str:
    """Write an identifier as words.

    >>> words("round_robin")
    'round robin'
    """
    return name.replace("_", " ")


@register.filter
def setting(value: object) -> str:
    """Write a setting's value as a file has it.

    >>> setting(None), setting(True), setting("round_robin"), setting("")
    ('null', 'true', 'round_robin', '""')
    """
    text = isinstance(value, str) and value
    return str(value) if text else json.dumps(value, ensure_ascii=False, default=str)


@register.filter
def names(all_names: Sequence[str]) -> str:
    """List names, at most three of many.

    >>> names(["w2"]), names(["w2", "w3"]), names(["a", "b", "c", "d", "e"])
    ('w2', 'w2 and w3', 'a, b, c and 2 others')
    """
    if len(all_names) == 1:
        return all_names[0]
    if len(all_names) <= 4:
        last = {"names": ", ".join(all_names[:-1]), "last": all_names[-1]}
        return gettext("%(names)s and %(last)s") % last
    rest = {"names": ", ".join(all_names[:3]), "count": len(all_names) - 3}
    return gettext("%(names)s and %(count)s others") % rest


@register.filter
def codes(all_names: Iterable[str]) -> SafeString:
    """List names in the type of code.

    >>> codes(["a", "<b>"])
    '<code>a</code>, <code>&lt;b&gt;</code>'
    """
    return format_html_join(", ", "<code>{}</code>", ((name,) for name in all_names))


@dataclass(frozen=True, slots=True)
class RailLink:
    """One page in the rail; ``count`` is what waits there for a human, of the status ``counts``.

    ``g`` and then ``key`` leads to it. None where nothing is counted.
    """

    label: str
    url: str
    here: bool
    key: str
    count: int | str | None = None
    counts: str = ""


INBOX: Final = "INBOX"
"""What waits for people is no status; its count comes with the live feed too."""


PAGES: Final = (
    (_("Overview"), "web:overview", "o", ""),
    (_("Tasks"), "web:tasks", "t", ""),
    (_("Jobs"), "web:jobs", "j", ""),
    (_("Inbox"), "web:inbox", "i", INBOX),
    (_("Dead letters"), "web:dead_letters", "d", Status.DEAD.value),
    (_("Kinds"), "web:kinds", "k", ""),
    (_("Workers"), "web:workers", "w", ""),
    (_("Supervisor"), "web:supervisor", "s", ""),
    (_("Audit"), "web:audit", "a", ""),
)
"""Label, route, key after ``g``, and the status that is counted beside it."""


@register.simple_tag(takes_context=True)
def rail_links(context: Context) -> list[RailLink]:
    """The pages that this user may see, with the counts that need a human; two queries."""
    request = context["request"]
    totals: dict[str, int | str] = {**count_by_status(), INBOX: waiting_label()}
    links, root = [], reverse("web:overview")
    for label, name, key, counted in PAGES:
        url = reverse(name)
        here = request.path == url or (url != root and request.path.startswith(url))
        count = totals.get(counted, 0) if counted else None
        links.append(RailLink(str(label), url, here, key, count, counted))
    if may_administer(request.user):
        links.append(RailLink(gettext("Admin"), reverse("admin:index"), here=False, key="x"))
    return links
