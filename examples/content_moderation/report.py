"""What became of the posts, read back from the record and from the reviewers' mailbox."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from examples.content_moderation.handlers import ALERTS
from examples.content_moderation.kinds import ALLOW, BLOCK, IMAGE, REVIEW, TEXT
from examples.content_moderation.posts import POSTS
from tasks_app.core.jobs.job_states import JobStatus
from tasks_app.core.states import Status
from tasks_app.models import Job, Task
from tasks_app.store.reads.jobs.inbox import WaitingStep, list_waiting


@dataclass(frozen=True, slots=True)
class PostReport:
    """One post; ``verdict`` and ``by`` are empty while it waits for a person."""

    post: str
    image: str
    text: str
    verdict: str
    by: str

    def __str__(self) -> str:
        """A line of the table."""
        end = f"{self.verdict} by {self.by}" if self.verdict else "waits for a person"
        return f"{self.post:<5} image {self.image:<28} text {self.text:<22} {end}"


@dataclass(frozen=True, slots=True)
class Report:
    """The figures; ``agreed`` and ``disagreed`` are the two analyses', ``alerts`` were sent."""

    posts: int
    agreed: int
    disagreed: int
    alerts: int
    waiting: int
    decided: int
    allowed: int
    blocked: int

    def as_json(self) -> dict[str, Any]:
        """The keys of ``--json``."""
        return asdict(self)


def read_posts() -> list[PostReport]:
    """Each post as it stands now."""
    return [_read_post(job) for job in Job.objects.order_by("id")]


def _read_post(job: Job) -> PostReport:
    found = {task.kind_id: task.result or {} for task in Task.objects.filter(job=job)}
    image, text = found[IMAGE], found[TEXT]
    result = job.result or {}
    return PostReport(
        post=job.name.removeprefix("post "),
        image=f"{image.get('verdict', '?')} ({image.get('label', '?')})",
        text=f"{text.get('verdict', '?')} ({', '.join(text.get('violations', ())) or 'clean'})",
        verdict=str(result.get("verdict", "")),
        by=str(result.get("by", "")),
    )


def waiting_steps() -> Sequence[WaitingStep]:
    """What the inbox shows."""
    return list_waiting().rows


def count_moving() -> int:
    """Jobs that neither have ended nor wait for a person."""
    running = Job.objects.filter(status=JobStatus.RUNNING).values_list("id", flat=True)
    return len(set(running) - {step.job_id for step in waiting_steps()})


def read_report(folder: Path) -> Report:
    """Count everything."""
    posts = read_posts()
    mailbox = folder / ALERTS
    verdicts = [post.verdict for post in posts]
    skipped = Task.objects.filter(kind=REVIEW, status=Status.SKIPPED).count()
    return Report(
        posts=len(posts),
        agreed=skipped,
        disagreed=len(posts) - skipped,
        alerts=len(mailbox.read_text().splitlines()) if mailbox.exists() else 0,
        waiting=len(waiting_steps()),
        decided=sum(post.by == "a person" for post in posts),
        allowed=verdicts.count(ALLOW),
        blocked=verdicts.count(BLOCK),
    )


def faults_of(report: Report, *, decided: bool) -> Sequence[str]:
    """Hold a run against what is promised; each fault is a sentence."""
    waiting = 0 if decided else report.disagreed
    promises = {
        f"{report.posts} posts are on record, not {len(POSTS)}": report.posts == len(POSTS),
        f"{report.alerts} alerts were sent for {report.disagreed} disagreements": (
            report.alerts == report.disagreed
        ),
        f"{report.waiting} posts wait for a person, not {waiting}": report.waiting == waiting,
        f"{report.decided} posts were decided by a person, not {report.disagreed - waiting}": (
            report.decided == report.disagreed - waiting
        ),
        f"{report.allowed + report.blocked} posts have a verdict, not {report.posts - waiting}": (
            report.allowed + report.blocked == report.posts - waiting
        ),
    }
    return [fault for fault, kept in promises.items() if not kept]
