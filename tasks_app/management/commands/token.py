"""``manage.py token``: the API tokens of programs."""

from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tasks_app.core.people.scopes import STANDARD, Scope
from tasks_app.management.arguments import whole_number
from tasks_app.management.command_actor import command_line_actor
from tasks_app.services.people import tokens
from tasks_app.services.people.tokens import GRACE_DAYS, NewToken
from tasks_app.store.reads.people.tokens import list_tokens


class Command(BaseCommand):
    """Makes, rotates, lists and revokes tokens; the whole token is shown once, when it is made."""

    help = "Make, rotate, list or revoke the tokens with which programs use the HTTP API."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the actions."""
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        create = actions.add_parser("create", help="make a token and show it once")
        create.add_argument("name", metavar="NAME", help="who will use it, such as nightly-import")
        create.add_argument(
            "--expires-days",
            type=whole_number(1),
            metavar="N",
            help="days it lives (default: until revoked)",
        )
        create.add_argument(
            "--scope",
            action="append",
            choices=list(map(str, Scope)),
            help=f"what it may do; may be given several times (default: {', '.join(STANDARD)})",
        )
        rotate = actions.add_parser("rotate", help="make a successor; both live for a while")
        rotate.add_argument("prefix", metavar="PREFIX", help="as token list shows it")
        rotate.add_argument(
            "--expires-days", type=whole_number(1), metavar="N", help="days the new one lives"
        )
        rotate.add_argument(
            "--grace-days",
            type=whole_number(0),
            default=GRACE_DAYS,
            metavar="N",
            help="days the old one lives on (default: %(default)s)",
        )
        actions.add_parser("list", help="list all tokens, the newest first")
        revoke = actions.add_parser("revoke", help="end a token at once")
        revoke.add_argument("prefix", metavar="PREFIX", help="as token list shows it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do the action."""
        do = {
            "create": self._create,
            "rotate": self._rotate,
            "list": self._list,
            "revoke": self._revoke,
        }
        do[options["action"]](options)

    def _create(self, options: dict[str, Any]) -> None:
        try:
            token = tokens.create(
                options["name"],
                command_line_actor(),
                options["expires_days"],
                options["scope"] or STANDARD,
            )
        except ValueError as error:
            raise CommandError(str(error)) from error
        self._show(token)

    def _rotate(self, options: dict[str, Any]) -> None:
        old = _prefix(options["prefix"])
        try:
            token, ends = tokens.rotate(
                old, command_line_actor(), options["expires_days"], options["grace_days"]
            )
        except ValueError as error:
            raise CommandError(str(error)) from error
        self._show(token)
        if ends is not None:
            self.stderr.write(f"The old one, {old}, ends on {_told(ends)}.")

    def _show(self, token: NewToken) -> None:
        # The token alone goes to standard output, so that a script can take it from there.
        self.stdout.write(token.text)
        until = "it lives until revoked"
        if token.expires_at is not None:
            until = f"it expires on {_told(token.expires_at)}"
        self.stderr.write(
            f"This is the token of {token.name}, for {', '.join(token.scopes)}; it is not shown "
            f"again. {until.capitalize()}: manage.py token revoke {token.prefix}"
        )

    def _list(self, options: dict[str, Any]) -> None:
        for token in list_tokens():
            if token.revoked_at is not None:
                state = f"revoked {_told(token.revoked_at)}"
            elif token.expires_at is not None:
                state = f"expires {_told(token.expires_at)}"
            else:
                state = "live"
            used = (
                "never used" if token.last_used_at is None else f"used {_told(token.last_used_at)}"
            )
            self.stdout.write(
                f"{token.prefix}  {token.name}  {','.join(token.scopes)}"
                f"  made {_told(token.created_at)}  {used}  {state}"
            )

    def _revoke(self, options: dict[str, Any]) -> None:
        prefix = _prefix(options["prefix"])
        if not tokens.revoke(prefix, command_line_actor()):
            raise CommandError("no live token has this prefix; see manage.py token list")
        self.stdout.write(f"revoked {prefix}")


def _prefix(pasted: str) -> str:
    # A whole token pasted in is understood too; what was pasted is never repeated.
    return pasted.removeprefix("chg_").split("_")[0]


def _told(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M} UTC"
