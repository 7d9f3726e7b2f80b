"""Pairs of a paradigm: reproducible, distinct, balanced, and different in what the contrast states."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import BadInput
from experiments.generation.paradigms import Sampler, lint, read_paradigm, sample_pairs
from experiments.generation.paradigms.document import find_paradigm
from experiments.generation.paradigms.realization import tokens
from experiments.generation.paradigms.sampling import edited_row
from tests.experiments.generation.small_lexicon import small_lexicon

HEAD = """
format = 1
uid = "{uid}"
language = "en"
phenomenon = "binding"
field = "syntax_semantics"
definition = "For a test."
limits = {{ share = 0.5 }}
"""
PEOPLE = """
[slots]
who = { category = "noun", where = { class = "person" }, form = "$n" }
other = { category = "noun", where = { class = "person" }, form = "pl", differ = "who" }
thing = { category = "noun", where = { class = "thing" }, fits = "act.object" }
act = { category = "verb", where = { frame = "tr", object = "thing" }, form = "past" }
adj = { category = "adj" }
"""
PARADIGMS = {
    "form": """
methods = { one_prefix = true }
[draw]
n = ["sg", "pl"]
%s
be = { category = "aux", where = { lemma = "be" }, form = "present.$n" }
[[frames]]
good = "the {who} near the {other} {be} {adj}."
[[frames]]
good = "the {who} who {act} a {adj} {thing} {be} here."
[contrast]
form = { be = "present.!$n" }
""",
    "replace": """
methods = { two_prefix = true, target = "act" }
[draw]
n = ["sg", "pl"]
%s
[[frames]]
good = "a {thing:sg} {act} the {who}."
[[frames]]
good = "today a {adj} {thing} {act} the {who}."
[contrast]
replace = { thing = { where = { class = "document" } } }
""",
    "order": """
[draw]
n = ["sg", "pl"]
%s
[[frames]]
good = "the {who} {act} a {thing} and the {other} left."
contrast = { order = "the {who} and the {other} {act} left a {thing}." }
[[frames]]
good = "did the {who} find a {adj} {thing} there?"
contrast = { order = "did the {who} find a {thing} {adj} there?" }
""",
    "exchange": """
