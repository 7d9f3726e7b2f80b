"""The language of sentences whose language was not stated."""

import re
from collections import Counter
from collections.abc import Iterable

from experiments.materials.charset_languages import LATIN

UNDETERMINED = "und"
"""BCP 47: the language is not known."""
REMEDY = "State the language (--language, or the field Language)."
_WORD = re.compile(r"[^\W\d_]+")
_MAX_TEXTS = 2_000


def language_of_texts(texts: Iterable[str]) -> tuple[str, str]:
    """Return ``en``, or ``und`` with a warning where sentences are not in English.

    Notes
    -----
    Sentences count as not English if most letters are of another script, if at least 4 % of the letters are
    beyond a to z, or if the frequent words of another language are twice as frequent as those of English
    (at all more frequent, with at least 1 % of such letters).

    Examples
    --------
    >>> language_of_texts(["The cat has slept.", "Who did you see?"])
    ('en', '')
    >>> language_of_texts(["Kedi çok uyudu ama bu kitap için bir şey demedi."])[0]
    'und'
    """
    sample = [text.lower() for _, text in zip(range(_MAX_TEXTS), texts, strict=False)]
    words = Counter(word for text in sample for word in _WORD.findall(text))
    n_letters = sum(len(word) * n for word, n in words.items())
    n_latin = sum(n * sum(letter < "\u0250" for letter in word) for word, n in words.items())
    n_plain = sum(n * sum(letter.isascii() for letter in word) for word, n in words.items())
    hits = {tag: sum(words[word] for word in language.words) for tag, language in LATIN.items()}
    other, share = max(hits.values()), (n_letters - n_plain) / max(n_letters, 1)
    has_other_words = other > max(2 * hits["en"], 0.05 * words.total())
    looks_foreign = share >= 0.04 or (share >= 0.01 and other > hits["en"]) or has_other_words
    if 2 * n_latin < n_letters:
        return UNDETERMINED, f"The sentences are not in English; their language is not stated. {REMEDY}"
    if looks_foreign:
        return UNDETERMINED, f"The sentences do not look English; their language is not stated. {REMEDY}"
    return "en", ""
