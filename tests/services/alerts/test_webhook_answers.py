"""Webhooks: each address of a name is tried, and what the receiver answered is told, masked."""

import json
import logging
import socket
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from tasks_app.core.alerts.notification import ChannelKind
from tasks_app.core.alerts.webhooks import LONGEST_ANSWER, first_line
from tasks_app.models import AlertChannel
from tasks_app.services.alerts import webhooks
from tasks_app.services.alerts.alert_channels import send_test, set_secret
from tests.services.alerts.test_alerting import ADMIN, SECRET, Hook, channel, duty, hook

__all__ = ["duty", "hook"]

pytestmark = pytest.mark.usefixtures("duty")


def stands_for(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """The name server's answer."""

    def resolve(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        families = [socket.AF_INET6 if ":" in each else socket.AF_INET for each in addresses]
        return [
            (family, socket.SOCK_STREAM, 6, "", (each, port))
            for family, each in zip(families, addresses, strict=True)
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


def by_name(hook: Hook) -> str:
    return hook.url.replace("127.0.0.1", "localhost")


def test_an_address_that_refuses_is_followed_by_the_next_of_the_name(
    hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    stands_for(monkeypatch, "::1", "127.0.0.1")
    webhooks.post(by_name(hook), "", {})
    assert len(hook.posts) == 1


def test_the_real_name_of_this_machine_is_reached_by_whichever_family_serves(hook: Hook) -> None:
    webhooks.post(by_name(hook), "", {})
    assert len(hook.posts) == 1


def test_a_fault_of_every_address_is_told_with_the_address(
    hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    connect = socket.create_connection
    real = socket.getaddrinfo

    def by_number(address: tuple[str, int], timeout: float) -> socket.socket:
        with monkeypatch.context() as plain:
            plain.setattr(socket, "getaddrinfo", real)
            return connect(address, timeout)

    monkeypatch.setattr(socket, "create_connection", by_number)
    stands_for(monkeypatch, "127.0.0.1", "127.0.0.2")
    with pytest.raises(webhooks.NotDelivered, match=r"^127\.0\.0\.1: .*; 127\.0\.0\.2: "):
        webhooks.post(f"http://localhost:{port}/", "", {})


def test_one_refused_address_among_good_ones_refuses_the_name(
    hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    stands_for(monkeypatch, "127.0.0.1", "10.0.0.1")
    with pytest.raises(webhooks.NotDelivered, match=r"10\.0\.0\.1 is not a public address"):
        webhooks.post(by_name(hook), "", {})
    assert hook.posts == []


def test_an_address_that_answered_is_not_followed_by_another(
    hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook.status = 500
    stands_for(monkeypatch, "127.0.0.1", "127.0.0.1", "::1")
    with pytest.raises(webhooks.NotDelivered, match="500"):
        webhooks.post(by_name(hook), "", {})
    assert len(hook.posts) == 1


@pytest.mark.parametrize(
    ("says", "told"),
    [
        (b"invalid_payload", "it answered 400: invalid_payload"),
        (b'\n\n{"error":\t"no such channel"}\nat line 7\n', None),
        (b"{\n  no such channel\n}", "it answered 400: no such channel"),
        (b"", "it answered 400"),
        (b"\xff\xfe \x1b[31mred", "it answered 400: \ufffd\ufffd \\u001b[31mred"),
    ],
)
def test_the_first_line_of_the_answer_is_kept(hook: Hook, says: bytes, told: str | None) -> None:
    hook.status, hook.says = 400, says
    channel(hook.url, "webhook")
    assert send_test("webhook", ADMIN) == (told or 'it answered 400: {"error": "no such channel"}')


def test_an_answer_tells_neither_the_secret_nor_what_is_secret_in_the_address(
    hook: Hook, caplog: pytest.LogCaptureFixture, admin_client: Client
) -> None:
    address = hook.url.replace("/alerts?", "/services/T0123/abcdefghijklmnop?key=qwertz&")
    hook.status = 403
    channel(address, "webhook")
    set_secret("webhook", SECRET, ADMIN)
    hook.says = json.dumps([SECRET, "T0123", "abcdefghijklmnop", "qwertz", "no entry"]).encode()
    with caplog.at_level(logging.WARNING):
        fault = send_test("webhook", ADMIN)
    page = admin_client.get("/supervisor/").content.decode()
    for text in (fault, caplog.text, page):
        assert "no entry" in text
        for secret in (SECRET, "T0123", "abcdefghijklmnop", "qwertz"):
            assert secret not in text


def test_a_long_answer_is_bounded_and_ends_in_no_half_of_a_secret(hook: Hook) -> None:
    hook.status = 400
    room = webhooks.READ_BYTES - len(SECRET) // 2
    for says in (b"no " * 5000, b"x" * (LONGEST_ANSWER * 3), b" " * room + SECRET.encode() * 9):
        hook.says = says
        with pytest.raises(webhooks.NotDelivered) as told:
            webhooks.post(hook.url, SECRET, {})
        assert len(str(told.value)) <= LONGEST_ANSWER + len("it answered 400: ")
        assert SECRET[:5] not in str(told.value)


def test_what_a_mail_server_refuses_is_one_line_without_its_password(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMAIL_HOST_PASSWORD = "a-mail-password"

    def refuse(*_: Any) -> int:
        raise OSError("530 a-mail-password is wrong\nsecond line")

    monkeypatch.setattr(mail.EmailMessage, "send", refuse)
    AlertChannel.objects.create(name="m", kind=ChannelKind.MAIL, address="a@example.org")
    assert send_test("m", ADMIN) == "OSError: 530 [redacted] is wrong"


def test_a_line_without_a_letter_says_nothing() -> None:
    assert first_line("{\n}\n", []) == ""
