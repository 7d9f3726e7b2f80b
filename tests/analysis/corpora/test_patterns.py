"""The filter language: words, paths, order, absence, counts; and what it says of mistakes."""

import pytest

from analysis.corpora import parse_conllu, read_filter
from analysis.corpora.notation import read_pattern
from analysis.errors import BadInput
from tests.analysis.corpora.examples import rows

# "the old dog of the man saw a cat and never a bird"
(DOG,) = parse_conllu(
    rows(
        "The/the/DET/3/det old/old/ADJ/3/amod/Degree=Pos dog/dog/NOUN/7/nsubj/Number=Sing of/of/ADP/6/case"
        " the/the/DET/6/det man/man/NOUN/3/nmod saw/see/VERB/0/root a/a/DET/9/det cat/cat/NOUN/7/obj"
        " and/and/CCONJ/13/cc never/never/ADV/13/advmod a/a/DET/13/det bird/bird/NOUN/9/conj:and"
    )
)


def has(**pattern):
    return read_pattern(pattern, {"pets": frozenset({"cat", "dog"})}).is_in(DOG)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ({"form": "DOG"}, True),
        ({"lemma": "saw"}, False),
        ({"word": ["saw"]}, True),
        ({"word": "@pets", "upos": "NOUN"}, True),
        ({"upos": ["VERB", "AUX"]}, True),
        ({"feats": {"Degree": "Pos"}}, True),
        ({"feats": {"Degree": "*"}}, True),
        ({"feats": {"Degree": ["Sup", "Cmp"]}}, False),
        ({"phrase": "old dog"}, True),
        ({"phrase": ["dog old", "a bird flies"]}, False),
        ({"deprel": "conj"}, True),
        ({"deprel": "conj!"}, False),
        ({"upos": "NOUN", "not": {"word": ["@pets", "man", "bird"]}}, False),
        ({"upos": "NOUN", "not": {"word": ["@pets", "man"]}}, True),
    ],
)
def test_a_word_is_asked_for(word, expected):
    assert has(words={"a": word}) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("verb >nsubj noun", True),
        ("verb >iobj/obj noun", True),
        ("verb >conj noun", False),
        ("verb >> noun", True),
        ("verb >* noun", True),
        ("noun >conj other", True),
        ("noun >conj! other", False),
        ("verb >nsubj noun >nmod other", True),
        ("verb >obj noun >nmod other", False),
    ],
)
def test_a_path_of_dependencies_is_asked_for(path, expected):
    words = {"verb": {"upos": "VERB"}, "noun": {"upos": "NOUN"}, "other": {"upos": "NOUN"}}
    assert has(words=words, path=path) is expected


def test_far_dependents_are_below_and_not_above():
    assert has(words={"a": {"form": "saw"}, "b": {"form": "bird"}}, path="a >> b")
    assert not has(words={"a": {"form": "bird"}, "b": {"form": "saw"}}, path="a >> b")
    assert not has(words={"a": {"form": "man"}, "b": {"form": "cat"}}, path="a >> b")


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("a < b", True),
        ("b < a", False),
        ("a <1 b", False),
        ("a <3 b", False),
        ("a <4 b", True),
        ("a <1 c", True),
    ],
)
def test_an_order_is_asked_for(order, expected):
    assert (
        has(words={"a": {"form": "dog"}, "b": {"form": "saw"}, "c": {"form": "of"}}, order=order) is expected
    )


def test_different_names_are_different_words():
    assert not has(words={"a": {"upos": "VERB"}, "b": {"upos": "VERB"}})


def test_what_must_be_absent_is_looked_for_around_the_same_words():
    noun = {"noun": {"upos": "NOUN"}}
    no_article = [{"words": {"article": {"upos": "DET"}}, "path": "noun >det article"}]
    assert not has(words=noun, without=no_article)
    no_adjective = [{"words": {"adjective": {"upos": "ADJ"}}, "path": "noun >amod adjective"}]
    assert has(words={"noun": {"form": "cat"}}, without=no_adjective)
    assert not has(words={"noun": {"form": "dog"}}, without=no_adjective)


