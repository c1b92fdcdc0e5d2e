"""Channels of alerts: their secret, and a message to try one."""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from django.conf import settings

from tasks_app.core.alerts.notification import Event
from tasks_app.core.alerts.webhooks import LEAST_SECRET
from tasks_app.core.words import say
from tasks_app.services.alerts.alert_delivery import deliver
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor, Role, needs
from tasks_app.services.transactions import transactional
from tasks_app.store import alerting

TEST_KEY: Final = "test"


@needs(Role.ADMIN)
@transactional
def set_secret(channel: str, secret: str, actor: Actor) -> None:
    """Write a channel's secret, which the audit tells of and does not hold.

    Raises ValueError for one that is short, LookupError for no such channel.
    """
    if len(secret) < LEAST_SECRET:
        raise ValueError(
            say("a secret has %(least_secret)s characters at least", least_secret=LEAST_SECRET)
        )
    if not alerting.set_secret(channel, secret):
        raise LookupError(say("there is no channel %(channel)s", channel=channel))
    note(actor, "set alert secret", channel)


@needs(Role.ADMIN)
def send_test(channel: str, actor: Actor) -> str:
    """Send a message to a channel at once, on or off; why it did not arrive, or "".

    Raises LookupError for no such channel.
    """
    message = _queue_test(channel, actor)
    return deliver(message)


@transactional
def _queue_test(channel: str, actor: Actor) -> UUID:
    now = datetime.now(UTC)
    body = {
        "event": Event.TEST.value,
        "alert": TEST_KEY,
        "key": TEST_KEY,
        "title": say("A test"),
        "text": say("%(who)s tries this channel; nothing is wrong.", who=actor.name),
        "at": now.isoformat(timespec="seconds"),
        "url": settings.PUBLIC_URL,
    }
    message = alerting.queue(channel, TEST_KEY, Event.TEST, now.timestamp(), body)
    if message is None:
        raise LookupError(say("there is no channel %(channel)s", channel=channel))
    note(actor, "test alert channel", channel)
    return message
