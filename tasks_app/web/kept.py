"""What somebody typed is given back where its form could not be taken.

A log-in that expired, a token from before another log-in, a database that is away: the answer is a
page that carries the fields, so that nothing typed is kept on the server. Passwords are left out.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.http import HttpRequest, HttpResponse
from django.http.request import UnreadablePostError
from django.http.response import HttpResponseBase
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.utils.http import url_has_allowed_host_and_scheme

CARRIED: Final = "kept"
"""The field of the log-in's form that carries another form's fields."""

TOKEN: Final = "csrfmiddlewaretoken"  # noqa: S105  a field's name
SECRET: Final = re.compile(r"passw|secret", re.IGNORECASE)
UNSEEN: Final = re.compile(r"_.*|next|token|id|ids|q|sort|cols|all|as_of")
MOST_CHARACTERS: Final = 2 * 1024 * 1024
MOST_SHOWN: Final = 40
LONG: Final = 80
"""Characters from which a value gets several lines."""


@dataclass(frozen=True, slots=True)
class KeptField:
    """One field: how it is drawn follows from its name and value."""

    name: str
    value: str
    seen: bool = False

    @property
    def label(self) -> str:
        """Its name for a person."""
        return self.name.removeprefix("field.").replace("_", " ") or "…"

    @property
    def is_long(self) -> bool:
        """Whether it needs several lines."""
        return "\n" in self.value or len(self.value) > LONG


@dataclass(frozen=True, slots=True)
class Kept:
    """A form that was sent to ``action`` from ``page``, both paths of this site."""

    action: str
    page: str
    fields: Sequence[tuple[str, str]]
    without_secrets: bool = False
    token: str = ""

    @property
    def drawn(self) -> list[KeptField]:
        """The fields, those that somebody typed visible."""
        shown, drawn = 0, []
        for name, value in self.fields:
            seen = shown < MOST_SHOWN and value != "" and not UNSEEN.fullmatch(name)
            shown += seen
            drawn.append(KeptField(name, value, seen))
        return drawn

    @property
    def carried(self) -> str:
        """All of it as the value of one field."""
        return json.dumps({**asdict(self), "token": ""}, ensure_ascii=False)


def kept_of(request: HttpRequest) -> Kept | None:
    """What a request sent, or None for nothing typed, and for what came from another site."""
    if request.method != "POST" or not _from_this_site(request):
        return None
    try:
        sent = [(name, value) for name, values in request.POST.lists() for value in values]
    except (RequestDataTooBig, TooManyFieldsSent, UnreadablePostError):
        return None
    fields = [(name, str(value)) for name, value in sent if name not in (TOKEN, CARRIED)]
    plain = [each for each in fields if not SECRET.search(each[0])]
    if not any(value for _, value in plain) or sum(len(v) for _, v in plain) > MOST_CHARACTERS:
        return None
    return Kept(
        action=request.get_full_path(),
        page=_page_of(request),
        fields=plain,
        without_secrets=len(plain) < len(fields),
        token=get_token(request),
    )


def _from_this_site(request: HttpRequest) -> bool:
    """Whether nothing says that another site made the request; browsers say so of each form."""
    host = request.get_host()
    own = {f"http://{host}", f"https://{host}"}
    origin, referer = request.META.get("HTTP_ORIGIN"), request.META.get("HTTP_REFERER")
    if request.META.get("HTTP_SEC_FETCH_SITE", "same-origin") not in ("same-origin", "none"):
        return False
    if origin is not None and origin not in own:
        return False
    return not referer or urlsplit(referer).netloc == host


def _page_of(request: HttpRequest) -> str:
    """The page on which the form stands, as far as the browser tells; "" for unknown."""
    told = request.META.get("HTTP_HX_CURRENT_URL") or request.META.get("HTTP_REFERER") or ""
    parts = urlsplit(told)
    if parts.netloc != request.get_host():
        return ""
    return parts.path + (f"?{parts.query}" if parts.query else "")


def carried_by(request: HttpRequest) -> Kept | None:
    """The form that the log-in's form carried, or None for none, and for one of another site."""
    try:
        given = json.loads(request.POST.get(CARRIED, ""))
        fields = [(str(name), str(value)) for name, value in given["fields"]]
        action, page = str(given["action"]), str(given["page"])
        secrets = bool(given["without_secrets"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not _is_own(action) or (page and not _is_own(page)):
        return None
    return Kept(action, page, fields, secrets, get_token(request))


def _is_own(address: str) -> bool:
    return address.startswith("/") and url_has_allowed_host_and_scheme(address, allowed_hosts=None)


class KeepsWhatWasTyped:
    """Asks for a log-in with the form's fields in the page, where the log-in has expired."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on."""
        return self._get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], _args: Any, _kwargs: Any
    ) -> HttpResponse | None:
        """The log-in's page for a form of nobody; its token was checked before."""
        if request.method != "POST" or not getattr(view, "login_required", True):
            return None
        kept = None if request.user.is_authenticated else kept_of(request)
        return None if kept is None else _log_in_again(request, kept)


def _log_in_again(request: HttpRequest, kept: Kept) -> HttpResponse:
    context = {"form": AuthenticationForm(request), "kept": kept, "next": kept.page}
    answer = render(request, "login.html", context, status=401)
    if request.headers.get("HX-Request"):
        # htmx swaps no refusal, and the part that it asked for is no place for a log-in.
        answer.status_code = 200
        answer["HX-Retarget"], answer["HX-Reswap"] = "body", "innerHTML"
    add_never_cache_headers(answer)
    return answer


def given_back(request: HttpRequest, kept: Kept) -> HttpResponse:
    """The page after the log-in: the form's fields, to be sent or taken back to the form."""
    answer = render(request, "kept.html", {"kept": kept})
    add_never_cache_headers(answer)
    return answer
