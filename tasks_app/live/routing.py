"""The websockets' addresses."""

from django.urls import URLPattern, URLResolver, path

from tasks_app.live.consumers import LiveConsumer

websocket_urlpatterns: list[URLPattern | URLResolver] = [path("ws/live/", LiveConsumer.as_asgi())]
