"""A link that loses, delays and repeats what workers say, by the dice of one seed."""

import contextlib
from collections.abc import Callable
from random import Random
from typing import Any, Final

from tasks_app.sdk.link import LinkDown, WorkerUnknown

FATES: Final = {"answered": 70, "answer lost": 8, "lost": 8, "late": 7, "twice": 7}


class Wire:
    """Carries calls; what is late, or came twice, is executed at any time afterwards."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._late: list[Callable[[], Any]] = []
        self.reliable = False

    def call(self, act: Callable[[], Any]) -> Any:
        """Carry a call; raises LinkDown when no answer comes back, whether it arrived or not."""
        fates, weights = list(FATES), list(FATES.values())
        fate = "answered" if self.reliable else self._rng.choices(fates, weights)[0]
        if fate in ("late", "twice"):
            self._late.append(act)
        if fate in ("lost", "late"):
            raise LinkDown(fate)
        answer = act()
        if fate == "answer lost":
            raise LinkDown(fate)
        return answer

    def deliver(self) -> bool:
        """Execute one late call, whose answer nobody hears; False when there is none."""
        if not self._late:
            return False
        act = self._late.pop(self._rng.randrange(len(self._late)))
        # A boot that is gone by now is told so, and nobody is there to hear it.
        with contextlib.suppress(WorkerUnknown):
            act()
        return True
