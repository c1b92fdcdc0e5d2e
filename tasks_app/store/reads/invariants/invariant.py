"""What must hold of the record, as a query for what breaks it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Invariant:
    """A sentence that must hold, and the query that finds what breaks it."""

    name: str
    sentence: str
    query: str
