"""The state machine, held against every statement that sets a task's status.

A trigger of the test database refuses each move that ``core/states.TRANSITIONS`` does not have, and
counts those that it has. A sequence counts a move: it takes no lock, and a rollback keeps it.
"""

from collections.abc import Iterable
from typing import Final

from django.db.backends.utils import CursorWrapper

from tasks_app.core.states import TRANSITIONS, Status

Move = tuple[Status, Status]

MOVES: Final[tuple[Move, ...]] = tuple(
    (before, after) for before, reached in TRANSITIONS.items() for after in sorted(reached)
)
"""Every legal move."""

seen_in_this_process: Final[set[Move]] = set()
"""The moves that the tests of this process made; read before its database goes."""

TRIGGER: Final = """
CREATE FUNCTION refuse_illegal_move() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    counter text := lower('move_' || OLD.status || '_' || NEW.status);
BEGIN
    IF to_regclass('public.' || counter) IS NULL THEN
        RAISE EXCEPTION 'illegal move of task %: % to %', OLD.id, OLD.status, NEW.status;
    END IF;
    PERFORM nextval('public.' || counter);
    RETURN NEW;
END $$;
CREATE TRIGGER refuse_illegal_move BEFORE UPDATE OF status ON task FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION refuse_illegal_move();
"""


def counter(move: Move) -> str:
    """The sequence that counts a move."""
    before, after = move
    return f"move_{before}_{after}".lower()


def install(cursor: CursorWrapper) -> None:
    """Have a test database refuse what the state machine does not have."""
    for move in MOVES:
        cursor.execute(f"CREATE SEQUENCE {counter(move)}")
    cursor.execute(TRIGGER)


def moves_seen(cursor: CursorWrapper) -> set[Move]:
    """The legal moves that this database has seen."""
    cursor.execute("SELECT sequencename FROM pg_sequences WHERE last_value IS NOT NULL")
    counted = {name for (name,) in cursor.fetchall()}
    return {move for move in MOVES if counter(move) in counted}


def summary(seen: Iterable[Move]) -> str:
    """One line for the end of a run."""
    missing = [move for move in MOVES if move not in set(seen)]
    told = f"Legal moves of a task seen: {len(MOVES) - len(missing)} of {len(MOVES)}"
    names = ", ".join(f"{before} to {after}" for before, after in missing)
    return f"{told}; not seen: {names}" if missing else told
