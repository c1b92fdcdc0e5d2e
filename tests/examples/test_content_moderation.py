"""Content moderation: what the analyses say, and what becomes of posts on which they disagree."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PIL", reason="Pillow is not installed; `make test` installs it")

from controlplane.environment import ROOT
from examples.content_moderation import images, texts
from examples.content_moderation.kinds import ALLOW, BLOCK, MACHINES, REVIEW, REVIEW_KIND, UNCLEAR
from examples.content_moderation.plans import plan_of
from examples.content_moderation.posts import POSTS, paint
from tasks_app.core.jobs.plan_checks import check_plan
from tasks_app.core.states import Status
from tasks_app.services.jobs.result_schemas import result_faults
from tasks_app.store.reads.jobs.inbox import list_waiting
from tests.people import PeopleFloor


@pytest.mark.parametrize(
    ("motif", "label", "verdict"),
    [
        ("landscape", "nothing improper", ALLOW),
        ("portrait", "nothing improper", ALLOW),
        ("bathers", "bare skin", BLOCK),
        ("accident", "blood", BLOCK),
        ("night", "nothing to be seen", UNCLEAR),
    ],
)
def test_a_picture_is_judged_by_its_colours(
    tmp_path: Path, motif: str, label: str, verdict: str
) -> None:
    path = tmp_path / "it.png"
    paint(motif, path)
    picture = images.measure(path)
    assert (picture.label, picture.verdict) == (label, verdict)


def test_what_is_no_picture_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "it.png"
    path.write_text("no picture")
    with pytest.raises(OSError, match="cannot identify"):
        images.measure(path)


def test_a_text_is_judged_by_the_policies_that_it_violates() -> None:
    found = {post.id: texts.violations(post.text) for post in POSTS}
    blocked = {post for post, policies in found.items() if texts.verdict(policies) == BLOCK}
    assert blocked == {"p3", "p5", "p6", "p9"}
    assert found["p9"] == ["money trick", "bank account"]


def test_a_rejection_needs_a_reason() -> None:
    schema = REVIEW_KIND["result_schema"]
    assert result_faults(schema, {"decision": "approve"}) == {}
    assert result_faults(schema, {"decision": "reject"}) == {"reason": ["Fill this in."]}


def test_the_plan_of_a_post_has_no_fault() -> None:
    assert check_plan(plan_of(POSTS[0], "p1.png"), {*MACHINES, REVIEW}).faults == ()


@pytest.fixture
def floor(record: None) -> Iterator[PeopleFloor]:
    floor = PeopleFloor()
    floor.people_do(REVIEW, **REVIEW_KIND)
    floor.worker("w1", slots=9, skills=dict.fromkeys(MACHINES, 1.0))
    yield floor
    floor.assert_invariants()


def finish(floor: PeopleFloor, **results: dict[str, Any]) -> None:
    """Complete what was handed out, by the name of its step's kind."""
    for grant in floor.all_next():
        floor.complete("w1", grant, results[grant.kind])
    floor.until_still()


@pytest.mark.parametrize(("image", "text"), [(ALLOW, BLOCK), (BLOCK, ALLOW), (UNCLEAR, ALLOW)])
def test_where_the_analyses_disagree_the_reviewers_are_alerted_before_one_of_them_decides(
    floor: PeopleFloor, image: str, text: str
) -> None:
    plan = plan_of(POSTS[0], "p1.png")
    job = floor.job(plan["steps"], result=plan["result"])
    finish(floor, analyse_image={"verdict": image}, analyse_text={"verdict": text})
    assert list_waiting().rows == [], "the alert comes first"
    finish(floor, notify_reviewers={})
    (step,) = list_waiting().rows
    assert floor.task(step.id).payload["image"] == {"verdict": image}
    assert floor.decide(step.id, floor.take(step.id).token, {"decision": "approve"}).done
    (grant,) = floor.all_next()
    assert grant.payload["decision"] == "approve"
    assert floor.steps(job)["settle"] is Status.RUNNING
    floor.complete("w1", grant, {})


def test_where_they_agree_nobody_is_asked(floor: PeopleFloor) -> None:
    job = floor.job(plan_of(POSTS[0], "p1.png")["steps"])
    finish(floor, analyse_image={"verdict": BLOCK}, analyse_text={"verdict": BLOCK})
    (grant,) = floor.all_next()
    assert (grant.kind, grant.payload["decision"]) == ("settle_verdict", None)
    assert {name: floor.steps(job)[name] for name in ("notify", "review")} == {
        "notify": "SKIPPED",
        "review": "SKIPPED",
    }
    floor.complete("w1", grant, {})


def test_an_alert_that_cannot_be_sent_keeps_nobody_from_deciding(floor: PeopleFloor) -> None:
    floor.job(plan_of(POSTS[0], "p1.png")["steps"])
    finish(floor, analyse_image={"verdict": ALLOW}, analyse_text={"verdict": BLOCK})
    floor.fail("w1", floor.next(), permanent=True)
    floor.until_still()
    assert len(list_waiting().rows) == 1


def run(*options: str) -> dict[str, int]:
    """Run the example to its end and return its figures."""
    done = subprocess.run(
        [sys.executable, "-m", "examples.content_moderation.run", "--json", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    figures: dict[str, int] = json.loads(line)
    return figures


def test_real_workers_and_a_reviewer_give_every_post_a_verdict() -> None:
    assert run("--decide", "approve") == {
        "posts": 9,
        "agreed": 4,
        "disagreed": 5,
        "alerts": 5,
        "waiting": 0,
        "decided": 5,
        "allowed": 7,
        "blocked": 2,
    }


@pytest.mark.slow
def test_without_a_reviewer_the_disagreements_wait_and_nothing_else_does() -> None:
    figures = run()
    assert (figures["waiting"], figures["allowed"], figures["blocked"]) == (5, 2, 2)
