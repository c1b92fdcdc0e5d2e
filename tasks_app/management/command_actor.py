"""Who acts at the command line, for the audit."""

import getpass

from tasks_app.services.people.people import Actor, Role


def command_line_actor() -> Actor:
    """The account that runs the command, as far as the system knows its name.

    Whoever may run it holds the keys of the database: an admin.
    """
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        # A container may run under a number without a name.
        name = "somebody"
    return Actor(f"{name} at the command line", via="command line", role=Role.ADMIN)
