"""Notice that the supervisor fell silent, by the record, while the processes of it seem to live."""

import os
import time
from collections.abc import Callable
from typing import Final

# Beat is known to fall silent while its process lives. The worker is given twice as long, so that
# the cheaper cure is tried first.
WATCHED: Final = {"beat": 3, "supervisor": 6}
# Until a new child can have done anything: start of Python, the first beat, a stand-by's turn.
START_SECONDS: Final = 15.0

Age = Callable[[], float | None]
"""Seconds since the last round on record, None where there was none; raises django.db.Error."""


class SilenceWatch:
    """Judges one child: silent when no round was recorded for some beats of a reachable record."""

    def __init__(
        self,
        beats: int,
        *,
        beat_seconds: float | None = None,
        age: Age | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Watch for ``beats`` beats; what is left out comes from the settings at the first look."""
        self._beats = beats
        self._beat_seconds = beat_seconds
        self._age = age
        self._clock = clock
        self._next_look = 0.0
        self._reachable_since: float | None = None

    def fault(self, running: float) -> str | None:
        """Say why the child must be replaced, or None; ``running`` is its life in seconds."""
        now = self._clock()
        if running < START_SECONDS or now < self._next_look:
            return None
        beat_seconds, age = self._connected()
        self._next_look = now + beat_seconds
        silent_after = self._beats * beat_seconds
        seen = self._look(age)
        if not seen:
            self._reachable_since = None
            return None
        if self._reachable_since is None:
            self._reachable_since = now
        since = seen[0]
        # Silence while the record was away is the database's, not the child's.
        patience = max(START_SECONDS, silent_after)
        witnessed = now - self._reachable_since >= silent_after and running >= patience
        if not witnessed or (since is not None and since <= silent_after):
            return None
        self._reachable_since = None
        heard = "never" if since is None else f"{since:.0f} s ago"
        return f"the last round was recorded {heard} (more than {silent_after:g} s)"

    def _connected(self) -> tuple[float, Age]:
        """Load Django only now: most children die young or live well, and neither needs it."""
        if self._beat_seconds is None or self._age is None:
            import django

            os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
            django.setup()
            from django.conf import settings
            from django.db import close_old_connections

            from tasks_app.store.reads.dispatch.leader_status import last_round_age_seconds

            def age() -> float | None:
                close_old_connections()
                return last_round_age_seconds()

            self._beat_seconds, self._age = float(settings.BEAT_SECONDS), age
        return self._beat_seconds, self._age

    @staticmethod
    def _look(age: Age) -> tuple[float | None] | None:
        """Read the age; None where the record cannot be reached."""
        from django.db import Error

        try:
            return (age(),)
        except Error:
            return None
