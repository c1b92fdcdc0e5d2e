"""Passwords are guessed, and floods of guesses are sent: what they cost, and who is held up."""

import threading
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client

from tasks_app.core.people.request_rates import Rate
from tasks_app.services.people.password_hashing import AT_ONCE, WAITING, turns
from tests.attacks.conftest import Hashes
from tests.floor import Floor
from tests.waiting import wait_for
from tests.web.conftest import person

OLD, NEW = "a long enough passphrase", "another long passphrase"


@pytest.fixture
def vera(floor: Floor, hashes: Hashes) -> User:
    return User.objects.create_user("vera", "vera@example.org", OLD)


def log_in(name: str, password: str = "wrong", address: str = "203.0.113.9") -> Any:
    client = Client(REMOTE_ADDR=address)
    return client.post("/login/", {"username": name, "password": password})


def told(answer: Any) -> tuple[int, bool]:
    """The status, and whether the answer says when to come back."""
    return answer.status_code, int(answer.headers.get("Retry-After", 0)) > 0


def test_a_network_that_guesses_names_is_refused_before_a_hash_is_computed(
    vera: User, hashes: Hashes, settings: Any
) -> None:
    settings.LOGIN_FAILED_RATE = Rate(5, 3600)
    before = hashes.count
    answers = [log_in(f"name-{number}") for number in range(12)]
    assert [each.status_code for each in answers] == [200] * 5 + [429] * 7
    assert hashes.count - before == 5
    assert told(answers[-1]) == (429, True)
    assert "too many wrong tries" in answers[-1].content.decode()
    assert log_in("vera", OLD).status_code == 429, "also with the right password"
    assert log_in("vera", OLD, "203.0.113.10").status_code == 302, "other networks come in"


def test_log_ins_that_succeed_cost_a_network_nothing(
    vera: User, hashes: Hashes, settings: Any
) -> None:
    settings.LOGIN_FAILED_RATE = Rate(2, 3600)
    assert [log_in("vera", OLD).status_code for _ in range(5)] == [302] * 5


@pytest.mark.parametrize(
    "addresses",
    [
        [f"2001:db8::{number:x}" for number in range(1, 10)],
        [f"::ffff:203.0.113.9%eth{number}" for number in range(9)],
        ["203.0.113.9", "::ffff:203.0.113.9", "::FFFF:CB00:7109", "64:ff9b::cb00:7109"] * 3,
        [f"2002:cb00:7109:{number:x}::1" for number in range(9)],
    ],
)
def test_the_lock_out_of_a_name_counts_a_network_however_it_is_written(
    vera: User, hashes: Hashes, addresses: list[str]
) -> None:
    answers = [log_in("vera", address=each).status_code for each in addresses]
    assert answers[8:] == [429] * len(answers[8:])
    assert AccessAttempt.objects.values("ip_address").distinct().count() == 1
    assert log_in("vera", OLD, addresses[0]).status_code == 429
    assert log_in("vera", OLD, "2001:db8:1::1").status_code == 302


def test_the_whole_of_ipv4_is_not_one_network_where_it_is_written_as_ipv6(
    vera: User, hashes: Hashes
) -> None:
    for _ in range(9):
        log_in("vera", address="::ffff:203.0.113.9")
    assert log_in("vera", OLD, "::ffff:203.0.113.10").status_code == 302


def test_no_connection_is_held_while_a_password_is_hashed(vera: User, hashes: Hashes) -> None:
    olga = person("olga", "viewer")
    boss = Client()
    boss.force_login(User.objects.create_superuser("boss"))
    hashes.held.clear()
    log_in("vera", OLD)
    log_in("vera")
    log_in("nobody")
    form: dict[str, Any] = {"old_password": "wrong", "new_password1": NEW, "new_password2": NEW}
    olga.post("change_password", **form)
    olga.post("change_password", **{**form, "old_password": "made-up-for-tests"})
    passwords = {"password1": NEW, "password2": NEW, "usable_password": "true"}
    boss.post(f"/admin/auth/user/{vera.pk}/password/", passwords)
    boss.post("/admin/auth/user/add/", {"username": "new", **passwords})
    assert hashes.count >= 8
    assert not any(hashes.held)
    assert User.objects.get(username="new").check_password(NEW)
    assert User.objects.get(pk=vera.pk).check_password(NEW)


