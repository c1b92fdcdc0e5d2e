"""What a ticket becomes: two tasks with a key, or with people at hand a job of three steps.

Either is there already when it is submitted again.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from examples.ticket_triage.kinds import ANSWER, ANSWER_KIND, CLASSIFY, DRAFT
from examples.ticket_triage.tickets import Ticket
from tasks_app.models import Kind
from tasks_app.services.intake.submission import Dependency, KeyRef, NewTask, submit_tasks
from tasks_app.services.jobs.jobs import submit_job
from tasks_app.store.reads.settings.configuration import kind_doors

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


def submit_with_people(tickets: Sequence[Ticket], night: str) -> int:
    """Submit a job for each ticket; return how many are new.

    What the classifier flags is answered by a person, after the reply that promises so.
    """
    Kind.objects.get_or_create(name=ANSWER, defaults=ANSWER_KIND)
    return sum(submit_job(plan_of(ticket, night)).created for ticket in tickets)


def plan_of(ticket: Ticket, night: str) -> dict[str, Any]:
    """The job of one ticket."""
    payload = {"ticket": ticket.id, "text": ticket.text}
    verdict = {"label": {"$result": f"{CLASSIFY}.label"}}
    return {
        "name": f"ticket {ticket.id}",
        "key": f"{night}:{ticket.id}",
        "steps": [
            {"name": CLASSIFY, "kind": CLASSIFY, "payload": payload},
            {"name": DRAFT, "kind": DRAFT, "payload": payload, "depends_on": [CLASSIFY]},
            {
                "name": ANSWER,
                "kind": ANSWER,
                "payload": {**payload, **verdict},
                "depends_on": [DRAFT],
                "when": {"$result": f"{CLASSIFY}.flagged", "equals": True},
            },
        ],
        "result": {
            **verdict,
            "reply": {"$result": f"{DRAFT}.reply"},
            "answer": {"$result": f"{ANSWER}.answer", "default": None},
        },
    }