def test_absence_may_concern_the_named_words_alone():
    words = {"verb": {"upos": "VERB"}, "noun": {"form": ["dog", "cat"]}}
    assert has(words=words, path="verb >* noun", without=[{"order": "noun < verb"}])
    assert not has(words=words, path="verb >nsubj noun", without=[{"order": "noun < verb"}])


@pytest.mark.parametrize(
    ("count", "expected"),
    [("noun >= 4", True), ("noun > 4", False), ("noun == 4", True), ("noun <= 3", False), ("noun < 5", True)],
)
def test_words_are_counted_once_each(count, expected):
    assert has(words={"noun": {"upos": "NOUN"}, "other": {}}, count=count) is expected


def test_a_count_of_none_finds_sentences_without():
    assert has(words={"number": {"upos": "NUM"}}, count="number == 0")


MISTAKES = {
    "remove = []": "the filter removes nothing",
    "[[remove]]\nname = 'x'": "pattern 1: the pattern defines no words",
    "[[remove]]\nwords.a = { uppos = 'X' }": "word 'a': unknown key 'uppos'. Did you mean upos?",
    "[[remove]]\nwords.a = { lemma = '@npi' }": "there is no list '@npi'. Lists are: none.",
    "[[remove]]\nwords.a = { lemma = 3 }": "3 is neither a text nor a list",
    "[[remove]]\nwords.a = 'NOUN'": "'NOUN' is not a table",
    "[[remove]]\nwords.a = {}\npath = 'a > b'": "the path 'a > b' is not understood",
    "[[remove]]\nwords.a = {}\npath = 'a >obj b'": "no word is named 'b'. Named are: a.",
    "[[remove]]\nwords.a = {}\norder = 'a <0 a'": "the order 'a <0 a' is not understood",
    "[[remove]]\nwords.a = {}\ncount = 'a is 2'": "the count 'a is 2' is not understood",
    "[[remove]]\nwords.a = {}\npaths = 'a'": "unknown key 'paths'. Did you mean path?",
    "[[remove]]\nwords.a = {}\n[[remove.without]]\nwords.a = {}": "without: 'a' is defined twice",
    "name = 'full'\n[[remove]]\nwords.a = {}": "'full' is not a valid filter name",
    "name = '../x'\n[[remove]]\nwords.a = {}": "'../x' is not a valid filter name",
    "lists.npi = 'none.txt'\n[[remove]]\nwords.a = {}": "list 'npi': there is no file 'none.txt'",
    "lists.npi = []\n[[remove]]\nwords.a = {}": "list 'npi' contains no words",
    "removes = 1\n[[remove]]\nwords.a = {}": "unknown key of a filter 'removes'. Did you mean 'remove'?",
    "[[remove]\n": "not TOML",
}


@pytest.mark.parametrize("text", MISTAKES, ids=list(MISTAKES.values()))
def test_a_mistake_in_a_filter_is_named_with_its_file(text, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        read_filter(path)
    assert "mine.toml" in str(caught.value)
    assert MISTAKES[text] in str(caught.value)


def test_a_filter_of_ones_own_may_take_a_list_from_a_file(tmp_path):
    (tmp_path / "pets.txt").write_text("# pets\ncat, dog\nguinea pig  # two words\n")
    path = tmp_path / "pets.toml"
    path.write_text('lists.pets = "pets.txt"\n[[remove]]\nwords.pet = { phrase = "@pets" }\n')
    pet_filter = read_filter(path)
    assert (pet_filter.name, pet_filter.removes(DOG).name) == ("pets", "pattern 1")
    before = pet_filter.sha256
    (tmp_path / "pets.txt").write_text("parrot\n")
    assert read_filter(path).removes(DOG) is None
    assert read_filter(path).sha256 != before
