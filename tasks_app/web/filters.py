"""What an address asks a list for, read leniently."""

from typing import Final
from uuid import UUID

from django.http import QueryDict

from tasks_app.core.sanitise import clean_text

LONGEST: Final = 200
"""Characters of one filter: as long as the longest key."""


def read_text(query: QueryDict, name: str) -> str:
    """A filter's text, fit for the database, whatever was put into the address."""
    return clean_text(query.get(name, "")).strip()[:LONGEST]


def read_id(query: QueryDict, name: str) -> UUID | None:
    """An id, or None for none and for what is none."""
    try:
        return UUID(query.get(name, ""))
    except ValueError:
        return None
