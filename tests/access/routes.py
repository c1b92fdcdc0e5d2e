"""Every address of the site with who may use it: what is not in this table fails the tests.

``Rule(get, post)`` names the least role for each; None is 405: there is no such method.
"""

from dataclasses import dataclass
from typing import Final

from tasks_app.core.people.scopes import Scope
from tasks_app.services.people.people import Role

PUBLIC, VIEWER, OPERATOR, ADMIN = Role.NOBODY, Role.VIEWER, Role.OPERATOR, Role.ADMIN


@dataclass(frozen=True, slots=True)
class Rule:
    """The least role that may look (``get``) and act (``post``)."""

    get: Role | None
    post: Role | None = None


LOOK: Final = Rule(VIEWER)
ACT: Final = Rule(None, OPERATOR)
CONFIRMED_ACT: Final = Rule(OPERATOR, OPERATOR)

PAGES: Final[dict[str, Rule]] = {
    "healthz": Rule(PUBLIC),
    "readyz": Rule(PUBLIC),
    "login/": Rule(PUBLIC, PUBLIC),
    "logout/": Rule(None, VIEWER),
    "api/v1/docs": LOOK,
    "api/v1/openapi.json": LOOK,
    "": LOOK,
    "words.js": Rule(PUBLIC),
    "series/": LOOK,
    "account/": LOOK,
    "account/password/": Rule(VIEWER, VIEWER),
    "account/log-out-elsewhere/": Rule(None, VIEWER),
    "password/reset/": Rule(PUBLIC, PUBLIC),
    "password/reset/sent/": Rule(PUBLIC),
    "password/reset/<uidb64>/<token>/": Rule(PUBLIC, PUBLIC),
    "tasks/": LOOK,
    "tasks/complete/": LOOK,
    "tasks/searches/": LOOK,
    "tasks/searches/save/": Rule(VIEWER, VIEWER),
    "tasks/searches/<int:search_id>/pin/": Rule(None, VIEWER),
    "tasks/searches/<int:search_id>/unpin/": Rule(None, VIEWER),
    "tasks/searches/<int:search_id>/delete/": Rule(None, VIEWER),
    "tasks/export/": LOOK,
    "tasks/late-reports/export/": LOOK,
    "tasks/<uuid:task_id>/": LOOK,
    "tasks/<uuid:task_id>/<str:part>.json": LOOK,
    "tasks/<uuid:task_id>/cancel/": CONFIRMED_ACT,
    "tasks/<uuid:task_id>/edit/": CONFIRMED_ACT,
    "jobs/": LOOK,
    "jobs/export/": LOOK,
    "jobs/<uuid:job_id>/": LOOK,
    "jobs/<uuid:job_id>/pause/": CONFIRMED_ACT,
    "jobs/<uuid:job_id>/resume/": CONFIRMED_ACT,
    "jobs/<uuid:job_id>/cancel/": CONFIRMED_ACT,
    "jobs/<uuid:job_id>/compensate/": CONFIRMED_ACT,
    "inbox/": LOOK,
    "inbox/export/": LOOK,
    "inbox/<uuid:task_id>/": LOOK,
    "inbox/<uuid:task_id>/claim/": ACT,
    "inbox/<uuid:task_id>/extend/": ACT,
    "inbox/<uuid:task_id>/release/": ACT,
    "inbox/<uuid:task_id>/complete/": ACT,
    "dead-letters/": LOOK,
    "dead-letters/errors/export/": LOOK,
    "dead-letters/requeue/": CONFIRMED_ACT,
    "dead-letters/dismiss/": CONFIRMED_ACT,
    "dead-letters/<slug:fingerprint>/": LOOK,
    "dead-letters/<slug:fingerprint>/assign/": ACT,
    "dead-letters/<slug:fingerprint>/note/": ACT,
    "acts/": LOOK,
    "acts/export/": LOOK,
    "acts/<uuid:bulk_id>/export/": LOOK,
    "acts/<uuid:bulk_id>/": LOOK,
    "acts/<uuid:bulk_id>/undo/": ACT,
    "acts/<uuid:bulk_id>/abort/": ACT,
    "acts/<str:action>/": CONFIRMED_ACT,
    "audit/": LOOK,
    "audit/<int:number>/": LOOK,
    "audit/export/": LOOK,
    "kinds/switch/": Rule(ADMIN, ADMIN),
    "supervisor/": LOOK,
    "supervisor/shifts/export/": LOOK,
    "kinds/": LOOK,
    "kinds/times/": LOOK,
    "kinds/export/": LOOK,
    "kinds/pause/": ACT,
    "kinds/resume/": ACT,
    "kinds/free/": ACT,
    "kinds/quarantine/": ACT,
    "workers/": LOOK,
    "workers/export/": LOOK,
    "workers/ended/export/": LOOK,
    "workers/near-misses/export/": LOOK,
    "workers/<uuid:worker_id>/": LOOK,
    "workers/<uuid:worker_id>/drain/": ACT,
    "workers/<uuid:worker_id>/resume/": ACT,
    "workers/<uuid:worker_id>/evict/": CONFIRMED_ACT,
}
"""The pages, as the resolver writes their routes; ``admin/`` is apart."""

BY_TOKEN: Final[dict[str, Scope]] = {"metrics": Scope.METRICS}
"""Addresses outside the API that go by a token all the same: 401 for everybody else."""

ADMIN_OPEN: Final = frozenset({"admin/login/", "admin/logout/"})
"""All else under ``admin/`` is for admins, whatever is registered there."""

API: Final[dict[str, Scope]] = {
    "POST /v1/tasks": Scope.SUBMIT,
    "GET /v1/tasks": Scope.READ,
    "GET /v1/tasks/{task_id}": Scope.READ,
    "GET /v1/kinds": Scope.READ,
    "POST /v1/jobs": Scope.JOBS,
    "GET /v1/jobs/{job_id}": Scope.READ,
    "POST /v1/kinds/{act}": Scope.OPERATE,
    "POST /v1/workers/{act}": Scope.OPERATE,
    "POST /v1/jobs/{job_id}/{act}": Scope.OPERATE,
    "POST /v1/cancellations": Scope.OPERATE,
    "POST /v1/bulks": Scope.OPERATE,
    "GET /v1/bulks/{bulk_id}": Scope.READ,
    "POST /v1/bulks/{bulk_id}/abort": Scope.OPERATE,
}
"""The API's operations, as ninja writes them, with the one scope that lets a token in."""

SOCKETS: Final[dict[str, Role]] = {"ws/live/": VIEWER}
