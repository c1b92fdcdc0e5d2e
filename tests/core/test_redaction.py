"""What a kind hides is hidden in the handler's own words too, however it is written there."""

import json
import time

import pytest

from tasks_app.core.failures.error_text import shorten
from tasks_app.core.masking.redaction import MASK, folded, secrets_in, without

KEYS = folded(["card", "secret"])
CARD = "4111222233334444"


def hidden_of(value: object) -> frozenset[str]:
    return secrets_in({"card": value, "to": "Ada Lovelace"}, KEYS)


@pytest.mark.parametrize(
    "value",
    [
        CARD,
        int(CARD),
        41112222.25,
        'a "quoted" word',
        "it's \\ here",
        "Zoë Straße",
        "two words & more",
        "tab\tand\x07bell",
    ],
)
def test_a_value_is_found_however_a_text_writes_it(value: object) -> None:
    from urllib.parse import quote

    told = [
        f"cannot charge {value}!",
        f"cannot charge {value!r}!",
        json.dumps({"no": value}),
        json.dumps({"no": value}, ensure_ascii=False),
        f"https://pay.example/?no={quote(str(value), safe='')}",
    ]
    for text in told:
        shown = without(text, hidden_of(value))
        assert MASK in shown, text
        assert str(value) not in shown
        assert repr(value)[1:-1] not in shown


def test_values_at_any_depth_under_a_hidden_key_are_hidden() -> None:
    deep = {"n": [{"Secret": {"pin": 98765, "names": ["Ada Lovelace", "Countess"]}}]}
    text = "98765 of Ada Lovelace, Countess, in London"
    assert without(text, secrets_in(deep, KEYS)) == f"{MASK} of {MASK}, {MASK}, in London"


def test_what_is_not_hidden_stays() -> None:
    assert without("no mail for Ada Lovelace", hidden_of(CARD)) == "no mail for Ada Lovelace"
    assert without(f"card {CARD}", secrets_in({"card": CARD}, frozenset())) == f"card {CARD}"


def test_short_values_and_truth_values_are_left_for_they_stand_everywhere() -> None:
    values: list[object] = ["abc", 12, True, False, None, "", {}, []]
    for value in values:
        assert hidden_of(value) == frozenset()


def test_of_values_within_one_another_the_longest_goes() -> None:
    secrets = secrets_in({"card": ["4111", "41112222"]}, KEYS)
    assert without("41112222 and 4111", secrets) == f"{MASK} and {MASK}"


def test_each_line_of_a_value_of_many_is_hidden() -> None:
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----"
    shown = without("bad key: MIIEvQIBADANBg", hidden_of(key))
    assert shown == f"bad key: {MASK}"


@pytest.mark.parametrize("cut", range(200, 340))
def test_a_value_that_a_cut_halved_is_hidden_too(cut: int) -> None:
    whole = "x" * 250 + CARD + "y" * 100
    shown = without(whole[:cut], hidden_of(CARD))
    assert CARD[:4] not in shown


@pytest.mark.parametrize("limit", range(300, 360, 3))
def test_both_halves_around_a_cut_in_the_middle_are_hidden(limit: int) -> None:
    whole = "x" * 140 + CARD + "y" * 30 + CARD + "z" * 250 + CARD + "x" * 150
    shown = without(shorten(whole, limit), hidden_of(CARD))
    assert CARD[:4] not in shown
    assert CARD[-4:] not in shown


def test_a_short_text_that_ends_like_a_value_is_whole() -> None:
    assert without("error 4111", hidden_of(CARD)) == "error 4111"


def test_many_and_long_values_cost_little() -> None:
    many = frozenset(f"secret-{n}-{'x' * 50}" for n in range(20_000))
    long = frozenset({"a" * 200_000, "a" * 19_000 + "b"})
    began = time.process_time()
    without("a" * 19_999 + "c", many | long)
    assert time.process_time() - began < 2
