"""The ASGI entry point: HTTP by Django, websockets of the live screens by Channels."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
# Under ASGI a request has no thread of its own that could keep a connection: the pool keeps them.
os.environ.setdefault("DATABASE_POOL", "true")

_http = get_asgi_application()

from tasks_app.live.routing import websocket_urlpatterns  # noqa: E402  # needs the apps loaded

application = ProtocolTypeRouter(
    {
        "http": _http,
        "websocket": AllowedHostsOriginValidator(
            AuthMiddlewareStack(URLRouter(websocket_urlpatterns))
        ),
    }
)
