"""Sending what the outbox holds: one message after the other, outside any transaction."""

import logging
import smtplib
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import close_old_connections

from tasks_app.core.alerts.notification import (
    TRIES,
    ChannelKind,
    DeliveryState,
    Event,
    pause_before,
)
from tasks_app.core.alerts.webhooks import first_line
from tasks_app.services.alerts.webhooks import NotDelivered, post
from tasks_app.store import alerting
from tasks_app.store.alerting import Message

log = logging.getLogger(__name__)

MOST_AT_ONCE: Final = 5
"""Between two looks: each may take its ten seconds."""


def deliver_due(most: int = MOST_AT_ONCE) -> int:
    """Send up to ``most`` messages that are due; return how many arrived.

    A message is sent at least once: a process that dies between a sending and its note leaves it
    to be sent again, under the same id.
    """
    arrived = 0
    for _ in range(most):
        message = alerting.claim()
        if message is None:
            break
        arrived += not _send(message)
    return arrived


def deliver(message_id: UUID) -> str:
    """Send one message now; why it did not arrive, or "" when it did."""
    message = alerting.claim(message_id)
    return "" if message is None else _send(message)


def _send(message: Message) -> str:
    # A receiver may take its time: the pool has the connection back until the outcome is noted.
    close_old_connections()
    try:
        if message.kind == ChannelKind.MAIL:
            _mail(message.address, message.body)
        else:
            post(message.address, message.secret, message.body)
    except Exception as error:  # noqa: BLE001  logged; one message must not hold up the others
        fault = error if isinstance(error, NotDelivered) else _unforeseen(message, error)
        last = message.tries >= TRIES or message.body["event"] == Event.TEST
        state = DeliveryState.GIVEN_UP if last else DeliveryState.WAITING
        pause = pause_before(message.tries + 1)
        alerting.mark(message.id, state, fault=str(fault), pause=pause)
        log.warning("an alert was not delivered (try %s): %s", message.tries, fault)
        return str(fault)
    alerting.mark(message.id, DeliveryState.SENT)
    return ""


def _unforeseen(message: Message, error: Exception) -> NotDelivered:
    """A message that cannot be made or sent at all: it is tried and given up as any other."""
    log.error("alert message %s cannot be sent", message.id, exc_info=error)
    return NotDelivered(f"it cannot be made or sent ({type(error).__name__}); the log has why")


def _mail(addresses: str, body: Mapping[str, Any]) -> None:
    if not settings.SENDS_MAIL:
        raise NotDelivered("no mail server is set: EMAIL_URL")
    lines = [body["text"], "", f"{body['alert']}, {body['event']} {body['at']}", body["url"]]
    mail = EmailMessage(
        subject=" ".join(f"[Chargehand] {body['title']}".split()),
        body="\n".join(lines).strip() + "\n",
        to=[each.strip() for each in addresses.split(",")],
    )
    try:
        mail.send()
    except (OSError, smtplib.SMTPException, ValueError) as error:
        said = first_line(str(error), [settings.EMAIL_HOST_PASSWORD])
        raise NotDelivered(f"{type(error).__name__}: {said}") from error
