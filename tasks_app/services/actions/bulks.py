"""Acts on many tasks: looked at first, frozen at the confirmation, held, undone or aborted."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID, uuid4

from django.utils import timezone

from tasks_app import events
from tasks_app.core.actions.bulks import (
    HOLD_SECONDS,
    OPEN,
    BulkAction,
    BulkOrder,
    BulkState,
    order_faults,
)
from tasks_app.core.dispatch.drain_time import DrainTime, drain_time
from tasks_app.core.facts import Breaker, KindPolicy
from tasks_app.core.faults import Fault
from tasks_app.core.states import Status
from tasks_app.core.words import say, side_by_side
from tasks_app.models.ids import new_id
from tasks_app.services.actions.batch_actions import act
from tasks_app.services.actions.operations import ActionResult
from tasks_app.services.people.auditing import note
from tasks_app.services.people.people import Actor, Role, needs
from tasks_app.services.transactions import transactional
from tasks_app.store.actions import bulks
from tasks_app.store.actions.bulks import LONGEST_WANTED
from tasks_app.store.reads.actions.bulk_preview import Preview, read_preview
from tasks_app.store.reads.actions.bulks import BulkRow, bulk_of_key, find_bulk
from tasks_app.store.reads.actions.refusals import told
from tasks_app.store.reads.dispatch.round_snapshot import worker_facts
from tasks_app.store.reads.search.found_sets import FoundSet
from tasks_app.store.reads.settings.configuration import kind_policies, supervisor_settings

MOST_FOUND: Final = 1_000_000
"""Tasks of one act."""

FREEZE_SECONDS: Final = 30.0
"""What freezing them may take, while a person waits."""

NARROW: Final = say("narrow it down by kind, status or age, such as age:>1d")

NAMES: Final = {BulkAction.PRIORITY: "change priority", BulkAction.DEADLINE: "move deadline"}
"""How the audit calls an act, where not by its own name."""


class OrderInvalid(ValueError):
    """Nothing was begun; ``faults`` says what is wrong, each with its field."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(map(str, faults)))


class BulkKeyTaken(OrderInvalid):
    """Nothing was begun: the key is that of another act."""


@dataclass(frozen=True, slots=True)
class DryRun:
    """What an act would come to, in numbers: nothing was done.

    ``kinds`` counts those that it will touch, ``refused`` maps each reason to how many it leaves
    alone, ``held_back`` maps a kind to what holds it back, ``drain`` is only for a requeue.
    """

    preview: Preview
    kinds: Mapping[str, int]
    refused: Mapping[str, int]
    held_back: Mapping[str, str]
    drain: DrainTime | None

    @property
    def touched(self) -> int:
        """How many tasks it will touch, as they are now."""
        return self.preview.tasks - sum(self.refused.values())

    @property
    def running(self) -> int:
        """How many of them a worker has in work."""
        return sum(c.tasks for c in self.preview.chosen if c.fits and c.status == Status.RUNNING)


def plan(action: BulkAction, ids: Sequence[UUID]) -> DryRun:
    """Look at what an act on these tasks would come to."""
    preview = read_preview(ids, action)
    kinds: dict[str, int] = {}
    work: dict[str, float] = {}
    refused: dict[str, int] = {}
    for each in preview.chosen:
        if each.fits:
            kinds[each.kind] = kinds.get(each.kind, 0) + each.tasks
            work[each.kind] = work.get(each.kind, 0.0) + each.seconds
        else:
            why = told(action, Status(each.status))
            refused[why] = refused.get(why, 0) + each.tasks
    if preview.closed:
        closed = say("A task that it depends on is closed and will never complete.")
        refused[closed] = preview.closed
    if action is not BulkAction.REQUEUE:
        return DryRun(preview, kinds, refused, {}, None)
    workers = worker_facts(supervisor_settings().stale_after_seconds)
    drain = drain_time(work, workers, [preview.longest_lock]) if work else None
    return DryRun(preview, kinds, refused, _held_back(kinds), drain)


def _held_back(kinds: Mapping[str, int]) -> dict[str, str]:
    policies = kind_policies()
    found = {kind: _why_held(policies[kind]) for kind in kinds if kind in policies}
    return {kind: why for kind, why in found.items() if why}


def _why_held(policy: KindPolicy) -> str:
    if policy.paused:
        return say("is paused: they wait until it goes on.")
    if policy.quarantined:
        return say("is in quarantine: they wait until it goes on.")
    return (
        ""
        if policy.breaker is Breaker.CLOSED
        else say("has an open breaker: they wait until it goes on.")
    )


def new_key() -> str:
    """What a form carries so that it counts once, however often it is sent."""
    return uuid4().hex


@needs(Role.OPERATOR)
@transactional
def begin(order: BulkOrder, ids: Sequence[UUID], actor: Actor) -> BulkRow | None:
    """Freeze the tasks and hold the act for ``HOLD_SECONDS``; None where none of them exists.

    A form sent twice gets the bulk that it began first. Raises OrderInvalid.
    """
    return _begin(order, actor, "", lambda bulk_id: bulks.freeze(bulk_id, ids))


