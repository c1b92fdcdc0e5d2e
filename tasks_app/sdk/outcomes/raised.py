"""What a handler raises to say something, and what is raised in it."""


class Cancelled(BaseException):
    """The attempt is to end now; not an Exception, so that a broad ``except`` lets it through."""


class Abandoned(BaseException):
    """The attempt ends without a word; not an Exception, for the same reason."""


class PermanentError(Exception):
    """Raised by a handler: another attempt would fail the same way, so the task is DEAD at once."""


class RetryableError(Exception):
    """Raised by a handler: worth another attempt, in ``retry_after`` seconds at the earliest."""

    def __init__(self, *args: object, retry_after: float | None = None) -> None:
        super().__init__(*args)
        self.retry_after = retry_after


class UnsureEffect(PermanentError):
    """An effect was begun and its end is not on record: only a human can find out what happened."""
