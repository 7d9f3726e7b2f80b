"""Pairs, a corpus and a 2 × 2 design of common words, for the demo, the tutorial and tests."""

import itertools
import zlib
from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.errors import BadInput
from experiments.generation.lexicon import Lexicon, read_lexicon
from experiments.generation.lexicon.reading import Lexeme
from experiments.generation.paradigms.document import find_paradigm
from experiments.generation.paradigms.sampling import Pair, Sampler, pair_row

#: Five phenomena; the first members of each are enough for a study of some minutes.
PARADIGMS = (
    "regular_plural_subject_verb_agreement_1",
    "determiner_noun_agreement_1",
    "anaphor_gender_agreement",
    "anaphor_number_agreement",
    "wh_island",
    "only_npi_licensor_present",
)
#: Whose acceptable members are the text of n-gram models, beside those of the six.
OF_THE_CORPUS = (
    *PARADIGMS,
    "transitive",
    "wh_vs_that_no_gap",
    "determiner_noun_agreement_2",
    "regular_plural_subject_verb_agreement_2",
    "matrix_question_npi_licensor_present",
)
BLIMP_FIELDS = (
    *("sentence_good", "sentence_bad", "field", "linguistics_term", "UID", "simple_LM_method"),
    *("one_prefix_method", "two_prefix_method", "lexically_identical", "pairID"),
)
CONDITIONS = ("short_that", "long_that", "short_whether", "long_whether")
ISLAND_FILE = Path(__file__).with_name("whether_island.toml")
OPEN_CATEGORIES = ("noun", "name", "verb", "adj", "adv")
KEPT_SHARE = 2  # one common noun or verb in so many: a small model then meets each word several times
ROUND = 1500  # sentences of a paradigm without a repetition
LANGUAGE = "en"


@lru_cache(maxsize=1)
def common_lexicon() -> Lexicon:
    """Return some thousand common words of the English lexicon.

    Examples
    --------
    >>> 1_000 < len(common_lexicon()) < 1_500
    True
    """
    lexicon = read_lexicon(LANGUAGE)
    rows = [row for row in lexicon.rows if row.category not in OPEN_CATEGORIES or _is_kept(row)]
    return Lexicon(LANGUAGE, rows, version=lexicon.version, tree=lexicon.classes)


def _is_kept(row: Lexeme) -> bool:
    if row.features["band"] != ("common",):
        return False
    is_needed = (
        row.category in ("name", "adj", "adv")
        or row.features.get("gender") in (("f",), ("m",))
        or row.features.get("frame") in (("that",), ("question",))
    )
    return is_needed or zlib.crc32(row.id.encode()) % KEPT_SHARE == 0


def _pairs(uid: str, *, seed: int) -> Iterator[Pair]:
    return _sampler(uid, seed=seed).pairs()


def _sampler(uid: str, *, seed: int) -> Sampler:
    lexicon = common_lexicon()
    return Sampler(find_paradigm(uid, lexicon=lexicon), lexicon=lexicon, seed=seed)


def minimal_pairs(uid: str, n: int = 100, *, seed: int = 0) -> pd.DataFrame:
    """Draw distinct minimal pairs of a paradigm from common words, with BLiMP's ten fields.

    References
    ----------
    Warstadt et al. (2020), "BLiMP: The Benchmark of Linguistic Minimal Pairs for English", TACL 8: 377-392.
    The fields are BLiMP's; templates, words and sentences are this project's.

    Examples
    --------
    >>> minimal_pairs("wh_island", 2, seed=1)["UID"].tolist()
    ['wh_island', 'wh_island']
    """
    sampler = _sampler(uid, seed=seed)
    rows = [pair_row(sampler, pair, place) for place, pair in enumerate(itertools.islice(sampler.pairs(), n))]
    if len(rows) < n:
        raise BadInput(f"only {len(rows)} different pairs of {uid!r} can be made.", remedy="Ask for fewer.")
    return pd.DataFrame(rows, columns=list(BLIMP_FIELDS))


