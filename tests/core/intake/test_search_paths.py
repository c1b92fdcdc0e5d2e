"""Payload paths that a kind declares searchable: one spelling for each, told where it differs."""

import pytest

from tasks_app.core.intake.search_paths import keys_of, path_faults


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("payload.Ticket ID", 'payload."Ticket ID"'),
        ('payload."id"', "payload.id"),
        ("payload.$ref", 'payload."$ref"'),
        ('payload."a', "payload.a"),
        ("result.a", "payload.customer.id"),
        ("payload.", "payload.customer.id"),
        ("payload..a", "payload.a"),
        ('payload."\x00"', "payload.customer.id"),
        ("payload." + "a" * 300, "payload.customer.id"),
        (7, "payload.customer.id"),
    ],
)
def test_a_path_in_another_spelling_is_told_how_to_write_it(path: object, wanted: str) -> None:
    (fault,) = path_faults([path])
    assert str(fault) == f"searchable_paths[0]: write it as a query does, such as {wanted}"
    assert list(path_faults([wanted])) == []


def test_the_keys_of_a_path_are_those_of_the_payload() -> None:
    assert keys_of(r'payload.a."b.c"."say \"x\""') == ("a", "b.c", 'say "x"')
