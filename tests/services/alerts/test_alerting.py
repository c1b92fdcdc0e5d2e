"""Alerts are told when they begin and when they end: once each, to mail and to webhooks."""

import hashlib
import hmac
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db import connection, transaction

from tasks_app.core.alerts.detection import MOST_OF_A_SORT
from tasks_app.core.alerts.notification import Standing
from tasks_app.core.alerts.webhooks import SIGNATURE
from tasks_app.core.facts import ErrorFacts
from tasks_app.models import AlertChannel, AlertDelivery, AlertRule, AlertState, Leader, Task
from tasks_app.sdk.link import Failure
from tasks_app.services.actions.dead_groups import assign_group
from tasks_app.services.actions.operations import dismiss, requeue
from tasks_app.services.alerts import alert_watch, webhooks
from tasks_app.services.alerts.alert_channels import send_test, set_secret
from tasks_app.services.alerts.alert_delivery import deliver_due
from tasks_app.services.alerts.alert_watch import _seen, look
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.people.people import Actor, Role
from tasks_app.store import alerting, sql
from tasks_app.store.reads.alerting import KnownAlert, errors_to_tell
from tests.floor import Floor
from tests.waiting import wait_for

ADMIN = Actor("ada", "127.0.0.1", role=Role.ADMIN)
SECRET = "made-up-for-these-tests"
SILENT_AFTER = 15.0


@dataclass
class Hook:
    """A web server that notes what is sent to it, and answers as it is told."""

    url: str = ""
    status: int = 200
    location: str = ""
    says: bytes = b""
    posts: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.posts]


@pytest.fixture
def hook(settings: Any) -> Iterator[Hook]:
    """A webhook on this machine, which the setting allows."""
    settings.WEBHOOKS_LOOPBACK = True
    noted = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            noted.posts.append((dict(self.headers), self.rfile.read(size)))
            self.send_response(noted.status)
            if noted.location:
                self.send_header("Location", noted.location)
            self.send_header("Content-Length", str(len(noted.says)))
            self.end_headers()
            self.wfile.write(noted.says)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    noted.url = f"http://127.0.0.1:{server.server_port}/alerts?from=chargehand"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield noted
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def duty(floor: Floor) -> Floor:
    """A floor whose supervisor has just run a round, so that nothing is wrong."""
    floor.round()
    return floor


def channel(address: str = "ops@example.org, night@example.org", kind: str = "mail") -> None:
    AlertChannel.objects.create(name=kind, kind=kind, address=address)


def time_passes(seconds: float) -> None:
    """Make what is known of alerts, and their messages, so many seconds older."""
    for table, columns in {
        "alert_state": ("began_at", "sent_at", "missing_since", "ended_at"),
        "alert_delivery": ("began_at", "created_at", "next_try_at"),
    }.items():
        moved = ", ".join(f"{each} = {each} - %(s)s * interval '1 second'" for each in columns)
        sql.execute(f"UPDATE {table} SET {moved}", {"s": seconds})


def looks(*, stands: bool = True) -> None:
    """Look twice, with as long between as an alert must have stood, or be gone."""
    look(SILENT_AFTER)
    time_passes(11 if stands else 16)
    look(SILENT_AFTER)
    deliver_due()


def silence(floor: Floor) -> None:
    """No round was recorded for a while."""
    sql.execute("UPDATE leader SET last_round_at = last_round_at - interval '1 hour'")


def subjects() -> list[str]:
    return [str(each.subject) for each in mail.outbox]


def test_an_alert_is_told_once_when_it_begins_and_once_when_it_ends(duty: Floor) -> None:
    channel()
    silence(duty)
    look(SILENT_AFTER)
    assert not AlertDelivery.objects.exists(), "what passes by itself is nobody's concern"
    looks()
    looks()
    assert subjects() == ["[Chargehand] No supervisor is on duty"]
    assert mail.outbox[0].to == ["ops@example.org", "night@example.org"]
    assert "The last round was 60 min ago" in mail.outbox[0].body
    duty.round()
    looks(stands=False)
    looks(stands=False)
    assert subjects()[1:] == ["[Chargehand] Solved: No supervisor is on duty"]


def test_the_end_of_an_alert_that_stood_for_weeks_is_told(duty: Floor) -> None:
    channel()
    silence(duty)
    looks()
    time_passes(8 * 86400)
    look(SILENT_AFTER)
    duty.round()
    looks(stands=False)
    looks(stands=False)
    assert subjects()[1:] == ["[Chargehand] Solved: No supervisor is on duty"]
    time_passes(8 * 86400)
    look(SILENT_AFTER)
    assert not AlertDelivery.objects.exists(), "what is over for a week is forgotten"
    look(SILENT_AFTER)
    assert not AlertState.objects.exists()


