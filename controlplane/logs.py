"""Logging of every process: readable lines locally, one JSON object a line in production."""

import logging
from typing import Any

import structlog
from structlog.types import Processor

_SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.ExtraAdder(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]


def configuration(*, as_json: bool) -> dict[str, Any]:
    """Return Django's LOGGING and set structlog up to pass through the same handler."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED[:3],
            structlog.stdlib.PositionalArgumentsFormatter(),
            *_SHARED[4:],
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    rendering: list[Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if as_json
        else [structlog.dev.ConsoleRenderer(colors=False)]
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "lines": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _SHARED,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    *rendering,
                ],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines"}},
        "root": {"handlers": ["stderr"], "level": logging.INFO},
        "loggers": {
            "django.server": {"handlers": [], "propagate": True},
            "django": {"handlers": [], "propagate": True},
        },
    }
