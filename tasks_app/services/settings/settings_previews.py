"""What a change of settings would do before it is made: told from the record, changing nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tasks_app.core.actions.payload_previews import (
    preview_conditions,
    preview_result_schema,
    preview_schema,
)
from tasks_app.core.facts import StrategyName
from tasks_app.core.figures import short
from tasks_app.core.jobs.plans import load_plan
from tasks_app.core.masking.hidden_conditions import comparison_faults
from tasks_app.core.masking.redaction import folded
from tasks_app.core.people.people_previews import preview_rights
from tasks_app.core.settings.alert_previews import preview_alerts, preview_rule
from tasks_app.core.settings.hand_out_previews import preview_limit
from tasks_app.core.settings.kind_previews import preview_kind
from tasks_app.core.settings.limit_previews import preview_join, preview_leave, preview_waits
from tasks_app.core.settings.retention import Kept, preview_retention
from tasks_app.core.words import Words, say, side_by_side
from tasks_app.services.intake.payload_schemas import PayloadSchema
from tasks_app.services.settings.settings_sections import (
    ALERT_RULES,
    ALERTS,
    GROUPS,
    KINDS,
    LIMITS,
    RETENTION,
    SUPERVISOR,
    Section,
)
from tasks_app.services.settings.strategy_previews import spread
from tasks_app.services.settings.supervisor_previews import preview_supervisor
from tasks_app.store.reads.people.people import members_of
from tasks_app.store.reads.settings.alert_preview_facts import alerts_past, told_of
from tasks_app.store.reads.settings.configuration import supervisor_settings
from tasks_app.store.reads.settings.kind_preview_facts import (
    HOURS,
    kind_past,
    latest_conditions,
    latest_payloads,
    limit_past,
)
from tasks_app.store.reads.settings.queue_preview_facts import held_under, join_past, latest_results
from tasks_app.store.reads.settings.retention import going, row_seconds

CAPS: Final = ("max_concurrent", "rate_per_second", "burst")

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Preview:
    """What would come of a change, in sentences, and by what they were judged."""

    said: Sequence[str]
    scope: str = ""


def preview(section: Section, name: str, before: Values, after: Values) -> Preview:
    """Tell what a change of one entry would do; nothing said is nothing that can be foretold."""
    if section is KINDS:
        return _kind(name, before, after)
    if section is LIMITS:
        return Preview([*_caps(name, before, after)])
    told = _told(section, name, before, after)
    return Preview(told, say("Judged by the record as it stands.") if told else "")


def _told(section: Section, name: str, before: Values, after: Values) -> Sequence[str]:
    if section is SUPERVISOR:
        return preview_supervisor(before, after)
    if section is ALERTS:
        return [*preview_alerts(alerts_past(), before, after)]
    if section is ALERT_RULES:
        return [*preview_rule(told_of(name), before, after)]
    if section is GROUPS:
        return [*preview_rights(members_of(name), before, after)]
    if section is RETENTION:
        return _retention(before, after)
    return []


def _retention(before: Values, after: Values) -> Sequence[str]:
    changed = [what for what in Kept if before.get(what.setting) != after.get(what.setting)]
    found = {
        what: going(what, after[what.setting])
        for what in changed
        if after.get(what.setting) is not None
    }
    return [*preview_retention(found, row_seconds(), before, after)]


def _kind(name: str, before: Values, after: Values) -> Preview:
    past = kind_past(name)
    said = preview_kind(past, before, after)
    if before["strategy"] != after["strategy"]:
        wanted = StrategyName(after["strategy"] or supervisor_settings().default_strategy)
        said += spread([name], wanted, past)
    if before["limit"] != after["limit"]:
        said += _limit(name, after["limit"])
    if before["payload_schema"] != after["payload_schema"]:
        said.append(_schema(name, after["payload_schema"]))
    if before["result_schema"] != after["result_schema"]:
        said.append(_result_schema(name, after["result_schema"]))
    if before["redacted_keys"] != after["redacted_keys"]:
        said += _conditions(name, after["redacted_keys"])
    if not said:
        return Preview([])
    scope = say(
        "Judged by the latest %(attempts)s attempts of the last %(span)s (up to %(bound)s) and by "
        "the tasks as they stand.",
        attempts=f"{len(past.attempts):,}",
        span=short(3600 * past.hours),
        bound=short(3600 * HOURS),
    )
    return Preview(said, scope)


def _schema(kind: str, schema: Any) -> Words:
    payloads = latest_payloads(kind)
    return preview_schema(len(payloads), _faults(schema, payloads, "payload"))


def _conditions(kind: str, keys: Sequence[str]) -> Iterator[Words]:
    hidden = {kind: folded(keys)} if keys else {}
    plans = {job: load_plan(plan) for job, plan in latest_conditions()} if hidden else {}
    jobs = [job for job, plan in plans.items() if comparison_faults(plan, hidden)]
    if jobs:
        yield preview_conditions(jobs)


def _result_schema(kind: str, schema: Any) -> Words:
    results = latest_results(kind)
    return preview_result_schema(len(results), _faults(schema, results, "result"))


def _faults(schema: Any, values: Sequence[Any], root: str) -> list[Words]:
    held_against = PayloadSchema(schema)
    found = (held_against.first_fault(value, root) for value in values)
    return [side_by_side(each[0], each[2], between=": ") for each in found if each]


def _caps(limit: str, before: Values, after: Values) -> Iterator[str]:
    yield from preview_limit(limit_past(limit), before, after)
    if any(before[name] != after[name] for name in CAPS):
        yield from preview_waits(held_under(limit), after)


def _limit(kind: str, limit: str | None) -> Iterator[Words]:
    past, settings = join_past(kind, limit), LIMITS.find(limit) if limit else None
    if limit is None or settings is None:
        yield preview_leave(past)
    else:
        yield from preview_join(past, limit, settings)
