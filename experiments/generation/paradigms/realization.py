"""From drawn words to sentences: articles, capitals, words that differ, and prefixes of language models."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from experiments.generation.paradigms.language import Language

WORD = re.compile(r"[^\s]+")
MARKS = ".,?!;:。，？！；：、"


@dataclass(frozen=True)
class Token:
    """A word of a sentence without its mark, with its characters' places."""

    text: str
    start: int
    end: int


def segment_text(text: str, language: Language, starts_with_vowel: Callable[[str], bool]) -> str:
    """Return a filled template with single spaces, right articles and a capital.

    Marks stay with the word before them; where words are written together they are segments of their own.
    """
    text = re.sub(r"\s+([.,?!;:。，？！])", r"\1", " ".join(text.split()))
    if not language.joiner:
        return " ".join(re.sub(rf"([{MARKS}])", r" \1 ", text).split())
    if language.articles:
        first, second = language.articles

        def article(match: re.Match[str]) -> str:
            return f"{second if starts_with_vowel(match[1]) else first} {match[1]}"

        text = re.sub(rf"(?<![\w'’-]){first} ([\w-]+)", article, text)
    return text[:1].upper() + text[1:] if language.capital else text


def join_segments(segments: str, language: Language) -> str:
    """Return the sentence of segments: the spaces are dropped where words are written together.

    Examples
    --------
    >>> from experiments.generation.paradigms.language import read_language
    >>> join_segments("她 买 了 一 匹 马 。", read_language("zh"))
    '她买了一匹马。'
    """
    return segments if language.joiner else segments.replace(" ", "")


def tokens(segments: str, language: Language) -> tuple[Token, ...]:
    """Split segments into words without marks; their places are those in the sentence.

    Examples
    --------
    >>> from experiments.generation.paradigms.language import read_language
    >>> [token.text for token in tokens("Has the owl slept?", read_language("en"))]
    ['Has', 'the', 'owl', 'slept']
    >>> [(token.text, token.start) for token in tokens("她 买 了 马 。", read_language("zh"))]
    [('她', 0), ('买', 1), ('了', 2), ('马', 3)]
    """
    words, n_spaces = [], 0
    for match in WORD.finditer(segments):
        word, start = match[0].rstrip(MARKS), match.start() - n_spaces
        if word:
            words.append(Token(word, start, start + len(word)))
        n_spaces += 0 if language.joiner else 1
    return tuple(words)


@dataclass(frozen=True)
class Difference:
    """Difference between two sentences: tokens ``first`` to before ``end``, on either side.

    Parameters
    ----------
    good, bad : tuple of Token
    first, good_end, bad_end : int
    """

    good: tuple[Token, ...]
    bad: tuple[Token, ...]
    first: int
    good_end: int
    bad_end: int

    def span(self, side: tuple[Token, ...], end: int) -> list[int]:
        """Return the characters of the critical region of a side."""
        if end > self.first:
            return [side[self.first].start, side[end - 1].end]
        place = side[self.first].start if self.first < len(side) else side[-1].end
        return [place, place]

    @property
    def critical_good(self) -> tuple[Token, ...]:
        """Words of the acceptable member that the other lacks."""
        return self.good[self.first : self.good_end]

    @property
    def critical_bad(self) -> tuple[Token, ...]:
        """Words of the unacceptable member that the other lacks."""
        return self.bad[self.first : self.bad_end]

    @property
    def n_words(self) -> int:
        """Number of words in the longer critical region."""
        return max(self.good_end, self.bad_end) - self.first


def difference(good: str, bad: str, language: Language) -> Difference:
    """Return where two segmented sentences differ, ignoring capitals and marks."""
    a, b = tokens(good, language), tokens(bad, language)
    texts_a, texts_b = [t.text.casefold() for t in a], [t.text.casefold() for t in b]
    first = 0
    while first < min(len(a), len(b)) and texts_a[first] == texts_b[first]:
        first += 1
    end = 0
    while end < min(len(a), len(b)) - first and texts_a[-1 - end] == texts_b[-1 - end]:
        end += 1
    return Difference(a, b, first, len(a) - end, len(b) - end)


def one_prefix(good: str, change: Difference) -> dict[str, str] | None:
    """Return the shared prefix and the word on each side, or None if more than one word differs."""
    if change.good_end - change.first != 1 or change.bad_end - change.first != 1 or not change.first:
        return None
    return {
        "one_prefix_prefix": good[: change.good[change.first].start].rstrip(),
        "one_prefix_word_good": change.good[change.first].text,
        "one_prefix_word_bad": change.bad[change.first].text,
    }


def two_prefix(
    good: str, bad: str, change: Difference, target: str = "", *, place: int = 0
) -> dict[str, str] | None:
    """Return the two prefixes and the word after them, or None if no such word is shared.

    The word is the target if there is one, else the one at ``place`` among the words after the difference.
    """
    shared = list(zip(change.good[change.good_end :], change.bad[change.bad_end :], strict=True))
    if target_word := target.casefold().split(" ")[0]:
        shared = [(word, other) for word, other in shared if word.text.casefold() == target_word]
        place = 0
    if place >= len(shared):
        return None
    word, other = shared[place]
    return {
        "two_prefix_prefix_good": good[: word.start].rstrip(),
        "two_prefix_prefix_bad": bad[: other.start].rstrip(),
        "two_prefix_word": word.text,
    }
