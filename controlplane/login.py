"""The first login of a local copy: made once, kept in a file that only its owner may read."""

from pathlib import Path

from controlplane.environment import kept_secret

NAME = "admin"


def ensure_login(var: Path) -> str:
    """Make the user ``admin`` unless there is one; return ``name / password`` as to be printed.

    Where somebody has changed the password since, it is said instead of the first one.
    """
    from django.contrib.auth import get_user_model

    users = get_user_model()
    password = kept_secret(var / "admin_password", size=12)
    user = users.objects.filter(username=NAME).first()
    if user is None:
        users.objects.create_superuser(NAME, email="", password=password)
    elif not user.check_password(password):
        return f"{NAME} / (the password that you have set)"
    return f"{NAME} / {password}"
