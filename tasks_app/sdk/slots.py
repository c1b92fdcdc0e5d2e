"""What runs handlers: the protocol that threads and child processes share."""

from collections.abc import Callable, Sequence
from typing import Protocol

from tasks_app.sdk.in_flight import Execution
from tasks_app.sdk.outcomes.outcomes import Outcome

Ended = Callable[[Execution, Outcome], None]
"""Called once for every execution, from the thread that ran it."""


class Slots(Protocol):
    """Runs up to as many executions at once as there are slots; never more are submitted."""

    def start(self) -> None:
        """Make ready; raises HandlerError when handlers cannot run here."""
        ...

    def submit(self, executions: Sequence[Execution]) -> None:
        """Run executions; each ends with one call of ``Ended``."""
        ...

    def interrupt(self, execution: Execution) -> None:
        """Ask an execution to end: its context says cancelled, an async handler is cancelled."""
        ...

    def force(self, execution: Execution) -> None:
        """End an execution by force, where that is possible."""
        ...

    def close(self) -> None:
        """End everything that can be ended; nothing is submitted afterwards."""
        ...
