"""Every address of the site, by face."""

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path

from controlplane.health import healthz, readyz
from tasks_app.api.api import api
from tasks_app.api.metrics import metrics
from tasks_app.web.pages.account import LogIn, LogOut

# The API asks each request for a token itself; its documentation is a page, for people logged in.
api_urls = api.urls
for _pattern in api_urls[0]:
    _view = getattr(_pattern, "callback", None)
    if _view and not str(getattr(_pattern, "name", "")).startswith(("openapi-", "api-root")):
        login_not_required(_view)

handler400 = "controlplane.requests.refusals.bad_request"
handler500 = "tasks_app.web.failures.server_error"

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path(
        "login/",
        LogIn.as_view(),
        name="login",
    ),
    path("logout/", LogOut.as_view(), name="logout"),
    path("admin/", admin.site.urls),
    path("api/", api_urls),
    path("", include("tasks_app.web.urls")),
]
