"""What a dry run of many batches remembers: the keys that the batches before would have taken."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from types import TracebackType
from typing import Self
from uuid import UUID

from tasks_app.core.intake.new_tasks import NewTask
from tasks_app.store.intake.submission import Content, KeyHolder

TABLE = """
CREATE TABLE taken (
    kind TEXT, key TEXT, id TEXT, content INTEGER, PRIMARY KEY (kind, key)
) WITHOUT ROWID
"""


class Rehearsal:
    """Keys by kind, in a file of its own without a name, so that any number takes no memory.

    Each batch of a dry run is rolled back at once: one transaction for all of them would hold up
    whoever submits the same keys meanwhile.
    """

    def __init__(self) -> None:
        self._taken = sqlite3.connect("")
        self._taken.execute(TABLE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._taken.close()

    def remember(self, new: Sequence[tuple[NewTask, UUID]], contents: Sequence[Content]) -> None:
        """Keep the keys of tasks that would have been submitted, with what they came with."""
        self._taken.executemany(
            "INSERT OR IGNORE INTO taken VALUES (?, ?, ?, ?)",
            [
                (task.kind, task.key, str(task_id), content.whole)
                for (task, task_id), content in zip(new, contents, strict=True)
            ],
        )

    def holders_of(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], KeyHolder]:
        """Those of the keys that a batch before would have taken."""
        holders = {}
        with closing(self._taken.cursor()) as cursor:
            for pair in pairs:
                cursor.execute("SELECT id, content FROM taken WHERE kind = ? AND key = ?", pair)
                if (found := cursor.fetchone()) is not None:
                    holders[pair] = KeyHolder(UUID(found[0]), found[1])
        return holders
