"""Searches that people keep under a name, and who has them in the side bar."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class SavedSearch(models.Model):
    """A query for tasks under a name; ``address`` is its order and columns, as an address has them.

    ``shared``: everybody may use it; else its owner alone.
    """

    id = models.BigAutoField(primary_key=True)
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=1000, db_default="")
    address = models.CharField(max_length=300, db_default="")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    shared = models.BooleanField(db_default=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "saved_search"
        constraints = [
            models.CheckConstraint(name="saved_search_name_filled", condition=~Q(name="")),
            models.UniqueConstraint(name="saved_search_name_once", fields=["owner", "name"]),
        ]

    def __str__(self) -> str:
        return self.name


class SearchPin(models.Model):
    """A saved search in somebody's side bar."""

    pk = models.CompositePrimaryKey("user_id", "search_id")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, db_index=False, related_name="+"
    )
    search = models.ForeignKey(SavedSearch, models.CASCADE, related_name="pins")

    class Meta:
        db_table = "search_pin"
