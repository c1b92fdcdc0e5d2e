"""Other origins: websockets of another scheme, host or port, and links that follow a header."""

from ipaddress import ip_network
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client

from controlplane.asgi import application
from tests.floor import Floor
from tests.live.conftest import feed_runs, run
from tests.waiting import wait_for


async def opens(
    origins: list[str], host: str = "localhost:8000", scheme: str = "ws", **more: str
) -> bool:
    headers = [(b"host", host.encode()), *((b"origin", each.encode()) for each in origins)]
    headers += [(name.replace("_", "-").encode(), text.encode()) for name, text in more.items()]
    communicator = WebsocketCommunicator(application, "/ws/live/", headers)
    communicator.scope |= {"scheme": scheme, "client": ["127.0.0.1", 50_000]}
    connected, _ = await communicator.connect(timeout=10)
    await communicator.disconnect(timeout=10)
    return bool(connected)


def test_a_websocket_opens_for_a_page_of_its_own_scheme_host_and_port(floor: Floor) -> None:
    async def scenario() -> None:
        assert await opens(["http://localhost:8000"])
        assert await opens(["http://LOCALHOST:8000"])
        assert await opens(["http://localhost"], host="localhost")
        assert await opens(["http://localhost:80"], host="localhost")
        assert await opens(["https://localhost"], host="localhost:443", scheme="wss")

    run(scenario)
    wait_for(lambda: not feed_runs(), "the feed to end")


@pytest.mark.parametrize(
    "origins",
    [
        ["http://localhost:8001"],
        ["http://localhost"],
        ["https://localhost:8000"],
        ["http://127.0.0.1:8000"],
        ["http://localhost.:8000"],
        ["http://localhost:8000/path"],
        ["http://me@localhost:8000"],
        ["ftp://localhost:8000"],
        ["http://localhost:99999"],
        ["http://[::1"],
        ["null"],
        [""],
        [],
        ["http://localhost:8000", "http://evil.example"],
    ],
)
def test_a_websocket_of_any_other_origin_is_refused(floor: Floor, origins: list[str]) -> None:
    async def scenario() -> None:
        assert not await opens(origins)

    run(scenario)


def test_a_proxy_says_of_a_websocket_whether_the_browser_spoke_tls(
    floor: Floor, settings: Any
) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

    async def scenario() -> None:
        assert await opens(["https://localhost"], "localhost", x_forwarded_proto="https")
        assert not await opens(["http://localhost"], "localhost", x_forwarded_proto="https")
        settings.TRUSTED_PROXIES = [ip_network("192.0.2.0/24")]
        assert not await opens(["https://localhost"], "localhost", x_forwarded_proto="https")

    run(scenario)


@pytest.fixture
def vera(record: None) -> User:
    return User.objects.create_user("vera", "vera@example.org", "a long enough passphrase")


def link_asked_by(host: str, **more: Any) -> str:
    Client(headers={"host": host}).post("/password/reset/", {"email": "vera@example.org"}, **more)
    wait_for(lambda: bool(mail.outbox), "the mail")
    return next(line for line in str(mail.outbox[0].body).splitlines() if "/reset/" in line)


@pytest.mark.parametrize(
    "host", ["testserver", "testserver:6666", "testserver.", "testserver.:6666", "TESTSERVER"]
)
def test_a_mailed_link_leads_to_the_sites_public_address(
    vera: User, settings: Any, host: str
) -> None:
    settings.PUBLIC_URL = "https://desk.example.org:8443/"
    link = link_asked_by(host)
    assert link.startswith("https://desk.example.org:8443/password/reset/")


@pytest.mark.parametrize("host", ["testserver:6666", "testserver.", "testserver.:6666"])
def test_without_a_public_address_no_header_chooses_a_links_port(vera: User, host: str) -> None:
    assert link_asked_by(host).startswith("http://testserver/password/reset/")
