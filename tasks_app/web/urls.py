"""The pages' addresses: one list, one import a module of pages."""

from django.urls import URLPattern, URLResolver, path

from tasks_app.web.pages import overview

app_name = "web"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview.overview, name="overview"),
    path("series/", overview.overview_series, name="overview_series"),
]
