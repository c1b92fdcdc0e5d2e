"""Plans from outside: every fault at once, each with its place."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.faults import Fault
from tasks_app.core.jobs.plan_checks import check_plan
from tasks_app.core.jobs.plans import MOST_STEPS, Plan, load_plan

KINDS = {"a", "b", "undo"}


def faults(steps: object, **plan: Any) -> list[tuple[str, str]]:
    return [(f.place, f.message) for f in check_plan({"steps": steps, **plan}, KINDS).faults]


def step(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "kind": "a", **fields}


def plan_of(*steps: dict[str, Any], **plan: Any) -> Plan:
    checked = check_plan({"steps": list(steps), **plan}, KINDS)
    assert checked.plan is not None, checked.faults
    return checked.plan


def test_all_faults_are_named_at_once_each_with_its_place() -> None:
    found = faults(
        [
            {"name": "x y", "kind": "aa"},
            step("same"),
            step("same", depends_on=["gone", "same", {"on": "later", "on_dead": "explode"}]),
            step("uses", payload={"deep": [{"$result": "later.label"}]}),
            step("later", quorum=2, extra=1, max_attempts=0),
        ],
        on_dead="pray",
        priority=10**6,
        result={"r": {"$result": "nobody"}},
    )
    assert [place for place, _ in found] == [
        "on_dead",
        "steps[0].name",
        "steps[0].kind",
        "priority",
        "steps[2].name",
        "steps[2].depends_on[2].on_dead",
        "steps[4]",
        "steps[4].max_attempts",
        "steps[4].quorum",
        "steps[2].depends_on[0]",
        "steps[2].depends_on[1]",
        "steps[3].payload.deep[0]",
        "result.r",
    ]
    told = dict(found)
    assert "did you mean a?" in told["steps[0].kind"]
    assert told["steps[2].depends_on[1]"] == "same cannot wait for itself"
    assert "later stands later in the plan" in told["steps[3].payload.deep[0]"]


def test_every_cycle_is_named_step_by_step() -> None:
    found = faults(
        [
            step("a", depends_on=["b"]),
            step("b", depends_on=["c"]),
            step("c", depends_on=["a"]),
            step("d", depends_on=["e"]),
            step("e", depends_on=["d"]),
        ]
    )
    circles = [message.split(": ")[1] for _, message in found]
    assert len(circles) == 2
    assert {frozenset(circle.split(" -> ")) for circle in circles} == {
        frozenset("abc"),
        frozenset("de"),
    }
    needs = {"a": "b", "b": "c", "c": "a", "d": "e", "e": "d"}
    for circle in circles:
        names = circle.split(" -> ")
        assert [needs[name] for name in names[:-1]] == names[1:]


def test_a_step_cannot_use_its_own_result_but_its_compensation_can() -> None:
    assert faults([step("x", when={"$result": "x.a", "exists": True})]) == [
        ("steps[0].when", "x cannot use its own result")
    ]
    undo = {"kind": "undo", "payload": {"$result": "x.id"}}
    assert faults([step("x", compensation=undo)]) == []


def test_locks_weights_and_deadlines_of_steps_are_checked_with_their_places() -> None:
    broken = step("x", lock_key=7, weight=0, deadline_seconds=-1)
    assert [place for place, _ in faults([broken])] == [
        "steps[0].lock_key",
        "steps[0].weight",
        "steps[0].deadline_seconds",
    ]
    item = {"$item": "customer"}
    assert faults([step("x", lock_key=item)]) == [
        (
            "steps[0].lock_key",
            "there is an item only in the payload and lock_key of a step with for_each",
        )
    ]
    assert faults([step("x", lock_key=item, for_each=[{"customer": "c"}])]) == []
    (needed,) = (
        load_plan({"steps": [step("a"), step("b", lock_key={"$result": "a.customer"})]})
        .steps[1]
        .needs
    )
    assert needed.on == "a"


def test_payloads_without_references_are_held_against_the_schema_and_others_later() -> None:
    def check(kind: str, payload: Any) -> Fault | None:
        return Fault("payload.n", f"{kind} wants a number")

    plan = {
        "steps": [
            step("x", payload={"n": "many"}),
            step("y", payload={"n": {"$result": "x"}}),
            step("z", compensation={"kind": "undo", "payload": {}}, payload={"$result": "x"}),
        ]
    }
    assert [f.place for f in check_plan(plan, KINDS, check).faults] == [
        "steps[0].payload.n",
        "steps[2].compensation.payload.n",
    ]


def test_references_to_an_item_stand_in_payloads_of_a_for_each_only() -> None:
    places = [
        place
        for place, _ in faults(
            [
                step("x", payload={"$item": "a"}),
                step("y", for_each=[1], payload={"$item": ""}),
                step("z", for_each={"$item": "a"}),
            ],
            result={"$item": ""},
        )
    ]
    assert places == ["steps[0].payload", "steps[2].for_each", "result"]


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"steps": []},
        {"steps": {}},
        {"steps": [None]},
        {"steps": [{"name": 1, "kind": 2, "depends_on": 3, "when": 4, "compensation": 5}]},
        {"steps": [step("x", depends_on=[None, {}, 7])]},
        {"steps": [step("x", payload={"$result": 1}), step("y", for_each=7, quorum=0)]},
        {"steps": [step("x")] * (MOST_STEPS + 1)},
        {"steps": [step("x", payload="y" * 2**20)]},
        {"steps": [step("x")], "result": float("nan")},
    ],
)
def test_what_is_no_plan_is_refused_and_never_breaks_the_check(value: object) -> None:
    assert check_plan(value, KINDS).faults


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["name", "kind", "on", "on_dead", "$result", "$item", "when", "and", "not"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)
steps_of_anything = st.lists(
    st.dictionaries(
        st.sampled_from(
            ["name", "kind", "payload", "depends_on", "when", "for_each", "quorum", "compensation"]
        ),
        json_values | st.sampled_from(["a", "b"]),
    ),
    max_size=3,
)


@given(
    st.fixed_dictionaries(
        {"steps": json_values | steps_of_anything},
        optional={"on_dead": json_values, "result": json_values, "key": json_values},
    )
)
def test_any_value_is_either_a_plan_or_has_faults(value: object) -> None:
    checked = check_plan(value, KINDS)
    assert (checked.plan is None) == bool(checked.faults)
    if checked.plan is not None:
        assert len(checked.plan.in_order) == len(checked.plan.steps)


def test_a_reference_is_a_dependency_and_may_be_declared_otherwise() -> None:
    plan = plan_of(
        step("x"),
        step("y", payload={"$result": "x"}),
        step("z", payload={"$result": "x"}, depends_on=[{"on": "x", "on_dead": "continue"}]),
    )
    assert [[(n.on, n.on_dead) for n in each.needs] for each in plan.steps] == [
        [],
        [("x", "wait")],
        [("x", "continue")],
    ]


def test_a_failure_is_tolerated_only_where_every_way_on_can_do_without() -> None:
    plan = plan_of(
        step("hint"),
        step("key"),
        step("chain", depends_on=[{"on": "hint", "on_dead": "fail"}]),
        step("end", depends_on=[{"on": "chain", "on_dead": "continue"}, "key"]),
    )
    assert plan.tolerated == {"hint", "chain"}
