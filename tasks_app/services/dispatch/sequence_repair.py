"""At the start of each shift: no number on record is about to be given a second time."""

import logging

from django.db import ProgrammingError

from tasks_app.services.transactions import transactional
from tasks_app.store.dispatch import sequences
from tasks_app.store.reads.invariants.sequences import Behind, sequences_behind

log = logging.getLogger(__name__)


def repair_sequences() -> list[Behind]:
    """Advance every sequence that is behind the record; return those that were.

    Where the database's user may not, the log says the statement that whoever owns it must run.
    """
    behind = sequences_behind()
    try:
        renewed = _repair(behind)
    except ProgrammingError as error:
        for each in behind:
            log.error("inserts fail until the owner of the tables runs this: %s", each)
        log.error("the sequences cannot be repaired by this user: %s", str(error).strip())
        return behind
    for each in behind:
        log.warning("a sequence was behind the record and has been repaired: %s", each)
    if renewed:
        log.warning("%s leases had a token that was given before, and got a new one", renewed)
    return behind


@transactional
def _repair(behind: list[Behind]) -> int:
    sequences.advance(behind)
    # Also where the sequence is right again: what was given meanwhile cannot end otherwise.
    return sequences.renew_tokens()
