"""Where values came from is known for every way that a plan moves them."""

import json
from typing import Any

import pytest

from tasks_app.core.jobs.plans import Plan, load_plan
from tasks_app.core.masking.hidden_conditions import comparison_faults, lock_faults, shown_plan
from tasks_app.core.masking.hidden_queries import names_hidden_path, shown_query
from tasks_app.core.masking.hidden_words import Source, part_of, secrets_of, shown_part
from tasks_app.core.masking.origins import (
    MOST_OF_A_STEP,
    PAYLOAD,
    Origin,
    as_json,
    load_origins,
    origins_of_error,
    origins_of_item,
    origins_of_job,
    origins_of_step,
    origins_of_undo,
)
from tasks_app.core.masking.redaction import MASK, folded

HIDDEN = {"classify": folded(["label"])}


def plan(*steps: dict[str, Any], **more: Any) -> Plan:
    first = {"name": "look", "kind": "classify"}
    return load_plan({"steps": [first, *steps], **more})


def shown(value: Any, origins: list[Origin], kind: str = "draft") -> Any:
    return shown_part(value, PAYLOAD, Source(kind, origins), HIDDEN)


def test_a_reference_to_a_hidden_place_is_hidden_and_one_beside_it_is_not() -> None:
    payload = {"a": [{"$result": "look.label"}], "b": {"$result": "look.sure"}, "c": "plain"}
    found = plan({"name": "draft", "kind": "draft", "payload": payload})
    told = shown({"a": ["fraud"], "b": 0.7, "c": "plain"}, origins_of_step(found, found.steps[1]))
    assert told == {"a": [MASK], "b": 0.7, "c": "plain"}


def test_a_whole_result_hides_what_its_kind_hides_at_any_depth() -> None:
    found = plan({"name": "draft", "kind": "draft", "payload": {"all": {"$result": "look"}}})
    told = shown({"all": [{"LABEL": {"x": 1}, "n": 2}]}, origins_of_step(found, found.steps[1]))
    assert told == {"all": [{"LABEL": MASK, "n": 2}]}


@pytest.mark.parametrize(
    ("for_each", "reference", "hides"),
    [
        ({"$result": "look.rows"}, "label", True),
        ({"$result": "look.rows"}, "n", False),
        ({"$result": "look.label"}, "", True),
        ({"$result": "look.label"}, "deep.er", True),
        ([{"x": {"$result": "look.label"}, "n": 1}], "x", True),
        ([{"x": {"$result": "look.label"}, "n": 1}], "n", False),
        ([{"x": {"y": {"$result": "look.label"}}}], "x.y", True),
        ([{"x": {"$result": "look"}}], "x.label", True),
        ([{"label": "typed into the plan"}], "label", True),
        ([{"$literal": {"label": 1}}], "n", False),
    ],
)
def test_an_item_keeps_the_origin_of_its_list(for_each: Any, reference: str, hides: bool) -> None:
    step = {"name": "each", "kind": "draft", "for_each": for_each}
    found = plan({**step, "payload": {"it": {"$item": reference}}})
    told = shown({"it": "fraud"}, origins_of_item(found, found.steps[1], 0, 1))
    assert (told == {"it": MASK}) is hides


def test_a_part_of_an_item_hides_what_was_filled_in_below_it() -> None:
    step = {"name": "each", "kind": "draft", "for_each": [{"x": {"y": {"$result": "look.label"}}}]}
    found = plan({**step, "payload": {"it": {"$item": "x"}}})
    told = shown({"it": {"y": "fraud", "z": 1}}, origins_of_item(found, found.steps[1], 0, 1))
    assert told == {"it": {"y": MASK, "z": 1}}


def test_a_compensation_hides_what_the_undone_task_was_given_and_gave() -> None:
    found = plan({"name": "draft", "kind": "draft", "payload": {"a": {"$result": "look.label"}}})
    look, draft = found.steps
    undo = shown(
        {"step": "look", "payload": {"label": 1, "to": 2}, "result": {"label": 3, "n": 4}},
        origins_of_undo(found, look, origins_of_step(found, look)),
        "undo",
    )
    assert undo == {"step": "look", "payload": {"label": MASK, "to": 2}} | {
        "result": {"label": MASK, "n": 4}
    }
    carried = origins_of_undo(found, draft, origins_of_step(found, draft))
    assert shown({"payload": {"a": "fraud"}}, carried, "undo") == {"payload": {"a": MASK}}


