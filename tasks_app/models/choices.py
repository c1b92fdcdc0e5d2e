"""What settings may be: choice lists made from the enums of core, and bounds of numbers."""

from collections.abc import Iterable
from enum import StrEnum

from django.core.validators import BaseValidator, MaxValueValidator, MinValueValidator
from django.db.models import Q

from tasks_app.core.bounds import LARGEST, LONGEST_SECONDS


def choices(enum: type[StrEnum]) -> list[tuple[str, str]]:
    """Pairs of value and readable label: ``least_loaded`` reads "Least loaded"."""
    return [(member.value, member.value.replace("_", " ").capitalize()) for member in enum]


def one_of(field: str, members: Iterable[StrEnum]) -> Q:
    """The condition of a CHECK constraint: the field holds one of the members' values."""
    return Q(**{f"{field}__in": sorted(member.value for member in members)})


def seconds(least: float) -> list[BaseValidator]:
    """Validators of a setting in seconds."""
    return [MinValueValidator(least), MaxValueValidator(LONGEST_SECONDS)]


def amount(least: float) -> list[BaseValidator]:
    """Validators of a setting that is a weight, a rate or a multiple."""
    return [MinValueValidator(least), MaxValueValidator(LARGEST)]
