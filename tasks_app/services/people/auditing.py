"""The audit as services write it: who, what, when, from where, on which filter, how many, why."""

from collections.abc import Mapping
from typing import Any

from tasks_app.services.people.people import Actor
from tasks_app.store.people import audit


def note(
    actor: Actor,
    action: str,
    subject: str,
    *,
    count: int = 1,
    reason: str = "",
    wanted: str = "",
    change: tuple[Any, Any] | None = None,
    **detail: Any,
) -> None:
    """Write one act, in the transaction of the act itself.

    ``wanted`` is the filter it was done on, ``change`` what was there before and after.
    """
    before, after = change or (None, None)
    audit.record(
        actor=actor.name,
        address=actor.address,
        via=actor.via,
        action=action,
        subject=subject[: audit.LONGEST_SUBJECT],
        count=count,
        reason=reason,
        wanted=wanted[: audit.LONGEST_FILTER],
        before=before,
        after=after,
        detail=_plain(detail),
    )


def _plain(detail: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in detail.items() if value is not None}
