"""A shop floor with people: steps of a kind that they do, and users who take them."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection

from tasks_app.services.jobs.human_steps import (
    Claimed,
    Completed,
    Refused,
    claim_step,
    complete_step,
    release_step,
)
from tasks_app.services.people.people import Actor, Role
from tests.jobs import JobFloor

SCHEMA = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "reason": {"type": "string", "minLength": 3, "maxLength": 80},
        "severity": {"type": "integer", "minimum": 1, "maximum": 5},
    },
    "required": ["approved", "reason"],
    "additionalProperties": False,
}
APPROVED = {"approved": True, "reason": "all in order"}


class PeopleFloor(JobFloor):
    """Steps of the kind ``review`` are done by people."""

    def people_do(self, kind: str = "review", **values: Any) -> None:
        """Have a kind done by people."""
        self.kind(kind, **{"by_people": True, "result_schema": SCHEMA, **values})

    def person(self, name: str, role: Role = Role.OPERATOR) -> tuple[int, Actor]:
        """Make or find somebody: their user's id, and the actor."""
        user, _ = User.objects.get_or_create(username=name)
        return user.pk, Actor(name, "127.0.0.1", role=role)

    def take(self, task: UUID, name: str = "rita") -> Claimed:
        """Have somebody take a step, which must be theirs then."""
        found = claim_step(task, *self.person(name))
        assert isinstance(found, Claimed), found
        return found

    def refusal(self, task: UUID, name: str = "rita") -> str:
        """Why somebody cannot take a step."""
        found = claim_step(task, *self.person(name))
        assert isinstance(found, Refused)
        return found.reason

    def decide(self, task: UUID, token: int, result: Any, name: str = "rita") -> Completed:
        """Have somebody complete a step."""
        return complete_step(task, token, result, *self.person(name))

    def give_back(self, task: UUID, token: int, name: str = "rita") -> bool:
        """Have somebody hand a step back."""
        return release_step(task, token, *self.person(name))

    def time_runs_out(self, task: UUID) -> None:
        """Make a person's lease end a second ago."""
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE lease SET held_until = statement_timestamp() - interval '1 second'"
                " WHERE task_id = %s",
                [task],
            )
