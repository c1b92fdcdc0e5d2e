"""What a change of settings would do before it is made: told from the record, changing nothing."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from tasks_app.core.facts import KindPolicy, Snapshot, StrategyName, TaskFacts
from tasks_app.core.figures import short
from tasks_app.core.hand_out_previews import (
    preview_alerts,
    preview_heartbeat,
    preview_limit,
    preview_stale_after,
    preview_strategy,
)
from tasks_app.core.payload_previews import preview_schema
from tasks_app.core.previews import KindPast, preview_kind
from tasks_app.core.retention import Kept, preview_retention
from tasks_app.core.states import Status
from tasks_app.core.supervision_previews import (
    RoundsPast,
    preview_backlog,
    preview_quarantine,
    preview_tick,
)
from tasks_app.core.words import Words, say
from tasks_app.services.payload_schemas import PayloadSchema
from tasks_app.services.settings_sections import (
    ALERTS,
    KINDS,
    LIMITS,
    RETENTION,
    SUPERVISOR,
    Section,
)
from tasks_app.store.reads.configuration import supervisor_settings
from tasks_app.store.reads.counts import count_by_status
from tasks_app.store.reads.kinds import kinds_without_strategy
from tasks_app.store.reads.previews import (
    HOURS,
    kind_past,
    latest_payloads,
    limit_past,
    poisoned,
    silences,
    tasks_ahead,
)
from tasks_app.store.reads.retention import going, row_seconds
from tasks_app.store.reads.series import read_oldest
from tasks_app.store.reads.snapshot import read_snapshot
from tasks_app.store.reads.supervision import read_rounds

REPLAYED: Final = 300
"""Latest attempts that stand for ready tasks where none is ready."""

QUARANTINE: Final = ("quarantine_after", "quarantine_window_seconds")

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
        return Preview(preview_limit(limit_past(name), before, after))
    if section is SUPERVISOR:
        return _supervisor(before, after)
    if section is ALERTS:
        dead = count_by_status().get(Status.DEAD, 0)
        return Preview([*preview_alerts(dead, read_oldest().age, before, after)])
    if section is RETENTION:
        return _retention(before, after)
    return Preview([])


def _retention(before: Values, after: Values) -> Preview:
    changed = [what for what in Kept if before.get(what.setting) != after.get(what.setting)]
    found = {
        what: going(what, after[what.setting])
        for what in changed
        if after.get(what.setting) is not None
    }
    said = [*preview_retention(found, row_seconds(), before, after)]
    return Preview(said, say("Judged by the record as it stands.") if said else "")


def _kind(name: str, before: Values, after: Values) -> Preview:
    past = kind_past(name)
    said = preview_kind(past, before, after)
    if before["strategy"] != after["strategy"]:
        wanted = StrategyName(after["strategy"] or supervisor_settings().default_strategy)
        said += _strategy([name], wanted, past)
    if before["payload_schema"] != after["payload_schema"]:
        said.append(_schema(name, after["payload_schema"]))
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
    held_against = PayloadSchema(schema)
    payloads = latest_payloads(kind)
    faults = filter(None, map(held_against.first_fault, payloads))
    return preview_schema(len(payloads), [place for place, _, _ in faults])


def _supervisor(before: Values, after: Values) -> Preview:
    said: list[str] = []
    if before["default_strategy"] != after["default_strategy"]:
        kinds = kinds_without_strategy()
        said += _strategy(kinds, StrategyName(after["default_strategy"]), None)
    quiet = silences()
    if any(before[name] != after[name] for name in ("stale_after_seconds", "heartbeat_seconds")):
        said += preview_stale_after(quiet, before, after)
    if before["heartbeat_seconds"] != after["heartbeat_seconds"]:
        said.append(preview_heartbeat(len(quiet.gaps), after))
    if before["backlog"] != after["backlog"]:
        said.append(preview_backlog(tasks_ahead(), before, after))
    if before["tick_seconds"] != after["tick_seconds"]:
        rounds = read_rounds()
        past = RoundsPast(rounds.rounds, rounds.longest_seconds, rounds.promoted, rounds.reclaimed)
        said.append(preview_tick(past, before, after))
    if any(before[name] != after[name] for name in QUARANTINE):
        said.append(preview_quarantine(poisoned(), before, after))
    return Preview(said, say("Judged by the record as it stands.") if said else "")


def _strategy(kinds: Sequence[str], after: StrategyName, past: KindPast | None) -> list[str]:
    snapshot, _ = read_snapshot(supervisor_settings(), seed=1)
    made_up = not any(task.kind in kinds for task in snapshot.ready)
    if made_up and past is not None:
        snapshot = _replayed(snapshot, kinds[0], past)
    return list(preview_strategy(snapshot, kinds, after, made_up=made_up))


def _replayed(snapshot: Snapshot, kind: str, past: KindPast) -> Snapshot:
    """The floor as if the latest attempts were ready once more, and nobody held anything."""
    chance = random.Random(1)
    latest = past.attempts[:REPLAYED]
    tasks = [
        TaskFacts(
            UUID(int=chance.getrandbits(128)),
            kind,
            priority=0,
            queue_at=float(place),
            estimate=max(0.001, attempt.seconds * attempt.skill),
        )
        for place, attempt in enumerate(reversed(latest))
    ]
    idle = [replace(worker, active=0, queued_seconds=0.0) for worker in snapshot.workers]
    policies = {**snapshot.kinds, kind: _open(snapshot.kinds.get(kind) or KindPolicy(kind))}
    return replace(snapshot, ready=tasks, workers=idle, kinds=policies, limits={})


def _open(policy: KindPolicy) -> KindPolicy:
    return replace(policy, paused=False, limit=None)
