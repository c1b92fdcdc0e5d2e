"""What acts on tasks are called: each as sentences of its own, so that they can be translated."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from tasks_app.core.actions.bulks import BulkAction


def _n(one: str, many: str) -> Promise:
    return ngettext_lazy(one, many, "number")


def counted(words: Promise, count: int) -> str:
    """A sentence about so many tasks, in the active language."""
    said = words % {"number": count, "count": f"{count:,}"}
    return str(said)


@dataclass(frozen=True, slots=True)
class ActWords:
    """How an act is called; ``question``, ``begun`` and ``done`` are for ``counted``.

    ``verb`` stands in lists, ``nothing`` where there is nothing to do it to, ``none`` where it was
    done to nothing, ``moved`` beside a task that a bulk did it to. ``many`` asks and ``every`` is
    the button where there are more tasks than were looked at.
    """

    verb: Promise
    many: Promise
    every: Promise
    nothing: Promise
    question: Promise
    begun: Promise
    done: Promise
    none: Promise
    button: Promise
    moved: Promise


WORDS: Final[Mapping[str, ActWords]] = {
    BulkAction.REQUEUE: ActWords(
        verb=_("Requeue"),
        many=_("Requeue more than %(count)s tasks?"),
        every=_("Requeue all"),
        nothing=_("Nothing to requeue"),
        question=_n("Requeue %(count)s task?", "Requeue %(count)s tasks?"),
        begun=_n("Requeue %(count)s task.", "Requeue %(count)s tasks."),
        done=_n("%(count)s requeued.", "%(count)s requeued."),
        none=_("Nothing was requeued."),
        button=_n("Requeue %(count)s", "Requeue %(count)s"),
        moved=_("requeued"),
    ),
    BulkAction.DISMISS: ActWords(
        verb=_("Dismiss"),
        many=_("Dismiss more than %(count)s tasks?"),
        every=_("Dismiss all"),
        nothing=_("Nothing to dismiss"),
        question=_n("Dismiss %(count)s task?", "Dismiss %(count)s tasks?"),
        begun=_n("Dismiss %(count)s task.", "Dismiss %(count)s tasks."),
        done=_n("%(count)s dismissed.", "%(count)s dismissed."),
        none=_("Nothing was dismissed."),
        button=_n("Dismiss %(count)s", "Dismiss %(count)s"),
        moved=_("dismissed"),
    ),
    BulkAction.CANCEL: ActWords(
        verb=_("Cancel"),
        many=_("Cancel more than %(count)s tasks?"),
        every=_("Cancel all"),
        nothing=_("Nothing to cancel"),
        question=_n("Cancel %(count)s task?", "Cancel %(count)s tasks?"),
        begun=_n("Cancel %(count)s task.", "Cancel %(count)s tasks."),
        done=_n("%(count)s cancelled or asked to.", "%(count)s cancelled or asked to."),
        none=_("Nothing was cancelled."),
        button=_n("Cancel %(count)s", "Cancel %(count)s"),
        moved=_("cancelled, or its worker asked to let go"),
    ),
    BulkAction.PRIORITY: ActWords(
        verb=_("Priority"),
        many=_("Change the priority of more than %(count)s tasks?"),
        every=_("Change all"),
        nothing=_("Nothing to give a priority"),
        question=_n(
            "Change the priority of %(count)s task?", "Change the priority of %(count)s tasks?"
        ),
        begun=_n(
            "Change the priority of %(count)s task.", "Change the priority of %(count)s tasks."
        ),
        done=_n("%(count)s given the priority.", "%(count)s given the priority."),
        none=_("Nothing was given the priority."),
        button=_n("Change %(count)s", "Change %(count)s"),
        moved=_("has the new priority"),
    ),
    BulkAction.DEADLINE: ActWords(
        verb=_("Deadline"),
        many=_("Move the deadline of more than %(count)s tasks?"),
        every=_("Move all"),
        nothing=_("Nothing to give a deadline"),
        question=_n(
            "Move the deadline of %(count)s task?", "Move the deadline of %(count)s tasks?"
        ),
        begun=_n("Move the deadline of %(count)s task.", "Move the deadline of %(count)s tasks."),
        done=_n("%(count)s given the deadline.", "%(count)s given the deadline."),
        none=_("Nothing was given the deadline."),
        button=_n("Move %(count)s", "Move %(count)s"),
        moved=_("has the new deadline"),
    ),
}
