"""What a change of how the supervisor looks at the queue would do, and of when it gives up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tasks_app.core.figures import short
from tasks_app.core.settings.settings_changes import Settings
from tasks_app.core.words import Words, say, say_count, side_by_side


@dataclass(frozen=True, slots=True)
class Queue:
    """How long ago each ready task stands in the queue, head start included, in seconds.

    ``latest`` is the number of tasks that were submitted last, ``raised`` those of them with a
    priority other than 0.
    """

    ago: Sequence[float]
    latest: int = 0
    raised: int = 0


def preview_head_start(queue: Queue, before: Settings, after: Settings) -> Words:
    """Say where a task of priority 1 would come to stand.

    >>> change = [{"priority_head_start_seconds": each} for each in (60.0, 0.0)]
    >>> preview_head_start(Queue([5.0, 90.0]), *change).partition(";")[0]
    'head start 0 s: a task of priority 1 that comes now stands ahead of 0 of 2 ready tasks (now 1)'
    """
    new, old = (each["priority_head_start_seconds"] for each in (after, before))
    if queue.ago:
        told = say_count(
            "head start %(new)s: a task of priority 1 that comes now stands ahead of %(then)s of "
            "%(count)s ready task (now %(now)s); what is in the queue keeps its place.",
            "head start %(new)s: a task of priority 1 that comes now stands ahead of %(then)s of "
            "%(count)s ready tasks (now %(now)s); what is in the queue keeps its place.",
            len(queue.ago),
            new=short(new),
            then=f"{sum(ago < new for ago in queue.ago):,}",
            now=f"{sum(ago < old for ago in queue.ago):,}",
        )
    else:
        told = say(
            "head start %(new)s: nothing is ready; a task of priority 1 goes ahead of what came "
            "up to %(new)s before it (now %(old)s).",
            new=short(new),
            old=short(old),
        )
    if not queue.latest:
        return told
    latest = say_count("%(count)s task", "%(count)s tasks", queue.latest)
    raised = say_count(
        "Of the latest %(latest)s %(count)s has a priority other than 0.",
        "Of the latest %(latest)s %(count)s have a priority other than 0.",
        queue.raised,
        latest=latest,
    )
    return side_by_side(told, raised)


def preview_window(
    ready: Mapping[str, int], bound: int, before: Settings, after: Settings
) -> Words:
    """Say what a round would not look at; ``ready`` counts each kind's ready tasks to a bound.

    >>> preview_window({"mail": 30}, 99, {"window": 20}, {"window": 10})
    'window 10: of 30 ready tasks a round would not look at 20 (now 10), most of them mail.'
    """

    def unseen(settings: Settings) -> dict[str, int]:
        return {kind: max(0, tasks - settings["window"]) for kind, tasks in ready.items()}

    more = "+" if any(tasks >= bound for tasks in ready.values()) else ""
    then, now = unseen(after), unseen(before)
    whole = sum(ready.values())
    told = {
        "new": f"{after['window']:,}",
        "now": f"{sum(now.values()):,}{more if sum(now.values()) else ''}",
        "whole": say_count(
            "%(count)s%(more)s ready task", "%(count)s%(more)s ready tasks", whole, more=more
        ),
    }
    if not any(then.values()):
        return say(
            "window %(new)s: of %(whole)s a round would look at every one (left out now: %(now)s).",
            **told,
        )
    return say(
        "window %(new)s: of %(whole)s a round would not look at %(then)s (now %(now)s), most of "
        "them %(kind)s.",
        then=f"{sum(then.values()):,}{more}",
        kind=max(sorted(then), key=lambda kind: then[kind]),
        **told,
    )


@dataclass(frozen=True, slots=True)
class Unroutable:
    """For how long each ready task that no worker ever could do has waited, in seconds, by kind.

    ``died`` counts those that are dead letters for it, of a day.
    """

    waits: Mapping[str, Sequence[float]]
    died: int = 0


def preview_unroutable(past: Unroutable, before: Settings, after: Settings) -> Words:
    """Say which ready tasks would be dead at the next round.

    >>> change = [{"unroutable_grace_seconds": each} for each in (3600.0, 60.0)]
    >>> preview_unroutable(Unroutable({"fax": [30.0, 90.0]}), *change).partition(" (")[0]
    'unroutable grace 60 s: of 2 ready tasks that no worker ever could do, 1 is dead at once'
    """
    waits = [wait for each in past.waits.values() for wait in each]
    new, old = (each["unroutable_grace_seconds"] for each in (after, before))
    died = say_count(
        "%(count)s dead letter of the last day is there for it.",
        "%(count)s dead letters of the last day are there for it.",
        past.died,
    )
    if not waits:
        told = say(
            "unroutable grace %(new)s: there is no ready task that no worker ever could do.",
            new=short(new),
        )
        return side_by_side(told, died)
    told = say_count(
        "unroutable grace %(new)s: of %(whole)s that no worker ever could do, %(count)s is dead "
        "at once (now %(now)s); kinds: %(kinds)s.",
        "unroutable grace %(new)s: of %(whole)s that no worker ever could do, %(count)s are dead "
        "at once (now %(now)s); kinds: %(kinds)s.",
        sum(wait > new for wait in waits),
        new=short(new),
        now=f"{sum(wait > old for wait in waits):,}",
        whole=say_count("%(count)s ready task", "%(count)s ready tasks", len(waits)),
        kinds=", ".join(sorted(past.waits)[:5]),
    )
    return side_by_side(told, died)


@dataclass(frozen=True, slots=True)
class Overruns:
    """By how many seconds attempts ran past their kind's timeout: stopped within a day, or now."""

    stopped: Sequence[float] = ()
    running: Sequence[float] = ()


def preview_timeout_grace(past: Overruns, before: Settings, after: Settings) -> Words:
    """Say which attempts the supervisor would take back where their worker is left to stop them.

    >>> change = [{"timeout_grace_seconds": each} for each in (10.0, 1.0)]
    >>> preview_timeout_grace(Overruns([0.2, 4.0], [2.0]), *change).partition(". ")[2]
    '1 that is running now is past it, and lost at once.'
    """
    new, old = (each["timeout_grace_seconds"] for each in (after, before))
    stopped = say_count("%(count)s attempt", "%(count)s attempts", len(past.stopped))
    told = say(
        "timeout grace %(new)s: of %(stopped)s stopped for their timeout within a day, %(then)s "
        "ran on for longer than that and would be taken from their worker (now %(now)s).",
        new=short(new),
        stopped=stopped,
        then=f"{sum(over > new for over in past.stopped):,}",
        now=f"{sum(over > old for over in past.stopped):,}",
    )
    running = sum(over > new for over in past.running)
    if not running:
        return told
    lost = say_count(
        "%(count)s that is running now is past it, and lost at once.",
        "%(count)s that are running now are past it, and lost at once.",
        running,
    )
    return side_by_side(told, lost)
