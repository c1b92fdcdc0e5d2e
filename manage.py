#!/usr/bin/env python
"""Django's command line for Chargehand."""

import os
import sys

import psycopg


def main() -> None:
    """Run one management command; an unreachable database ends it with one sentence."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    from django.core.management import execute_from_command_line
    from django.db.utils import OperationalError

    from controlplane.environment import unreachable_database

    try:
        execute_from_command_line(sys.argv)
    except OperationalError as error:
        cause = error.__cause__
        # Without an SQLSTATE no server has answered; with one it is an ordinary database error.
        if not isinstance(cause, psycopg.OperationalError) or cause.sqlstate is not None:
            raise
        sys.exit(unreachable_database(str(cause)))


if __name__ == "__main__":
    main()
