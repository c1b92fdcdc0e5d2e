"""Switching the strategy of one kind: the remedy of a pinned worker."""

from collections.abc import Sequence

from tasks_app.core.facts import StrategyName
from tasks_app.services.people.people import Actor, Role, needs
from tasks_app.services.settings.configuration import Values, note_change
from tasks_app.services.settings.settings_previews import preview
from tasks_app.services.settings.settings_sections import KINDS
from tasks_app.services.transactions import transactional


def preview_switch(kind: str, strategy: StrategyName) -> Sequence[str] | None:
    """What a switch would do, in sentences; None where there is no such kind."""
    before = KINDS.find(kind)
    return None if before is None else preview(KINDS, kind, before, _after(before, strategy)).said


@needs(Role.ADMIN)
@transactional
def switch_strategy(kind: str, strategy: StrategyName, actor: Actor, reason: str = "") -> bool:
    """Hand a kind out by another strategy from the next round. False when nothing changed.

    Raises LookupError where there is no such kind.
    """
    before = KINDS.every(locked=True).get(kind)
    if before is None:
        raise LookupError(f"there is no kind {kind}")
    after = _after(before, strategy)
    if not note_change(actor, KINDS.noun, kind, (before, after), reason=reason.strip()):
        return False
    KINDS.write(kind, {"strategy": after["strategy"]}, new=False)
    return True


def _after(before: Values, strategy: StrategyName) -> Values:
    return {**before, "strategy": strategy.value}
