"""A program with a token, against the whole site in process."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from tasks_app.core.people.scopes import Scope
from tasks_app.services.people import tokens
from tasks_app.services.people.people import Actor, Role
from tests.floor import Floor


@dataclass
class Program:
    """Speaks to the API as a program does."""

    token: str
    client: Client = field(default_factory=lambda: Client(raise_request_exception=True))

    def post(self, body: Any, headers: Mapping[str, str] | None = None, **given: Any) -> "Answer":
        """Post tasks; ``body`` is sent as it is where it is bytes."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        response = self.client.post(
            "/api/v1/tasks",
            raw,
            **{"content_type": "application/json", **given},
            headers={"Authorization": f"Bearer {self.token}", **(headers or {})},
        )
        return Answer(response)

    def get(self, path: str) -> "Answer":
        """Get a path under /api/v1/."""
        return Answer(
            self.client.get(f"/api/v1/{path}", headers={"Authorization": f"Bearer {self.token}"})
        )


class Answer:
    """A response, read as JSON."""

    def __init__(self, response: Any) -> None:
        self.response: HttpResponse = response
        self.status: int = response.status_code
        self.json: Any = json.loads(response.content)

    @property
    def faults(self) -> list[tuple[int | None, str]]:
        """(index, field) of every fault of a 422."""
        assert self.status == 422, self.json
        return [(fault["index"], fault["field"]) for fault in self.json["faults"]]


@pytest.fixture
def floor(record: None) -> Floor:
    """A shop floor with two kinds."""
    floor = Floor()
    floor.kind("job", description="anything")
    floor.kind(
        "classify_ticket",
        payload_schema={
            "type": "object",
            "required": ["text"],
            "properties": {"text": {"type": "string"}},
        },
    )
    return floor


@pytest.fixture
def program(floor: Floor) -> Program:
    """A program with a live token."""
    return Program(tokens.create("tests", Actor("op", role=Role.ADMIN), scopes=tuple(Scope)).text)
