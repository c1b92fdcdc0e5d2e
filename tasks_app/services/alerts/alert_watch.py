"""Noticing alerts and having them told: by whoever is not the supervisor, for it cannot notice its
own silence.

Each web process watches, and ``manage.py watch`` does the same where none should. Any number may:
one judges at a time, under an advisory lock, and what was told stands in the record.
"""

import logging
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from django.conf import settings
from django.db import Error, close_old_connections, connection

from tasks_app.core.alerts.alert_words import title_and_text
from tasks_app.core.alerts.detection import MOST_OF_A_SORT
from tasks_app.core.alerts.notification import Event, Rule, Standing, Told, advance, keyed
from tasks_app.core.words import say
from tasks_app.services.alerts.alert_delivery import deliver_due
from tasks_app.services.isolation import apart, isolating
from tasks_app.services.transactions import transactional
from tasks_app.store import alerting
from tasks_app.store.reads.alerting import (
    KnownAlert,
    enabled_channels,
    errors_to_tell,
    known_alerts,
    messages_left,
    rules,
)
from tasks_app.store.reads.dispatch.overview import read_overview

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 5.0


def watch(stopping: threading.Event, silent_after: float) -> None:
    """Look and deliver every few seconds until told to stop; survive a database that is away."""
    while not stopping.wait(LOOK_SECONDS):
        try:
            close_old_connections()
            if look(silent_after):
                deliver_due()
        except Error as error:
            log.warning("alerts cannot be judged: %s", str(error).strip())
        except Exception:
            # Nobody would notice that this thread has died.
            log.exception("alerts cannot be judged")
        finally:
            connection.close()


def look(silent_after: float) -> bool:
    """Judge once and write what is to be told; False where no channel is on.

    The supervisor is silent after so many seconds without a round on record.
    """
    channels = enabled_channels()
    if channels:
        _judge(channels, silent_after)
    return bool(channels)


@transactional
def _judge(channels: Sequence[str], silent_after: float) -> None:
    now = alerting.take_turn()
    if now is None:
        return
    known, rule_of = known_alerts(), rules()
    seen = _seen(known, silent_after)
    left = messages_left(channels)

    def judge(key: str) -> int:
        alert, before = seen.get(key), known.get(key)
        name = alert.name if alert else known[key].name
        after, event = advance(
            None if before is None else before.standing,
            seen=alert is not None,
            now=now,
            rule=rule_of.get(name, Rule()),
            may_send=left > 0,
        )
        title, text = title_and_text(alert) if alert else (known[key].title, "")
        if before is None or after != before.standing:
            alerting.save(key, name, after, title)
        if event is None:
            return 0
        _tell(channels, key, event, after, _body(key, name, event, (title, text), now))
        return 1

    with isolating():
        for each in known.keys() | seen.keys():
            left -= sum(apart("the alert", [each], lambda keys: judge(keys[0]), str))
    alerting.forget()


def _seen(known: Mapping[str, KnownAlert], silent_after: float) -> dict[str, Told]:
    standing = {key for key, each in known.items() if each.standing.ended_at is None}
    found: dict[str, Told] = {}
    of_a_sort: Counter[str] = Counter()
    # All of them: one that stands is not over because others have become worse.
    for alert in read_overview(silent_after, most_alerts=None).alerts:
        of_a_sort[alert.name] += 1
        told = keyed(alert)
        if of_a_sort[alert.name] > MOST_OF_A_SORT:
            told = {key: about for key, about in told.items() if key in standing}
        found |= told
    for error in errors_to_tell(standing):
        found |= keyed(error)
    return found


def _tell(
    channels: Sequence[str],
    key: str,
    event: Event,
    standing: Standing,
    body: Mapping[str, Any],
) -> None:
    for channel in channels:
        alerting.queue(channel, key, event, standing.began_at, body)
    log.info("alert %s %s", key, event)


def _body(key: str, name: str, event: Event, words: tuple[str, str], now: float) -> dict[str, Any]:
    title, text = words
    if event is Event.ENDED:
        title, text = say("Solved: %(title)s", title=title), say("It does not hold any more.")
    return {
        "event": event.value,
        "alert": name,
        "key": key,
        "title": title,
        "text": text,
        "at": datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds"),
        "url": settings.PUBLIC_URL,
    }
