"""A page that could not be made says why, without asking the database again."""

from unittest.mock import patch

import pytest
from django.db import OperationalError

from tests.web.conftest import Person

READ = "tasks_app.web.pages.kinds.page_of_kinds"


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (OperationalError("connection refused"), 503, "The database does not answer"),
        (RuntimeError("a secret of the server"), 500, "Something went wrong"),
    ],
)
def test_a_page_that_failed_says_why_and_tells_no_secret(
    operator: Person, error: Exception, status: int, words: str
) -> None:
    operator.client.raise_request_exception = False
    # It fails as it does when the server is away; the server itself is shared by all tests.
    with patch(READ, side_effect=error):
        answer = operator.client.get("/kinds/")
    assert answer.status_code == status
    assert words in answer.content.decode()
    assert str(error) not in answer.content.decode()
    assert answer.has_header("Retry-After") is (status == 503)
