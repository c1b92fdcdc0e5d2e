"""How often programs and strangers may ask, counted once for all web processes."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from django.conf import settings
from django.http import HttpRequest

from tasks_app.core.people.request_rates import (
    LONGEST_SUBJECT,
    Rate,
    counted_address,
    counted_network,
)
from tasks_app.core.words import say
from tasks_app.services.people.tokens import Program
from tasks_app.store.people import request_rates

RESETS: Final = Rate(5, 900)
"""Links for a new password from one address, and for one account."""

WRONG_PASSWORDS: Final = Rate(8, 900)
"""Wrong old passwords that one account may give, from any address."""

OTHER_CONTENT: Final = Rate(20, 3600)
"""Keys with other content than is on record that one token may send where some of it is hidden."""


class TooManyRequests(Exception):
    """Nothing was done; the message names the limit and what to do, ``wait`` is in seconds."""

    status: HTTPStatus = HTTPStatus.TOO_MANY_REQUESTS

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


def refuse_more_guesses(program: Program) -> None:
    """Refuse keys where too many came with other content. Raises TooManyRequests.

    Whether a key's content is on record tells whether a guess of what is hidden in it is right.
    """
    rate = OTHER_CONTENT
    wait = request_rates.seconds_to_wait(_content_of(program), rate.count, rate.seconds)
    if wait > 0:
        raise TooManyRequests(
            f"{rate.count} keys an hour may come with other content than is on record where the "
            f"kind hides some of it from the token of {program}; wait {wait:.1f} s, or have an "
            "admin give it the scope payloads",
            wait,
        )


def count_wrong_content(program: Program) -> None:
    """Count a key that came with other content than is on record."""
    _wait(_content_of(program), OTHER_CONTENT)


def _content_of(program: Program) -> str:
    return f"other content by {program.prefix}"


def may_ask_reset(address: str, account: str) -> bool:
    """Count a wish for a link; False beyond a few from one address, or for one account."""
    subjects = (f"reset from {counted_address(address)}", f"reset of {account}")
    return [_wait(subject, RESETS) for subject in subjects] == [None, None]


@dataclass(frozen=True, slots=True)
class Try:
    """A try of a secret, counted as wrong before it is looked at: tries at once cannot slip by."""

    subjects: Sequence[str]
    rate: Rate | None

    def succeeded(self) -> None:
        """Give back what was counted: the secret was right."""
        if self.rate is not None:
            for subject in self.subjects:
                request_rates.give_back(subject[:LONGEST_SUBJECT], self.rate.count)


def try_log_in(address: str) -> Try:
    """Begin a log-in, before its password is hashed. Raises TooManyRequests."""
    return _try((f"log-in from {counted_address(address)}",), settings.LOGIN_FAILED_RATE)


def try_link(address: str) -> Try:
    """Begin with a link that sets a password. Raises TooManyRequests."""
    return _try((f"link from {counted_address(address)}",), settings.LOGIN_FAILED_RATE)


def try_old_password(account_id: int) -> Try:
    """Begin with somebody's old password, before it is hashed. Raises TooManyRequests."""
    return _try((f"password of {account_id}",), WRONG_PASSWORDS)


def _try(subjects: Sequence[str], rate: Rate | None) -> Try:
    waits = [wait for subject in subjects if (wait := _wait(subject, rate)) is not None]
    if waits:
        raise TooManyRequests(
            say("There were too many wrong tries from here. Nothing was checked."), max(waits)
        )
    return Try(subjects, rate)


def lock_out_address(request: HttpRequest) -> str | None:
    """The address that the lock-out counts a log-in by: the network's, as for every other limit."""
    network = counted_network(request.META.get("REMOTE_ADDR", ""))
    return None if network is None else str(network.network_address)


def _wait(subject: str, rate: Rate | None) -> float | None:
    """Seconds to wait, or None where the request may pass."""
    if rate is None:
        return None
    return request_rates.take(subject[:LONGEST_SUBJECT], rate.count, rate.seconds)
