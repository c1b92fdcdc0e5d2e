"""The list of jobs and a job's page: what they show, who may act, what they cost."""

import re
from urllib.parse import parse_qs
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tasks_app.core.jobs.job_states import JobStatus
from tasks_app.core.states import Status
from tasks_app.models import AuditEntry, Task
from tasks_app.store.reads.jobs import job_lists
from tasks_app.web.job_graph import draw_task
from tests.jobs import JobFloor
from tests.web.conftest import Person, message_of, person

# Session, user, groups, rail; the page.
LIST_QUERIES = 7
# Session, user, groups, rail, pinned searches; job, tasks, dead, timings, observed, slots, bars.
JOB_QUERIES = 16


@pytest.fixture
def floor(record: None) -> JobFloor:
    """A floor with jobs, its supervisor on duty."""
    floor = JobFloor()
    floor.lead()
    floor.hire("w1", slots=20)
    return floor


def dead_job(floor: JobFloor, **plan: object) -> UUID:
    """A job of two steps of which the second is dead."""
    job = floor.job(
        [
            {"name": "look", "kind": "a", "compensation": "undo_a"},
            {"name": "pay", "kind": "b", "depends_on": ["look"]},
        ],
        **plan,
    )
    floor.complete("w1", floor.next(), 1)
    floor.fail("w1", floor.next(), permanent=True, message="the till is empty")
    floor.until_still()
    return job


def test_the_list_shows_where_each_job_stands(floor: JobFloor, viewer: Person) -> None:
    job = dead_job(floor, name="evening", key="evening-1")
    (row,) = viewer.get("jobs").context["page"].rows
    assert (row.id, row.status, row.steps, row.ended, row.dead) == (job, "DEAD", 2, 1, 1)
    assert "evening-1" in viewer.part("jobs")
    assert [r.id for r in viewer.get("jobs", status="dead").context["page"].rows] == [job]
    assert not viewer.get("jobs", status="running").context["page"].rows
    for name in ("EVEN", "evening-1", str(job)):
        assert [r.id for r in viewer.get("jobs", text=name).context["page"].rows] == [job]
    assert "No job matches" in viewer.text("jobs", text="%")


def test_items_do_not_count_as_steps(floor: JobFloor, viewer: Person) -> None:
    floor.job([{"name": "each", "kind": "a", "for_each": [1, 2, 3]}])
    floor.until_still()
    (row,) = viewer.get("jobs").context["page"].rows
    assert (row.steps, row.ended) == (1, 0)


def test_pages_go_back_and_forth_without_a_gap(
    floor: JobFloor, viewer: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_lists, "PAGE", 2)
    ids = [floor.job([{"name": "one", "kind": "a"}]) for _ in range(5)]
    newest_first = ids[::-1]
    page = viewer.get("jobs").context["page"]
    assert [r.id for r in page.rows] == newest_first[:2]
    assert page.newer is None
    page = viewer.get("jobs", before=page.older).context["page"]
    assert [r.id for r in page.rows] == newest_first[2:4]
    last = viewer.get("jobs", before=page.older).context["page"]
    assert [r.id for r in last.rows] == newest_first[4:]
    assert last.older is None
    back = viewer.get("jobs", after=last.newer).context["page"]
    assert [r.id for r in back.rows] == newest_first[2:4]


def test_an_empty_list_says_what_to_do_next(floor: JobFloor, viewer: Person) -> None:
    assert "manage.py submit-job" in viewer.text("jobs")


def test_a_job_draws_its_steps_and_names_whom_it_waits_for(
    floor: JobFloor, operator: Person
) -> None:
    job = dead_job(floor, name="evening")
    response = operator.get("job", job)
    html = " ".join(response.content.decode().split())
    assert "It waits for a human; nothing of it can move before." in html
    assert "the till is empty" in html
    boxes = {box.step: box for box in response.context["drawing"].boxes}
    assert (boxes["look"].status, boxes["pay"].status) == ("COMPLETED", "DEAD")
    assert boxes["look"].x < boxes["pay"].x
    (decision,) = response.context["answer"].waits_for
    assert f"?id={decision.task_id}&amp;next=/jobs/{job}/" in html
    (row,) = response.context["gantt"].rows
    assert [each.bar.outcome for each in row.bars] == ["completed", "error"]


