"""The test database is a real PostgreSQL of this run."""

import pytest
from django.db import connection


@pytest.mark.django_db
def test_the_suite_runs_on_postgresql_18() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version_num")
        assert int(cursor.fetchone()[0]) // 10000 == 18
