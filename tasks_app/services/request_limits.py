"""How often programs and strangers may ask, counted once for all web processes."""

from typing import Final

from django.conf import settings

from tasks_app.core.request_rates import LONGEST_SUBJECT, Rate, counted_address
from tasks_app.services.tokens import Program
from tasks_app.store import request_rates

RESETS: Final = Rate(5, 900)
"""Links for a new password from one address, and for one account."""


class TooManyRequests(Exception):
    """Nothing was done; the message names the limit and what to do, ``wait`` is in seconds."""

    def __init__(self, message: str, wait: float) -> None:
        super().__init__(message)
        self.wait = wait


def count_request(program: Program) -> None:
    """Count a program's request against ``API_RATE``. Raises TooManyRequests."""
    wait = _wait(f"token {program.prefix}", settings.API_RATE)
    if wait is not None:
        raise TooManyRequests(
            f"the token of {program} may send {settings.API_RATE}; wait {wait:.1f} s, send up to "
            "10,000 tasks in one request, or have whoever runs the site raise API_RATE",
            wait,
        )


def count_refusal(address: str) -> None:
    """Count a token that is none against ``API_FAILED_RATE``. Raises TooManyRequests.

    Live tokens are not held up by it: they share an address with whoever sends wrong ones.
    """
    wait = _wait(f"refused {counted_address(address)}", settings.API_FAILED_RATE)
    if wait is not None:
        raise TooManyRequests(
            f"{settings.API_FAILED_RATE} with a token that is not live may come from one address; "
            f"wait {wait:.1f} s, and send a live one: Authorization: Bearer chg_...",
            wait,
        )


def may_ask_reset(address: str, account: str) -> bool:
    """Count a wish for a link; False beyond a few from one address, or for one account."""
    subjects = (f"reset from {counted_address(address)}", f"reset of {account}")
    return [_wait(subject, RESETS) for subject in subjects] == [None, None]


def _wait(subject: str, rate: Rate | None) -> float | None:
    """Seconds to wait, or None where the request may pass."""
    if rate is None:
        return None
    return request_rates.take(subject[:LONGEST_SUBJECT], rate.count, rate.seconds)