[draw]
n = ["sg", "pl"]
%s
she = { category = "name", where = { gender = "f" } }
he = { category = "name", where = { gender = "m" } }
[[frames]]
good = "{she} said that {he} {act} the {thing} for the {who}."
[[frames]]
good = "{she} heard that {he} {act} the {adj} {thing} for the {who}."
[contrast]
exchange = ["she", "he"]
""",
}


def without_unused_slots(body):
    """The body without those of the five slots that neither a text nor a selection mentions."""
    unused = {
        name
        for name in ("who", "other", "thing", "act", "adj")
        if f"{{{name}" not in body and not (name == "act" and "{thing" in body)
    }
    return "\n".join(line for line in body.splitlines() if line.split(" ")[0] not in unused)


def paradigm(tmp_path, uid, body=None):
    path = tmp_path / f"{uid}.toml"
    path.write_text(HEAD.format(uid=uid) + without_unused_slots(body or PARADIGMS[uid] % PEOPLE))
    return read_paradigm(path, lexicon=small_lexicon())


def draw(tmp_path, uid, n, *, seed=0):
    return sample_pairs(paradigm(tmp_path, uid), n, seed=seed, lexicon=small_lexicon())


@pytest.mark.parametrize("uid", PARADIGMS)
def test_a_paradigm_is_clean_and_its_pairs_are_distinct(tmp_path, uid):
    paradigm(tmp_path, uid)
    report = lint(str(tmp_path / f"{uid}.toml"), lexicon=small_lexicon())
    assert [str(finding) for finding in report.findings if finding.level == "error"] == []
    sentences = [text for row in report.rows for text in (row["sentence_good"], row["sentence_bad"])]
    assert len(set(sentences)) == len(sentences) == 2000


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(sorted(PARADIGMS)), st.integers(0, 2**32), st.integers(1, 60))
def test_the_first_pairs_of_more_are_the_pairs_of_fewer(tmp_path_factory, uid, seed, k):
    folder = tmp_path_factory.mktemp("paradigms")
    assert draw(folder, uid, 60, seed=seed)[:k] == draw(folder, uid, k, seed=seed)


def test_another_seed_gives_other_pairs(tmp_path):
    assert draw(tmp_path, "form", 50, seed=1) != draw(tmp_path, "form", 50, seed=2)


@pytest.mark.parametrize("uid", ["form", "replace"])
def test_one_word_differs_and_it_is_the_critical_region(tmp_path, uid):
    for row in draw(tmp_path, uid, 200, seed=3):
        good, bad = row["sentence_good"], row["sentence_bad"]
        assert sum(a != b for a, b in zip(good.split(), bad.split(), strict=True)) == 1
        (start, end), (other_start, other_end) = row["critical_good"], row["critical_bad"]
        assert good[:start] == bad[:other_start] and good[end:] == bad[other_end:]
        assert good[start:end] != bad[other_start:other_end]


@pytest.mark.parametrize("uid", ["order", "exchange"])
def test_an_order_or_exchange_keeps_the_words(tmp_path, uid):
    language = paradigm(tmp_path, uid).language
    for row in draw(tmp_path, uid, 200):
        good, bad = (
            Counter(token.text.casefold() for token in tokens(row[side], language))
            for side in ("sentence_good", "sentence_bad")
        )
        good["a"] += good.pop("an", 0)
        bad["a"] += bad.pop("an", 0)
        assert good == bad


def test_values_and_frames_take_turns(tmp_path):
    rows = draw(tmp_path, "form", 400)
    assert Counter((row["values"]["n"], row["frame"]) for row in rows) == dict.fromkeys(
        [(n, frame) for n in ("sg", "pl") for frame in ("frame 1", "frame 2")], 100
    )


def test_all_lexemes_of_a_slot_are_used_alike(tmp_path):
    uses = Counter(row["lexemes"]["adj"] for row in draw(tmp_path, "form", 300))
    assert len(uses) == 10 and max(uses.values()) - min(uses.values()) <= 2


def test_articles_fit_the_sound_of_the_next_word(tmp_path):
    vowels = set()
    for row in draw(tmp_path, "replace", 400) + draw(tmp_path, "form", 400):
        for text in (row["sentence_good"], row["sentence_bad"]):
            words = text.casefold().strip(".").split()
            for article, following in zip(words, words[1:], strict=False):
                if article in ("a", "an"):
                    assert (article == "an") == (following[0] in "aeiou"), text
                    vowels.add(article)
    assert vowels == {"a", "an"}


def test_prefixes_stop_before_the_word_that_is_compared(tmp_path):
    row = draw(tmp_path, "form", 1)[0]
    start = row["critical_good"][0]
    assert row["one_prefix_prefix"] == row["sentence_good"][:start].rstrip()
    assert {row["one_prefix_word_good"], row["one_prefix_word_bad"]} == {"is", "are"}
    row = draw(tmp_path, "replace", 1)[0]
    assert row["two_prefix_prefix_good"] != row["two_prefix_prefix_bad"]
    assert row["sentence_good"].startswith(f"{row['two_prefix_prefix_good']} {row['two_prefix_word']} ")


def test_an_edited_pair_keeps_its_shared_word_or_the_place_of_it():
    paradigm = find_paradigm("sentential_negation_npi_licensor_present")
    drawn = sample_pairs(paradigm, 1, seed=2)[0]
    assert drawn["two_prefix_word"] == "ever"
    language = paradigm.language
    good, bad = "Those vets had not really ever slept.", "Those vets had really really ever slept."
    row = edited_row(drawn, good, bad, language)
    assert row["two_prefix_prefix_good"] == "Those vets had not really" and row["two_prefix_word"] == "ever"
    row = edited_row(drawn, "Those vets had not any bread.", "Those vets had so any bread.", language)
    assert (row["two_prefix_prefix_bad"], row["two_prefix_word"]) == ("Those vets had so", "any")

    second = find_paradigm("determiner_noun_agreement_with_adj_2")
    drawn = sample_pairs(second, 1, seed=2)[0]
    row = edited_row(drawn, "Ann saw that tall gate.", "Ann saw those tall gate.", second.language)
    assert (row["two_prefix_prefix_good"], row["two_prefix_word"]) == ("Ann saw that tall", "gate")
    row = edited_row(drawn, "Ann saw that.", "Ann saw those.", second.language)
    assert not row["two_prefix_method"] and "two_prefix_word" not in row


def test_no_lexeme_comes_twice_in_a_sentence(tmp_path):
    for row in draw(tmp_path, "exchange", 200) + draw(tmp_path, "form", 200):
        content = [name for name in row["lexemes"].values() if not name.startswith(("be.", "have."))]
        assert len(set(content)) == len(content)


def test_the_plural_possessive_has_one_apostrophe(tmp_path):
    body = PARADIGMS["order"] % PEOPLE
    body = body.replace("did the {who} find", "did the {other}'s {who} find")
    rows = sample_pairs(paradigm(tmp_path, "order", body), 100, lexicon=small_lexicon())
    questions = [row["sentence_good"] for row in rows if row["sentence_good"].endswith("?")]
    assert all("s' " in text and "s's" not in text for text in questions) and len(questions) == 50


def test_more_pairs_than_a_small_part_of_all_are_refused(tmp_path):
    with pytest.raises(
        BadInput, match=r"form.toml: [\d,]+ pairs possible, 100,000 asked. Slot .* has \d+ words"
    ):
        draw(tmp_path, "form", 100_000)


@pytest.mark.parametrize("n", [0, -1, 10**7, True])
def test_a_number_of_pairs_that_makes_no_sense_is_refused(tmp_path, n):
    with pytest.raises(BadInput, match="pairs were asked for"):
        draw(tmp_path, "form", n)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('form = { be = "present.!$n" }', 'form = { be = "past.!$n" }', ""),
        ('form = "present.$n" }', 'form = "past.$n" }', ""),
        ('where = { class = "person" }, form = "$n"', 'where = { lemma = "monk" }, form = "$n"', "L06"),
        ('where = { class = "person" }, form = "$n"', 'where = { lemma = "nobody" }, form = "$n"', "L06"),
        ('form = { be = "present.!$n" }', 'form = { be = "present.$n" }', "L10"),
        ("one_prefix = true", "two_prefix = true, target = 'who'", "L16"),
    ],
)
def test_the_linter_names_what_is_wrong_in_the_pairs(tmp_path, old, new, code):
    body = PARADIGMS["form"] % PEOPLE
    assert old in body
    paradigm(tmp_path, "form", body.replace(old, new, 1))
    findings = lint(str(tmp_path / "form.toml"), lexicon=small_lexicon(), n=200).findings
    codes = {finding.code for finding in findings if finding.level == "error"}
    assert (code in codes) if code else not codes - {"L14"}


def test_the_linter_finds_sentences_of_another_set(tmp_path):
    row = draw(tmp_path, "form", 1)[0]
    report = lint(
        str(tmp_path / "form.toml"), lexicon=small_lexicon(), n=20, comparison=[row["sentence_bad"].upper()]
    )
    assert [finding.code for finding in report.findings if finding.code == "L19"] == ["L19"]


def test_values_of_the_language_share_between_slots(tmp_path):
    body = (PARADIGMS["replace"] % PEOPLE).replace(
        'where = { class = "document" }', 'where = { "!class" = "@who.class", "!gender" = ["f", "m"] }'
    )
    sampler = Sampler(paradigm(tmp_path, "replace", body), lexicon=small_lexicon())
    rows = small_lexicon().by_id
    for pair, _ in zip(sampler.pairs(), range(100), strict=False):
        assert "role" not in rows[pair.lexemes["thing→"]].features["class"]
