"""``manage.py token``: made and shown once, listed without secrets, revoked."""

import io

import pytest
from django.core.management import CommandError, call_command

from tasks_app.services.people.tokens import verify

pytestmark = pytest.mark.django_db


def token(*args: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("token", *args, stdout=out, stderr=err)
    return out.getvalue().strip(), err.getvalue()


def test_a_token_alone_goes_to_standard_output_and_works() -> None:
    text, said = token("create", "nightly-import", "--expires-days", "30")
    assert str(verify(text)) == "nightly-import"
    assert "not shown again" in said
    assert text not in said


def test_the_list_tells_names_and_states_and_no_secret() -> None:
    first, _ = token("create", "first")
    second, _ = token("create", "second", "--expires-days", "1")
    third, _ = token("create", "third")
    token("revoke", third)
    verify(first)
    lines, _ = token("list")
    assert [line.split("  ")[1] for line in lines.splitlines()] == ["third", "second", "first"]
    assert [word in lines for word in ("revoked", "expires", "live", "never used")] == [True] * 4
    for text in (first, second, third):
        assert text.split("_", 2)[2] not in lines


def test_a_token_is_revoked_by_its_prefix() -> None:
    text, _ = token("create", "import")
    prefix = text.split("_")[1]
    assert token("revoke", prefix)[0] == f"revoked {prefix}"
    assert verify(text) is None
    with pytest.raises(CommandError, match="no live token"):
        token("revoke", prefix)


def test_a_bad_name_or_life_is_one_sentence() -> None:
    with pytest.raises(CommandError, match="name"):
        token("create", " ")
    with pytest.raises(CommandError, match="days"):
        token("create", "a", "--expires-days", "0")


def test_a_rotation_prints_the_successor_and_says_when_the_old_one_ends() -> None:
    first, _ = token("create", "import", "--scope", "operate", "--scope", "tasks:read")
    second, said = token("rotate", first, "--grace-days", "3")
    assert first.split("_")[1] in said
    assert first not in said
    for text in (first, second):
        program = verify(text)
        assert program is not None
        assert program.scopes == {"operate", "tasks:read"}
    with pytest.raises(CommandError, match="live already"):
        token("rotate", first)
