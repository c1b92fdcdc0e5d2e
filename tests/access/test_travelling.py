"""What a kind hides stays hidden wherever its value goes: every address is walked with it."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from tasks_app.core.actions.bulks import BulkAction, BulkOrder
from tasks_app.core.failures.fingerprints import fingerprint_of, key_of
from tasks_app.core.masking.hidden_words import Words
from tasks_app.core.masking.redaction import MOST_SECRETS, MOST_VALUES, Budget
from tasks_app.core.people.scopes import Scope
from tasks_app.core.states import Status
from tasks_app.models import AuditEntry, Bulk, Job, Task, Worker
from tasks_app.models.ids import new_id
from tasks_app.sdk.link import Grant, Progress
from tasks_app.sdk.task_log import LogLine
from tasks_app.services.attempts import worker_protocol
from tasks_app.services.jobs.jobs import compensate_job
from tasks_app.services.masking.word_masking import words_about
from tasks_app.services.people import tokens
from tasks_app.services.people.people import Actor, Role
from tasks_app.services.search.found_tasks import begin_found
from tasks_app.services.search.task_search import read_query
from tasks_app.services.settings.settings_previews import preview
from tasks_app.services.settings.settings_sections import KINDS
from tasks_app.store.reads.hidden_words import fingerprints_of
from tests.access.routes import API, PAGES
from tests.live.conftest import feed_runs, hear, run, socket
from tests.people import PeopleFloor
from tests.waiting import wait_for
from tests.web.conftest import Person, person

LABEL = "quietly-suspicious"
GIVEN = "whispered-number"
PIN = 98765432.25
HIDDEN = (LABEL, GIVEN, str(PIN))
ROLES = {"viewer": Role.VIEWER, "operator": Role.OPERATOR}
CHECKED = {"label": LABEL, "pin": PIN, "open": "for all", "rows": [{"label": LABEL, "n": 1}]}

STEPS: list[dict[str, Any]] = [
    {
        "name": "check",
        "kind": "a",
        "payload": {"label": GIVEN, "to": "Ada"},
        "compensation": "undo_a",
    },
    {
        "name": "draft",
        "kind": "b",
        "payload": {"about": {"$result": "check.label"}, "whole": {"$result": "check"}},
        "lock_key": {"$result": "check.label"},
        "compensation": {"kind": "undo_b", "payload": {"was": [{"$result": "check.pin"}]}},
    },
    {
        "name": "each",
        "kind": "b",
        "for_each": {"$result": "check.rows"},
        "payload": {"row": {"$item": "label"}},
        "lock_key": {"$item": "label"},
    },
    {
        "name": "told",
        "kind": "b",
        "when": {"$result": "check.label", "equals": LABEL},
        "payload": {"said": {"$result": "draft.echo"}, "rows": {"$result": "each"}},
        "compensation": "undo_b",
    },
    {
        "name": "look",
        "kind": "review",
        "payload": {"is_it": {"$result": "check.label"}},
        "depends_on": ["told"],
    },
]
RESULT = {"label_of": {"$result": "check.label"}, "echo": {"$result": "told"}, "items": []}


@pytest.fixture
def floor(record: None) -> Iterator[PeopleFloor]:
    """Kind a hides two keys; b, the compensations and what people do hide nothing."""
    floor = PeopleFloor()
    floor.lead()
    floor.hire("w1", slots=50)
    floor.people_do(result_schema={"type": "object"})
    floor.kind("a", redacted_keys=["Label", "pin"])
    yield floor
    wait_for(lambda: not feed_runs(), "the feed to end")


@pytest.fixture
def viewer(floor: PeopleFloor) -> Person:
    """Somebody who may look, and sees no payloads."""
    return person("vera", "viewer")


def says_it(floor: PeopleFloor, grant: Grant) -> None:
    """The handler repeats its values in its note and its log."""
    said = f"about {LABEL} and {PIN} of {GIVEN}"
    lines = [LogLine(1.0, "INFO", said)]
    told = Progress(grant.token, 0.5, note=said, lines=lines)
    worker_protocol.heartbeat(floor.workers["w1"], [grant.token], [told])


def work(floor: PeopleFloor, *, rounds: int = 8, undoes: bool = True) -> None:
    """Do whatever can be done, and repeat in each result what the task was given."""
    for _ in range(rounds):
        for grant in floor.all_next():
            says_it(floor, grant)
            if grant.kind == "a":
                floor.complete("w1", grant, CHECKED)
            elif grant.kind == "undo_b" and not undoes:
                fails(floor, grant)
            else:
                floor.complete("w1", grant, {"echo": LABEL, "figure": PIN, "all": [LABEL]})
    floor.until_still()


def fails(floor: PeopleFloor, grant: Grant) -> None:
    message = f"no such label: {LABEL} ({PIN})"
    floor.fail("w1", grant, type="shop.LabelError", message=message, permanent=True)


def planted(floor: PeopleFloor) -> dict[str, UUID]:
    """Jobs on every way that a value can take: done, dead, undone, waiting for people."""
    jobs = {"done": floor.job(STEPS[:4], name="done", result=RESULT)}
    work(floor)
    jobs["asks"] = floor.job(STEPS, name="asks")
    work(floor)
    jobs["undone"] = floor.job(STEPS, name="undone")
    work(floor)
    compensate_job(jobs["undone"], Actor("op", "127.0.0.1", role=Role.ADMIN), "it was wrong")
    work(floor)
    jobs["parked"] = floor.job(STEPS, name="parked")
    work(floor)
    compensate_job(jobs["parked"], Actor("op", "127.0.0.1", role=Role.ADMIN), "it was wrong")
    work(floor, undoes=False)
    bad = [STEPS[0], {**STEPS[1], "payload": {"a": {"$result": "check.label.nowhere"}}}]
    unfit = {"name": "unfit", "kind": "c", "payload": {"n": {"$result": "check.label"}}}
    floor.kind("c", payload_schema={"properties": {"n": {"type": "integer"}}})
    jobs["unfit"] = floor.job([*bad, unfit], name="unfit")
    work(floor)
    jobs["dead"] = floor.job(STEPS[:2], name="dead", result={"$result": "check"})
    work(floor, rounds=1)
    fails(floor, floor.next())
    jobs["runs"] = floor.job(STEPS[:2], name="runs")
    work(floor, rounds=1)
    says_it(floor, floor.next())
    jobs["held"] = floor.job(STEPS[:2], name="held")
    work(floor, rounds=1)
    floor.until_still()
    return jobs


def typed(floor: PeopleFloor) -> None:
    """What those who may see payloads type: bulk actions, edits, searches of their own."""
    otto = person("otto", "operator")
    otto.user.user_permissions.add(Permission.objects.get(codename="see_payloads"))
    actor = Actor("otto", role=Role.OPERATOR)
    queries = (f"payload.about:{LABEL}", f'"{LABEL}"', f"lock:{LABEL}", f"-payload.label:{GIVEN}")
    for query in queries:
        order = BulkOrder(BulkAction.DISMISS, "all of them")
        assert begin_found(order, read_query(query, sees_payloads=True), actor), query
    dead = Task.objects.filter(status=Status.DEAD, kind_id="b").first()
    assert dead is not None
    new = json.dumps({**dead.payload, "about": GIVEN})
    otto.post("edit_payload", dead.id, payload=new, requeues=dead.requeues, because="x")
    otto.post("save_search", name=f"my {LABEL}", q=f"payload.label:{GIVEN}")
    otto.post("save_search", name="shared", q=f"payload.label:{GIVEN}", shared="on")


def addresses(role: Role = Role.VIEWER) -> Iterator[str]:
    """Every page that a role may open, for every task, job, worker, act and error there is."""
    bulks = list(Bulk.objects.values_list("id", flat=True))
    prints = Task.objects.exclude(fingerprint=None).values_list("fingerprint", flat=True)
    known: Mapping[str, list[Any]] = {
        "task_id": list(Task.objects.values_list("id", flat=True)),
        "job_id": list(Job.objects.values_list("id", flat=True)),
        "worker_id": list(Worker.objects.values_list("id", flat=True)),
        "bulk_id": bulks,
        "number": list(AuditEntry.objects.values_list("id", flat=True)),
        "fingerprint": list(prints.distinct()),
        "part": ["payload", "result"],
        "action": [action.value for action in BulkAction],
    }
    for route, rule in PAGES.items():
        if rule.get is not None and rule.get <= role and "reset" not in route:
            yield from _filled(f"/{route}", known)
    for query in (f"?q={LABEL}", "?cols=error,lock,key", "?format=json", f"?text={LABEL}"):
        for page in ("tasks/", "tasks/export/", "audit/", "audit/export/", "jobs/", "jobs/export/"):
            yield f"/{page}{query}"
    for page in (route for route in PAGES if route.endswith("export/") and "<" not in route):
        yield f"/{page}?format=json"
    for action in BulkAction:
        yield f"/acts/{action.value}/?all=1&q=kind:b"
        yield f"/acts/{action.value}/?" + "&".join(f"id={task}" for task in known["task_id"])
    yield "/tasks/complete/?q=cause:&at=6"
    yield f"/tasks/complete/?q=payload.label:{LABEL[:3]}&at=17"


def _filled(route: str, known: Mapping[str, list[Any]]) -> Iterator[str]:
    found = re.search(r"<(?:\w+:)?(\w+)>", route)
    if found is None:
        yield route
        return
    for value in known[found[1]]:
        yield from _filled(route.replace(found[0], str(value), 1), known)


def whole(answer: Any) -> str:
    parts = answer.streaming_content if answer.streaming else [answer.content]
    return b"".join(parts).decode()


def leaks(text: str, *, asked: str = "") -> list[str]:
    """The hidden values in a text, but for what the address itself asked for."""
    return [value for value in HIDDEN if value in text and value != asked]


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_no_page_file_or_list_holds_a_value_that_came_from_a_hidden_place(
    floor: PeopleFloor, role: str
) -> None:
    planted(floor)
    typed(floor)
    viewer = person("vera", role)
    told = []
    for address in dict.fromkeys(addresses(ROLES[role])):
        # A page repeats its own question; a file does not.
        asked = LABEL if LABEL in address and "export" not in address else ""
        for headers in ({}, {"HX-Request": "true"}):
            answer = viewer.client.get(address, headers=headers)
            assert answer.status_code in (200, 204, 302, 400, 403, 404), address
            told += [(address, value) for value in leaks(whole(answer), asked=asked)]
    assert told == []


def test_no_search_finds_by_a_value_that_came_from_a_hidden_place(
    floor: PeopleFloor, viewer: Person
) -> None:
    planted(floor)
    typed(floor)
    tried = [f'"{LABEL}"', f"error:{LABEL}", f"payload:{LABEL}", f"result:{LABEL}"]
    tried += [f"lock:{LABEL}", f"payload.about:{LABEL}", f"payload.payload.label:{GIVEN}"]
    tried += [f"payload.row:{LABEL}", f"result.echo:{LABEL}", f"result.figure:>{PIN - 1}"]

    def found(query: str) -> int:
        return len(whole(viewer.get("export_tasks", q=query)).splitlines()) - 1

    assert [query for query in tried if found(query)] == []
    for value in (LABEL, GIVEN):
        assert not re.search(r"/audit/[0-9]+/", viewer.part("audit", text=value))
    viewer.user.user_permissions.add(Permission.objects.get(codename="see_payloads"))
    assert [query for query in tried if not found(query)] == []


def test_the_api_tells_a_token_without_payloads_nothing_that_came_from_a_hidden_place(
    floor: PeopleFloor,
) -> None:
    planted(floor)
    token = tokens.create("one", Actor("ada", role=Role.ADMIN), scopes=[Scope.READ]).text
    headers = {"Authorization": f"Bearer {token}"}
    known: Mapping[str, list[Any]] = {
        "task_id": list(Task.objects.values_list("id", flat=True)),
        "job_id": list(Job.objects.values_list("id", flat=True)),
        "bulk_id": list(Bulk.objects.values_list("id", flat=True)),
    }
    reads = [each.split(" ")[1] for each in API if each.startswith("GET")]
    paths = [
        path
        for each in reads
        for path in _filled("/api" + each.replace("{", "<").replace("}", ">"), known)
    ]
    assert len(paths) > 30
    for path in paths:
        answer = Client().get(path, headers=headers)
        assert answer.status_code == 200, path
        assert not leaks(whole(answer)), path


TOLD_ON = {
    "",
    "tasks",
    "jobs",
    "inbox",
    "dead-letters",
    "acts",
    "audit",
    "workers",
}
"""Where the values would be, were they not hidden: each of these pages, and files beside them."""


def test_who_may_see_payloads_sees_them_wherever_they_went(
    floor: PeopleFloor, viewer: Person
) -> None:
    jobs = planted(floor)
    typed(floor)
    viewer.user.user_permissions.add(Permission.objects.get(codename="see_payloads"))
    seen = {
        address.split("/")[1]
        for address in dict.fromkeys(addresses())
        if LABEL not in address and leaks(whole(viewer.client.get(address)))
    }
    assert seen == TOLD_ON, "where nothing was planted, nothing is proven to be hidden"
    undo = Task.objects.get(job=jobs["undone"], step__role="compensation", kind_id="undo_a")
    filled = Task.objects.get(job=jobs["done"], step__role="step", step__place=1)
    assert LABEL in viewer.text("task", filled.id)
    assert LABEL in viewer.text("job", jobs["done"])
    assert LABEL in viewer.text("task", undo.id)


def test_nothing_that_a_page_is_told_live_came_from_a_hidden_place(
    floor: PeopleFloor, viewer: Person
) -> None:
    planted(floor)

    async def scenario() -> None:
        async with socket(viewer.client) as page:
            for _ in range(3):
                assert not leaks(json.dumps(await hear(page)))

    run(scenario)


GUESS = {
    "steps": [
        {"name": "check", "kind": "a", "payload": {"label": GIVEN}},
        {"name": "hit", "kind": "b", "when": {"$result": "check.label", "equals": LABEL}},
    ]
}


def test_a_token_without_payloads_cannot_try_out_a_hidden_value_by_a_condition(
    floor: PeopleFloor,
) -> None:
    answers = {}
    for scopes in ([Scope.JOBS], [Scope.JOBS, Scope.PAYLOADS]):
        token = tokens.create("one", Actor("ada", role=Role.ADMIN), scopes=scopes).text
        answers[len(scopes)] = Client().post(
            "/api/v1/jobs",
            json.dumps(GUESS),
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
    assert answers[2].status_code == 201
    assert answers[1].status_code == 422
    (fault,) = answers[1].json()["faults"]
    assert (fault["index"], fault["field"]) == (1, "when")
    assert "scope payloads" in fault["message"]


@pytest.mark.parametrize(
    "step",
    [
        {"lock_key": {"$result": "check.label"}},
        {"for_each": {"$result": "check.rows"}, "lock_key": {"$item": "label"}},
    ],
)
def test_a_token_without_payloads_cannot_try_out_a_hidden_value_by_a_lock(
    floor: PeopleFloor, step: dict[str, Any]
) -> None:
    plan = {"steps": [STEPS[0], {"name": "waits", "kind": "b", **step}]}
    few, all_of_it = (
        tokens.create("one", Actor("ada", role=Role.ADMIN), scopes=scopes).text
        for scopes in ([Scope.JOBS], [Scope.JOBS, Scope.PAYLOADS])
    )
    refused, taken = (
        Client().post(
            "/api/v1/jobs",
            json.dumps(plan),
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
        for token in (few, all_of_it)
    )
    assert (refused.status_code, taken.status_code) == (422, 201)
    (fault,) = refused.json()["faults"]
    assert (fault["index"], fault["field"]) == (1, "lock_key")
    assert "scope payloads" in fault["message"]


def test_the_admin_of_a_kind_is_told_that_conditions_tell_its_hidden_values(
    floor: PeopleFloor,
) -> None:
    floor.job(GUESS["steps"], name="guessing")
    before = KINDS.find("a")
    assert before is not None
    none = {**before, "redacted_keys": []}
    (told,) = preview(KINDS, "a", none, before).said
    assert "guessing" in told
    assert preview(KINDS, "a", before, none).said == []


def test_a_fingerprint_holds_nothing_that_is_hidden_and_groups_go_on(floor: PeopleFloor) -> None:
    marks = set()
    for word in (LABEL, "another-word"):
        (task,) = floor.submit(1, kind="a")
        Task.objects.filter(id=task).update(payload={"label": word})
        error = {"type": "shop.LabelError", "message": f"ticket '{word}' has no text"}
        floor.fail("w1", floor.next(), type=error["type"], message=error["message"], permanent=True)
        mark = floor.task(task).fingerprint
        assert mark != fingerprint_of(error, "permanent").key
        marks.add(mark)
    assert len(marks) == 1, "what differs in a hidden word only is one error"


def test_a_canary_knows_an_error_again_though_its_hidden_words_differ(floor: PeopleFloor) -> None:
    said = "ticket '{}' has no text"
    ids = floor.submit(2, kind="a", max_attempts=2)
    for n, task in enumerate(ids):
        Task.objects.filter(id=task).update(payload={"label": f"word-number-{n}"})
    errors = {
        task: json.dumps({"type": "shop.LabelError", "message": said.format(f"word-number-{n}")})
        for n, task in enumerate(ids)
    }
    found = fingerprints_of(errors)
    assert found[ids[0]] == found[ids[1]] != key_of(errors[ids[0]], "permanent")


def test_what_is_said_of_a_step_that_cannot_be_filled_in_is_hidden_whole(
    floor: PeopleFloor, viewer: Person
) -> None:
    floor.kind("b", payload_schema={"properties": {"n": {"enum": [1]}}})
    steps = [STEPS[0], {"name": "b", "kind": "b", "payload": {"n": {"$result": "check.label"}}}]
    job = floor.job(steps)
    floor.complete("w1", floor.next(), {"label": "yes"})
    floor.until_still()
    task = Task.objects.get(job=job, kind_id="b")
    assert task.status == Status.DEAD
    assert '"yes"' in floor.error_of(task)
    assert "yes&quot;" not in viewer.text("task", task.id)
    assert "yes&quot;" not in viewer.text("dead_letters")
    said = {"type": "PreparationFailed", "message": floor.error_of(task)}
    assert task.fingerprint != fingerprint_of(said, "permanent").key


def test_a_task_with_more_to_hide_than_a_page_has_time_for_is_hidden_whole(
    floor: PeopleFloor, viewer: Person
) -> None:
    large, small = floor.submit(2, kind="a")
    many = [f"{n}-{LABEL}" for n in range(9_900)]
    Task.objects.filter(id=large).update(payload={"label": many, "to": "Ada"})
    Task.objects.filter(id=small).update(payload={"label": LABEL})
    for grant in floor.all_next():
        floor.fail("w1", grant, message=f"no such label: {grant.task_id} 7-{LABEL}", permanent=True)
    html = whole(viewer.get("tasks", cols="error"))
    assert not leaks(html)
    assert f"no such label: {small}" in html
    assert f"no such label: {large}" not in html
    assert not leaks(whole(viewer.get("task", large)))


def test_the_values_of_sixty_dead_tasks_are_looked_at_as_far_as_one_page_may(
    floor: PeopleFloor, viewer: Person
) -> None:
    many = [f"{n}-{LABEL}" for n in range(1_500)]
    ids = floor.submit(60, kind="a")
    Task.objects.update(payload={"label": many, "to": "Ada"})
    for grant in floor.all_next():
        floor.fail("w1", grant, message=f"no such label: 7-{LABEL}", permanent=True)
    budget = Budget()
    words = words_about(ids, {"a": frozenset(["label"])}, budget)
    assert len(words.secrets) <= MOST_SECRETS // len(many) + 1
    assert words.whole
    assert min(budget.values, budget.secrets, budget.characters) >= 0
    assert MOST_VALUES - budget.values <= 60 * len(many)
    for address in ("/tasks/", "/tasks/export/", "/dead-letters/", "/"):
        assert not leaks(whole(viewer.client.get(address))), address


def test_a_text_that_costs_too_much_to_look_through_is_hidden_whole() -> None:
    one, other = new_id(), new_id()
    secrets = frozenset(f"{n}-{LABEL}" for n in range(1_000))
    words = Words({one: secrets, other: frozenset([LABEL])}, budget=Budget(characters=200_000))
    assert words.text(one, "x" * 1_000) == "[redacted]"
    assert words.text(other, f"no {LABEL}") == "no [redacted]", "the short ones are read still"
    assert words.json(one, ["x" * 100_000]) == ["[redacted]"]


def test_a_guess_that_was_submitted_is_not_masked_where_it_is_right(
    floor: PeopleFloor, viewer: Person
) -> None:
    guesses = {"guess": [LABEL, "something-else"], "real": {"$result": "check.label"}}
    job = floor.job([STEPS[0], {"name": "b", "kind": "b", "payload": guesses}])
    floor.complete("w1", floor.next(), {"label": LABEL})
    floor.until_still()
    task = Task.objects.get(job=job, kind_id="b")
    shown = viewer.get("task_json", task.id, "payload").json()
    assert shown == {"guess": [LABEL, "something-else"], "real": "[redacted]"}
