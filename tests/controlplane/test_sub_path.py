"""The site under a path of a host that has others too, and over a Unix socket."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User

from controlplane.embedded import Server
from controlplane.environment import sub_path
from tests.production import HOST, PASSWORD, Production, cookies, running

PREFIX = "/desk/chargehand"
SOCKET_NAME = "web.sock"


@pytest.fixture(scope="module")
def started(
    django_db_setup: None, postgres: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Production]:
    """The process under a sub-path, over a Unix socket; TRUSTED_PROXIES names a network."""
    var = tmp_path_factory.mktemp("p")
    settings = {"FORCE_SCRIPT_NAME": PREFIX, "TRUSTED_PROXIES": "10.0.0.0/8"}
    with running(postgres, var, over=var / SOCKET_NAME, **settings) as production:
        yield production


@pytest.fixture
def site(record: None, started: Production) -> Production:
    """The process on a record that begins empty."""
    return started


def session(site: Production) -> str:
    """The cookie of somebody who has logged in."""
    User.objects.create_superuser("vera", password=PASSWORD)
    answer = site.log_in("vera", PASSWORD)
    assert (answer.status, answer.headers["Location"]) == (302, f"{PREFIX}/")
    name = "__Secure-chargehand-sessionid"
    return f"{name}={cookies(answer)[name][0]}"


PAGES = ("/", "/tasks/", "/dead-letters/", "/jobs/", "/supervisor/", "/account/", "/admin/")


def test_every_address_on_a_page_is_under_the_sub_path(site: Production) -> None:
    cookie = session(site)
    found: set[str] = set()
    for path in PAGES:
        answer, page = site.ask(f"{PREFIX}{path}", Cookie=cookie)
        assert answer.status == 200, path
        found |= set(re.findall(r'(?:href|src|action|hx-get|hx-post|content)="(/[^"]*)"', page))
    assert len(found) > 30
    assert [each for each in found if not f"{each}/".startswith(f"{PREFIX}/")] == []
    for address in found:
        plain = re.match(r"[^?#]+", unescape(address))
        assert plain
        if "/static/" in plain[0] or plain[0].endswith("words.js"):
            assert site.ask(plain[0], Cookie=cookie)[0].status == 200, address


def test_a_proxy_may_pass_the_whole_path_on_or_take_the_prefix_off(site: Production) -> None:
    cookie = session(site)
    for path in (f"{PREFIX}/tasks/", "/tasks/"):
        _, page = site.ask(path, Cookie=cookie)
        assert f'href="{PREFIX}/tasks/"' in page
    for path in (f"{PREFIX}/tasks", "/tasks"):
        answer, _ = site.ask(path, Cookie=cookie)
        assert (answer.status, answer.headers["Location"]) == (301, f"{PREFIX}/tasks/")
    answer, _ = site.ask(PREFIX, Cookie=cookie)
    assert (answer.status, answer.headers["Location"]) == (301, f"{PREFIX}/")
    assert site.ask(f"{PREFIX}x/tasks/", Cookie=cookie)[0].status == 404
    assert site.ask("/static/css/shell.css")[0].status == 200


def test_who_is_not_logged_in_is_sent_to_the_log_in_and_back(site: Production) -> None:
    answer, _ = site.ask(f"{PREFIX}/tasks/?q=a")
    assert answer.headers["Location"] == f"{PREFIX}/login/?next={PREFIX}/tasks/%3Fq%3Da"


def test_cookies_are_for_the_sub_path_alone(site: Production) -> None:
    User.objects.create_user("vera", password=PASSWORD)
    set_now = cookies(site.log_in("vera", PASSWORD))
    assert set(set_now) == {"__Secure-chargehand-sessionid", "__Secure-chargehand-csrftoken"}
    for _, rest in set_now.values():
        words = {word.strip() for word in rest.split(";")}
        assert {"Secure", "HttpOnly", "SameSite=Lax", f"Path={PREFIX}/"} <= words


def test_the_websocket_opens_under_the_sub_path(site: Production) -> None:
    assert site.websocket(host=HOST, origin=f"https://{HOST}") == 101
    _, page = site.ask(f"{PREFIX}/", Cookie=session(site))
    assert f'<meta name="site-root" content="{PREFIX}/">' in page


def test_the_api_and_its_refusals_are_json_under_the_sub_path(site: Production) -> None:
    for path in (f"{PREFIX}/api/v1/tasks", "/api/v1/tasks"):
        assert site.ask(path)[0].status == 401
        refused, _ = site.ask(path, host="evil.example")
        assert refused.headers["Content-Type"] == "application/json"
        refused, _ = site.ask(path, "POST", body=b"y" * 34_000_000)
        assert (refused.status, refused.headers["Content-Type"]) == (413, "application/json")


def test_probes_ask_the_process_itself_without_tls(site: Production) -> None:
    for path, status in (("/healthz", 200), ("/readyz", 503), ("/metrics", 401)):
        assert site.ask(path, tls=False)[0].status == status, path
        assert site.ask(f"{PREFIX}{path}", tls=False)[0].status == status, path
    answer, _ = site.ask("/tasks/", tls=False)
    assert answer.headers["Location"] == f"https://{HOST}{PREFIX}/tasks/"


def test_over_a_unix_socket_the_proxy_is_believed_and_pages_are_not_redirected_for_ever(
    site: Production,
) -> None:
    answer, _ = site.ask(f"{PREFIX}/login/")
    assert answer.status == 200
    User.objects.create_user("vera", password=PASSWORD)
    forwarded: Any = {"X_Forwarded_For": "6.6.6.6, 203.0.113.9"}
    assert site.log_in("vera", "wrong", **forwarded).status == 200
    assert AccessAttempt.objects.get().ip_address == "203.0.113.9"


def test_over_a_unix_socket_nobody_needs_an_address(
    record: None, postgres: Server, tmp_path: Path
) -> None:
    over = tmp_path / SOCKET_NAME
    with running(postgres, tmp_path, over=over, TRUSTED_PROXIES="") as site:
        User.objects.create_user("vera", password=PASSWORD)
        assert site.log_in("vera", "wrong").status == 200
        assert site.log_in("vera", PASSWORD).status == 302
        assert site.ask("/api/v1/tasks", Authorization="Bearer nonsense")[0].status == 401


@pytest.mark.parametrize("value", ["chargehand", "/", "/a/", "/a//b", "/a b", "/../a", "/a?b"])
def test_a_sub_path_that_is_none_is_refused_by_name(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_SCRIPT_NAME", value)
    with pytest.raises(SystemExit, match=r"FORCE_SCRIPT_NAME .* write it as /chargehand"):
        sub_path("FORCE_SCRIPT_NAME")
