"""Ctrl-C and SIGTERM while rows are taken: a batch under way is finished first."""

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Final, Self

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Turns the first signal into a KeyboardInterrupt between two ``guard`` blocks.

    In the midst of a batch nobody could tell whether it stands. A second signal does not wait.
    """

    def __init__(self) -> None:
        self.number = int(signal.SIGINT)
        self._before: dict[int, Any] = {}
        self._guarded = self._asked = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._stop) for number in SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def guard(self, act: Callable[[], None]) -> None:
        """Do what a first signal must not cut in two."""
        self._guarded = True
        try:
            act()
        finally:
            self._guarded = False
        if self._asked:
            raise KeyboardInterrupt

    def _stop(self, number: int, frame: FrameType | None) -> None:
        again, self._asked, self.number = self._asked, True, number
        if again or not self._guarded:
            raise KeyboardInterrupt
