"""Logging of every process: readable lines locally, one JSON object a line in production."""

import logging
from typing import Any

import structlog
from structlog.types import Processor

_SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]


class UnreadyAnswers(logging.Filter):
    """Drops "503" of ``/readyz``: whoever asked was told, several times a second at a start."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether the record is kept."""
        request = getattr(record, "request", None)
        return getattr(request, "path_info", None) != "/readyz"


def configuration(*, as_json: bool) -> dict[str, Any]:
    """Return Django's LOGGING and set structlog up to pass through the same handler."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": _formatter(as_json=as_json)},
        "filters": {"unready": {"()": UnreadyAnswers}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines"}},
        "root": {"handlers": ["stderr"], "level": logging.INFO},
        "loggers": {
            "django.server": {"handlers": [], "propagate": True},
            "django": {"handlers": [], "propagate": True},
            "django.request": {"filters": ["unready"]},
            # What these say at INFO, every beat of them, drowns what matters.
            "celery": {"level": logging.WARNING},
            "daphne": {"level": logging.WARNING},
            # It warns at every start that a folder has no host name.
            "kombu": {"level": logging.ERROR},
        },
    }


def _formatter(*, as_json: bool) -> dict[str, Any]:
    foreign: list[Processor] = [*_SHARED]
    rendering: list[Processor]
    if as_json:
        foreign.append(structlog.stdlib.ExtraAdder())
        rendering = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        # Plain tracebacks: the boxed ones show the values of variables, payloads among them.
        plain = structlog.dev.plain_traceback
        rendering = [
            structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0, exception_formatter=plain)
        ]
    strip = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    return {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": foreign,
        "processors": [strip, *rendering],
    }
