"""Surface cues of minimal pairs: what a model that knows no grammar gets right."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..columns import require_columns
from ..ngrams import BackoffModel, token_logprobs

FOLDS = 5
SOLVED = 0.9  # accuracy from which a cue alone solves a set
MARKS = ".,?!;:。，？！；：、"
Features = list[tuple[str, ...]]


@dataclass(frozen=True)
class SurfaceCues:
    """Accuracies of cues, ties counted as one half, and the similarity of sentences.

    Parameters
    ----------
    n_pairs : int
    shorter_in_words, shorter_in_characters : float
        Of the rule that the shorter member is acceptable.
    final_mark : float
        Of the better rule about the final mark.
    words, bigrams : float
        Of naive Bayes on words and on pairs of words, trained on other folds of the same set.
    overlap : float
        Mean share of words that the two members have in common.
    repeated : int
        Sentences that come again, on either side.
    near_duplicates : float
        Share of pairs whose acceptable member is that of another pair but for one word.
    models : mapping of str to float
        Of language models, by name.
    """

    n_pairs: int
    shorter_in_words: float
    shorter_in_characters: float
    final_mark: float
    words: float
    bigrams: float
    overlap: float
    repeated: int
    near_duplicates: float
    models: Mapping[str, float] = field(default_factory=dict)

    @property
    def solved_by_words(self) -> bool:
        """Whether single words decide nearly all pairs."""
        return self.words >= SOLVED or self.models.get("unigram", 0) >= SOLVED

    def document(self) -> dict[str, object]:
        """Return the cues as plain data."""
        return {**asdict(self), "solved_by_words": self.solved_by_words}


def surface_cues(pairs: pd.DataFrame, *, models: Mapping[str, BackoffModel] | None = None) -> SurfaceCues:
    """Measure how far surface cues tell the members of minimal pairs apart.

    Notes
    -----
    Naive Bayes is multinomial with one added to every count. It is trained on four fifths of the pairs and
    tested on the rest, so that it learns which words are frequent in the acceptable members of *this* set. A
    paradigm whose contrasted words differ by nature (licensors, classes of verbs) is solved by it; one where
    each word is right in half of the pairs, or whose members have the same words, is not.

    Examples
    --------
    >>> rows = [(f"The {a} sings.", f"The {a} sing.") for a in ("monk", "porter", "judge", "clerk", "cook")]
    >>> surface_cues(pd.DataFrame(rows, columns=["sentence_good", "sentence_bad"])).words
    1.0
    """
    require_columns(pairs, "sentence_good", "sentence_bad")
    good, bad = list(pairs["sentence_good"]), list(pairs["sentence_bad"])
    good_words, bad_words = [sentence_words(text) for text in good], [sentence_words(text) for text in bad]
    sentences = Counter(good_words + bad_words)
    return SurfaceCues(
        n_pairs=len(good),
        shorter_in_words=_accuracy(_lengths(bad_words) - _lengths(good_words)),
        shorter_in_characters=_accuracy(_lengths(bad) - _lengths(good)),
        final_mark=_final_mark(good, bad),
        words=naive_bayes_accuracy(good_words, bad_words),
        bigrams=naive_bayes_accuracy(
            [_bigrams(words) for words in good_words], [_bigrams(words) for words in bad_words]
        ),
        overlap=float(
            np.mean([_shared_share(a, b) for a, b in zip(good_words, bad_words, strict=True)] or [0.0])
        ),
        repeated=sum(count - 1 for count in sentences.values()),
        near_duplicates=_near_duplicates(good_words),
        models={
            name: _model_accuracy(model, good_words, bad_words) for name, model in (models or {}).items()
        },
    )


def naive_bayes_accuracy(good: Features, bad: Features, *, folds: int = FOLDS) -> float:
    """Return the share of pairs that naive Bayes on the other folds orders rightly."""
    if len(good) < folds:
        return float("nan")
    numbers: dict[str, int] = {}
    coded = [
        [
            np.array([numbers.setdefault(name, len(numbers)) for name in features], dtype=np.int64)
            for features in side
        ]
        for side in (good, bad)
    ]
    in_fold = np.arange(len(good)) % folds
    differences = np.zeros(len(good))
    for fold in range(folds):
        counts = [
            np.bincount(
                np.concatenate([side[place] for place in np.flatnonzero(in_fold != fold)]),
                minlength=len(numbers),
            )
            + 1.0
            for side in coded
        ]
        weights = np.log(counts[0] / counts[0].sum()) - np.log(counts[1] / counts[1].sum())
        for place in np.flatnonzero(in_fold == fold):
            differences[place] = weights[coded[0][place]].sum() - weights[coded[1][place]].sum()
    return _accuracy(differences.round(9))


def sentence_words(text: str) -> tuple[str, ...]:
    """Split a sentence into words without capitals and marks."""
    return tuple(word for part in text.casefold().split() if (word := part.strip(MARKS)))


def _bigrams(words: Sequence[str]) -> tuple[str, ...]:
    padded = ("<s>", *words, "</s>")
    return tuple(f"{first} {second}" for first, second in zip(padded, padded[1:], strict=False))


def _lengths(texts: Sequence[Sequence[str]]) -> npt.NDArray[np.float64]:
    return np.array([len(text) for text in texts], dtype=np.float64)


def _accuracy(differences: npt.NDArray[np.float64]) -> float:
    """Return the share of positive differences, ties counted as one half."""
    if not len(differences):
        return float("nan")
    return float(((differences > 0) + 0.5 * (differences == 0)).mean())


def _final_mark(good: Sequence[str], bad: Sequence[str]) -> float:
    """Return the accuracy of the better rule on the pairs whose marks differ; the others are ties."""
    marks = Counter((a[-1:], b[-1:]) for a, b in zip(good, bad, strict=True) if a[-1:] != b[-1:])
    if not good:
        return float("nan")
    right = sum(max(count, marks.get((b, a), 0)) for (a, b), count in marks.items() if (a, b) <= (b, a))
    right += sum(count for (a, b), count in marks.items() if (a, b) > (b, a) and (b, a) not in marks)
    return (right + (len(good) - marks.total()) / 2) / len(good)


def _shared_share(first: Sequence[str], second: Sequence[str]) -> float:
    common = (Counter(first) & Counter(second)).total()
    return common / max(len(first), len(second), 1)


def _near_duplicates(sentences: Features) -> float:
    """Return the share of sentences that differ from another in at most one word."""
    holes = Counter(
        (place, *words[:place], *words[place + 1 :]) for words in sentences for place in range(len(words))
    )
    near = [
        any(holes[place, *words[:place], *words[place + 1 :]] > 1 for place in range(len(words)))
        for words in sentences
    ]
    return float(np.mean(near)) if near else 0.0


def _model_accuracy(model: BackoffModel, good: Features, bad: Features) -> float:
    """Return the share of pairs whose acceptable member is more probable to a model."""
    scores = token_logprobs(model, [list(words) for words in (*good, *bad)])
    sums = np.bincount(scores.sentence, weights=scores.logprob, minlength=2 * len(good))
    differences: npt.NDArray[np.float64] = (sums[: len(good)] - sums[len(good) :]).astype(np.float64)
    return _accuracy(differences.round(9))