def test_what_comes_and_goes_is_not_told_again_before_its_time(duty: Floor) -> None:
    AlertRule.objects.update_or_create(name="off_duty", defaults={"repeat_minutes": 60})
    channel()
    for _ in range(3):
        silence(duty)
        looks()
        duty.round()
        looks(stands=False)
    assert len(subjects()) == 2, subjects()
    silence(duty)
    looks()
    time_passes(3600)
    looks()
    assert len(subjects()) == 3, "it still stands once the hour is over"


def test_an_alert_whose_rule_says_no_is_not_sent(duty: Floor) -> None:
    AlertRule.objects.update_or_create(name="off_duty", defaults={"sent": False})
    channel()
    silence(duty)
    looks()
    assert AlertState.objects.get().name == "off_duty"
    assert not mail.outbox


def test_without_a_channel_nothing_is_judged(duty: Floor) -> None:
    silence(duty)
    assert look(SILENT_AFTER) is False
    assert not AlertState.objects.exists()


def test_two_processes_that_watch_tell_an_alert_once(duty: Floor) -> None:
    channel()
    silence(duty)
    look(SILENT_AFTER)
    time_passes(11)
    ready = threading.Barrier(2)

    def also() -> None:
        ready.wait()
        look(SILENT_AFTER)
        deliver_due()
        connection.close()

    threads = [threading.Thread(target=also) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    look(SILENT_AFTER)
    deliver_due()
    assert len(subjects()) == 1


def test_one_process_judges_at_a_time(duty: Floor) -> None:
    channel()
    silence(duty)
    judging, done = threading.Event(), threading.Event()

    def judge() -> None:
        with transaction.atomic():
            assert alerting.take_turn() is not None
            judging.set()
            done.wait(60)
        connection.close()

    other = threading.Thread(target=judge)
    other.start()
    try:
        assert judging.wait(60)
        look(SILENT_AFTER)
        assert not AlertState.objects.exists()
    finally:
        done.set()
        other.join()
    look(SILENT_AFTER)
    assert AlertState.objects.exists()


def die(floor: Floor, message: str = "no answer") -> Any:
    """Have a task die, and return its id."""
    if "w1" not in floor.workers:
        floor.worker("w1", slots=10)
    (task,) = floor.submit(1, max_attempts=1)
    floor.round()
    (grant,) = [each for each in floor.claim("w1") if each.task_id == task]
    floor.fail("w1", grant, message=message)
    floor.round()
    return task


def only_errors() -> None:
    for name in ("dead_waiting", "pinned"):
        AlertRule.objects.update_or_create(name=name, defaults={"sent": False})


def test_a_new_error_is_told_without_its_message_and_ends_when_somebody_takes_it(
    duty: Floor,
) -> None:
    only_errors()
    channel()
    task = die(duty, "the customer's secret")
    looks()
    assert subjects() == ["[Chargehand] A new error: TimeoutError"]
    assert "secret" not in mail.outbox[0].body
    fingerprint = duty.task(task).fingerprint
    assert fingerprint is not None
    User.objects.create_user("otto")
    assign_group(fingerprint, "otto", Actor("otto"))
    looks(stands=False)
    assert subjects()[1:] == ["[Chargehand] Solved: A new error: TimeoutError"]


def test_an_error_of_which_not_all_was_counted_is_told_as_at_least_so_many(
    duty: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_errors()
    channel()
    monkeypatch.setattr("tasks_app.store.reads.alerting.ERRORS_LOOKED_AT", 2)
    for _ in range(3):
        die(duty)
    looks()
    assert "At least 2 dead letters of it wait for a human" in mail.outbox[0].body


def test_an_error_that_comes_back_after_it_was_dismissed_is_told(duty: Floor) -> None:
    only_errors()
    channel()
    dismiss([die(duty)], Actor("otto"), "known")
    looks()
    assert subjects() == []
    die(duty)
    looks()
    assert subjects() == ["[Chargehand] TimeoutError came back"]
    requeue(list(Task.objects.filter(status="DEAD").values_list("id", flat=True)), Actor("otto"))
    looks(stands=False)
    assert subjects()[1:] == ["[Chargehand] Solved: TimeoutError came back"]


def test_a_kind_that_no_worker_can_do_is_told(duty: Floor) -> None:
    channel()
    duty.submit(1, kind="lonely")
    duty.round()
    looks()
    assert subjects() == ["[Chargehand] No worker can do lonely"]


def test_a_webhook_gets_json_that_is_signed(duty: Floor, hook: Hook) -> None:
    channel(hook.url, "webhook")
    set_secret("webhook", SECRET, ADMIN)
    silence(duty)
    looks()
    ((headers, body),) = hook.posts
    told = json.loads(body)
    assert (told["alert"], told["event"], told["key"]) == ("off_duty", "began", "off_duty")
    assert told["id"] == str(AlertDelivery.objects.get().id)
    at, digest = headers[SIGNATURE].removeprefix("t=").split(",v1=")
    wanted = hmac.new(SECRET.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    assert digest == wanted
    assert AlertDelivery.objects.get().state == "sent"


def test_what_a_webhook_refuses_is_tried_again_later_and_given_up_at_last(
    duty: Floor, hook: Hook
) -> None:
    hook.status = 500
    channel(hook.url, "webhook")
    silence(duty)
    looks()
    message = AlertDelivery.objects.get()
    assert (message.state, message.tries, message.fault) == ("waiting", 1, "it answered 500")
    assert deliver_due() == 0
    assert len(hook.posts) == 1, "it waits before it tries again"
    for _ in range(10):
        time_passes(700)
        deliver_due()
    message.refresh_from_db()
    assert (message.state, message.tries) == ("given_up", 8)
    assert len(hook.posts) == 8


def test_the_end_waits_until_the_beginning_has_arrived(duty: Floor, hook: Hook) -> None:
    hook.status = 500
    channel(hook.url, "webhook")
    silence(duty)
    looks()
    duty.round()
    looks(stands=False)
    assert [each["event"] for each in hook.bodies] == ["began", "began"][: len(hook.posts)]
    hook.status = 200
    time_passes(700)
    deliver_due()
    assert [each["event"] for each in hook.bodies][-2:] == ["began", "ended"]


def test_a_redirect_is_not_followed(duty: Floor, hook: Hook) -> None:
    hook.status, hook.location = 302, hook.url
    channel(hook.url, "webhook")
    assert send_test("webhook", ADMIN) == "it answered 302"
    assert len(hook.posts) == 1


def test_a_test_arrives_whatever_became_of_the_one_before(
    duty: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel()
    with monkeypatch.context() as killed:
        killed.setattr("tasks_app.services.alerts.alert_channels.deliver", alerting.claim)
        send_test("mail", ADMIN)
    assert send_test("mail", ADMIN) == ""
    assert subjects() == ["[Chargehand] A test"]


def test_whoever_dies_while_it_sends_leaves_the_message_to_be_sent_again(
    duty: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel()
    silence(duty)
    look(SILENT_AFTER)
    time_passes(11)
    look(SILENT_AFTER)
    assert alerting.claim() is not None, "taken by a process that is killed now"
    assert deliver_due() == 0
    time_passes(61)
    assert deliver_due() == 1


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("https://127.0.0.1/x", "127.0.0.1 is not a public address"),
        ("https://localhost/x", "is not a public address"),
        ("https://10.1.2.3/x", "10.1.2.3 is not a public address"),
        ("https://[::ffff:10.1.2.3]/x", "is not a public address"),
        ("https://169.254.169.254/latest/meta-data", "is not a public address"),
        ("https://2130706433/x", "is not a public address"),
        ("https://192.0.0.192/opc/v1", "is not a public address"),
        ("https://[64:ff9b::10.1.2.3]/x", "is not a public address"),
        ("https://[64:ff9b:1::10.1.2.3]/x", "is not a public address"),
        ("https://[::10.1.2.3]/x", "is not a public address"),
        ("https://[fec0::1]/x", "is not a public address"),
        ("http://example.org/x", "must begin with https://"),
        ("https://user:word@example.org/x", "must not hold a user or password"),
        ("file:///etc/passwd", "write it as https://host/path"),
    ],
)
def test_a_webhook_leads_to_public_https_addresses_alone(url: str, why: str) -> None:
    with pytest.raises(webhooks.NotDelivered, match=why):
        webhooks.post(url, "", {})


def test_the_address_that_was_checked_is_the_one_that_is_called(
    hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = int(hook.url.rsplit(":", 1)[1].split("/")[0])
    asked: list[str] = []

    def resolve(host: str, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    # A name server that would answer something else the next time is not asked a second time.
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    called: list[str] = []
    connect = socket.socket.connect
    monkeypatch.setattr(
        socket,
        "create_connection",
        lambda address, timeout: _connect(called, connect, address, timeout),
    )
    webhooks.post(f"http://localhost:{port}/x", "", {})
    assert (asked, called) == (["localhost"], ["127.0.0.1"])
    assert hook.posts[0][0]["Host"] == f"localhost:{port}"


def _connect(called: list[str], connect: Any, address: Any, timeout: float) -> socket.socket:
    called.append(address[0])
    made = socket.socket()
    made.settimeout(timeout)
    connect(made, address)
    return made


def test_a_server_that_trickles_is_cut_off(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.WEBHOOKS_LOOPBACK = True
    monkeypatch.setattr(webhooks, "WHOLE_SECONDS", 0.5)
    cut_off = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def trickle() -> None:
            talk, _ = listener.accept()
            with talk:
                talk.settimeout(5)
                try:
                    while not cut_off.wait(0.05):
                        talk.sendall(b"H")
                except OSError:
                    cut_off.set()

        thread = threading.Thread(target=trickle)
        thread.start()
        with pytest.raises(webhooks.NotDelivered):
            webhooks.post(f"http://127.0.0.1:{listener.getsockname()[1]}/", "", {})
        assert cut_off.wait(10), "the caller hung up"
        thread.join(10)


def test_a_channel_gets_no_more_than_an_hour_s_due(
    duty: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks_app.store.reads.alerting.MOST_AN_HOUR", 1)
    channel()
    duty.submit(1, kind="lonely")
    duty.round()
    looks()
    silence(duty)
    looks()
    assert subjects() == ["[Chargehand] No worker can do lonely"]
    time_passes(3601)
    look(SILENT_AFTER)
    deliver_due()
    assert subjects()[1:] == ["[Chargehand] No supervisor is on duty"]


def test_alerts_that_begin_together_share_an_hour_s_due(
    duty: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks_app.store.reads.alerting.MOST_AN_HOUR", 2)
    channel()
    for kind in ("one", "two", "three"):
        duty.submit(1, kind=kind)
    duty.round()
    looks()
    assert len(subjects()) == 2
    time_passes(3601)
    look(SILENT_AFTER)
    deliver_due()
    assert len(set(subjects())) == 3


def test_an_end_beyond_an_hour_s_due_is_told_later(
    duty: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks_app.store.reads.alerting.MOST_AN_HOUR", 1)
    channel()
    silence(duty)
    looks()
    duty.round()
    looks(stands=False)
    looks(stands=False)
    assert subjects() == ["[Chargehand] No supervisor is on duty"]
    time_passes(3601)
    looks(stands=False)
    assert subjects()[1:] == ["[Chargehand] Solved: No supervisor is on duty"]


def test_where_no_mail_server_is_set_the_message_says_so(duty: Floor, settings: Any) -> None:
    settings.SENDS_MAIL = False
    channel()
    assert send_test("mail", ADMIN) == "no mail server is set: EMAIL_URL"
    assert AlertDelivery.objects.get().state == "given_up"


def test_the_watch_goes_on_until_it_is_told_to_stop(
    duty: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alert_watch, "LOOK_SECONDS", 0.01)
    channel()
    stopping = threading.Event()
    thread = threading.Thread(target=alert_watch.watch, args=(stopping, SILENT_AFTER))
    silence(duty)
    thread.start()
    try:
        wait_for(AlertState.objects.exists, "a state of the alert")
        Leader.objects.update(holder="somebody")
        time_passes(11)
        wait_for(subjects, "a mail")
        assert subjects() == ["[Chargehand] No supervisor is on duty"]
    finally:
        stopping.set()
        thread.join(10)
    assert not thread.is_alive()


def test_an_error_that_others_crowd_out_of_the_look_is_not_told_as_solved(floor: Floor) -> None:
    floor.settings(backlog=2.0)
    worker = floor.worker("w1", slots=1000)

    def die(count: int, message: str) -> None:
        floor.submit(count)
        while count:
            floor.round()
            grants = floor.claim("w1", 1000)
            count -= len(grants)
            error = ErrorFacts(type="E", message=message, permanent=True)
            failures = [Failure(grant.task_id, grant.token, error) for grant in grants]
            worker_protocol.fail(worker, failures)

    die(3, "invoice lost")
    (lost,) = errors_to_tell(())
    die(2_000, "no such host")
    key = f"new_error:{lost.fingerprint}"
    assert lost.fingerprint in {each.fingerprint for each in errors_to_tell({key})}
    assert lost.fingerprint not in {each.fingerprint for each in errors_to_tell(())}
    Task.objects.filter(fingerprint=lost.fingerprint).update(fingerprint=None)
    assert lost.fingerprint not in {each.fingerprint for each in errors_to_tell({key})}


def test_a_silent_worker_that_others_crowd_out_is_not_told_as_solved(floor: Floor) -> None:
    names = [f"w{n}" for n in range(MOST_OF_A_SORT + 1)]
    for place, name in enumerate(names):
        floor.worker(name)
        floor.silence(name, 70 + place)
    first = {f"silent:{name}" for name in names}
    known = {key: KnownAlert("silent", "", Standing(began_at=0.0)) for key in first}
    assert set(_seen(known, 15.0)) >= first
    assert len([key for key in _seen({}, 15.0) if key.startswith("silent:")]) == MOST_OF_A_SORT
