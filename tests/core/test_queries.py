"""The query language: what it reads, what it says of what it cannot read, what it suggests."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.search.queries import AllOf, AnyOf, Match, Node, Not, Text, conjuncts, write
from tasks_app.core.search.query_completion import complete
from tasks_app.core.search.query_fields import FIELDS, Vocabulary, decimal_of
from tasks_app.core.search.query_parsing import DEEPEST, LONGEST, parse
from tests.core.queries_made import KNOWN, TREES


@given(TREES)
def test_a_tree_that_is_written_is_read_back_as_the_same_tree(tree: Node) -> None:
    text = write(tree)
    if len(text) <= LONGEST:
        read = parse(text, KNOWN)
        assert read.faults == ()
        assert read.node == tree


@given(
    st.text(st.sampled_from('ab -():"\\<>=OR.* status:dead key payload'), max_size=60),
    st.integers(-5, 70),
)
def test_nothing_that_is_typed_raises(text: str, caret: int) -> None:
    for known in (KNOWN, Vocabulary()):
        read = parse(text, known)
        for fault in read.faults:
            assert 0 <= fault.at.start <= fault.at.end <= len(text)
            assert str(fault)
        for each in complete(text, caret, known):
            assert each.start <= each.end


@given(st.text(max_size=200))
def test_any_text_at_all_is_read_or_refused_with_a_reason(text: str) -> None:
    read = parse(text)
    assert parse(write(read.node)).node == read.node


@given(st.text(st.sampled_from("abstu:e(-)"), max_size=12))
def test_a_query_without_a_fault_means_what_its_text_says(text: str) -> None:
    read = parse(text, KNOWN)
    if not read.faults:
        assert parse(write(read.node), KNOWN).node == read.node


def test_side_by_side_binds_closer_than_or() -> None:
    a, b, c = Text("a"), Text("b"), Text("c")
    assert parse("a b OR c").node == AnyOf((AllOf((a, b)), c))
    assert parse("a (b OR c)").node == AllOf((a, AnyOf((b, c))))
    assert parse("a AND b").node == AllOf((a, b))
    assert parse("a or b").node == AllOf((a, Text("or"), b))


def test_minus_denies_a_word_a_field_and_a_group() -> None:
    assert parse("-a").node == Not(Text("a"))
    assert parse("-status:dead").node == Not(Match("status", "dead"))
    assert parse("-(a OR b)").node == Not(AnyOf((Text("a"), Text("b"))))
    assert parse("a-b").node == Text("a-b")


def test_every_field_of_the_language_reads_its_own_example() -> None:
    for field in FIELDS.values():
        assert parse(f"{field.name}:{field.example}").faults == (), field.name


@pytest.mark.parametrize(
    ("query", "start", "end", "words", "instead"),
    [
        ("statsu:dead", 0, 11, "There is no field statsu", "status:dead"),
        ("a status:ded", 9, 12, "There is no status 'ded'", "a status:dead"),
        ("kind:clasify_ticket", 5, 19, "There is no kind", "kind:classify_ticket"),
        ("worker:w11", 7, 10, "There is no worker", "worker:w1"),
        ("age:>1", 4, 6, "not a time span", "age:>1s"),
        ("age:1h", 4, 6, "put > or < before", "age:>1h"),
        ("attempts:many", 9, 13, "not a whole number", "attempts:>=2"),
        ("kind:>a", 5, 7, "cannot be compared with >", "kind:a"),
        ("payload:>3", 8, 10, "name a path in it", "payload:3"),
        ("payload.a:>x", 10, 12, "Only a number", "payload.a:x"),
        ("status.a:dead", 0, 13, "has no parts", "status:dead"),
        ("created:yesterday", 8, 17, "not an instant", "created:>=2026-01-31"),
        ("status:", 6, 7, "needs a status after the colon", "status:dead"),
        ("(a", 0, 1, "never closed", "a"),
        ("a )b", 2, 3, "No parenthesis is open", "a b"),
        ('say "x', 4, 6, "quotation is never closed", 'say "x"'),
        ("a OR", 2, 4, "both of its sides", "a"),
        ("-", 0, 1, "Nothing follows", ""),
        ('payload."a b".:3', 0, 16, "single full stop", 'payload."a b":3'),
        ('kind."a b":a', 0, 12, "has no parts", "kind:a"),
        ('pyload."a b":x', 0, 14, "There is no field", 'payload."a b":x'),
        ('payload."a b"', 0, 13, "needs a colon", 'payload."a b":42'),
        ("payload.Ticket ID:7", 0, 19, "needs a colon", 'payload."Ticket ID":7'),
        ("payload.n status:dead", 0, 21, "needs a colon", "payload.n:42 status:dead"),
        ("payload.n > 5", 0, 9, "needs a colon", '"payload.n" > 5'),
        ("result.$ref:7 a", 0, 13, "is quoted", 'result."$ref":7 a'),
        ("Payload.items[0].id:7", 0, 21, "is quoted", 'Payload."items[0]".id:7'),
        ('-payload."Ticket ID:7', 1, 21, "is quoted", '-payload."Ticket ID":7'),
        ('(payload."Ticket ID")', 1, 20, "needs a colon", '("payload.\\"Ticket ID\\"")'),
        ("http://x", 0, 8, "There is no field http", '"http://x"'),
    ],
)
def test_a_wrong_query_says_where_and_what_instead(
    query: str, start: int, end: int, words: str, instead: str
) -> None:
    fault = parse(query, KNOWN).faults[0]
    assert (fault.at.start, fault.at.end) == (start, end)
    assert words in fault.message
    assert instead in fault.remedies
    assert parse(instead, KNOWN).faults == ()


def test_names_are_not_refused_where_the_record_was_not_asked() -> None:
    assert parse("kind:whatever worker:w99").faults == ()


def test_what_is_too_long_or_too_deep_is_refused() -> None:
    assert "at most" in parse("a" * (LONGEST + 1)).faults[0].message
    assert "parentheses" in parse("(" * (DEEPEST + 1) + "a").faults[0].message


def test_chips_are_what_must_hold_at_once() -> None:
    assert [write(each) for each in conjuncts(parse("status:dead (a OR b) -c").node)] == [
        "status:dead",
        "a OR b",
        "-c",
    ]


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("", "status:"),
        ("sta", "status:"),
        ("de", "status:dead"),
        ("status:", "status:dead"),
        ("-status:r", "status:running"),
        ("kind:cla", "kind:classify_ticket"),
        ("kind:send", "kind:send mail"),
        ("classi", "kind:classify_ticket"),
        ("worker:", "worker:w2"),
        ("pay", "payload.customer.id:"),
        ("payload.tick", 'payload."Ticket ID":'),
        ('kind:a payload."Tick', 'payload."Ticket ID":'),
        ('-payload."a:', 'payload."a:b c":'),
        ("age:>", "age:>1h"),
        ("(reason:po", "reason:poison"),
        ("cause:0a1b", "cause:0a1b2c3d4e5f6071"),
        ("cause:keyerr", "cause:0a1b2c3d4e5f6071"),
    ],
)
def test_completion_offers_what_the_word_may_become(query: str, label: str) -> None:
    found = {each.label: each for each in complete(query, len(query), KNOWN)}
    assert label in found
    if not label.endswith(":"):
        assert parse(found[label].whole.replace("(", "").strip(), KNOWN).faults == ()


def test_completion_changes_the_word_at_the_caret_and_nothing_else() -> None:
    (found,) = complete("status:de kind:a", 9, KNOWN)
    assert found.whole == "status:dead kind:a"


def test_a_key_with_any_signs_is_named_in_quotes() -> None:
    paths = {
        'payload."Ticket ID":7': ("Ticket ID",),
        'payload."a.b":7': ("a.b",),
        'payload.a."b c".d:>7': ("a", "b c", "d"),
        r'payload."say \"x\"".a:7': ('say "x"', "a"),
        'payload."a:b":7': ("a:b",),
        'payload."":7': ("",),
        'result."a"."b":"c d"': ("a", "b"),
    }
    for query, path in paths.items():
        node = parse(query).node
        assert isinstance(node, Match), query
        assert node.path == path
        assert parse(write(node)).node == node


def test_numbers_are_compared_as_they_are_written() -> None:
    for value in ("9007199254740993", "0.1", "-1.5e-7", "1" * 300):
        assert parse(f"payload.n:<{value}").faults == ()
        assert decimal_of(value) == Decimal(value)
    for value in ("1_0", "\u0661", "0x1", "inf", "1e", "."):
        assert parse(f"payload.n:<{value}").faults != ()


def test_words_that_only_look_like_a_path_stay_words() -> None:
    for word in ("payload", "payload.", "payloads.x", "x.payload.y", "Result"):
        assert parse(word).node == Text(word)
