"""The words of the pages' scripts in the language of whoever looks."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.i18n import JavaScriptCatalog

_catalogue = JavaScriptCatalog.as_view(packages=["tasks_app"])


@login_not_required
@require_safe
@cache_control(max_age=3600)
def words(request: HttpRequest) -> HttpResponseBase:
    """The catalogue as a script with ``gettext`` and ``interpolate``, kept by browsers for an hour.

    The address names the language after its ``?``, so that none is kept for another.
    """
    return _catalogue(request)
