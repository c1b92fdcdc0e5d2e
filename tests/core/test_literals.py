"""Text that people and files write as values: what is plain is read, what is Python's is not."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.literals import (
    NotReadable,
    decimal_number,
    instant,
    plain,
    truth,
    whole_number,
)
from tasks_app.core.search.query_fields import instant_of, number_of, seconds_of

ODD = ["", " ", "12_34", "1 2", " 12", "12 ", "+12", "\uff11\uff12", "\u0663", "0x1f", "1e5", "nan"]
ODD += ["inf", "\u00b2", "1,5"]


@pytest.mark.parametrize("text", [*ODD, "12.0", "--1", "-"])
def test_a_whole_number_is_plain_digits_and_nothing_else(text: str) -> None:
    with pytest.raises(NotReadable, match="whole number in plain decimal digits, such as 12 or -3"):
        whole_number(text)
    assert number_of(text) is None


@pytest.mark.parametrize("text", [*ODD, ".5", "5.", "1.2.3", "-inf", "Infinity", "1_0.5"])
def test_a_number_is_plain_digits_and_nothing_else(text: str) -> None:
    with pytest.raises(NotReadable, match=r"number in plain decimal digits, such as 12 or -0\.5"):
        decimal_number(text)


@given(st.integers(-(10**300), 10**300))
def test_a_whole_number_of_any_length_keeps_every_digit(number: int) -> None:
    assert decimal_number(str(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_is_written_plainly_is_read_back(number: float) -> None:
    assert float(decimal_number(plain(number))) == number


@given(st.decimals(-(10**20), 10**20, allow_nan=False, places=25))
def test_a_number_that_cannot_be_held_is_refused_and_not_rounded(number: Decimal) -> None:
    text = format(number, "f")
    if Decimal(repr(float(number))) == number:
        assert decimal_number(text) == float(number)
    else:
        with pytest.raises(NotReadable, match="more digits"):
            decimal_number(text)


@pytest.mark.parametrize(
    "text", ["", "on", "oui", "ja", " yes", "TRUE ", "\uff54\uff52\uff55\uff45", "2", "y"]
)
def test_a_truth_is_one_of_six_words(text: str) -> None:
    with pytest.raises(NotReadable, match="true, yes, 1, false, no or 0"):
        truth(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tomorrow",
        "1900000000",
        "20300131",
        "20300131T080000Z",
        "2030-W05-4",
        "2030-01-31",
        "2030-01-31T08:00:00",
        "2030-01-31T8:00Z",
        "2030-02-30T08:00:00Z",
        "2030-01-31T25:00:00Z",
        "2030-01-31T08:00:00 Z",
        " 2030-01-31T08:00:00Z",
        "\uff12\uff10\uff13\uff10-01-31T08:00:00Z",
        "0001-01-01T00:00:00+12:00",
        "31.01.2030 08:00",
    ],
)
def test_what_is_no_instant_is_told_the_form_that_is(text: str) -> None:
    with pytest.raises(NotReadable, match=r"such as 2030-01-31T08:00:00\+01:00"):
        instant(text)


@pytest.mark.parametrize(
    "text",
    [
        "2030-01-31T08:00:00+01:00",
        "2030-01-31T07:00:00Z",
        "2030-01-31 07:00Z",
        "2030-01-31T07:00:00.000000000Z",
        "2030-01-31T08:00:00+0100",
    ],
)
def test_one_instant_has_many_spellings(text: str) -> None:
    assert instant(text) == datetime(2030, 1, 31, 7, tzinfo=UTC)


@pytest.mark.parametrize("text", ["\uff11h", "1_0s", "٣m", "+1h", "1e3s", "1 h"])
def test_a_time_span_of_a_query_is_plain_digits(text: str) -> None:
    assert seconds_of(text) is None


@pytest.mark.parametrize("text", ["20260131", "2026-W05", "\uff12026-01-31", "2026-1-31"])
def test_an_instant_of_a_query_has_one_form(text: str) -> None:
    assert instant_of(text) is None
