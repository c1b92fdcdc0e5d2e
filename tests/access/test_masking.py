"""Values of keys that a kind hides are on no face of the site for those who may not see them."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tasks_app.core.people.scopes import Scope
from tasks_app.core.states import OnDead
from tasks_app.models import Task
from tasks_app.sdk.link import Progress
from tasks_app.sdk.task_log import LogLine
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.masking.word_masking import words_about
from tasks_app.services.people import tokens
from tasks_app.services.people.people import Actor, Role
from tests.live.conftest import feed_runs, hear, run, socket
from tests.people import PeopleFloor
from tests.waiting import wait_for
from tests.web.conftest import Person, person

CARD, PIN = "4111222233334444", 98765432101234
SAID = f"cannot charge {CARD} with {PIN}"
TRACEBACK = (
    'Traceback (most recent call last):\n  File "/srv/shop/pay.py", line 7, in charge\n'
    f'    charge("{CARD}")\nPayError: {SAID}\n'
)


@pytest.fixture
def floor(record: None) -> Iterator[PeopleFloor]:
    """Three kinds that hide the same keys; one is done by people."""
    floor = PeopleFloor()
    floor.lead()
    floor.hire("w1", slots=20)
    for kind in ("a", "b"):
        floor.kind(kind, redacted_keys=["Card", "pin"])
    floor.people_do(redacted_keys=["card", "pin"], result_schema={"type": "object"})
    yield floor
    wait_for(lambda: not feed_runs(), "the feed to end")


@pytest.fixture
def viewer(floor: PeopleFloor) -> Person:
    """Somebody who may look, and sees no payloads."""
    return person("vera", "viewer")


def given(task: UUID) -> UUID:
    Task.objects.filter(id=task).update(payload={"card": CARD, "pin": PIN, "to": "Ada"})
    return task


def died(floor: PeopleFloor, kind: str = "a") -> UUID:
    """A task whose handler said its payload's hidden values in every way there is."""
    task = given(floor.submit(1, kind=kind)[0])
    grant = floor.next()
    lines = [LogLine(1.0, "INFO", SAID)]
    told = Progress(grant.token, 0.5, note=f"charging {CARD}", lines=lines)
    worker_protocol.heartbeat(floor.workers["w1"], [grant.token], [told])
    floor.fail("w1", grant, type="shop.PayError", message=SAID, traceback=TRACEBACK, permanent=True)
    return task


def running(floor: PeopleFloor) -> UUID:
    task = given(floor.submit(1, kind="a")[0])
    grant = floor.next()
    lines = [LogLine(1.0, "INFO", SAID)]
    told = Progress(grant.token, 0.5, note=f"charging {CARD}", lines=lines)
    worker_protocol.heartbeat(floor.workers["w1"], [grant.token], [told])
    return task


def whole(answer: Any) -> str:
    parts = answer.streaming_content if answer.streaming else [answer.content]
    return b"".join(parts).decode()


def masked(client: Client, address: str, *, seen: bool) -> None:
    """The values are there for who may see them, and the mask for who may not."""
    text = whole(client.get(address))
    assert ("[redacted]" in text) is not seen, address
    assert (CARD in text) is seen, address
    part = whole(client.get(address, headers={"HX-Request": "true"}))
    # A figure may stand in an id by chance; as a word of its own it does not.
    told = re.search(rf"{CARD[:13]}|(?<![\w-]){PIN}(?![\w-])", text + part)
    assert seen or not told, address


def pages_of(floor: PeopleFloor) -> Mapping[str, str]:
    """Every page and file on which something about the tasks of this floor is said."""
    dead, runs = died(floor), running(floor)
    job = floor.job([{"name": "pay", "kind": "b", "payload": {"card": CARD, "pin": PIN}}])
    floor.fail("w1", floor.next(), type="shop.PayError", message=SAID, permanent=True)
    floor.until_still()
    fingerprint = floor.task(dead).fingerprint
    return {
        "task": f"/tasks/{dead}/",
        "running": f"/tasks/{runs}/",
        "payload": f"/tasks/{dead}/payload.json",
        "list": "/tasks/?cols=error",
        "csv": "/tasks/export/?q=kind:a",
        "json": "/tasks/export/?format=json",
        "errors": "/dead-letters/errors/export/",
        "dead letters": "/dead-letters/",
        "dead group": f"/dead-letters/{fingerprint}/",
        "completion": "/tasks/complete/?q=cause:&at=6",
        "job": f"/jobs/{job}/",
        "worker": f"/workers/{floor.workers['w1']}/",
    }


def test_no_page_and_no_file_shows_what_a_kind_hides(floor: PeopleFloor, viewer: Person) -> None:
    pages = pages_of(floor)
    for address in pages.values():
        masked(viewer.client, address, seen=False)
    viewer.user.user_permissions.add(Permission.objects.get(codename="see_payloads"))
    for address in pages.values():
        masked(viewer.client, address, seen=True)


def test_nothing_that_a_page_is_told_live_holds_a_hidden_value(
    floor: PeopleFloor, viewer: Person
) -> None:
    died(floor)

    async def scenario() -> None:
        async with socket(viewer.client) as page:
            for _ in range(3):
                assert CARD not in json.dumps(await hear(page))

    run(scenario)


