"""Tasks that were filled in before their origins were noted: what a migration says of them."""

from importlib import import_module

from django.db import connection

from tasks_app.core.masking.hidden_words import Source, shown_part
from tasks_app.core.masking.origins import PAYLOAD, RESULT, load_origins
from tasks_app.core.masking.redaction import MASK, folded
from tasks_app.models import Task
from tests.jobs import JobFloor

MIGRATION = import_module("tasks_app.migrations.0034_origins")
HIDDEN = {"a": folded(["label"])}


def test_what_was_filled_in_before_counts_as_from_a_hidden_place(record: None) -> None:
    floor = JobFloor()
    floor.lead()
    floor.hire("w1", 5)
    job = floor.job(
        [
            {"name": "look", "kind": "a", "payload": {"label": "x"}},
            {"name": "draft", "kind": "b", "payload": {"it": {"$result": "look.label"}}},
            {"name": "plain", "kind": "b", "payload": {"n": 1}},
            {"name": "each", "kind": "a", "for_each": [1], "payload": {"n": {"$item": ""}}},
        ]
    )
    floor.until_still()
    Task.objects.update(origins=None)
    with connection.cursor() as cursor:
        for statement in (MIGRATION.MARK_FILLED, MIGRATION.MARK_JOINS, MIGRATION.MARK_OTHERS):
            cursor.execute(statement)
    tasks = {
        (task.step.place, task.step.role): task
        for task in Task.objects.filter(job_id=job).select_related("step")
    }

    def shown(place: int, role: str, part: str, value: object) -> object:
        task = tasks[place, role]
        source = Source(task.kind_id, load_origins(task.origins))
        return shown_part(value, part, source, HIDDEN)

    assert shown(1, "step", PAYLOAD, {"it": "fraud"}) == MASK
    assert shown(3, "item", PAYLOAD, {"n": 1}) == MASK
    assert shown(0, "step", PAYLOAD, {"label": "x", "n": 1}) == {"label": MASK, "n": 1}
    assert shown(2, "step", PAYLOAD, {"n": 1}) == {"n": 1}
    assert shown(3, "join", RESULT, [{"label": "x"}]) == [{"label": MASK}]
    assert all(task.origins for task in tasks.values())
