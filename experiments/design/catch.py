"""Checks of catch trials: enough of them, inconspicuous, with one clearly right answer."""

import unicodedata
from collections.abc import Collection, Sequence

FEWEST = 2
SHORTEST, LONGEST = 0.5, 1.5  # accepted length, relative to the shortest and the longest target
MOST = 0.9  # share of targets with the same first or last character from which a difference is conspicuous


def catch_remarks(
    catch: Sequence[Sequence[str]],
    targets: Sequence[str],
    *,
    practice: Sequence[str] = (),
    instructions: Collection[int] = (),
) -> list[str]:
    """Report what makes catch trials conspicuous, and sentences that participants have already seen.

    Notes
    -----
    A catch trial is inconspicuous if its length in characters is at least half that of the shortest and at
    most one and a half times that of the longest target, and if it has the capital and the final character
    that nine in ten targets share. Its content has to be plain, because attentive participants fail checks
    that need thought.

    Examples
    --------
    >>> catch_remarks([["Choose this one"], ["The cat slept."]], ["The dog ran.", "A man has slept."])
    ['Catch trial 1 ends unlike the other sentences.']
    """
    remarks = []
    if 0 < len(catch) < FEWEST:
        remarks.append("One catch trial is too few: attentive participants also make a slip.")
    if not targets:
        return remarks
    familiar = {_normalize_text(text) for text in targets}, {_normalize_text(text) for text in practice}
    for number, texts in enumerate(catch, start=1):
        if number - 1 not in instructions:
            remarks += [
                f"Catch trial {number} {remark}" for remark in _remarks(texts, targets, familiar=familiar)
            ]
    return remarks


def _remarks(
    texts: Sequence[str], targets: Sequence[str], *, familiar: tuple[set[str], set[str]]
) -> list[str]:
    lengths = [len(text) for text in targets]
    low, high = SHORTEST * min(lengths), LONGEST * max(lengths)
    remarks = []
    if any(not low <= len(text) <= high for text in texts):
        sizes = "–".join(str(size) for size in sorted({len(text) for text in texts}))
        remarks.append(f"has {sizes} characters, the other sentences {min(lengths)} to {max(lengths)}.")
    if _is_conspicuous([_end(text) for text in texts], [_end(text) for text in targets]):
        remarks.append("ends unlike the other sentences.")
    if _is_conspicuous([_begin(text) for text in texts], [_begin(text) for text in targets]):
        remarks.append("begins unlike the other sentences.")
    if any(_normalize_text(text) in familiar[0] for text in texts):
        remarks.append("has a sentence of the materials.")
    if any(_normalize_text(text) in familiar[1] for text in texts):
        remarks.append("has a sentence of the practice.")
    return remarks


def _is_conspicuous(trial_values: Sequence[str], target_values: Sequence[str]) -> bool:
    """Whether nearly all targets share a value that none of a trial's sentences has."""
    common = max(set(target_values), key=target_values.count)
    return target_values.count(common) >= MOST * len(target_values) and common not in trial_values


def _end(text: str) -> str:
    """Return the last character if it is punctuation, else a placeholder for all others."""
    last = text.strip()[-1:]
    return last if unicodedata.category(last or "a").startswith("P") else "a"


def _begin(text: str) -> str:
    """Return the case of the first character."""
    first = text.strip()[:1]
    return "A" if first.isupper() else "a" if first.islower() else ""


def _normalize_text(text: str) -> str:
    """Normalize a text for comparison."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def answer_remarks(
    answers: Sequence[tuple[float, float] | None], scale: tuple[float | None, float | None]
) -> list[str]:
    """Report right answers that are missing, off the scale, or too wide to test anything.

    Examples
    --------
    >>> answer_remarks([(6, 7), (2, 7), (8, 8), None], (1, 7))[0]
    'Catch trial 2 accepts 2 to 7, more than half of the scale.'
    """
    remarks = []
    low, high = scale
    for number, answer in enumerate(answers, start=1):
        if answer is None:
            remarks.append(f"Catch trial {number} has no right answer.")
        elif (low is not None and answer[1] < low) or (high is not None and answer[0] > high):
            remarks.append(f"Catch trial {number} has a right answer that is not on the scale.")
        elif low is not None and high is not None and answer[1] - answer[0] > (high - low) / 2:
            span = f"{answer[0]:g} to {answer[1]:g}"
            remarks.append(f"Catch trial {number} accepts {span}, more than half of the scale.")
    return remarks
