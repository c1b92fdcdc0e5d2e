"""Turning the faults that core and the schema library find into messages beside their fields."""

from collections.abc import Sequence
from typing import Any, cast

from django.core.exceptions import ValidationError
from jsonschema import SchemaError
from jsonschema.validators import validator_for


def check_schema(schema: Any) -> None:
    """Refuse what is no JSON Schema, naming the place in it. Raises ValidationError."""
    if schema is None:
        return
    if not isinstance(schema, dict | bool):
        raise ValidationError(
            'A JSON Schema is an object, such as {"type": "object"}; this is %(what)s.',
            params={"what": type(schema).__name__},
        )
    try:
        validator_for(schema).check_schema(cast("dict[str, Any]", schema))
    except SchemaError as error:
        place = "/".join(str(part) for part in error.absolute_path) or "the top"
        raise ValidationError(
            "No valid JSON Schema: at %(place)s, %(message)s.",
            params={"place": place, "message": error.message},
        ) from error


def check_names(value: Any) -> Sequence[str]:
    """Refuse what is no list of names. Raises ValidationError."""
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise ValidationError(
            'Give a list of names in quotes, such as ["requests.HTTPError", "HTTP 409"].'
        )
    return value
