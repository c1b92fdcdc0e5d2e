"""The two kills of a night, each at the moment when it can do the most harm."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from examples.own_stack import OwnStack
from examples.ticket_triage import outbox
from tasks_app.core.states import ACTIVE, Status
from tasks_app.models import Task

STARTED_SHARE: Final = 0.1
"""Of all tasks, completed before the supervisor is killed: the night is under way by then."""

SETTLED_SECONDS: Final = 0.3
"""A commit that a worker sent before it was frozen is on record by then."""

WaitUntil = Callable[[Callable[[], bool], str], None]
"""Wait for a condition, which the words describe; raises when it can no longer come."""


def count_in_flight() -> int:
    """Count the tasks that are assigned or running."""
    return Task.objects.filter(status__in=ACTIVE).count()


def kill_supervisor(stack: OwnStack, needed: int, slots: int, wait_until: WaitUntil) -> int:
    """Kill the supervisor while ``needed`` tasks are in flight, and start another.

    Returns how many there were when the old one was gone and the new one not started.
    """

    def ripe() -> bool:
        started = Task.objects.filter(status=Status.COMPLETED).count()
        # Workers go on while the supervisor dies: what they may finish then comes on top.
        enough = count_in_flight() >= needed + slots
        return enough and started >= STARTED_SHARE * Task.objects.count()

    wait_until(ripe, f"{needed} tasks in flight while the night is under way")
    stack.kill_supervisor()
    in_flight = count_in_flight()
    stack.start_supervisor()
    return in_flight


def kill_worker(stack: OwnStack, name: str, pid: int, sent: Path, wait_until: WaitUntil) -> None:
    """Kill a worker that has sent a reply and not reported it; it is not started again.

    It is frozen first, so that nothing changes between the look and the kill.
    """

    def killed() -> bool:
        if not _unreported(pid, sent):
            return False
        with stack.frozen(name):
            time.sleep(SETTLED_SECONDS)
            if not _unreported(pid, sent):
                return False
            stack.kill(name)
            return True

    wait_until(killed, f"{name} to have sent a reply that it has not reported")


def _unreported(pid: int, sent: Path) -> bool:
    """Tell whether a process has sent replies of drafts that still count as running."""
    keys = [entry[outbox.KEY] for entry in outbox.read(sent) if entry["pid"] == pid]
    return Task.objects.filter(id__in=keys, status=Status.RUNNING).exists()
