"""The link of the process beside a worker, which speaks for it when it is silenced."""

import importlib

import django

from tasks_app.sdk.link import Link


def rescue_link() -> Link:
    """Set Django up, which a process that has nothing to do is spared, and connect."""
    django.setup()
    link: Link = importlib.import_module("tasks_app.services.attempts.direct_link").DirectLink()
    return link
