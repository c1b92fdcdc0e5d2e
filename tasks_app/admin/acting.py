"""Who acts in the admin, for permission and audit."""

from django.http import HttpRequest

from tasks_app.services.people.people import Actor


def actor_of(request: HttpRequest) -> Actor:
    """The person behind a request."""
    return Actor.in_session(
        request.user, request.META.get("REMOTE_ADDR", ""), request.session.session_key
    )
