"""The HTTP API's one instance, and how it answers where something is wrong."""

import logging
from typing import Final

from django.core.exceptions import SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from ninja.errors import AuthenticationError, HttpError, ValidationError

from tasks_app.api.acts import router as acts
from tasks_app.api.bodies import BodyRefused, StrictJson
from tasks_app.api.faults import FaultNamingAPI, counted
from tasks_app.api.jobs import router as jobs
from tasks_app.api.schemas import FaultOut
from tasks_app.api.security import ProgramToken, docs_for_known, headers_of
from tasks_app.api.tasks import router
from tasks_app.services.people.people import NotAllowed

log = logging.getLogger(__name__)

RETRY_SECONDS: Final = "2"
"""A restart of PostgreSQL takes about one."""

api = FaultNamingAPI(
    title="Chargehand",
    version="1",
    description="Submit tasks and jobs and ask what became of them. Programs send a bearer token.",
    urls_namespace="api",
    docs_url="/v1/docs",
    openapi_url="/v1/openapi.json",
    docs_decorator=docs_for_known,
    auth=ProgramToken(),
    parser=StrictJson(),
)
api.add_router("/v1", router)
api.add_router("/v1", jobs)
api.add_router("/v1", acts)


@api.exception_handler(AuthenticationError)
def unauthorised(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    """401 that says which scheme is wanted."""
    detail = "send a live token: Authorization: Bearer chg_..."
    response = api.create_response(request, {"detail": detail}, status=401)
    response["WWW-Authenticate"] = "Bearer"
    return response


@api.exception_handler(NotAllowed)
def not_allowed(request: HttpRequest, error: NotAllowed) -> HttpResponse:
    """403 with the role that the act needs."""
    return api.create_response(request, {"detail": str(error)}, status=403)


@api.exception_handler(HttpError)
def refused(request: HttpRequest, error: HttpError) -> HttpResponse:
    """The reason; ninja hides why a body could not be read behind one sentence for all."""
    cause = error.__cause__
    detail = str(cause) if isinstance(cause, BodyRefused) else error.message
    response = api.create_response(request, {"detail": detail}, status=error.status_code)
    for name, value in headers_of(error).items():
        response[name] = value
    return response


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """422 with every fault of a field's type."""
    told = counted(FaultOut(**fault) for fault in error.errors)
    return api.create_response(request, told.dict(), status=422)


@api.exception_handler(SuspiciousOperation)
def malformed(request: HttpRequest, error: SuspiciousOperation) -> HttpResponse:
    """400 for what Django itself refuses to read."""
    return api.create_response(request, {"detail": "the request is malformed"}, status=400)


@api.exception_handler(Exception)
def broken(request: HttpRequest, error: Exception) -> HttpResponse:
    """500 for a fault of this program's own; the log has it, and the answer nothing of it."""
    log.error("%s %s failed", request.method, request.path, exc_info=error)
    detail = "something is wrong here and not in your request; whoever runs the site has it logged"
    return api.create_response(request, {"detail": detail}, status=500)


@api.exception_handler(OperationalError)
@api.exception_handler(InterfaceError)
def away(request: HttpRequest, error: Exception) -> HttpResponse:
    """503 where the database is away, restarts or has no space left; a program then asks again."""
    log.error("%s %s: the database cannot serve it", request.method, request.path, exc_info=error)
    detail = (
        "the database cannot be used now; send the request again later: with a key on each task "
        "and job a repetition adds nothing"
    )
    response = api.create_response(request, {"detail": detail}, status=503)
    response["Retry-After"] = RETRY_SECONDS
    return response