def test_a_template_of_a_compensation_hides_what_it_refers_to() -> None:
    undo = {"kind": "undo", "payload": {"was": {"$result": "look.label"}}}
    found = plan({"name": "draft", "kind": "draft", "depends_on": ["look"], "compensation": undo})
    origins = origins_of_undo(found, found.steps[1], ())
    assert shown({"was": "fraud"}, origins, "undo") == {"was": MASK}


def test_a_result_of_a_job_names_the_kinds_that_it_is_put_together_from() -> None:
    last = plan()
    assert [(each.at, each.kind) for each in origins_of_job(last)] == [
        (("result", "look"), "classify")
    ]
    made = plan(result={"a": {"$result": "look.label"}})
    assert [(each.at, each.path) for each in origins_of_job(made)] == [
        (("result", "a"), ("label",))
    ]


def test_what_is_said_of_a_step_that_cannot_be_filled_in_came_from_all_it_refers_to() -> None:
    step = {"name": "draft", "kind": "draft", "payload": {"a": {"$result": "look.label"}}}
    found = plan({**step, "when": {"$result": "look.sure", "less": 1}})
    told = origins_of_error(found, found.steps[1])
    assert {each.path for each in told} == {("label",), ("sure",)}


def test_origins_come_back_from_the_record_as_they_were_written() -> None:
    found = [Origin(("payload", "a"), "classify", ("label", "0")), Origin(("told",), None)]
    text = as_json(found)
    assert text is not None
    assert load_origins(json.loads(text)) == found
    assert as_json([]) is None


def test_too_many_origins_hide_their_part_whole_rather_than_not_at_all() -> None:
    payload = [{"$item": str(n)} for n in range(20)]
    step = {"name": "each", "kind": "draft", "for_each": {"$result": "look.rows"}}
    found = plan({**step, "payload": payload})
    items = MOST_OF_A_STEP // 10
    origins = origins_of_item(found, found.steps[1], 0, items)
    assert len(origins) * items < MOST_OF_A_STEP
    assert shown(["fraud"] * 20, origins) == MASK
    assert shown_part(["x"], PAYLOAD, Source("draft", origins), {"other": folded(["k"])}) == ["x"]


def test_a_kind_that_hides_more_later_hides_it_where_it_went() -> None:
    found = plan({"name": "draft", "kind": "draft", "payload": {"n": {"$result": "look.sure"}}})
    origins = origins_of_step(found, found.steps[1])
    later = {"classify": folded(["label", "sure"])}
    assert shown({"n": 1}, origins) == {"n": 1}
    assert shown_part({"n": 1}, PAYLOAD, Source("draft", origins), later) == {"n": MASK}


def test_what_is_hidden_by_its_origin_is_looked_for_in_words() -> None:
    origins = [Origin(("payload", "a"), "classify", ("label",))]
    found = secrets_of({"a": {"b": "a fraud"}, "c": "plain"}, PAYLOAD, Source("d", origins), HIDDEN)
    assert found == {"a fraud", "a%20fraud"}


def test_a_place_that_is_no_longer_there_hides_nothing_else() -> None:
    origins = [Origin(("payload", "a", "7"), "classify", ("label",))]
    for value in ({"a": ["x"]}, {"b": 1}, ["x"], "x", None):
        assert shown(value, origins) == value


def test_within_what_is_masked_everything_is() -> None:
    assert part_of({"a": MASK}, ("a", "b", 0)) == MASK
    assert part_of({"a": {"b": [1]}}, ("a", "b", 0)) == 1


