"""People at a browser, without the browser: a viewer and an operator on a real record."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from tasks_app.core.states import OnDead
from tests.floor import Floor
from tests.pages import PageText, page


@dataclass
class Person:
    """Somebody logged in; pages are named as in ``tasks_app.web.urls``."""

    user: User
    client: Client

    def get(self, name: str, *args: Any, **query: Any) -> Any:
        """Get a page."""
        return self.client.get(reverse(f"web:{name}", args=args), query)

    def part(self, name: str, *args: Any, **query: Any) -> PageText:
        """The HTML that htmx gets when it asks again."""
        url = reverse(f"web:{name}", args=args)
        response = self.client.get(url, query, headers={"HX-Request": "true"})
        return page(response)

    def post(self, name: str, /, *args: Any, follow: bool = True, **data: Any) -> Any:
        """Post a form and follow where it leads."""
        return self.client.post(reverse(f"web:{name}", args=args), data, follow=follow)

    def text(self, name: str, *args: Any, **query: Any) -> PageText:
        """The HTML of a page that must be there."""
        response = self.get(name, *args, **query)
        assert response.status_code == 200, response.status_code
        return page(response)


def person(name: str, *groups: str) -> Person:
    """Make somebody and log in."""
    user = User.objects.create_user(name, password="made-up-for-tests")
    user.groups.set([Group.objects.get_or_create(name=group)[0] for group in groups])
    client = Client()
    client.force_login(user)
    return Person(user, client)


@pytest.fixture
def floor(record: None) -> Floor:
    """A shop floor with its supervisor on duty."""
    floor = Floor()
    floor.lead()
    return floor


@pytest.fixture
def viewer(floor: Floor) -> Person:
    """Somebody who may look."""
    return person("vera", "viewer")


@pytest.fixture
def operator(floor: Floor) -> Person:
    """Somebody who may act."""
    return person("otto", "operator")


def message_of(response: Any) -> str:
    """What the page that followed an act says about it."""
    return " ".join(str(each) for each in response.context["messages"])


def died(
    floor: Floor,
    worker: str,
    message: str = "payload.text is missing",
    dependents: int = 0,
    **task: Any,
) -> UUID:
    """Submit one task and have it die of a permanent error; so many others wait for it."""
    (task_id,) = floor.submit(1, **task)
    if dependents:
        floor.submit(dependents, needs=[(task_id, OnDead.WAIT)])
    floor.round()
    (grant,) = floor.claim(worker)
    floor.fail(worker, grant, type="jsonschema.ValidationError", message=message)
    return task_id
