"""The live feed from the record to a socket: who may hear, what is told, what is dropped."""

import asyncio
import threading

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.db import connection, connections
from django.test import Client

from controlplane.asgi import application
from tasks_app.live import consumers
from tasks_app.live.consumers import AHEAD, SIGNED_OUT
from tasks_app.live.feed import Reader
from tasks_app.services.dispatch.sampler import Sampler
from tests.floor import Floor
from tests.live.conftest import feed_runs, hear, hear_until, run, socket
from tests.waiting import wait_for


def client_of(name: str = "vera") -> Client:
    client = Client()
    client.force_login(User.objects.create_user(name))
    return client


def sample(floor: Floor) -> None:
    """Write one sample as the leader does, from any thread."""
    try:
        Sampler().sample(floor.epoch or floor.lead(), 60.0)
    finally:
        connections.close_all()


def test_a_sample_reaches_every_open_page(floor: Floor) -> None:
    first, second = client_of("vera"), client_of("otto")
    floor.submit(3)

    async def scenario() -> None:
        async with socket(first) as one, socket(second) as other:
            await asyncio.gather(hear(one), hear(other))
            await sync_to_async(sample)(floor)
            for page in (one, other):
                message = await hear_until(page, lambda m: "sample" in m)
                assert message["sample"]["by_status"] == {"PENDING": 3}
                assert message["oldest"] <= message["now"]
                assert message["changed"] is True

    run(scenario)


def test_tables_are_told_of_a_change_once(floor: Floor) -> None:
    client = client_of()
    floor.submit(1)

    async def scenario() -> None:
        async with socket(client) as page:
            await sync_to_async(sample)(floor)
            await hear_until(page, lambda m: "sample" in m)
            await sync_to_async(sample)(floor)
            message = await hear_until(page, lambda m: "sample" in m)
            assert message["changed"] is False

    run(scenario)


def test_a_page_hears_how_old_the_oldest_task_is_without_any_sample(floor: Floor) -> None:
    client = client_of()
    floor.submit(1)

    async def scenario() -> None:
        async with socket(client) as page:
            messages = [await hear(page) for _ in range(3)]
            assert all("sample" not in message for message in messages)
            ages = [message["now"] - message["oldest"] for message in messages]
            assert ages == sorted(ages)
            assert ages[-1] - ages[0] > 1.5

    run(scenario)


def test_a_stranger_is_sent_to_the_log_in(floor: Floor) -> None:
    async def scenario() -> None:
        async with socket(Client()) as page:
            closed = await page.receive_output(timeout=5)
            assert (closed["type"], closed["code"]) == ("websocket.close", SIGNED_OUT)

    run(scenario)
    assert not feed_runs()


def test_another_site_cannot_connect_a_users_browser(floor: Floor) -> None:
    cookie = client_of().cookies["sessionid"].value

    async def scenario() -> None:
        page = WebsocketCommunicator(
            application,
            "/ws/live/",
            [
                (b"cookie", f"sessionid={cookie}".encode()),
                (b"origin", b"http://evil.example"),
                (b"host", b"localhost"),
            ],
        )
        connected, _ = await page.connect(timeout=5)
        assert not connected

    run(scenario)


def test_a_page_that_does_not_answer_loses_samples_and_is_told(floor: Floor) -> None:
    client = client_of()

    async def scenario() -> None:
        async with socket(client) as page:
            for _ in range(AHEAD):
                await page.receive_from(timeout=10)
            # The credit is used up: whatever comes now waits, and what is old is dropped.
            assert await page.receive_nothing(timeout=consumers_backlog_seconds(), interval=0.1)
            await page.send_to(text_data="ok")
            late = await hear(page)
            assert late.get("missed") is True
            assert "missed" not in await hear(page)

    run(scenario)


def consumers_backlog_seconds() -> float:
    """Longer than the messages that are kept would last, at one a second."""
    from tasks_app.live.subscriptions import BACKLOG

    return BACKLOG + 2.5


def test_a_log_out_elsewhere_ends_the_socket(floor: Floor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 0.2)
    client = client_of()

    async def scenario() -> None:
        async with socket(client) as page:
            await hear(page)
            await sync_to_async(client.logout)()
            for _ in range(20):
                message = await page.receive_output(timeout=10)
                if message["type"] == "websocket.close":
                    break
            assert message["code"] == SIGNED_OUT

    run(scenario)


def test_the_feed_outlives_a_database_that_ends_its_connections(floor: Floor) -> None:
    client = client_of()

    def end_connections() -> None:
        with connections["default"].cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        connections.close_all()

    async def scenario() -> None:
        async with socket(client) as page:
            await hear(page)
            await sync_to_async(end_connections)()
            await sync_to_async(sample)(floor)
            await hear_until(page, lambda m: "sample" in m)

    run(scenario)
    connection.close()  # the test's own was ended too


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_feed_that_ended_by_a_fault_begins_anew_with_the_next_page(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = client_of("vera"), client_of("otto")
    begun = threading.Event()

    def fault(reader: Reader) -> None:
        begun.set()
        raise RuntimeError("a fault of our own")

    async def scenario() -> None:
        with monkeypatch.context() as broken:
            broken.setattr(Reader, "read", fault)
            async with socket(first):
                await sync_to_async(wait_for)(
                    lambda: begun.is_set() and not feed_runs(), "the feed to end"
                )
        async with socket(second) as page:
            assert (await hear(page))["now"] > 0

    run(scenario)


def test_nobody_watching_means_no_thread_and_no_connection(floor: Floor) -> None:
    client = client_of()

    async def scenario() -> None:
        async with socket(client) as page:
            await hear(page)
            assert feed_runs()

    run(scenario)
