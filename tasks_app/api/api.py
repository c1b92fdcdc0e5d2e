"""The HTTP API's one instance."""

from ninja import NinjaAPI

api = NinjaAPI(title="Chargehand", version="1", urls_namespace="api")
