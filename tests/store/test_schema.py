"""The schema changes with intent alone."""

from controlplane.embedded import Server
from tests.fresh import migrated_database
from tests.store.schema_dump import FILE, dump


def test_a_fresh_database_has_the_schema_that_is_on_file(postgres: Server) -> None:
    """A change that is meant: write the file with ``python -m tests.store.schema_dump``."""
    with migrated_database(postgres, "schema_on_file") as url:
        assert dump(url) == FILE.read_text()
