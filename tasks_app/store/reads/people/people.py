"""Who is in a group, and which rights they have from elsewhere."""

from collections import Counter

from django.contrib.auth.models import User

from tasks_app.core.people.people_previews import Members
from tasks_app.store.reads.people.rights import every_right, name_of


def members_of(group: str) -> Members:
    """The active people of a group; a superuser has every right anyway."""
    people = User.objects.filter(groups__name=group, is_active=True).prefetch_related(
        "groups__permissions__content_type", "user_permissions__content_type"
    )
    return Members(
        len(people), Counter(right for one in people for right in _elsewhere(one, group))
    )


def _elsewhere(person: User, group: str) -> frozenset[str]:
    if person.is_superuser:
        return every_right()
    own = [*person.user_permissions.all()]
    for other in person.groups.all():
        own += other.permissions.all() if other.name != group else []
    return frozenset(map(name_of, own))
