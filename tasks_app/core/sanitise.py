"""Make whatever a handler returns or raises storable as jsonb, without ever raising.

Conversions: NUL and lone surrogates become U+FFFD (PostgreSQL stores neither); NaN and the
infinities become "NaN", "Infinity", "-Infinity" (as in the JSON mapping of Protocol Buffers: null
would hide that there was something); integers beyond a double's range become hexadecimal text;
dates and times ISO 8601 text; timedelta seconds; UUID, Decimal, Fraction and paths text; bytes
base64 text; enums their value; dataclasses and mappings objects; sets sorted lists; arrays lists;
anything else its repr.
"""

import base64
import dataclasses
import json
import math
import re
from collections import UserString
from collections.abc import Callable, Iterable, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

MAX_DEPTH: Final = 32
"""Containers within one another."""

MAX_BYTES: Final = 256 * 1024
"""Size of a stored value as compact JSON in UTF-8."""

_MARKERS: Final = 8 * 1024
"""Bytes kept free in a value that must be cut, for a marker in each of the open containers."""

_MAX_TEXT: Final = MAX_BYTES // 4
"""Bytes that one text keeps in a value that must be cut, so that a long log leaves the rest."""

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def sanitise(value: object) -> Any:
    """A JSON value of at most ``MAX_BYTES`` and ``MAX_DEPTH`` that PostgreSQL can store.

    JSON that fits and is clean comes back unchanged. What does not fit is cut, and a text
    "[cut: ...]" in its place says what is missing.

    >>> sanitise({"label": "a\\x00b", "confidence": float("nan"), 1: {2}})
    {'label': 'a\\ufffdb', 'confidence': 'NaN', '1': [2]}
    """
    whole = _Writer(MAX_BYTES, longest_text=MAX_BYTES)
    result = whole.convert(value, 0)
    if not whole.cut:
        return result
    return _Writer(MAX_BYTES - _MARKERS, longest_text=_MAX_TEXT).convert(value, 0)


def clean_text(text: str) -> str:
    """The text with NUL and lone surrogates replaced; a split pair is joined.

    >>> clean_text("a\\x00b\\ud83d\\ude00c\\ud800")
    'a\\ufffdb\\U0001f600c\\ufffd'
    """
    if not _UNSTORABLE.search(text):
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\x00", "\ufffd")


