#!/usr/bin/env python
"""Django's command line for Chargehand."""

import os
import sys


def main() -> None:
    """Run one management command; an unreachable database ends it with one sentence.

    A reader of its output that has gone ends it without any.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    from django.core.management import execute_from_command_line
    from django.db.utils import OperationalError

    from controlplane.environment import unreachable_database
    from controlplane.pipes import quiet_pipes

    try:
        with quiet_pipes():
            execute_from_command_line(sys.argv)
    except OperationalError as error:
        sentence = unreachable_database(error)
        if sentence is None:
            raise
        sys.exit(sentence)


if __name__ == "__main__":
    main()
