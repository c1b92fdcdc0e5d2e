"""What a handler logs about its attempt: kept in short beside the standard logger's own way."""

import logging
import time
from collections import deque
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, Final, NamedTuple

from tasks_app.core.sanitise import clean_text

MOST_LINES: Final = 50
"""Of one attempt: the latest."""

LONGEST_LINE: Final = 300


class LogLine(NamedTuple):
    """One line: seconds since the epoch by the worker's clock, the level's name, the text."""

    at: float
    level: str
    text: str


class Lines:
    """The latest lines of one attempt."""

    def __init__(self) -> None:
        self._kept: deque[LogLine] = deque(maxlen=MOST_LINES)
        self._tell: Callable[[Sequence[LogLine]], None] | None = None

    def listen(self, tell: Callable[[Sequence[LogLine]], None]) -> None:
        """Have ``tell`` called with all lines at each new one."""
        self._tell = tell

    def add(self, level: int, msg: object, args: object) -> None:
        """Keep one line; what cannot be formatted is kept as it is, for logging never raises."""
        try:
            text = str(msg) % args if args else str(msg)
        except (TypeError, ValueError, KeyError):
            text = str(msg)
        line = LogLine(time.time(), logging.getLevelName(level), clean_text(text[:LONGEST_LINE]))
        self._kept.append(line)
        if self._tell is not None:
            self._tell(self.all())

    def all(self) -> Sequence[LogLine]:
        """The lines kept, the oldest first."""
        return tuple(self._kept)

    def replace(self, lines: Sequence[LogLine]) -> None:
        """Take over what was logged in another process."""
        self._kept = deque(lines, maxlen=MOST_LINES)


class TaskLog(logging.LoggerAdapter[logging.Logger]):
    """A logger whose records carry the task and the attempt beside the caller's own fields.

    Lines from INFO on are kept for the task's page too, whatever the logger's own level.
    """

    def __init__(self, logger: logging.Logger, extra: dict[str, object], lines: Lines) -> None:
        super().__init__(logger, extra)
        self._lines = lines

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """Keep the line and log it; every other method ends here."""
        if level >= logging.INFO:
            self._lines.add(level, msg, args)
        # The line is the handler's, not this one.
        kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 1
        super().log(level, msg, *args, **kwargs)

    def process(
        self, msg: Any, kwargs: MutableMapping[str, Any]
    ) -> tuple[Any, MutableMapping[str, Any]]:
        """Join the two sets of fields; the adapter of the standard library drops the caller's."""
        kwargs["extra"] = {**(self.extra or {}), **(kwargs.get("extra") or {})}
        return msg, kwargs