class _Writer:
    """One pass over a value; ``left`` is what remains of its bytes, ``cut`` whether it ran out."""

    def __init__(self, budget: int, longest_text: int) -> None:
        self.left = budget
        self.cut = False
        self._longest_text = longest_text
        self._open: set[int] = set()

    def convert(self, value: object, depth: int) -> Any:
        """The value as JSON, inside ``depth`` containers; what refuses to be read is named."""
        try:
            return self._convert(value, depth)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  user code may raise anything, SystemExit too
            return self._text(f"[cut: {_type_name(value)} cannot be read: {_type_name(error)}]")

    def _convert(self, value: object, depth: int) -> Any:
        if value is None or value is True or value is False:
            self._spend(5 if value is False else 4)
            return value
        for types, as_plain in _AS_PLAIN:
            if isinstance(value, types):
                value = as_plain(value)
                break
        if isinstance(value, str):
            return self._text(str.__str__(value))
        if isinstance(value, int | float):
            return self._number(value)
        if depth >= MAX_DEPTH:
            return self._text(_DEEP)
        if id(value) in self._open:
            return self._text("[cut: contains itself]")
        self._open.add(id(value))
        try:
            return self._compound(value, depth + 1)
        finally:
            self._open.discard(id(value))

    def _compound(self, value: object, depth: int) -> Any:
        if isinstance(value, Mapping):
            return self._object(value.items(), len(value), depth)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = dataclasses.fields(value)
            items = ((field.name, getattr(value, field.name)) for field in fields)
            return self._object(items, len(fields), depth)
        if isinstance(value, AbstractSet | Sequence | ValuesView):
            in_order = not isinstance(value, AbstractSet)
            return self._array(value, len(value), depth, in_order=in_order)
        if isinstance(value, Enum):
            return self.convert(value.value, depth)
        for method in _EXPORTS:
            export = getattr(value, method, None)
            if callable(export) and getattr(value, "nbytes", 0) <= _MOST_EXPORTED:
                return self.convert(export(), depth)
        return self._text(repr(value))

    def _object(self, items: Iterable[tuple[object, object]], count: int, depth: int) -> Any:
        written: dict[str, Any] = {}
        self._spend(1 if count else 2)
        for done, (key, item) in enumerate(items):
            if self.left <= 0:
                self.cut = True
                written["[cut]"] = f"[cut: {count - done} more entries]"
                break
            name = self._text(_key_text(key))
            while name in written:  # 1 and "1" are two keys here and one in JSON
                name += "'"
                self._spend(1)
            self._spend(2)
            written[name] = self.convert(item, depth)
        return written

    def _array(self, items: Iterable[object], count: int, depth: int, *, in_order: bool) -> Any:
        written: list[Any] = []
        self._spend(1 if count else 2)
        marker = []
        for done, item in enumerate(items):
            if self.left <= 0:
                self.cut = True
                marker = [f"[cut: {count - done} more items]"]
                break
            self._spend(1)
            written.append(self.convert(item, depth))
        return (written if in_order else sorted(written, key=_sort_key)) + marker

    def _number(self, value: float) -> int | float | str:
        if isinstance(value, int):
            whole = int.__int__(value)
            if whole.bit_length() > _DOUBLE_BITS:
                return self._text(hex(whole))
            self._spend(len(str(whole)))
            return whole
        real = float.__float__(value)
        if math.isnan(real):
            return self._text("NaN")
        if math.isinf(real):
            return self._text("Infinity" if real > 0 else "-Infinity")
        self._spend(len(repr(real)))
        return real

    def _text(self, text: str) -> str:
        room = max(0, min(self.left, self._longest_text))
        kept = clean_text(text[: room + 1])
        size = _json_size(kept)
        if len(text) <= room and size <= room:
            self._spend(size)
            return kept
        self.cut = True
        while kept and size > room:
            # In proportion, and at least by one: a character takes up to six bytes.
            kept = kept[: min(len(kept) - 1, len(kept) * room // size)]
            size = _json_size(kept)
        self._spend(size)
        return f"{kept}[cut: {len(text)} characters in all]"

    def _spend(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            self.cut = True


_DEEP: Final = f"[cut: deeper than {MAX_DEPTH} levels]"

_DOUBLE_BITS: Final = 1024
"""Past it an integer is infinity to every reader that keeps numbers as doubles."""

_MAX_KEY: Final = 1024
"""Bytes of a key that is no text already."""

_EXPORTS: Final = ("tolist", "model_dump")
"""How numpy's and pydantic's values give themselves away, without importing either."""

_MOST_EXPORTED: Final = 16 * MAX_BYTES
"""Bytes of an array past which its own short repr is stored; a number takes 1 to 16 in memory."""

_AS_PLAIN: Final[tuple[tuple[Any, Callable[[Any], str | float]], ...]] = (
    # One byte too many is enough to be found too long.
    ((bytes, bytearray, memoryview), lambda value: _base64(bytes(value)[: MAX_BYTES + 1])),
    ((datetime, date, time), lambda value: value.isoformat()),
    (timedelta, lambda value: value.total_seconds()),
    ((UUID, Decimal, Fraction, PurePath, UserString), str),
)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _key_text(key: object) -> str:
    """A mapping's key as JSON would write it."""
    if isinstance(key, str):
        return str.__str__(key)
    plain = _Writer(_MAX_KEY, _MAX_KEY).convert(key, MAX_DEPTH - 1)
    return plain if isinstance(plain, str) else json.dumps(plain)


def _sort_key(item: Any) -> tuple[str, Any]:
    """Orders what a set held the same way in every process: numbers, then the rest as text."""
    if isinstance(item, int | float):
        return "", item
    return type(item).__name__, item if isinstance(item, str) else json.dumps(item)


def _json_size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode())


def _type_name(value: object) -> str:
    """The class's name, past whatever its metaclass says."""
    return str(type.__dict__["__name__"].__get__(type(value)))
