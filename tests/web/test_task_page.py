"""The page of one task."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission
from pytest_django import DjangoAssertNumQueries

from tasks_app.core.states import OnDead, Status
from tasks_app.models import AuditEntry, Leader, Task
from tests.floor import Floor
from tests.web.conftest import Person, died, message_of

# Session, user, groups, rail; task, edges, attempts, late, acts; lease, or for the checklist:
# settings, duty, lock, kinds, workers and their skills, limits.
TASK_QUERIES = 21


def test_a_task_that_is_not_there_is_said_to_be_so(viewer: Person) -> None:
    response = viewer.get("task", uuid4())
    assert response.status_code == 404
    assert "There is no task" in response.content.decode()


def test_a_task_shows_what_it_was_submitted_with(floor: Floor, viewer: Person) -> None:
    due = datetime(2130, 1, 31, tzinfo=UTC)
    (task,) = floor.submit(1, lock_key="invoice-7", weight=2.5, deadline_at=due)
    html = viewer.text("task", task)
    assert "invoice-7" in html
    assert "2.5 under its limit" in html
    assert "Deadline" in html


def test_a_poison_task_lists_whom_it_took_down(floor: Floor, viewer: Person) -> None:
    floor.kind(poison_after=2)
    (task,) = floor.submit(1)
    for name in ("w1", "w2"):
        floor.worker(name)
        floor.round()
        floor.claim(name)
        floor.silence(name, 100)
        floor.round()
    assert "It took down: <bdi>w1, w2</bdi>." in viewer.text("task", task)


def test_a_supervisor_that_is_off_duty_is_among_the_reasons(floor: Floor, viewer: Person) -> None:
    (task,) = floor.submit(1)
    floor.round()
    assert "A supervisor is on duty" in viewer.text("task", task)
    Leader.objects.update(last_round_at=None)
    assert "No supervisor is on duty" in viewer.text("task", task)


def test_a_task_names_what_it_waits_for_and_what_waits_for_it(floor: Floor, viewer: Person) -> None:
    (first,) = floor.submit(1, key="first-step")
    (second,) = floor.submit(1, key="second-step", needs=[(first, OnDead.WAIT)])
    waiting = viewer.text("task", second)
    assert "It waits for 1 other task" in waiting
    assert "first-step" in waiting
    assert "second-step" in viewer.text("task", first)


def test_a_failed_task_says_until_when_it_waits(floor: Floor, viewer: Person) -> None:
    floor.worker("w1")
    (task,) = floor.submit(1)
    floor.round()
    floor.fail("w1", floor.claim("w1")[0], message="no answer in 60 s")
    html = viewer.text("task", task)
    assert "Backoff after attempt 1" in html
    assert "no answer in 60 s" in html


def test_the_lock_that_a_task_waits_for_names_its_holder(floor: Floor, viewer: Person) -> None:
    floor.worker("w1", slots=2)
    holder, waiting = floor.submit(2)
    Task.objects.update(lock_key="account-7")
    floor.round()
    assert f"/tasks/{holder}/" in viewer.text("task", waiting)


def test_attempts_show_worker_token_error_and_incarnation(floor: Floor, operator: Person) -> None:
    floor.worker("w1")
    task = died(floor, "w1", message="payload.text is missing")
    operator.post("requeue", id=task, because="payload mended")
    floor.round()
    floor.complete("w1", floor.claim("w1")[0], {"label": "billing"})
    html = operator.text("task", task)
    for text in (
        "ValidationError",
        "payload.text is missing",
        "after requeue 1",
        "Submitted",
        "payload mended",
        "by otto",
        "billing",
    ):
        assert text in html


def test_a_rejected_report_is_shown(floor: Floor, viewer: Person) -> None:
    floor.worker("w1")
    (task,) = floor.submit(1)
    floor.round()
    (grant,) = floor.claim("w1")
    floor.silence("w1", 1000)
    floor.round()
    assert floor.complete("w1", grant, {"late": True}) == [grant.token]
    assert "Report rejected" in viewer.text("task", task)


def test_a_pending_task_is_cancelled_with_a_reason(floor: Floor, operator: Person) -> None:
    (task,) = floor.submit(1)
    assert "Cancel this task?" in operator.text("cancel", task)
    assert floor.status(task) is Status.PENDING
    response = operator.post("cancel", task, because="not wanted any more")
    assert floor.status(task) is Status.CANCELLED
    assert "1 cancelled" in message_of(response)
    assert AuditEntry.objects.get().reason == "not wanted any more"


def test_a_running_task_is_asked_to_let_go(floor: Floor, operator: Person) -> None:
    floor.worker("w1")
    (task,) = floor.submit(1)
    floor.round()
    floor.claim("w1")
    response = operator.post("cancel", task)
    assert "asked to let go" in message_of(response)
    assert "A cancel is asked for" in response.content.decode()


@pytest.mark.parametrize("status", ["pending", "dead", "running"])
def test_the_page_asks_a_bounded_number_of_questions(
    floor: Floor,
    operator: Person,
    status: str,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    floor.worker("w1")
    if status == "dead":
        task = died(floor, "w1")
    else:
        (task,) = floor.submit(1)
    if status == "running":
        floor.round()
        floor.claim("w1")
    with django_assert_max_num_queries(TASK_QUERIES):
        operator.text("task", task)


def test_a_viewer_is_offered_no_act(floor: Floor, viewer: Person) -> None:
    (task,) = floor.submit(1)
    html = viewer.text("task", task)
    assert "Cancel…" not in html
    assert "Priority…" not in html


def test_priority_and_deadline_are_changed_from_the_tasks_own_page(
    floor: Floor, operator: Person
) -> None:
    (task,) = floor.submit(1)
    page = operator.text("task", task)
    for act in ("priority", "deadline"):
        assert f'href="/acts/{act}/?id={task}&amp;next=/tasks/{task}/"' in page
    floor.worker("w1")
    floor.round()
    page = operator.text("task", task)
    assert "Priority…" not in page, "a worker has it already"
    assert "Deadline…" in page


def test_the_timeline_tells_from_what_to_what_somebody_changed_a_task(
    floor: Floor, operator: Person
) -> None:
    (task,) = floor.submit(1)
    operator.post("act", "priority", id=task, priority="7")
    operator.post("act", "priority", id=task, priority="0")
    operator.post("act", "deadline", id=task, deadline="2199-01-01T10:00")
    operator.post("act", "deadline", id=task)
    moments = operator.get("task", task).context["moments"]
    changes = [moment.act.changes for moment in moments if moment.what == "act"]
    until = "2199-01-01T10:00:00+00:00"
    assert changes == [
        [("deadline_at", until, "none")],
        [("deadline_at", "none", until)],
        [("priority", "7", "0")],
        [("priority", "0", "7")],
    ]


def test_the_timeline_tells_everything_the_latest_first(floor: Floor, operator: Person) -> None:
    floor.worker("w1")
    task = died(floor, "w1")
    operator.post("requeue", id=task, because="payload mended")
    floor.round()
    floor.claim("w1")
    moments = operator.get("task", task).context["moments"]
    told = [moment.what for moment in moments]
    assert told[-1] == "submitted"
    assert told[:2] == ["started", "assigned"]
    assert {"attempt", "act"} <= set(told)


def test_the_applications_own_frames_come_before_the_whole_traceback(
    floor: Floor, viewer: Person
) -> None:
    floor.worker("w1")
    (task,) = floor.submit(1)
    floor.round()
    traceback = (
        'Traceback (most recent call last):\n  File "/srv/shop/mail.py", line 7, in send\n'
        '    post(x)\n  File "/venv/lib/python3.11/site-packages/http.py", line 9, in post\n'
        "    raise Gone\nGone: away\n"
    )
    floor.fail("w1", floor.claim("w1")[0], traceback=traceback)
    html = viewer.text("task", task)
    assert html.index("/srv/shop/mail.py:7") < html.index("Whole traceback")
    assert "site-packages/http.py:9" not in html


CARD = "4111-1111-1111-1111"


def test_redacted_values_are_shown_only_to_those_who_may(floor: Floor, viewer: Person) -> None:
    floor.kind("job", redacted_keys=["Card"])
    floor.worker("w1")
    (first,) = floor.submit(1)
    (second,) = floor.submit(1, needs=[(first, OnDead.WAIT)])
    Task.objects.filter(id=first).update(payload={"card": CARD, "to": "Ada"})
    floor.round()
    floor.complete("w1", floor.claim("w1")[0], {"receipt": {"CARD": CARD}})
    floor.round()
    shown = {
        viewer.text("task", first),
        viewer.text("task", second),
        viewer.text("task_json", first, "payload"),
        viewer.text("task_json", first, "result"),
    }
    for html in shown:
        assert CARD not in html
        assert "[redacted]" in html
    viewer.user.user_permissions.add(Permission.objects.get(codename="see_payloads"))
    assert CARD in viewer.text("task", first)
    assert CARD in viewer.text("task", second)
    assert CARD in viewer.text("task_json", first, "result")


def test_a_json_of_many_values_is_drawn_up_to_a_bound(floor: Floor, viewer: Person) -> None:
    (task,) = floor.submit(1)
    Task.objects.filter(id=task).update(payload=[[n, [n]] for n in range(2000)])
    html = viewer.text("task", task)
    assert "Cut after 2000 values" in html
    assert html.count("<li>") < 2100
