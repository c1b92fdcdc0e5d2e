"""A web process with the settings of production, behind a proxy that speaks TLS for it."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User

from controlplane.embedded import Server
from tests.production import HOST, PASSWORD, Production, cookies, running

WALLS = {
    "Strict-Transport-Security": "max-age=31536000; includeSubDomains; preload",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
POLICY = (
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'self'",
)


@pytest.fixture(scope="module")
def started(
    django_db_setup: None, postgres: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Production]:
    """The process, on a port."""
    with running(postgres, tmp_path_factory.mktemp("production")) as production:
        yield production


@pytest.fixture
def production(record: None, started: Production) -> Production:
    """The process on a record that begins empty."""
    return started


def test_a_strange_host_name_is_refused_in_a_sentence_everywhere(production: Production) -> None:
    for path in ("/", "/login/", "/healthz", "/admin/", "/nowhere/"):
        answer, text = production.ask(path, host="evil.example")
        assert answer.status == 400, path
        assert answer.headers["Content-Type"].startswith("text/plain")
        assert "ALLOWED_HOSTS" in text
        assert "evil" not in text
    answer, text = production.ask("/api/v1/tasks", host="evil.example")
    assert answer.status == 400
    assert answer.headers["Content-Type"] == "application/json"
    assert "ALLOWED_HOSTS" in text
    for forged in ("localhost", f"{HOST}.evil.example", f"{HOST}@evil.example", ""):
        assert production.ask("/login/", host=forged)[0].status == 400, forged
    claimed, _ = production.ask("/login/", host="evil.example", X_Forwarded_Host=HOST)
    assert claimed.status == 400


def test_a_websocket_needs_the_sites_own_name_and_origin(production: Production) -> None:
    own = f"https://{HOST}"
    assert production.websocket(host=HOST, origin=own) == 101
    assert production.websocket(host="evil.example", origin=own) == 403
    assert production.websocket(host=HOST, origin="https://evil.example") == 403
    assert production.websocket(host="evil.example", origin="https://evil.example") == 403


def test_what_comes_without_tls_is_sent_to_it_but_probes_are_not(production: Production) -> None:
    for path in ("/", "/login/?next=/tasks/", "/api/v1/tasks", "/static/css/shell.css"):
        answer, _ = production.ask(path, tls=False)
        assert answer.status == 301, path
        assert answer.headers["Location"] == f"https://{HOST}{path}"
    for lookalike in ("/nowhere/healthz", "/healthz/", "/api/v1/readyz", "/metrics.json"):
        assert production.ask(lookalike, tls=False)[0].status == 301, lookalike
    for path, status in (("/healthz", 200), ("/readyz", 503), ("/metrics", 401)):
        assert production.ask(path, tls=False)[0].status == status, path


def test_every_answer_has_the_walls_in_its_headers(production: Production) -> None:
    _, page = production.ask("/login/")
    style = re.search(r'href="(/static/css/shell[^"]*\.css)"', page)
    assert style
    for path in ("/login/", "/", "/nowhere/", "/api/v1/tasks", "/healthz", "/metrics"):
        answer, _ = production.ask(path)
        assert {name: answer.headers[name] for name in WALLS} == WALLS, path
        policy = str(answer.headers["Content-Security-Policy"])
        assert [each for each in POLICY if each not in policy] == [], path
        assert "unsafe" not in policy
        assert answer.headers["Server"] in (None, "daphne")
    answer, _ = production.ask(style[1])
    assert answer.status == 200
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Strict-Transport-Security"]
    assert "immutable" in answer.headers["Cache-Control"]


def test_cookies_are_for_this_host_over_tls_and_out_of_scripts_reach(
    production: Production,
) -> None:
    User.objects.create_user("vera", password=PASSWORD)
    answer = production.log_in("vera", PASSWORD)
    assert answer.status == 302
    set_now = cookies(answer)
    assert set(set_now) == {"__Host-sessionid", "__Host-csrftoken"}
    for name, (_, rest) in set_now.items():
        words = [word.strip() for word in rest.split(";")]
        assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= set(words), name
        assert not [word for word in words if word.startswith("Domain")], name
    page, _ = production.ask("/", Cookie=f"__Host-sessionid={set_now['__Host-sessionid'][0]}")
    assert page.status == 200
    assert "no-store" in page.headers["Cache-Control"]


def test_a_form_without_its_token_or_from_elsewhere_is_refused_in_words(
    production: Production,
) -> None:
    answer, text = production.ask("/login/", "POST", body="username=vera")
    assert answer.status == 403
    assert "Nothing was done" in text
    assert not re.search("DEBUG|CSRF|Traceback", text)
    User.objects.create_user("vera", password=PASSWORD)
    foreign = {"Origin": "https://evil.example"}
    assert production.log_in("vera", PASSWORD, **foreign).status == 403
    assert production.log_in("vera", PASSWORD, Origin=f"https://{HOST}").status == 302


def test_the_lock_out_counts_by_the_address_behind_the_proxy(production: Production) -> None:
    User.objects.create_user("vera", password=PASSWORD)
    forwarded: Any = {"X_Forwarded_For": "6.6.6.6, 203.0.113.9"}
    assert production.log_in("vera", "wrong", **forwarded).status == 200
    assert AccessAttempt.objects.get().ip_address == "203.0.113.9"


@pytest.mark.parametrize("path", ["/api/v1/tasks", "/login/", "/tasks/"])
@pytest.mark.parametrize("announced", [True, False])
def test_a_body_of_fifty_megabytes_is_refused_and_held_by_nobody(
    production: Production, path: str, announced: bool
) -> None:
    production.ask("/login/")
    before = production.process.memory_info().rss
    piece = b"y" * 1_000_000
    body: Any = piece * 50 if announced else (piece for _ in range(50))
    answer, text = production.ask(path, "POST", body=body)
    assert answer.status == 413
    assert "at most 33,554,432 bytes" in text
    assert production.process.memory_info().rss - before < 45_000_000
    assert production.ask("/healthz")[0].status == 200
