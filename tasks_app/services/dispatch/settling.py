"""Carrying the ends of tasks over to their dependents, a bounded portion in each round."""

import json
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from tasks_app.core.facts import ErrorFacts
from tasks_app.core.jobs.dependencies import Fate, judge_edge
from tasks_app.core.states import DeadReason, Status
from tasks_app.services.isolation import apart
from tasks_app.store.actions import unleased_ends
from tasks_app.store.intake import dependencies
from tasks_app.store.intake.dependencies import Edge, Entry

EDGES_AT_ONCE: Final = 1000
"""Edges, and entries of the inbox, that one round looks at: 50 us each at most. What is left stays
in the inbox, with the place where the next round goes on."""


def carry_over() -> int:
    """Judge a portion of what waits in the inbox; return how much it got through. Part of a round.

    Every edge is judged here and nowhere else: an end, a death and a requeue are only announced.
    """
    taken = dependencies.take_settled(EDGES_AT_ONCE)
    dependencies.put_back(taken.rest)
    bad: list[Edge] = []
    apart("a dependency of task", taken.edges, _judge, _dependent_of, bad.append)
    # Behind the others, for the next round: an end that is not carried over would strand a task.
    dependencies.put_back([_entry_of(edge) for edge in bad])
    return taken.looked_at - taken.passed_over - len(bad)


def _entry_of(edge: Edge) -> Entry:
    if edge.revived:
        return Entry(edge.task_id, own=True)
    return Entry(edge.depends_on, only=edge.task_id)


def _dependent_of(edge: Edge) -> UUID:
    return edge.task_id


def _judge(edges: Sequence[Edge]) -> None:
    verdicts = [
        (edge, judge_edge(edge.status, edge.on_dead, revived=edge.revived)) for edge in edges
    ]
    dependencies.move_edges([(e.task_id, e.depends_on, v.state) for e, v in verdicts])
    dying = {e.task_id: e for e, v in verdicts if v.fate is Fate.DIES}
    skipped = {e.task_id for e, v in verdicts if v.fate is Fate.SKIPS}
    unleased_ends.close_waiting(
        list(dying),
        Status.DEAD,
        reason=DeadReason.DEPENDENCY,
        errors=[json.dumps(_dependency_error(edge)) for edge in dying.values()],
    )
    unleased_ends.close_waiting(sorted(skipped - dying.keys()), Status.SKIPPED)


def _dependency_error(edge: Edge) -> dict[str, object]:
    message = f"It depends on task {edge.depends_on}, which is {edge.status}."
    return ErrorFacts(type="DependencyNotCompleted", message=message).as_json()
