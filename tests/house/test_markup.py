"""Nothing in a page is code that a stranger's text could become part of."""

import ast
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from controlplane.environment import ROOT

TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static" / "js").rglob("*.js"))
CODE = sorted((ROOT / "tasks_app").rglob("*.py"))

UNESCAPED = re.compile(r"\|\s*(?:safe|safeseq)\b|{%\s*autoescape\b|{%\s*filter\s+safe\b")
TAGS = re.compile(r"{%.*?%}|{#.*?#}|{{.*?}}", re.DOTALL)
SINKS = re.compile(
    r"\beval\s*\(|\bnew\s+Function\b|\b(?:inner|outer)HTML\s*\+?=(?!=)|\binsertAdjacentHTML\b"
    r"|\bdocument\.write|\bset(?:Timeout|Interval)\s*\(\s*['\"`]|\bsrcdoc\b"
)
WRITTEN = re.compile(r'<[^<>]+>(?={%\s*json_tree)|<pre class="json"[^>]*>')
MADE_MARKUP = {"mark_safe", "SafeString", "SafeText", "format_html", "format_html_join"}


class Markup(HTMLParser):
    """Collects what a page's own markup would have a browser do; ``faults`` are in words."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name.removeprefix("data-") if "hx-" in name else name for name, _ in attrs}
        if tag == "style" or (tag == "script" and "src" not in given):
            self.faults.append(f"<{tag}> with its content in the page")
        for name, value in attrs:
            self._judge(name.removeprefix("data-") if "hx-" in name else name, value or "")

    def _judge(self, name: str, value: str) -> None:
        bare = re.sub(r"[\x00-\x20]", "", value).lower()
        if re.fullmatch(r"on[a-z]+", name) or name.startswith("hx-on"):
            self.faults.append(f"a handler in {name}")
        elif name == "style":
            self.faults.append("a style that the policy forbids")
        elif name == "hx-trigger" and "[" in value:
            self.faults.append(f"a filter in hx-trigger: {value}")
        elif name in ("hx-vals", "hx-vars", "hx-headers", "hx-request") and (
            name == "hx-vars" or bare.startswith(("js:", "javascript:"))
        ):
            self.faults.append(f"an expression in {name}")
        elif bare.startswith(("javascript:", "vbscript:", "data:text")):
            self.faults.append(f"code as the address of {name}")
        elif name in ("src", "href", "action", "hx-get", "hx-post") and bare.startswith(
            ("http:", "https:", "//")
        ):
            self.faults.append(f"another site in {name}: {value}")


def faults_of(markup: str) -> list[str]:
    """What is wrong with a template's text."""
    found = [f"unescaped: {each.group()}" for each in UNESCAPED.finditer(markup)]
    # A tag of the template stands for a value: no page of ours is held to be code by that.
    page = Markup()
    page.feed(TAGS.sub("x", markup))
    return found + page.faults


@pytest.mark.parametrize(
    "markup",
    [
        "{{ name|safe }}",
        "{{ name|lower | safe }}",
        "{% autoescape off %}{{ name }}{% endautoescape %}",
        "<p onclick='go()'>",
        '<img src="x" OnError="go()">',
        '<b hx-on:click="go()">',
        '<b data-hx-on::load="go()">',
        '<b hx-trigger="click[go()]">',
        "<b hx-vals='js:{a: go()}'>",
        '<b hx-headers="javascript:go()">',
        '<a href="java\nscript:go()">',
        "<script>go()</script>",
        "<style>b {}</style>",
        '<b style="color: red">',
        '<script src="https://elsewhere.example/x.js"></script>',
        '<form action="//elsewhere.example/">',
    ],
)
def test_each_kind_of_code_in_a_page_is_found(markup: str) -> None:
    assert faults_of(markup)


def test_ordinary_markup_is_let_through() -> None:
    page = (
        "<script src=\"{% static 'js/x.js' %}\" defer></script>"
        '<b {% if one %} hx-get="{{ address }}" hx-trigger="changed from:body"{% endif %}>'
    )
    assert faults_of(page) == []


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_template_holds_code_or_leaves_a_value_unescaped(path: Path) -> None:
    assert faults_of(path.read_text()) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_script_makes_code_or_markup_of_a_text(path: Path) -> None:
    assert SINKS.findall(path.read_text()) == []


def calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else None
            name = node.func.id if isinstance(node.func, ast.Name) else name
            if name in MADE_MARKUP:
                yield str(name), node


def test_markup_made_in_python_is_written_out_and_never_put_together() -> None:
    """The first argument is a constant; whatever varies goes through ``format_html``'s escapes."""
    made = [
        (f"{path.relative_to(ROOT)}:{call.lineno}", call)
        for path in CODE
        for _, call in calls(ast.parse(path.read_text()))
    ]
    assert len(made) > 5
    assert not [
        place for place, call in made if not call.args or not isinstance(call.args[0], ast.Constant)
    ]


def test_htmx_looks_for_nothing_of_its_own_in_what_strangers_wrote() -> None:
    """Escaped it is text in any case; this is the second wall."""
    trees = [tree for path in TEMPLATES for tree in WRITTEN.findall(path.read_text())]
    assert len(trees) > 4
    assert [tree for tree in trees if "hx-disable" not in tree] == []


def test_htmx_evaluates_nothing_and_asks_this_site_alone() -> None:
    meta = re.search(r"name=\"htmx-config\"\s+content='([^']+)'", _base())
    assert meta
    settings = json.loads(meta[1])
    assert settings["allowEval"] is False
    assert settings["allowScriptTags"] is False
    assert settings["selfRequestsOnly"] is True


def _base() -> str:
    return (ROOT / "templates" / "base.html").read_text()
