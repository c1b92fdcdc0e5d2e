"""What one entry of the configuration must satisfy, whichever way it comes in: form or file."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import Model

from tasks_app.core.alerts.notification import ChannelKind
from tasks_app.core.alerts.webhooks import target_of
from tasks_app.core.faults import Fault
from tasks_app.core.intake.search_paths import key_faults, path_faults
from tasks_app.core.settings.configuration import kind_faults, supervisor_faults
from tasks_app.core.words import say
from tasks_app.models import AlertChannel, Kind, SupervisorSettings
from tasks_app.services.alerts.webhooks import reach
from tasks_app.services.intake.payload_schemas import schema_faults

Values = Mapping[str, Any]
Check = Callable[[Values], Iterator[Fault]]


def check_kind(values: Values) -> Iterator[Fault]:
    """Faults between a kind's settings, and in its schemas; what is missing is not judged."""
    yield from kind_faults(
        backoff_base=values.get("backoff_base_seconds", 0.0),
        backoff_cap=values.get("backoff_cap_seconds", math.inf),
        permanent_errors=values.get("permanent_errors", []),
        retryable_errors=values.get("retryable_errors", []),
    )
    yield from path_faults(values.get("searchable_paths", []))
    yield from key_faults(values.get("redacted_keys", []))
    for name, value in values.items():
        if name.endswith("_schema") and value is not None:
            for fault in schema_faults(value):
                yield Fault(name, say("No valid JSON Schema: at %(fault)s", fault=str(fault)))


def check_supervisor(values: Values) -> Iterator[Fault]:
    """Faults between the supervisor's settings."""
    yield from supervisor_faults(
        tick=values["tick_seconds"],
        leader_lease=values["leader_lease_seconds"],
        heartbeat=values["heartbeat_seconds"],
        stale_after=values["stale_after_seconds"],
        freeze_limit=settings.LEADER_LEASE_SECONDS / 2,
    )


def check_channel(values: Values) -> Iterator[Fault]:
    """Faults of a channel's address, by its kind; where it leads is looked up when it is used."""
    address = values.get("address", "")
    if values.get("kind") == ChannelKind.WEBHOOK:
        try:
            target_of(address, reach())
        except ValueError as error:
            yield Fault("address", say("The address %(error)s", error=error))
        return
    for each in address.split(","):
        try:
            validate_email(each.strip())
        except ValidationError:
            yield Fault("address", say("%(each)s is no mail address", each=repr(each.strip())))


CHECKS: Final[Mapping[type[Model], Check]] = {
    Kind: check_kind,
    SupervisorSettings: check_supervisor,
    AlertChannel: check_channel,
}
"""What one field alone cannot know, by model."""
