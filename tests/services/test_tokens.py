"""Tokens: shown once, kept as a digest, refused once revoked or expired."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from tasks_app.models import ApiToken, AuditEntry
from tasks_app.services.people import tokens
from tasks_app.services.people.people import Actor, NotAllowed, Role

ACTOR = Actor("op", "127.0.0.1", role=Role.ADMIN)
pytestmark = pytest.mark.django_db


def test_a_token_is_accepted_and_only_its_digest_is_kept() -> None:
    token = tokens.create("import", ACTOR)
    assert re.fullmatch(r"chg_[0-9a-f]{12}_[\w-]{43}", token.text)
    assert str(tokens.verify(token.text)) == "import"
    kept = str(ApiToken.objects.filter(prefix=token.prefix).values().get())
    assert token.text.split("_", 2)[2] not in kept


def test_two_tokens_share_nothing() -> None:
    first, second = tokens.create("a", ACTOR), tokens.create("a", ACTOR)
    mixed = f"chg_{first.prefix}_{second.text.split('_', 2)[2]}"
    assert tokens.verify(mixed) is None


def test_a_revoked_token_is_refused_at_once_and_both_acts_are_audited() -> None:
    token = tokens.create("import", ACTOR)
    assert tokens.revoke(token.prefix, ACTOR)
    assert tokens.verify(token.text) is None
    assert not tokens.revoke(token.prefix, ACTOR), "a second time there is nothing to revoke"
    acts = list(AuditEntry.objects.order_by("id").values_list("actor", "action"))
    assert acts == [("op", "create token"), ("op", "revoke token")]


def test_an_expired_token_is_refused() -> None:
    token = tokens.create("import", ACTOR, expires_days=1)
    assert str(tokens.verify(token.text)) == "import"
    past = timezone.now() - timedelta(seconds=1)
    ApiToken.objects.filter(prefix=token.prefix).update(expires_at=past)
    assert tokens.verify(token.text) is None


@pytest.mark.parametrize(
    "text", ["", "chg_", "chg_\x00_x", "x" * 10_000, "chg_0123456789ab_" + "a" * 43, "\ud800"]
)
def test_what_is_no_token_is_refused(text: str) -> None:
    assert tokens.verify(text) is None


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "a\nb"])
def test_a_token_needs_a_name(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        tokens.create(name, ACTOR)


@pytest.mark.parametrize("days", [0, -1, 3651])
def test_a_life_has_bounds(days: int) -> None:
    with pytest.raises(ValueError, match="expiry"):
        tokens.create("import", ACTOR, expires_days=days)


def test_a_use_is_noted() -> None:
    token = tokens.create("import", ACTOR)
    tokens.verify(token.text)
    assert ApiToken.objects.get(prefix=token.prefix).last_used_at is not None


def test_a_rotation_without_grace_ends_the_old_token_at_once() -> None:
    old = tokens.create("import", ACTOR, scopes=["operate"])
    new, ends = tokens.rotate(old.prefix, ACTOR, grace_days=0)
    assert ends is not None
    assert tokens.verify(old.text) is None
    program = tokens.verify(new.text)
    assert program is not None
    assert (program.name, set(program.scopes)) == ("import", {"operate"})


def test_a_grace_never_lengthens_a_life() -> None:
    old = tokens.create("import", ACTOR, expires_days=1)
    _, ends = tokens.rotate(old.prefix, ACTOR, grace_days=7)
    assert ends == ApiToken.objects.get(prefix=old.prefix).expires_at
    assert ends is not None
    assert ends < timezone.now() + timedelta(days=2)


@pytest.mark.parametrize("scopes", [[], ["fly"], ["tasks:read", ""]])
def test_a_token_is_for_something_that_there_is(scopes: list[str]) -> None:
    with pytest.raises(ValueError, match="scope"):
        tokens.create("import", ACTOR, scopes=scopes)


def test_only_admins_make_rotate_and_end_tokens() -> None:
    token = tokens.create("import", ACTOR)
    operator = Actor("otto")
    for act in (
        lambda: tokens.create("a", operator),
        lambda: tokens.rotate(token.prefix, operator),
        lambda: tokens.revoke(token.prefix, operator),
    ):
        with pytest.raises(NotAllowed):
            act()
