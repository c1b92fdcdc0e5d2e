"""YAML files: read by the core schema of YAML 1.2, strictly, and written so that they read back.

PyYAML scans and parses; what a plain word means is decided here, because PyYAML has the rules of
YAML 1.1: NO is false to it, 010 is 8 and 12:30 is 750.
"""

import re
from typing import Any, Final

import yaml
from yaml.composer import Composer
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

TAG: Final = "tag:yaml.org,2002:"
MERGE: Final = f"{TAG}merge"

_RULES: Final[tuple[tuple[str, str, list[str]], ...]] = (
    ("merge", r"<<", ["<"]),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    (
        "float",
        (
            r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
            r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
        ),
        list("-+.0123456789"),
    ),
)
"""Chapter 10.3.2 of YAML 1.2.2: tag, pattern, first characters; and the merge key."""

_BASES: Final = {"0o": 8, "0x": 16}
_WORDS: Final = re.compile(r"\.(inf|nan)")
_KNOWN: Final = frozenset(f"{TAG}{name}" for name in ("null", "bool", "int", "float", "str"))


class YamlRefused(ValueError):
    """A text that is not read as YAML; the message says where and why."""


class _CoreResolver(BaseResolver):
    """What a plain word means by the core schema."""


class _Loader(Reader, Scanner, Parser, Composer, _CoreResolver):
    def __init__(self, text: str | bytes) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)
        _CoreResolver.__init__(self)


class _Dumper(yaml.SafeDumper):
    """Quotes what either version of YAML would read as something else than text."""


for _name, _pattern, _first in _RULES:
    for _class in (_CoreResolver, _Dumper):
        _class.add_implicit_resolver(f"{TAG}{_name}", re.compile(f"(?:{_pattern})$"), _first)


def write_yaml(document: Any) -> str:
    """A document of plain values as YAML, in its own order."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def read_yaml(text: str | bytes) -> Any:
    """Read one document of plain values. Raises YamlRefused.

    >>> read_yaml("{country: NO, zip: 01234, at: 12:30, day: 2030-01-31, n: 12_34}")
    {'country': 'NO', 'zip': 1234, 'at': '12:30', 'day': '2030-01-31', 'n': '12_34'}
    """
    try:
        node = _Loader(text).get_single_node()
        return None if node is None else _Values().of(node)
    except RecursionError as error:
        raise YamlRefused("no valid YAML: nested too deep") from error
    except (yaml.YAMLError, ValueError) as error:
        raise YamlRefused(f"no valid YAML: {error}") from error


class _Values:
    """The values of nodes. An alias is shared and not copied, so that few lines stay small."""

    def __init__(self) -> None:
        self._made: dict[int, Any] = {}
        self._open: set[int] = set()

    def of(self, node: Node) -> Any:
        """The value of a node. Raises YamlRefused."""
        if isinstance(node, ScalarNode):
            return _scalar(node)
        if id(node) in self._made:
            return self._made[id(node)]
        if id(node) in self._open:
            raise YamlRefused(f"{_line(node)}: an alias stands for what it is part of")
        self._open.add(id(node))
        self._made[id(node)] = made = self._collection(node)
        self._open.remove(id(node))
        return made

    def _collection(self, node: Node) -> Any:
        wanted = "map" if isinstance(node, MappingNode) else "seq"
        if node.tag != f"{TAG}{wanted}":
            raise _strange_tag(node)
        if isinstance(node, SequenceNode):
            return [self.of(each) for each in node.value]
        return self._mapping(node)

    def _mapping(self, node: Node) -> dict[str, Any]:
        lines: dict[str, int] = {}
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key, line = _key(key_node), key_node.start_mark.line + 1
            if key in lines:
                raise YamlRefused(
                    f'line {line}: a key stands twice in one mapping: "{key}", '
                    f"first on line {lines[key]}"
                )
            lines[key] = line
            if key_node.tag == MERGE:
                merged = self._merged(value_node)
            else:
                own[key] = self.of(value_node)
        return {**merged, **own}

    def _merged(self, node: Node) -> dict[str, Any]:
        """What ``<<`` brings in; of several mappings the first that has a key decides."""
        parts = node.value if isinstance(node, SequenceNode) else [node]
        merged: dict[str, Any] = {}
        for part in parts:
            if not isinstance(part, MappingNode):
                raise YamlRefused(f"{_line(part)}: << takes a mapping or a list of mappings")
            merged = {**self.of(part), **merged}
        return merged


def _key(node: Node) -> str:
    if isinstance(node, ScalarNode) and node.tag in (f"{TAG}str", MERGE):
        return str(node.value)
    told = f" {node.value}" if isinstance(node, ScalarNode) else ""
    raise YamlRefused(f"{_line(node)}: the key{told} is not text; put it in quotes")


def _scalar(node: ScalarNode) -> Any:
    if node.tag == MERGE:
        return str(node.value)
    if node.tag not in _KNOWN:
        raise _strange_tag(node)
    text, name = str(node.value), node.tag.removeprefix(TAG)
    if name == "str":
        return text
    # An explicit tag may stand before a word that its type does not have.
    pattern = next(pattern for rule, pattern, _ in _RULES if rule == name)
    if not re.fullmatch(pattern, text):
        raise YamlRefused(f"{_line(node)}: {text[:80]!r} does not fit its tag !!{name}")
    if name == "null":
        return None
    if name == "bool":
        return text.lower() == "true"
    if name == "int":
        return int(text, _BASES.get(text[:2], 10))
    return float(_WORDS.sub(r"\1", text.lower()))


def _strange_tag(node: Node) -> YamlRefused:
    return YamlRefused(f"{_line(node)}: the tag {node.tag.replace(TAG, '!!')} is not read here")


def _line(node: Node) -> str:
    return f"line {node.start_mark.line + 1}"
