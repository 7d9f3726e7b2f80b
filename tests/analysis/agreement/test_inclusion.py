"""Rules that include or reject paradigms."""

from fractions import Fraction

import pytest

from analysis.agreement.inclusion import ShareRule, Tally, pair_validity, parse_rule
from analysis.errors import BadInput, UnknownName


@pytest.mark.parametrize(
    ("right", "items", "status"),
    [
        (5, 5, "included"),
        (4, 5, "included"),
        (3, 5, "rejected"),
        (4, 4, "included"),
        (3, 4, "rejected"),
        (3, 3, "insufficient_items"),
        (0, 0, "insufficient_items"),
        (8, 10, "included"),
        (7, 10, "rejected"),
    ],
)
def test_blimp_rule_needs_four_of_five(right, items, status):
    assert parse_rule("blimp").decide(Tally(right, items)) == status
    assert parse_rule("4/5").decide(Tally(right, items)) == status


def test_share_exactly_at_the_limit_stays():
    counts = [(17, 20), (17, 20)]
    assert parse_rule("0.85").decide(Tally(0, 2, counts)) == "included"
    assert parse_rule("climp").decide(Tally(0, 2, counts)) == "included"
    assert parse_rule("0.85").decide(Tally(0, 2, [(17, 20), (16, 20)])) == "rejected"


def test_shares_are_exact_where_floats_are_not():
    counts = [(1, 10), (2, 10)] + [(7, 10)] * 0
    assert parse_rule("0.15").decide(Tally(0, 2, counts)) == "included"
    assert Tally(0, 3, [(1, 3), (1, 3), (1, 4)]).mean_share() == Fraction(11, 36)


def test_without_judgments_a_share_has_too_few_items():
    assert parse_rule("climp").decide(Tally(0, 0, [(0, 0)])) == "insufficient_items"


def test_half_of_the_annotators_do_not_make_a_pair_valid():
    assert [pair_validity(8, 16), pair_validity(9, 16), pair_validity(0, 0)] == [
        "invalid",
        "valid",
        "no_data",
    ]


def test_unknown_rule_is_named():
    with pytest.raises(UnknownName, match=r"blimpp.*Did you mean 'blimp'"):
        parse_rule("blimpp")


@pytest.mark.parametrize("rule", ["6/5", "0/5", "1.5", "-0.2", "0"])
def test_impossible_rules_are_refused(rule):
    with pytest.raises(BadInput):
        parse_rule(rule)


@pytest.mark.parametrize("rule", ["", "1/0x", "nan", "4/", "a/b"])
def test_words_that_are_no_rule_are_refused(rule):
    with pytest.raises(BadInput):
        parse_rule(rule)


def test_vector_blimp_inclusion(shared_vectors):
    vector = shared_vectors["blimp_inclusion"]
    rule = parse_rule("blimp")
    for paradigm, shares in vector["input"].items():
        judged = [share for share in shares if share is not None]
        right = sum(share > 0.5 for share in judged)
        assert [right, len(judged), rule.decide(Tally(right, len(judged)))] == vector["expected"][paradigm]


def test_vector_climp_rules(shared_vectors):
    vector = shared_vectors["climp_rules"]
    rule = parse_rule("climp")
    assert isinstance(rule, ShareRule)
    words = {"included": "kept", "rejected": "dropped"}
    for paradigm, accuracy in vector["input"]["paradigm_accuracy"].items():
        decision = words[rule.decide_share(Fraction(str(accuracy)))]
        assert decision == vector["expected"]["paradigm"][paradigm]
    for pair, (k, n) in vector["input"]["pair"].items():
        assert pair_validity(k, n) == vector["expected"]["pair"][pair]
