"""Websockets in numbers: what one person may have open."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tasks_app.live import consumers
from tasks_app.live.consumers import SIGNED_OUT, TOO_MANY
from tasks_app.services.people.turns import Turns
from tests.floor import Floor
from tests.live.conftest import feed_runs, run, socket
from tests.waiting import wait_for


def test_a_person_has_a_bounded_number_of_websockets(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "sockets", Turns(2))
    vera, otto, stranger = Client(), Client(), Client()
    vera.force_login(User.objects.create_user("vera"))
    otto.force_login(User.objects.create_user("otto"))

    async def code_of_one_more(client: Client) -> int | None:
        async with socket(client) as page:
            answer = await page.receive_output(timeout=10)
            code: int | None = answer.get("code")
            return code

    async def scenario() -> None:
        async with socket(vera), socket(vera):
            assert await code_of_one_more(vera) == TOO_MANY
            assert await code_of_one_more(otto) is None, "others have theirs"
            assert await code_of_one_more(stranger) == SIGNED_OUT
        assert await code_of_one_more(vera) is None, "those that closed make room"

    run(scenario)
    wait_for(lambda: not feed_runs(), "the feed to end")
