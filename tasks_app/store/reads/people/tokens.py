"""API tokens as a list shows them; no secret is in it."""

from collections.abc import Iterable

from tasks_app.models import ApiToken


def list_tokens() -> Iterable[ApiToken]:
    """Every token, the newest first, without its digest."""
    return ApiToken.objects.defer("digest").order_by("-id")
