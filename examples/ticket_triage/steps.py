"""Each ticket is two tasks with a key: what is submitted again is there already."""

from collections.abc import Iterable, Sequence

from examples.ticket_triage.kinds import CLASSIFY, DRAFT
from examples.ticket_triage.tickets import Ticket
from tasks_app.services.submission import Dependency, KeyRef, NewTask, submit_tasks
from tasks_app.store.reads.configuration import kind_doors

BATCH = 500
"""Tickets in one transaction."""


def kinds_are_known() -> bool:
    """Tell whether a worker that can do both steps has ever registered."""
    return {CLASSIFY, DRAFT} <= kind_doors().keys()


def submit_tickets(tickets: Sequence[Ticket], night: str) -> int:
    """Submit both steps of each ticket under the name of a night; return how many are new."""
    created = 0
    for start in range(0, len(tickets), BATCH):
        tasks = list(_steps_of(tickets[start : start + BATCH], night))
        created += submit_tasks(tasks).created_count
    return created


def _steps_of(tickets: Iterable[Ticket], night: str) -> Iterable[NewTask]:
    for ticket in tickets:
        key = f"{night}:{ticket.id}"
        payload = {"ticket": ticket.id, "text": ticket.text}
        yield NewTask(CLASSIFY, payload, key)
        yield NewTask(DRAFT, payload, key, depends_on=[Dependency(KeyRef(CLASSIFY, key))])
