"""The OpenAPI document against the application in process, with whatever Schemathesis makes up."""

from typing import Any

import pytest
import schemathesis
from django.conf import settings as site
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, assume, given, settings
from schemathesis import Case, CheckFunction, GenerationMode
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tasks_app.api.api import api
from tests.api.conftest import Program

# Nearly all that the document allows is refused at the door, for its kind is made up; that valid
# tasks are accepted is proved in test_submit.
LEFT_OUT: list[CheckFunction] = [positive_data_acceptance]

document = schemathesis.openapi.from_dict(api.get_openapi_schema())
document.app = get_wsgi_application()
OPERATIONS = {
    f"{found.ok().method} {found.ok().path}": found.ok()
    for found in document.get_all_operations()
    if isinstance(found, Ok)
}


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: str(mode.value))
@pytest.mark.parametrize("operation", OPERATIONS)
def test_whatever_is_sent_is_answered_as_documented(
    operation: str, mode: GenerationMode, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One of its checks asks with made-up tokens, more often than a stranger may.
    monkeypatch.setattr(site, "API_FAILED_RATE", None)
    answered: list[int] = []

    @settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=OPERATIONS[operation].as_strategy(generation_mode=mode))
    def send(case: Case[Any]) -> None:
        # An address knows no lists: ``after: [""]`` is sent as ``after=``, which is right.
        query = (case.query or {}).values()
        assume(not any(value is None or isinstance(value, list | dict) for value in query))
        response = case.call_and_validate(
            headers={"Authorization": f"Bearer {program.token}"}, excluded_checks=LEFT_OUT
        )
        answered.append(response.status_code)

    send()
    assert len(answered) >= 5
    assert max(answered) < 500


def test_the_document_names_every_operation() -> None:
    assert set(OPERATIONS) == {
        "post /api/v1/tasks",
        "get /api/v1/tasks",
        "get /api/v1/tasks/{task_id}",
        "get /api/v1/kinds",
        "post /api/v1/jobs",
        "get /api/v1/jobs/{job_id}",
        "post /api/v1/kinds/{act}",
        "post /api/v1/workers/{act}",
        "post /api/v1/jobs/{job_id}/{act}",
        "post /api/v1/cancellations",
        "post /api/v1/bulks",
        "get /api/v1/bulks/{bulk_id}",
        "post /api/v1/bulks/{bulk_id}/abort",
    }