def test_a_link_sets_a_password_without_holding_a_connection(vera: User, hashes: Hashes) -> None:
    visitor = Client()
    visitor.post("/password/reset/", {"email": "vera@example.org"})
    wait_for(lambda: bool(mail.outbox), "the mail")
    link = next(line for line in str(mail.outbox[0].body).splitlines() if "/reset/" in line)
    address = visitor.get(link, follow=True).redirect_chain[-1][0]
    hashes.held.clear()
    assert visitor.post(address, {"new_password1": NEW, "new_password2": NEW}).status_code == 302
    assert hashes.held == [False]


def test_a_name_that_nobody_has_costs_the_same_hash(vera: User, hashes: Hashes) -> None:
    User.objects.create_user("without")
    User.objects.create_user("gone", password=OLD, is_active=False)
    costs = []
    for name in ("vera", "nobody", "without", "gone"):
        before = hashes.count
        assert log_in(name).status_code == 200
        costs.append(hashes.count - before)
    assert costs == [1, 1, 1, 1]


def test_hashes_in_flight_are_bounded_and_the_rest_is_told_when_to_come_back(
    vera: User, hashes: Hashes
) -> None:
    for _ in range(AT_ONCE):
        assert turns.take(may_wait=False)
    waiting = [threading.Thread(target=turns.take) for _ in range(WAITING)]
    try:
        for each in waiting:
            each.start()
        wait_for(lambda: turns.waiting() == WAITING, "all places to be taken")
        before = hashes.count
        answer = log_in("vera", OLD)
        assert told(answer) == (503, True)
        assert "was not checked" in answer.content.decode()
        assert hashes.count == before
        assert not AccessAttempt.objects.exists(), "what was not checked is no wrong password"
    finally:
        for _ in range(AT_ONCE + WAITING):
            turns.give()
        for each in waiting:
            each.join()
    while turns.running():
        turns.give()
    assert log_in("vera", OLD).status_code == 302


def test_the_old_password_cannot_be_guessed_from_a_browser_that_is_logged_in(
    floor: Floor, hashes: Hashes
) -> None:
    olga = person("olga", "viewer")
    form: dict[str, Any] = {"old_password": "wrong", "new_password1": NEW, "new_password2": NEW}
    before = hashes.count
    answers = [olga.post("change_password", **form).status_code for _ in range(15)]
    assert answers == [200] * 8 + [429] * 7
    assert hashes.count - before == 8
    right: dict[str, Any] = {**form, "old_password": "made-up-for-tests"}
    assert told(olga.post("change_password", **right)) == (429, True)
    otto = person("otto", "viewer")
    assert otto.post("change_password", **right).status_code == 200, "others are not held up"


def test_a_new_password_that_is_refused_is_no_wrong_old_one(floor: Floor, hashes: Hashes) -> None:
    olga = person("olga", "viewer")
    form: dict[str, Any] = {
        "old_password": "made-up-for-tests",
        "new_password1": "1",
        "new_password2": "1",
    }
    answers = [olga.post("change_password", **form).status_code for _ in range(12)]
    assert answers == [200] * 12


def test_links_for_a_password_cannot_be_guessed_without_end(vera: User, settings: Any) -> None:
    settings.LOGIN_FAILED_RATE = Rate(4, 3600)
    stranger = Client(REMOTE_ADDR="203.0.113.9")
    answers = [stranger.post(f"/password/reset/MQ/abc-{number}/") for number in range(6)]
    assert [each.status_code for each in answers] == [200] * 4 + [429] * 2
    assert told(answers[-1]) == (429, True)
