"""The address of whoever asks is the proxies' word, and never the client's own."""

from ipaddress import ip_network

import pytest
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory, override_settings

from controlplane.environment import networks
from controlplane.requests.proxies import TrustedProxies, client_address

PROXIES = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("203.0.113.9", "", "203.0.113.9"),
        ("203.0.113.9", "6.6.6.6", "203.0.113.9"),
        ("10.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "6.6.6.6, 203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "6.6.6.6, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
        ("10.0.0.1", "10.0.0.3", "10.0.0.3"),
        ("10.0.0.1", "203.0.113.9:4711", "203.0.113.9"),
        ("fd00::1", "[2001:db8::7]:4711", "2001:db8::7"),
        ("::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.9, nonsense", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("", "203.0.113.9", "203.0.113.9"),
        ("", "6.6.6.6, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
        ("", "", ""),
    ],
)
def test_what_stands_before_the_last_strange_address_is_not_believed(
    peer: str, forwarded: str, address: str
) -> None:
    assert client_address(peer, forwarded, PROXIES) == address


def asked(peer: str | None) -> HttpRequest:
    seen: list[HttpRequest] = []

    def page(request: HttpRequest) -> HttpResponse:
        seen.append(request)
        return HttpResponse()

    with override_settings(TRUSTED_PROXIES=PROXIES):
        headers = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
        request = RequestFactory(REMOTE_ADDR=peer or "").get("/", headers=headers)
        if peer is None:
            del request.META["REMOTE_ADDR"]
        TrustedProxies(page)(request)
    return seen[0]


def test_every_page_sees_the_address_behind_the_proxy() -> None:
    request = asked("10.0.0.1")
    assert request.META["REMOTE_ADDR"] == "203.0.113.9"
    assert request.META["HTTP_X_FORWARDED_PROTO"] == "https"


def test_who_asks_over_a_unix_socket_is_the_proxy() -> None:
    request = asked(None)
    assert request.META["REMOTE_ADDR"] == "203.0.113.9"
    assert request.META["HTTP_X_FORWARDED_PROTO"] == "https"


def test_whoever_comes_past_the_proxy_is_not_believed_to_come_securely() -> None:
    request = asked("192.0.2.1")
    assert request.META["REMOTE_ADDR"] == "192.0.2.1"
    assert "HTTP_X_FORWARDED_PROTO" not in request.META


def test_without_a_trusted_proxy_the_headers_mean_nothing() -> None:
    with override_settings(TRUSTED_PROXIES=[]), pytest.raises(MiddlewareNotUsed):
        TrustedProxies(lambda _: HttpResponse())


def test_a_network_that_is_none_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUSTED_PROXIES", "10.0.0.0/8, 192.0.2.7")
    assert [str(each) for each in networks("TRUSTED_PROXIES")] == ["10.0.0.0/8", "192.0.2.7/32"]
    monkeypatch.setenv("TRUSTED_PROXIES", "yes")
    with pytest.raises(SystemExit, match="TRUSTED_PROXIES"):
        networks("TRUSTED_PROXIES")
