"""The bounds of any JSON that comes from outside, checked at every door before it is stored."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from tasks_app.core.faults import Fault
from tasks_app.core.strict_json import JsonRefused, read_strict
from tasks_app.core.words import say


@dataclass(frozen=True, slots=True)
class PayloadLimits:
    """Bounds of one payload: bytes of compact JSON in UTF-8, containers deep, values in all."""

    max_bytes: int = 256 * 1024
    max_depth: int = 32
    max_nodes: int = 10_000


LIMITS: Final = PayloadLimits()

MOST_FAULTS: Final = 20
"""Faults reported of one payload; a person mends the first and sends it again."""


@dataclass(frozen=True, slots=True)
class ParsedJson:
    """What a text held (None when it could not be read) and every fault of it."""

    value: Any
    faults: list[Fault]


def parse_json(
    text: str | bytes, limits: PayloadLimits = LIMITS, first_line: int = 1
) -> ParsedJson:
    """Read JSON from outside and check it; a fault of the text itself has its line and column.

    >>> parse_json('{"a": [1, NaN]}').faults
    [Fault(place='$.a[1]', message='NaN is no JSON number')]
    >>> parse_json('{"a": ').faults
    [Fault(place='line 1 column 7', message='no valid JSON: Expecting value')]
    """
    # An escape takes six bytes for one that is stored; what is longer still is not even read.
    if len(text) > 6 * limits.max_bytes:
        return ParsedJson(None, [_too_large(limits)])
    try:
        # NaN is told with its place, by the check.
        value = read_strict(text, constants=float, first_line=first_line)
    except JsonRefused as refused:
        if isinstance(refused.__cause__, RecursionError):
            return ParsedJson(None, [_too_deep("$", limits)])
        return ParsedJson(None, [Fault(refused.place or "$", str(refused))])
    return ParsedJson(value, check_payload(value, limits))


def check_payload(payload: object, limits: PayloadLimits = LIMITS) -> list[Fault]:
    """Every reason why a value cannot be stored as it is, up to ``MOST_FAULTS``; [] for none.

    Nothing is repaired: what the worker gets is what was submitted. A value that cannot fit is
    given up where that shows, so a hostile one costs no more than a full one.

    >>> [str(fault) for fault in check_payload({"a": {"b c": "\\x00"}, "d": {1, 2}})]
    ['$.a["b c"]: contains a NUL character', '$.d: a set is no JSON']
    """
    return dump_json(payload, limits).faults


@dataclass(frozen=True, slots=True)
class DumpedJson:
    """A value as the compact JSON text to store ("" where it cannot be), and every fault of it."""

    text: str
    faults: list[Fault]


def dump_json(payload: object, limits: PayloadLimits = LIMITS) -> DumpedJson:
    """Check a value as ``check_payload`` does and write it as it is stored.

    >>> dump_json({"text": "Grüezi", "rows": [1, 2.5]}).text
    '{"text":"Grüezi","rows":[1,2.5]}'
    """
    text = _dump_flat(payload, limits)
    if text is not None:
        return DumpedJson(text, [])
    faults = list(islice(_Walk(limits).faults_of("$", payload, 0), MOST_FAULTS))
    if not faults:
        text = _COMPACT.encode(payload)
        if len(text.encode()) <= limits.max_bytes:
            return DumpedJson(text, [])
        faults.append(_too_large(limits))
    return DumpedJson("", faults)


def _dump_flat(payload: object, limits: PayloadLimits) -> str | None:
    """The text of a small flat object without any fault, or None to look closer.

    Most payloads are one; in a bulk of tens of thousands a second the walk would cost as much as
    everything else together.
    """
    if type(payload) is not dict or len(payload) >= limits.max_nodes or limits.max_depth < 1:
        return None
    characters = 0
    for key, value in payload.items():
        if type(key) is not str or type(value) not in _FLAT:
            return None
        if type(value) is str:
            characters += len(value)
        elif type(value) is int and value.bit_length() > _DOUBLE_BITS:
            return None
    if characters > limits.max_bytes:
        return None
    try:
        text = _COMPACT.encode(payload)
        size = len(text.encode())
    except ValueError:
        return None
    return None if size > limits.max_bytes or "\\u0000" in text else text


class _Walk:
    """One walk through a value, which ends as soon as the value is known to be too much."""

    def __init__(self, limits: PayloadLimits) -> None:
        self._limits = limits
        self._nodes_left = limits.max_nodes
        self._characters_left = limits.max_bytes
        self._over = False

    def faults_of(self, place: str, value: object, depth: int) -> Iterator[Fault]:
        """The faults of a value that lies in ``depth`` containers, and of all within it."""
        self._nodes_left -= 1
        if self._nodes_left < 0:
            self._over = True
            yield Fault(
                "$",
                say(
                    "more than %(max_nodes)s values in all", max_nodes=f"{self._limits.max_nodes:,}"
                ),
            )
        elif isinstance(value, str):
            yield from self._faults_of_text(place, value)
        elif not isinstance(value, dict | list | tuple):
            message = _fault_of_scalar(value)
            if message:
                yield Fault(place, message)
        elif depth >= self._limits.max_depth:
            yield _too_deep(place, self._limits)
        else:
            yield from self._faults_within(place, value, depth + 1)

    def _faults_within(
        self,
        place: str,
        value: dict[object, object] | list[object] | tuple[object, ...],
        depth: int,
    ) -> Iterator[Fault]:
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in entries:
            if self._over:
                return
            if not isinstance(value, dict):
                yield from self.faults_of(f"{place}[{key}]", item, depth)
            elif isinstance(key, str):
                yield from self._faults_of_text(place, key, in_key=True)
                yield from self.faults_of(_place_of(place, key), item, depth)
            else:
                yield Fault(place, say("a key is %(key)s, not text", key=_article(key)))

    def _faults_of_text(self, place: str, text: str, *, in_key: bool = False) -> Iterator[Fault]:
        self._characters_left -= len(text)
        if self._characters_left < 0:
            self._over = True
            yield _too_large(self._limits)
        elif "\x00" in text:
            nul = say("contains a NUL character")
            yield Fault(place, say("a key contains a NUL character") if in_key else nul)
        elif _SURROGATE.search(text):
            half = say("contains half a surrogate pair")
            yield Fault(place, say("a key contains half a surrogate pair") if in_key else half)


_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_PLAIN_KEY: Final = re.compile(r"[^\W\d]\w{0,60}")
# json.dumps makes an encoder at each call, which takes as long as to write a small payload.
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_FLAT: Final = frozenset({str, int, float, bool, type(None)})
_DOUBLE_BITS: Final = 1024
"""Past it an integer is infinity to every reader that keeps numbers as doubles."""
_HUGE: Final = say("an integer beyond the range of a double")


def _fault_of_scalar(value: object) -> str:
    """What is wrong with a value that is neither text nor container; "" for nothing."""
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, int):
        return _HUGE if value.bit_length() > _DOUBLE_BITS else ""
    if isinstance(value, float):
        if math.isnan(value):
            return say("NaN is no JSON number")
        return say("Infinity is no JSON number") if math.isinf(value) else ""
    return say("%(value)s is no JSON", value=_article(value))


def _article(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _place_of(place: str, key: str) -> str:
    """The path of an entry; a key that would blur the path is quoted and cut.

    >>> _place_of("$", "name"), _place_of("$.rows[3]", "a.b")
    ('$.name', '$.rows[3]["a.b"]')
    """
    if _PLAIN_KEY.fullmatch(key):
        return f"{place}.{key}"
    return f"{place}[{json.dumps(key[:60])}]"


def _too_large(limits: PayloadLimits) -> Fault:
    return Fault(
        "$", say("larger than %(max_bytes)s KiB", max_bytes=f"{limits.max_bytes // 1024:,}")
    )


def _too_deep(place: str, limits: PayloadLimits) -> Fault:
    return Fault(place, say("deeper than %(max_depth)s levels", max_depth=limits.max_depth))
