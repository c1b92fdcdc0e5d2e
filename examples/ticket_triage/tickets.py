"""Tickets from any CSV file with a column of texts; labels and ids where it has them."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TEXT: Final = "text"
LABELS: Final = ("category", "label")
ID: Final = "id"


class TicketsError(Exception):
    """A file of tickets cannot be used; the message is one sentence for a human."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """One customer's question; ``label`` is the right answer where somebody has given it."""

    id: str
    text: str
    label: str | None = None


def read_tickets(path: Path) -> Sequence[Ticket]:
    """Read a CSV file: column ``text``, and where they exist ``category`` or ``label``, and ``id``.

    A ticket without an id is called by its place in the file. Raises TicketsError.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            fields = reader.fieldnames or ()
            if TEXT not in fields:
                raise TicketsError(
                    f"{path} has no column {TEXT!r}; its columns: {', '.join(fields) or 'none'}."
                )
            label = next((name for name in LABELS if name in fields), "")
            tickets = [
                Ticket(row.get(ID) or f"{place:05}", row[TEXT] or "", row.get(label) or None)
                for place, row in enumerate(reader, start=1)
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TicketsError(f"{path} cannot be read: {error}.") from error
    if not tickets:
        raise TicketsError(f"{path} holds no ticket.")
    return tickets
