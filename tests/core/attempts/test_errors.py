"""Which errors are worth another attempt."""

import pytest

from tasks_app.core.attempts.error_classes import (
    ERROR_TABLE,
    ErrorClass,
    classify_error,
    validate_error_entries,
)
from tasks_app.core.facts import ErrorFacts, RetryPolicy

PLAIN = RetryPolicy()


def an_error(name: str = "RuntimeError", *bases: str, status: int | None = None) -> ErrorFacts:
    return ErrorFacts(name, "it failed", bases=bases, status=status)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_request_that_is_wrong_in_itself_is_permanent(status: int) -> None:
    assert classify_error(an_error(status=status), PLAIN).error_class is ErrorClass.PERMANENT


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_a_server_that_is_busy_or_broken_is_retried(status: int) -> None:
    assert classify_error(an_error(status=status), PLAIN).error_class is ErrorClass.RETRYABLE


@pytest.mark.parametrize(
    "name",
    [
        "jsonschema.exceptions.ValidationError",
        "pydantic_core._pydantic_core.ValidationError",
        "django.core.exceptions.ValidationError",
    ],
)
def test_a_schema_violation_is_permanent(name: str) -> None:
    error = an_error(name, "ValueError", "Exception")
    assert classify_error(error, PLAIN).error_class is ErrorClass.PERMANENT


@pytest.mark.parametrize(
    "error",
    [
        an_error("TimeoutError"),
        an_error("builtins.TimeoutError"),
        an_error("ConnectionResetError", "ConnectionError", "OSError"),
        an_error("httpx.ConnectTimeout", "httpx.TimeoutException", "httpx.TransportError"),
        an_error("requests.exceptions.ReadTimeout", "requests.exceptions.Timeout"),
        an_error("psycopg.errors.DeadlockDetected", "psycopg.OperationalError", "psycopg.Error"),
    ],
    ids=lambda error: error.type,
)
def test_timeouts_and_lost_connections_are_retried(error: ErrorFacts) -> None:
    assert classify_error(error, PLAIN).error_class is ErrorClass.RETRYABLE


@pytest.mark.parametrize("error", [an_error("KeyError"), an_error(status=409), an_error("")])
def test_what_no_entry_covers_is_unknown(error: ErrorFacts) -> None:
    found = classify_error(error, PLAIN)
    assert (found.error_class, found.rule) == (ErrorClass.UNKNOWN, "")


def test_the_handlers_word_wins_over_everything() -> None:
    policy = RetryPolicy(permanent_errors=["HTTP 503"], retryable_errors=["HTTP 404"])
    retry = ErrorFacts("E", "later", status=503, retryable=True)
    give_up = ErrorFacts("E", "never", status=404, permanent=True)
    assert classify_error(retry, policy).error_class is ErrorClass.RETRYABLE
    assert classify_error(give_up, policy).error_class is ErrorClass.PERMANENT
    assert classify_error(give_up, policy).rule == "handler"


def test_a_kinds_entry_wins_over_the_table_and_names_itself() -> None:
    policy = RetryPolicy(retryable_errors=["HTTP 404"], permanent_errors=["HTTP 5xx"])
    found = classify_error(an_error(status=404), policy)
    assert (found.error_class, found.rule) == (ErrorClass.RETRYABLE, "HTTP 404")
    assert classify_error(an_error(status=500), policy).error_class is ErrorClass.PERMANENT


def test_an_exact_status_wins_over_its_class() -> None:
    policy = RetryPolicy(permanent_errors=["HTTP 5xx"], retryable_errors=["HTTP 503"])
    assert classify_error(an_error(status=503), policy).error_class is ErrorClass.RETRYABLE
    assert classify_error(an_error(status=500), policy).error_class is ErrorClass.PERMANENT


def test_the_nearest_ancestor_with_an_entry_decides() -> None:
    policy = RetryPolicy(permanent_errors=["LookupError"], retryable_errors=["KeyError"])
    bases = ("KeyError", "LookupError", "Exception")
    assert classify_error(an_error("shop.NoSuchItem", *bases), policy).rule == "KeyError"


def test_a_bare_name_covers_any_module_and_a_dotted_one_only_its_own() -> None:
    bare = RetryPolicy(permanent_errors=["NotFound"])
    dotted = RetryPolicy(permanent_errors=["shop.NotFound"])
    other = an_error("warehouse.NotFound")
    assert classify_error(other, bare).error_class is ErrorClass.PERMANENT
    assert classify_error(other, dotted).error_class is ErrorClass.UNKNOWN
    assert classify_error(an_error("shop.NotFound"), dotted).rule == "shop.NotFound"


def test_the_tables_own_entries_are_well_formed() -> None:
    assert validate_error_entries(list(ERROR_TABLE), []) == []


@pytest.mark.parametrize("entry", ["HTTP 404", "HTTP 4xx", "ValueError", "httpx.ConnectError"])
def test_entries_of_the_syntax_are_accepted(entry: str) -> None:
    assert validate_error_entries([entry], []) == []


@pytest.mark.parametrize(
    "entry",
    ["", "404", "HTTP 4x", "HTTP 600", "http 404", "a b", "a..b", ".a", "1a", "a-b"],
)
def test_an_entry_that_could_never_match_is_a_fault_with_its_place(entry: str) -> None:
    faults = validate_error_entries(["ValueError", entry], [])
    assert [fault.place for fault in faults] == ["permanent_errors[1]"]


def test_an_entry_in_both_lists_is_a_fault() -> None:
    faults = validate_error_entries(["ValueError"], ["KeyError", "builtins.ValueError"])
    assert [fault.place for fault in faults] == ["retryable_errors[1]"]