@needs(Role.OPERATOR)
@transactional
def begin_on(order: BulkOrder, found: FoundSet, actor: Actor, wanted: str) -> BulkRow | None:
    """Do the same with all that a query finds; ``wanted`` is the query, for the audit.

    Raises OrderInvalid, also where it finds more than ``MOST_FOUND``, or takes too long.
    """

    def freeze(bulk_id: UUID) -> bulks.Frozen:
        try:
            frozen = bulks.freeze_found(bulk_id, found, MOST_FOUND, FREEZE_SECONDS)
        except TimeoutError as late:
            raise OrderInvalid(
                [Fault("query", side_by_side(str(late), NARROW, between="; "))]
            ) from late
        if frozen.total > MOST_FOUND:
            many = say(
                "finds more than the %(most)s tasks that one act may touch", most=f"{MOST_FOUND:,}"
            )
            told = side_by_side(many, NARROW, between="; ")
            raise OrderInvalid([Fault("query", told)])
        return frozen

    return _begin(order, actor, wanted, freeze)


def _begin(
    order: BulkOrder, actor: Actor, wanted: str, freeze: Callable[[UUID], bulks.Frozen]
) -> BulkRow | None:
    faults = order_faults(order, timezone.now())
    if faults:
        raise OrderInvalid(faults)
    order = replace(order, key=order.key or new_key())
    known = _known(order, wanted)
    if known is not None:
        return known
    bulk_id = new_id()
    if bulks.open_bulk(bulk_id, order, actor=actor.name, wanted=wanted, hold=HOLD_SECONDS) is None:
        return _known(order, wanted)
    frozen = freeze(bulk_id)
    if not frozen.total:
        bulks.discard(bulk_id)
        return None
    _note(order, bulk_id, frozen, actor, wanted)
    return find_bulk(bulk_id)


def _known(order: BulkOrder, wanted: str) -> BulkRow | None:
    """The bulk that was begun with this key. Raises BulkKeyTaken where another act was."""
    known = bulk_of_key(order.key)
    if known is None:
        return None
    here = (order.action, order.params, order.canary, wanted[:LONGEST_WANTED])
    if (known.action, known.params, known.canary, known.wanted) != here:
        said = say(
            "on record already with another act, as bulk %(bulk)s; give this one a key of its own",
            bulk=known.id,
        )
        raise BulkKeyTaken([Fault("key", said)])
    return known


@needs(Role.OPERATOR)
@transactional
def at_once(order: BulkOrder, task_id: UUID, actor: Actor) -> ActionResult:
    """Act on one task now: what is one can be looked at, and is not held. Raises OrderInvalid."""
    faults = order_faults(order, timezone.now())
    if faults:
        raise OrderInvalid(faults)
    preview = read_preview([task_id], order.action)
    done, refused = act(order.action, [task_id], order.params)
    if done:
        events.wake_supervisor()
        note(
            actor,
            NAMES.get(order.action, order.action.value),
            str(task_id),
            reason=order.reason.strip(),
            change=(_before(order, _statuses(preview), preview), order.params or None),
            tasks=[str(task_id)],
        )
    return ActionResult(done, refused)


def _before(
    order: BulkOrder, statuses: Mapping[str, int], found: Preview | bulks.Frozen
) -> Mapping[str, object]:
    """What an act is about to change: the values, and of each how many tasks have it."""
    if order.action is BulkAction.PRIORITY:
        return {"priority": found.priorities}
    if order.action is BulkAction.DEADLINE:
        return {"deadline_at": found.deadlines}
    return statuses


def _statuses(preview: Preview) -> Mapping[str, int]:
    statuses: Counter[str] = Counter()
    for each in preview.chosen:
        statuses[each.status] += each.tasks
    return statuses


def _note(order: BulkOrder, bulk_id: UUID, frozen: bulks.Frozen, actor: Actor, wanted: str) -> None:
    note(
        actor,
        NAMES.get(order.action, order.action.value),
        f"{frozen.total} tasks, bulk {bulk_id}",
        count=frozen.total,
        reason=order.reason.strip(),
        wanted=wanted,
        change=(_before(order, frozen.statuses, frozen), order.params or None),
        bulk=str(bulk_id),
        canary=order.canary or None,
    )


@needs(Role.OPERATOR)
@transactional
def undo(bulk_id: UUID, actor: Actor) -> bool:
    """Take a held bulk back: nothing of it was done. False where it has begun or ended."""
    return _end(bulk_id, BulkState.UNDONE, "undo", actor, [BulkState.HELD])


@needs(Role.OPERATOR)
@transactional
def abort(bulk_id: UUID, actor: Actor) -> bool:
    """Stop a bulk after the batch that is under way; what it has moved stays moved."""
    return _end(bulk_id, BulkState.ABORTED, "abort", actor, sorted(OPEN))


def _end(
    bulk_id: UUID, state: BulkState, action: str, actor: Actor, from_: Sequence[BulkState]
) -> bool:
    if not bulks.finish(bulk_id, state, f"{state.capitalize()} by {actor.name}.", from_):
        return False
    found = find_bulk(bulk_id)
    left = found.left if found else 0
    note(actor, f"{action} bulk", f"bulk {bulk_id}", count=left, bulk=str(bulk_id), left=left)
    return True
