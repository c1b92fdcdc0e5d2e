"""Lists of jobs and workers as files; tasks, dead letters and the audit have theirs beside them."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from tasks_app.core.tables import Columns
from tasks_app.store.reads.job_lists import JobFilter, JobRow, list_jobs
from tasks_app.store.reads.worker_lists import WorkerDetail, list_live_workers
from tasks_app.web import exports
from tasks_app.web.pages.jobs import read_filter

JOB_COLUMNS: Final[Columns[JobRow]] = {name: attrgetter(name) for name in JobRow.__annotations__}
WORKER_COLUMNS: Final[Columns[WorkerDetail]] = {
    name: attrgetter(name) for name in WorkerDetail.__annotations__
}


@require_safe
@never_cache
def export_jobs(request: HttpRequest) -> HttpResponseBase:
    """Stream the jobs that the list's filter matches, the newest first."""
    pages = _job_pages(read_filter(request.GET))
    rows = (row for page in pages for row in page)
    return exports.stream(request, "jobs", JOB_COLUMNS, exports.in_pages(rows))


def _job_pages(wanted: JobFilter) -> Iterator[Sequence[JobRow]]:
    before: UUID | None = None
    while True:
        page = list_jobs(wanted, before)
        yield page.rows
        if page.older is None:
            return
        before = page.older


@require_safe
@never_cache
def export_workers(request: HttpRequest) -> HttpResponseBase:
    """Stream the live workers."""
    return exports.stream(request, "workers", WORKER_COLUMNS, [list_live_workers()])
