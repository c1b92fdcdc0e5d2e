"""Lists as files, one function a list; tasks and the audit have theirs beside their pages."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from tasks_app.services.masking.audit_masking import shown_bulks
from tasks_app.services.masking.payload_masking import hidden_from_user
from tasks_app.services.masking.word_masking import shown_rows
from tasks_app.store.reads.actions import bulks, kind_holds
from tasks_app.store.reads.attempts import ledgers
from tasks_app.store.reads.dispatch.supervision import ShiftRow
from tasks_app.store.reads.failures import dead_groups
from tasks_app.store.reads.failures.dead_letters import LOOKED_AT, Cause, DeadFilter, list_causes
from tasks_app.store.reads.fleet.worker_lists import EndedBoot, WorkerDetail, list_live_workers
from tasks_app.store.reads.jobs import inbox
from tasks_app.store.reads.jobs.inbox import InboxCursor, WaitingStep
from tasks_app.store.reads.jobs.job_lists import JobRow, every_job
from tasks_app.web import exports
from tasks_app.web.chosen import read_filter as read_dead_filter
from tasks_app.web.exports import columns_of, follow
from tasks_app.web.pages.bulks import bulk_or_404
from tasks_app.web.pages.jobs import read_filter

MOST_CAUSES: Final = 1_000
HISTORY: Final = ("first_at", "assigned_to", "note", "dismissed_at", "came_back_at", "version")
"""What people and time have added to a group."""


@require_safe
@never_cache
def export_jobs(request: HttpRequest) -> HttpResponseBase:
    """Stream the jobs that the list's filter matches, the newest first."""
    pages = every_job(read_filter(request.GET))
    return exports.stream(request, "jobs", columns_of(JobRow), pages)


@require_safe
@never_cache
def export_workers(request: HttpRequest) -> HttpResponseBase:
    """Stream the live workers."""
    columns = columns_of(WorkerDetail)
    return exports.stream(request, "workers", columns, [list_live_workers()])


@require_safe
@never_cache
def export_boots(request: HttpRequest) -> HttpResponseBase:
    """Stream the workers that have ended, the last to begin first."""
    pages = follow(ledgers.list_boots)
    return exports.stream(request, "ended-workers", columns_of(EndedBoot), pages)


@require_safe
@never_cache
def export_near_misses(request: HttpRequest) -> HttpResponseBase:
    """Stream the leases that were nearly lost."""
    pages = follow(ledgers.list_near_misses)
    return exports.stream(request, "near-misses", columns_of(ledgers.NearMiss), pages)


@require_safe
@never_cache
def export_late_reports(request: HttpRequest) -> HttpResponseBase:
    """Stream the reports that came too late."""
    pages = follow(ledgers.list_late_reports)
    return exports.stream(request, "late-reports", columns_of(ledgers.LateReport), pages)


@require_safe
@never_cache
def export_shifts(request: HttpRequest) -> HttpResponseBase:
    """Stream the shifts, the last first."""
    pages = follow(ledgers.list_every_shift)
    return exports.stream(request, "shifts", columns_of(ShiftRow), pages)


@require_safe
@never_cache
def export_kinds(request: HttpRequest) -> HttpResponseBase:
    """Stream the kinds with what holds them back."""
    pages = follow(kind_holds.page_of_kinds)
    return exports.stream(request, "kinds", columns_of(kind_holds.KindStanding), pages)


@require_safe
@never_cache
def export_bulks(request: HttpRequest) -> HttpResponseBase:
    """Stream the acts on many tasks, the last first."""
    columns = columns_of(bulks.BulkRow, "begins_in")
    hidden = hidden_from_user(request.user)
    pages = (shown_bulks(page, hidden) for page in follow(bulks.list_bulks))
    return exports.stream(request, "acts", columns, pages)


@require_safe
@never_cache
def export_bulk(request: HttpRequest, bulk_id: UUID) -> HttpResponseBase:
    """Stream what became of each task of one, or of those refused."""
    bulk_or_404(bulk_id)
    refused = "refused" in request.GET

    def read(after: int | None) -> tuple[Sequence[bulks.ItemRow], int | None]:
        place = -1 if after is None else after
        return bulks.list_items(bulk_id, place, refused=refused, most=ledgers.PAGE)

    return exports.stream(request, "act", columns_of(bulks.ItemRow), follow(read))


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step of the inbox: one that waits, or, where ``person`` is somebody, one that they have."""

    id: UUID
    kind: str
    key: str | None
    step: str
    job_id: UUID | None
    job: str
    created_at: datetime | None
    deadline_at: datetime | None
    person: str
    started_at: datetime | None
    held_until: datetime | None


@require_safe
@never_cache
def export_inbox(request: HttpRequest) -> HttpResponseBase:
    """Stream what waits for people, the first in the queue first, then what people have."""
    return exports.stream(request, "inbox", columns_of(StepRow), _steps())


def _steps() -> Iterator[Sequence[StepRow]]:
    def waiting(after: InboxCursor | None) -> tuple[Sequence[WaitingStep], InboxCursor | None]:
        page = inbox.list_waiting(after)
        return page.rows, page.more

    for page in follow(waiting):
        yield [
            StepRow(
                *(row.id, row.kind, row.key, row.step, row.job_id, row.job),
                *(row.created_at, row.deadline_at, "", None, None),
            )
            for row in page
        ]
    for held in follow(ledgers.list_every_held):
        yield [
            StepRow(
                *(row.id, row.kind, row.key, row.step, row.job_id, row.job, None, None),
                *(row.person, row.started_at, row.held_until),
            )
            for row in held
        ]


@require_safe
@never_cache
def export_causes(request: HttpRequest) -> HttpResponseBase:
    """Stream the errors of the dead letters that the page's filter matches, most tasks first."""
    wanted = read_dead_filter(request.GET)
    causes, more = list_causes(DeadFilter(wanted.kind, wanted.reason), shown=MOST_CAUSES + 1)
    cut = f"only the newest {LOOKED_AT:,} dead letters are grouped" if more else ""
    if len(causes) > MOST_CAUSES:
        causes = causes[:MOST_CAUSES]
        cut = f"only the {MOST_CAUSES:,} errors with the most tasks are written"
    rows = shown_rows(causes, hidden_from_user(request.user), "sample", "line")
    histories = dead_groups.read_histories([cause.key for cause in causes])
    columns = {**columns_of(Cause), **{name: _told_by(histories, name) for name in HISTORY}}
    return exports.stream(request, "errors", columns, [rows], cut)


def _told_by(histories: Mapping[str, dead_groups.History], name: str) -> Callable[[Cause], Any]:
    return lambda cause: getattr(histories[cause.key], name)
