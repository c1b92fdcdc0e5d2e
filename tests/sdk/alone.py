"""A worker alone in a process, on a plane in memory, for tests that send it signals.

``python -m tests.sdk.alone OPTIONS_AS_JSON KIND PAYLOAD``; it says on standard output what happens.
"""

import json
import logging
import sys
from collections.abc import Sequence
from uuid import UUID

from tasks_app.sdk.link import Completion, Failure, Grant
from tasks_app.sdk.options import Options
from tasks_app.sdk.runtime import Worker
from tests.sdk.plane import Plane


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


class TalkingPlane(Plane):
    """Says what the worker does."""

    def claim(self, worker_id: UUID, limit: int) -> Sequence[Grant]:
        grants = super().claim(worker_id, limit)
        if grants:
            say("claimed")
        return grants

    def complete(self, worker_id: UUID, completions: Sequence[Completion]) -> Sequence[int]:
        say("completed")
        return super().complete(worker_id, completions)

    def fail(self, worker_id: UUID, failures: Sequence[Failure]) -> Sequence[int]:
        say("failed")
        return super().fail(worker_id, failures)

    def release(self, worker_id: UUID, tokens: Sequence[int]) -> None:
        say("released")
        super().release(worker_id, tokens)

    def deregister(self, worker_id: UUID) -> None:
        say("deregistered")
        super().deregister(worker_id)


def main() -> int:
    logging.basicConfig(level=logging.INFO)
    options, kind, payload = sys.argv[1:]
    plane = TalkingPlane()
    plane.assign(kind, payload)
    return Worker(plane, Options(modules=("tests.sdk.misbehaving",), **json.loads(options))).run()


if __name__ == "__main__":
    sys.exit(main())