def test_a_step_with_items_shows_how_many_are_done(floor: JobFloor, viewer: Person) -> None:
    job = floor.job(
        [
            {"name": "each", "kind": "a", "for_each": [1, 2, 3]},
            {"name": "end", "kind": "b", "when": {"$result": "each.0", "greater": 1}},
        ]
    )
    grants = floor.all_next()
    floor.complete("w1", grants[0], 1)
    floor.until_still()
    context = viewer.get("job", job).context
    each, end = context["drawing"].boxes
    assert (each.is_join, each.share, each.status) == (True, 33, "RUNNING")
    assert each.line == "1 of 3 a"
    assert end.condition == "each.0 is greater than 1"
    assert context["left"].path == ("each", "end")


def test_the_way_back_is_shown_in_the_order_in_which_steps_are_undone(
    floor: JobFloor, operator: Person
) -> None:
    job = floor.job(
        [
            {"name": "first", "kind": "a", "compensation": "undo_a"},
            {"name": "second", "kind": "b", "depends_on": ["first"], "compensation": "undo_b"},
            {"name": "third", "kind": "a", "depends_on": ["second"]},
        ],
    )
    floor.complete("w1", floor.next(), 1)
    floor.complete("w1", floor.next(), 2)
    floor.until_still()
    assert "are undone" in message_of(operator.post("compensate_job", job, because="wrong month"))
    floor.until_still()
    response = operator.get("job", job)
    assert [step.name for step in response.context["undone"]] == ["second", "first"]
    assert len(response.context["drawing"].back) == 1
    assert AuditEntry.objects.get().reason == "wrong month"


def test_a_task_finds_its_job_with_its_own_step_lit(floor: JobFloor) -> None:
    floor.job(
        [{"name": "one", "kind": "a"}, {"name": "each", "kind": "b", "for_each": [1, 2]}],
    )
    grants = floor.all_next()
    item = next(grant for grant in grants if grant.kind == "b")
    drawing = draw_task(item.task_id)
    assert drawing is not None
    assert [box.step for box in drawing.boxes if box.lit] == ["each"]
    assert draw_task(floor.submit(1)[0]) is None


def test_each_act_changes_the_job_and_is_audited(floor: JobFloor, operator: Person) -> None:
    job = floor.job([{"name": "one", "kind": "a"}])
    assert "Nothing more" in message_of(operator.post("pause_job", job, because="wait"))
    assert "It is paused" in operator.text("job", job)
    assert "Nothing changed" in message_of(operator.post("pause_job", job))
    assert "goes on" in message_of(operator.post("resume_job", job))
    assert operator.post("cancel_job", job).status_code == 422
    assert "It ends" in message_of(operator.post("cancel_job", job, because="too late"))
    floor.until_still()
    assert floor.job_status(job) is JobStatus.CANCELLED
    assert operator.get("job", job).context["acts"] == []
    assert list(AuditEntry.objects.order_by("id").values_list("action", "reason")) == [
        ("pause", "wait"),
        ("resume", ""),
        ("cancel", "too late"),
    ]


@pytest.mark.parametrize("act", ["pause", "resume", "cancel", "compensate"])
def test_a_viewer_may_not_act_and_asking_changes_nothing(
    floor: JobFloor, viewer: Person, act: str
) -> None:
    job = floor.job([{"name": "one", "kind": "a"}])
    assert viewer.post(f"{act}_job", job, because="x").status_code == 403
    assert viewer.get(f"{act}_job", job).status_code == 403
    assert "Pause…" not in viewer.text("job", job)
    operator = person("olaf", "operator")
    assert operator.get(f"{act}_job", job).status_code == 200
    assert floor.job_status(job) is JobStatus.RUNNING
    assert not AuditEntry.objects.exists()