def catch_pairs(n: int, *, seed: int = 0) -> list[tuple[str, str]]:
    """Generate catch pairs: a plain sentence and the same words in reverse order.

    Examples
    --------
    >>> catch_pairs(1, seed=1)[0][0].split()[0] == catch_pairs(1, seed=1)[0][1].split()[0]
    False
    """
    sentences = (pair.good for pair in _pairs("transitive", seed=seed))
    # Another first word could be a name, which begins a sentence and may end one.
    plain = (text for text in sentences if text.startswith("The "))
    return [(text, _reverse_words(text)) for text in itertools.islice(plain, n)]


def _reverse_words(sentence: str) -> str:
    words = sentence.rstrip(".").lower().split()[::-1]
    return f"{' '.join(words).capitalize()}."


def acceptable_sentences(n: int = 16_000, *, seed: int = 0, without: Collection[str] = ()) -> list[str]:
    """Generate a corpus of acceptable sentences.

    Examples
    --------
    >>> len(acceptable_sentences(22))
    22
    """
    excluded = frozenset(without)
    sentences: list[str] = []
    for number in itertools.count():
        missing = n - len(sentences)
        if missing <= 0:
            break
        each = min(ROUND, -(-missing // len(OF_THE_CORPUS)))
        for uid in OF_THE_CORPUS:
            # A seed of its own in each round: a paradigm that is used up begins again.
            texts = (pair.good for pair in _pairs(uid, seed=1000 * seed + number))
            sentences += itertools.islice((text for text in texts if text not in excluded), each)
    order = np.random.default_rng([seed, 33]).permutation(len(sentences))[:n]
    return [sentences[place] for place in order]


def whether_island_design(n: int = 16, *, seed: int = 0) -> pd.DataFrame:
    """Generate items that cross dependency length with structure.

    Notes
    -----
    The island effect is the difference of differences, (long_that − long_whether) − (short_that −
    short_whether): the cost of the long island sentence beyond the costs of length and structure.

    References
    ----------
    Sprouse, Wagers & Phillips (2012), "A test of the relation between working-memory capacity and syntactic
    island effects", Language 88: 82-123.

    Examples
    --------
    >>> whether_island_design(2)["condition"].tolist()[:4]
    ['short_that', 'long_that', 'short_whether', 'long_whether']
    """
    lexicon = common_lexicon()
    rows: list[dict[str, str]] = []
    earlier_sentences: set[str] = set()
    for pair in _pairs(str(ISLAND_FILE), seed=seed):
        if len(rows) == n * len(CONDITIONS):
            return pd.DataFrame(rows)
        sentences = _cells(pair, lexicon)
        if earlier_sentences & set(sentences.values()):
            continue
        earlier_sentences |= set(sentences.values())
        item = f"whether_{len(rows) // len(CONDITIONS) + 1}"
        rows += [
            {
                "sentence_id": f"{item}.{condition}",
                "sentence": sentences[condition],
                "item": item,
                "condition": condition,
                "paradigm": "whether_island",
                "phenomenon": "island_effects",
                "expected": "unacceptable" if condition == "long_whether" else "acceptable",
            }
            for condition in CONDITIONS
        ]
    raise BadInput(f"only {len(rows) // len(CONDITIONS)} items can be made.", remedy="Ask for fewer.")


def _cells(pair: Pair, lexicon: Lexicon) -> dict[str, str]:
    """Return the four sentences of an item: a pair has two, the others exchange verb and complementizer."""
    says, asks = (lexicon.by_id[pair.lexemes[slot]].forms for slot in ("says", "asks"))
    return {
        "short_that": pair.good,
        "long_that": pair.bad.replace(f" {asks['base']} whether ", f" {says['base']} that "),
        "short_whether": pair.good.replace(f" {says['s']} that ", f" {asks['s']} whether "),
        "long_whether": pair.bad,
    }
