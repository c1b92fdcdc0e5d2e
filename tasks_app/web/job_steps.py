"""The steps of a job as a list: what each is, needs and took; what the graph draws, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tasks_app.core.jobs.plans import Need, Step
from tasks_app.core.masking.redaction import Hidden
from tasks_app.core.states import FINAL
from tasks_app.store.reads.jobs.job_progress import JobTimes
from tasks_app.store.reads.jobs.jobs import JobAnswer, StepAnswer
from tasks_app.web.job_graph import condition_of, undo_status


@dataclass(frozen=True, slots=True)
class StepLine:
    """One step with its answer; ``seconds`` is what a task of it took, or should take.

    ``observed``: it is measured. ``ended`` of ``items`` where it stands for many.
    """

    answer: StepAnswer
    step: Step
    needs: Sequence[Need]
    condition: str
    items: int
    ended: int
    seconds: float
    observed: bool
    undo: str

    @property
    def items_by_status(self) -> Mapping[str, int]:
        """How its items stand."""
        return self.answer.items


def list_steps(answer: JobAnswer, times: JobTimes, hidden: Hidden) -> list[StepLine]:
    """Every step, in the order of the plan, for somebody from whom so much is hidden."""
    expected = {each.name: each.seconds for each in times.steps(answer.plan)}
    return [
        StepLine(
            answer=found,
            step=step,
            needs=step.needs,
            condition=condition_of(answer.plan, step, hidden),
            items=sum(found.items.values()),
            ended=sum(count for status, count in found.items.items() if status in FINAL),
            seconds=expected[step.name],
            observed=place in times.observed,
            undo=undo_status(found.compensations),
        )
        for place, (step, found) in enumerate(zip(answer.plan.steps, answer.steps, strict=True))
    ]