def test_a_dead_step_is_requeued_from_the_job(floor: JobFloor, operator: Person) -> None:
    job = dead_job(floor)
    (decision,) = operator.get("job", job).context["answer"].waits_for
    operator.post("requeue", id=str(decision.task_id), next=f"/jobs/{job}/")
    assert floor.status(decision.task_id) is Status.PENDING


def test_a_step_for_a_person_is_named_and_leads_to_the_inbox(
    floor: JobFloor, viewer: Person
) -> None:
    floor.kind("review", by_people=True)
    job = floor.job(
        [
            {"name": "review", "kind": "review"},
            {"name": "end", "kind": "a", "depends_on": ["review"]},
        ]
    )
    floor.until_still()
    context = viewer.get("job", job).context
    (step,) = context["answer"].waits_for
    assert step.step == "review"
    assert "ends_at" not in context, "nobody knows when a person has done it"
    html = " ".join(viewer.text("job", job).split())
    assert f"/inbox/{step.task_id}/" in html


def test_a_job_leads_to_its_tasks_by_status_and_to_all_of_them(
    floor: JobFloor, viewer: Person
) -> None:
    job = dead_job(floor)
    floor.job([{"name": "s", "kind": "a"}], name="another")
    html = viewer.text("job", job)

    def listed(link: str) -> int:
        (found,) = re.findall(rf'<a id="{link}"\s+href="/tasks/\?([^"]+)"', html)
        return viewer.text("tasks", q=parse_qs(found)["q"][0]).count("<tr data-id")

    assert listed("of-dead") == 1
    assert listed("all-of-job") == Task.objects.filter(job_id=job).count() > 1


def test_a_look_at_jobs_goes_on_where_it_stopped(
    floor: JobFloor, viewer: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [floor.job([{"name": "s", "kind": "a"}], name=f"job-{n}") for n in range(7)]
    monkeypatch.setattr(job_lists, "LOOKED_AT", 3)
    wanted = job_lists.JobFilter(text="job-0")
    looks = [job_lists.list_jobs(wanted)]
    while looks[-1].older:
        looks.append(job_lists.list_jobs(wanted, before=looks[-1].older))
    assert [[row.id for row in look.rows] for look in looks] == [[], [], [jobs[0]]]
    assert [look.stopped for look in looks] == [True, True, False]

    newest = job_lists.JobFilter(text="job-6")
    upwards = [job_lists.list_jobs(newest, after=jobs[0])]
    while upwards[-1].stopped:
        upwards.append(job_lists.list_jobs(newest, after=upwards[-1].newer))
    assert [[row.id for row in look.rows] for look in upwards] == [[], [jobs[6]], []]

    html = " ".join(viewer.text("jobs", text="job-0").split())
    assert "Nothing among the jobs looked at" in html
    assert f'href="?text=job-0&amp;before={jobs[4]}"> Look further back' in html


def test_an_unknown_job_is_said_to_be_so(viewer: Person) -> None:
    assert viewer.get("job", uuid4()).status_code == 404


def test_the_pages_cost_the_same_however_large_the_job(floor: JobFloor, operator: Person) -> None:
    def cost(name: str, *args: object) -> int:
        with CaptureQueriesContext(connection) as queries:
            operator.text(name, *args)
        return len(queries)

    small = floor.job([{"name": "one", "kind": "a"}])
    few = cost("job", small)
    large = floor.job(
        [{"name": "each", "kind": "a", "for_each": list(range(30))}]
        + [{"name": f"s{n}", "kind": "b", "depends_on": ["each"]} for n in range(30)]
    )
    floor.until_still()
    assert cost("job", large) == few <= JOB_QUERIES
    assert cost("jobs") <= LIST_QUERIES
