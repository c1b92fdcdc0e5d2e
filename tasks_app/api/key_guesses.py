"""A key that comes again tells whether its content is on record: few guesses may be wrong."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from tasks_app.api.security import LimitReached
from tasks_app.core.people.scopes import Scope
from tasks_app.services.actions.bulks import BulkKeyTaken
from tasks_app.services.intake.submission import SubmissionInvalid
from tasks_app.services.jobs.jobs import JobKeyTaken
from tasks_app.services.masking.payload_masking import hidden_from
from tasks_app.services.people.request_limits import (
    TooManyRequests,
    count_wrong_content,
    refuse_more_guesses,
)
from tasks_app.services.people.tokens import Program


@contextmanager
def few_guesses(program: Program, kinds: Collection[str] | None) -> Iterator[None]:
    """Count keys with other content where some of it is hidden from the program.

    ``kinds`` are those of what has a key; None stands for any. Raises LimitReached, before
    anything is submitted, where too many were wrong.
    """
    has_keys = kinds is None or bool(kinds)
    hidden = hidden_from(program.may(Scope.PAYLOADS)) if has_keys else {}
    if not hidden or (kinds is not None and hidden.keys().isdisjoint(kinds)):
        yield
        return
    try:
        refuse_more_guesses(program)
    except TooManyRequests as limit:
        raise LimitReached(limit) from limit
    try:
        yield
    except (JobKeyTaken, BulkKeyTaken):
        count_wrong_content(program)
        raise
    except SubmissionInvalid as invalid:
        if invalid.has_conflict:
            count_wrong_content(program)
        raise
