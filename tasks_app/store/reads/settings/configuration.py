"""Settings and kinds as the decisions want them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tasks_app.core.alerts.detection import AlertThresholds
from tasks_app.core.facts import (
    Breaker,
    KindPolicy,
    Load,
    Order,
    RetryPolicy,
    StrategyName,
)
from tasks_app.core.settings.retention import Kept
from tasks_app.models import AlertSettings, Kind, RetentionSettings, SupervisorSettings
from tasks_app.store import sql
from tasks_app.store.reads.dispatch.breakers import IS_PROBED


def alert_thresholds() -> AlertThresholds:
    """The one row of alert thresholds; the defaults where there is none."""
    row = AlertSettings.objects.filter(id=1).first() or AlertSettings()
    return AlertThresholds(
        row.dead_at_least, row.oldest_seconds, row.pinned_seconds, row.snapshot_seconds
    )


def days_kept() -> dict[Kept, int | None]:
    """For how many days each is kept once it has ended; None is for ever."""
    row = RetentionSettings.objects.filter(id=1).first() or RetentionSettings()
    return {what: getattr(row, what.setting) for what in Kept}


def supervisor_settings() -> SupervisorSettings:
    """The one row of settings."""
    return SupervisorSettings.objects.get(id=1)


KINDS = f"""
SELECT k.name, coalesce(nullif(k.strategy, ''), s.default_strategy), k."order", k.load, k.paused,
       coalesce(c.position, 0), k.quarantined_at IS NOT NULL, k.limit_name,
       CASE WHEN k.breaker_failures IS NULL THEN 'closed'
            WHEN b.state = 'half_open' AND {IS_PROBED} THEN 'open'
            ELSE coalesce(b.state, 'closed') END,
       k.retry_budget IS NOT NULL, k.by_people
  FROM kind k
 CROSS JOIN supervisor_settings s
  LEFT JOIN round_robin_cursor c ON c.kind_id = k.name
  LEFT JOIN breaker_state b ON b.scope = 'kind' AND b.name = k.name
"""  # noqa: S608  a constant


def kind_policies() -> dict[str, KindPolicy]:
    """How each kind is dispatched, with the default strategy filled in."""
    return policies_of(sql.rows(KINDS))


def policies_of(rows: Sequence[tuple[Any, ...]]) -> dict[str, KindPolicy]:
    """The same from the rows of ``KINDS``."""
    return {
        r[0]: KindPolicy(
            r[0],
            StrategyName(r[1]),
            Order(r[2]),
            Load(r[3]),
            paused=r[4],
            cursor=int(r[5]),
            quarantined=r[6],
            limit=r[7],
            breaker=Breaker(r[8]),
            has_retry_budget=r[9],
            by_people=r[10],
        )
        for r in rows
    }


def retry_policies(kinds: Sequence[str]) -> dict[str, RetryPolicy]:
    """How each of these kinds retries."""
    return {
        kind.name: RetryPolicy(
            max_attempts=kind.max_attempts,
            base=kind.backoff_base_seconds,
            cap=kind.backoff_cap_seconds,
            jitter=kind.backoff_jitter,
            permanent_errors=tuple(kind.permanent_errors),
            retryable_errors=tuple(kind.retryable_errors),
        )
        for kind in Kind.objects.filter(name__in=kinds)
    }


@dataclass(frozen=True, slots=True)
class KindDoor:
    """What a submission of one kind is checked against."""

    name: str
    payload_schema: dict[str, Any] | bool | None


def kind_doors() -> dict[str, KindDoor]:
    """Every kind with its payload schema."""
    return {
        kind.name: KindDoor(kind.name, kind.payload_schema)
        for kind in Kind.objects.only("name", "payload_schema")
    }