def test_the_inbox_masks_payload_and_inputs_and_leaves_the_rest(
    floor: PeopleFloor, viewer: Person
) -> None:
    (first,) = floor.submit(1, kind="a")
    (step,) = floor.submit(1, kind="review", needs=[(first, OnDead.WAIT)])
    floor.complete("w1", floor.next(), {"receipt": {"CARD": CARD}, "paid": "in full"})
    given(step)
    floor.until_still()
    masked(viewer.client, "/inbox/" + str(step) + "/", seen=False)
    text = viewer.text("step", step)
    assert "&quot;Ada&quot;" in text or ">Ada<" in text
    assert "in full" in text
    assert CARD not in viewer.text("inbox")
    viewer.user.user_permissions.add(Permission.objects.get(codename="see_payloads"))
    assert viewer.text("step", step).count(CARD) == 2


def test_a_job_masks_its_plan_and_its_result(floor: PeopleFloor, viewer: Person) -> None:
    job = floor.job(
        [{"name": "pay", "kind": "a", "payload": {"card": CARD, "to": "Ada"}}],
        result={"$result": "pay"},
    )
    floor.complete("w1", floor.next(), {"Card": CARD, "sum": "in full"})
    floor.until_still()
    masked(viewer.client, f"/jobs/{job}/", seen=False)
    assert "in full" in viewer.text("job", job)
    viewer.user.user_permissions.add(Permission.objects.get(codename="see_payloads"))
    assert viewer.text("job", job).count(CARD) >= 2


def test_the_api_masks_errors_unless_the_token_may_see_payloads(floor: PeopleFloor) -> None:
    pages_of(floor)
    paths = [f"/api/v1/tasks/{task}" for task in Task.objects.values_list("id", flat=True)]
    paths += [f"/api/v1/jobs/{Task.objects.get(job__isnull=False).job_id}", "/api/v1/tasks"]
    for scopes in ([Scope.READ], [Scope.READ, Scope.PAYLOADS]):
        token = tokens.create("one", Actor("ada", role=Role.ADMIN), scopes=scopes).text
        headers = {"Authorization": f"Bearer {token}"}
        for path in paths:
            text = whole(Client().get(path, headers=headers))
            assert (CARD in text) is (Scope.PAYLOADS in scopes), path
            assert ("[redacted]" in text) is (Scope.PAYLOADS not in scopes), path


def test_an_input_s_hidden_value_is_masked_in_the_words_of_who_got_it(
    floor: PeopleFloor, viewer: Person
) -> None:
    floor.kind("b", redacted_keys=[])
    (first,) = floor.submit(1, kind="a")
    (second,) = floor.submit(1, kind="b", needs=[(first, OnDead.WAIT)])
    floor.complete("w1", floor.next(), {"card": CARD})
    floor.fail("w1", floor.next(), message=f"no such card: {CARD}", permanent=True)
    masked(viewer.client, f"/tasks/{second}/", seen=False)
    assert "no such card: [redacted]" in viewer.text("dead_letters")


def test_the_inputs_of_many_tasks_are_masked_in_the_words_of_each(
    floor: PeopleFloor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks_app.store.reads.hidden_values.AT_ONCE", 5)
    given_by = floor.submit(130, kind="a")
    for n, task in enumerate(given_by):
        Task.objects.filter(id=task).update(status="COMPLETED", result={"card": f"{n}-{CARD}"})
    floor.kind("b", redacted_keys=[])
    got = [
        floor.submit(1, kind="b", needs=[(task, OnDead.WAIT) for task in given_by[n : n + 120]])[0]
        for n in range(10)
    ]
    with CaptureQueriesContext(connection) as asked:
        words = words_about(got, {"a": frozenset(["card"])})
    for n, task in enumerate(got):
        for place in range(n, n + 120):
            assert words.text(task, f"no card {place}-{CARD}") == "no card [redacted]"
    assert len(asked) == 11, "no more values at once than memory is for"


def test_an_error_cannot_be_found_by_guessing_what_it_hides(
    floor: PeopleFloor, viewer: Person
) -> None:
    task = died(floor)

    def finds(query: str) -> bool:
        return str(task) in viewer.text("tasks", q=query)

    assert finds("error:PayError")
    assert not finds(f"error:{CARD[:6]}")
    assert not finds(f'"{CARD[:6]}"')
    viewer.user.user_permissions.add(Permission.objects.get(codename="see_payloads"))
    assert finds(f"error:{CARD[:6]}")
    assert finds(f'"{CARD[:6]}"')


def test_what_was_said_with_a_value_that_was_edited_away_stays_masked(
    floor: PeopleFloor, viewer: Person
) -> None:
    task, otto = died(floor), person("otto", "operator")
    otto.user.user_permissions.add(Permission.objects.get(codename="see_payloads"))
    new = json.dumps({"card": "5222333344445555", "pin": PIN, "to": "Ada"})
    otto.post("edit_payload", task, payload=new, requeues=0, because="another card")
    assert floor.task(task).payload["card"] == "5222333344445555"
    text = viewer.text("task", task)
    assert CARD not in text
    assert "cannot charge [redacted]" in text
    assert CARD not in otto.text("task", task)
    assert str(PIN) in otto.text("task", task)


def test_where_nothing_is_hidden_no_question_is_asked(floor: PeopleFloor) -> None:
    task = died(floor)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert words_about([task], {}).text(task, SAID) == SAID
        words_about([], {"a": frozenset(["card"])})
    assert len(asked) == 0
