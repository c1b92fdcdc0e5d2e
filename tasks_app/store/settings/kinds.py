"""Kinds made by programs; admins edit them in the Django admin."""

from collections.abc import Sequence

from tasks_app.store import sql

ENSURE = "INSERT INTO kind (name) SELECT unnest(%(names)s::text[]) ON CONFLICT DO NOTHING"


def ensure_kinds(names: Sequence[str]) -> int:
    """Make kinds that do not exist yet, with the schema's defaults; return how many are new."""
    return sql.execute(ENSURE, {"names": list(names)})