@pytest.mark.parametrize(
    ("when", "hides"),
    [
        ({"$result": "look.label", "equals": "fraud"}, True),
        ({"$result": "look.label", "in": ["fraud"]}, True),
        ({"$result": "look.LABEL.part", "greater": "f"}, True),
        ({"$result": "look.label", "exists": True}, True),
        ({"$result": "look", "equals": {"label": "fraud"}}, True),
        ({"$result": "look.rows", "in": [["fraud"]]}, True),
        ({"$result": "draft.mine", "equals": {"$result": "look.label"}}, True),
        ({"$result": "draft", "equals": {"$result": "look"}}, True),
        ({"not": {"or": [{"$result": "look.label", "equals": "fraud"}]}}, True),
        ({"$result": "look.sure", "less": 0.7}, False),
        ({"$result": "draft.label", "equals": "x"}, False),
    ],
)
def test_a_comparison_with_a_hidden_value_is_found_wherever_it_stands(
    when: dict[str, Any], hides: bool
) -> None:
    third = {"name": "send", "kind": "send", "when": when}
    found = plan({"name": "draft", "kind": "draft"}, third)
    faults = comparison_faults(found, HIDDEN)
    assert bool(faults) is hides
    assert all(fault.place.startswith("steps[2].when") for fault in faults)
    assert comparison_faults(found, {}) == []


@pytest.mark.parametrize(
    ("step", "hides"),
    [
        ({"lock_key": {"$result": "look.label"}}, True),
        ({"lock_key": {"$result": "look.LABEL.0"}}, True),
        ({"lock_key": {"$result": "look.sure"}}, False),
        ({"lock_key": "fraud"}, False),
        ({"for_each": {"$result": "look.rows"}, "lock_key": {"$item": "label"}}, True),
        ({"for_each": {"$result": "look.label"}, "lock_key": {"$item": ""}}, True),
        ({"for_each": {"$result": "look.rows"}, "lock_key": {"$item": "sure"}}, False),
        ({"for_each": ["a", {"$result": "look.label"}], "lock_key": {"$item": ""}}, True),
        ({"for_each": [{"label": "typed"}], "lock_key": {"$item": "label"}}, False),
        ({"payload": {"it": {"$result": "look.label"}}}, False),
    ],
)
def test_a_lock_by_a_hidden_value_is_found_wherever_it_came_from(
    step: dict[str, Any], hides: bool
) -> None:
    found = plan({"name": "draft", "kind": "draft", **step})
    faults = lock_faults(found, HIDDEN)
    assert [fault.place for fault in faults] == (["steps[1].lock_key"] if hides else [])
    assert all("classify" in fault.message for fault in faults)
    assert lock_faults(found, {}) == []


def test_a_plan_does_not_say_what_a_hidden_value_is_compared_with() -> None:
    inner: list[dict[str, Any]] = [
        {"$result": "look.label", "in": ["fraud", "theft"]},
        {"$result": "look.sure", "less": 0.7},
    ]
    steps = [
        {"name": "look", "kind": "classify", "payload": {"label": "x"}},
        {"name": "send", "kind": "send", "when": {"and": inner}},
    ]
    assert shown_plan({"steps": steps}, HIDDEN) == {
        "steps": [
            {"name": "look", "kind": "classify", "payload": {"label": MASK}},
            {
                "name": "send",
                "kind": "send",
                "when": {"and": [{**inner[0], "in": MASK}, inner[1]]},
            },
        ]
    }


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("kind:classify status:dead", "kind:classify status:dead"),
        ("payload.label:fraud", "payload.label:[redacted]"),
        ("payload.about:fraud", "payload.about:[redacted]"),
        ("result.sure:>0.5", "result.sure:>[redacted]"),
        ("-(boom OR error:fraud) lock:x", "-([redacted] OR error:[redacted]) lock:[redacted]"),
        ("created:>1h kind:(", MASK),
    ],
)
def test_a_query_of_others_does_not_say_which_value_it_looks_for(query: str, told: str) -> None:
    assert shown_query(query, HIDDEN) == told
    assert shown_query(query, {}) == query


def test_a_query_names_a_hidden_path_however_deep_it_stands() -> None:
    assert names_hidden_path("kind:a -(x OR payload.deep.Label.x:1)", HIDDEN)
    assert not names_hidden_path("payload.sure:1 label", HIDDEN)
